"""Learners of categories side by side: the same splits, quality and cost of each, and which differences are chance."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shortlist.arrays.rows import Rows
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.labels import numbered
from shortlist.measures import evaluate, sign_test, wilcoxon
from shortlist.models.learners import named
from shortlist.models.text_batches import default_text
from shortlist.text.vectorizer import TextVectorizer

MEASURES = ("R1", "R5", "MRR")
ORDERED_BY = "R1"  # the better of two learners has more of it, and that is what is tested
DEPTH = 50  # labels ranked for each row: enough for MRR


@dataclass
class Contestant:
    """What one learner did on every split."""

    name: str
    quality: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in MEASURES})
    per_row: list[Any] = field(default_factory=list)  # R1 of the rows of each split, row by row: 1 or 0
    seconds: list[float] = field(default_factory=list)  # to learn
    microseconds: list[float] = field(default_factory=list)  # to rank one row
    weights: int | None = None  # edges or weights of the last model
    n_bytes: int = 0  # arrays of the last model

    def mean(self, measure: str) -> float:
        return float(np.mean(self.quality[measure]))


@dataclass(frozen=True)
class Difference:
    """Two learners: the difference of R1, and the chance of one as large if neither were better."""

    first: str
    second: str
    difference: float
    sign_test: float  # over splits, as paper 004 has it
    wilcoxon: float  # over all rows of all splits


def compare(
    names: list[str],
    data: list[str] | Rows,
    labels: list[list[str]],
    *,
    splits: int = 5,
    held_out: float = 0.2,
    random_state: int = 0,
    text: TextVectorizer | None = None,
) -> Iterator[list[Contestant]]:
    """Train and test the learners on random splits of texts or rows. Gives what is known after each split."""
    contestants = [Contestant(name) for name in names]
    rivals = [named("categories", name, "--learners") for name in names]
    n = data.n_rows if isinstance(data, Rows) else len(data)
    for rival in rivals if isinstance(data, Rows) else ():
        rival._of_right_signs(data)
    if n < 2:
        raise InputError("a comparison needs at least two examples")
    generator = np.random.default_rng(random_state)
    for _ in range(splits):
        order = generator.permutation(n)
        n_test = min(max(1, round(held_out * n)), n - 1)
        test, train = order[:n_test].tolist(), order[n_test:].tolist()
        own, truth = [labels[i] for i in train], [labels[i] for i in test]
        train_rows, test_rows = _rows(data, train, test, numbered(own, len(own)).sets.recurring, text)
        for contestant, rival in zip(contestants, rivals, strict=True):
            if not contestant.seconds:  # what is compiled now is not counted as learning
                clone(rival)._fit_rows(train_rows.take([0]), own[:1])._rank_rows(test_rows.take([0]))
            _try(contestant, clone(rival), train_rows, own, test_rows, truth)
        yield contestants


def differences(contestants: list[Contestant]) -> list[Difference]:
    """Every pair, the better one first."""
    ranked = sorted(contestants, key=lambda one: -one.mean(ORDERED_BY))
    found = []
    for n, first in enumerate(ranked):
        for second in ranked[n + 1 :]:
            over_splits = sign_test(first.quality[ORDERED_BY], second.quality[ORDERED_BY])
            over_rows = wilcoxon(np.concatenate(first.per_row), np.concatenate(second.per_row))
            difference = first.mean(ORDERED_BY) - second.mean(ORDERED_BY)
            found.append(Difference(first.name, second.name, difference, over_splits.p_value, over_rows.p_value))
    return found


def _rows(
    data: list[str] | Rows, train: list[int], test: list[int], recurring: bool, text: TextVectorizer | None
) -> tuple[Rows, Rows]:
    """The rows to learn and those to test on; of texts, as a Categorizer that learned the former would have them."""
    if isinstance(data, Rows):
        return data.take(train), data.take(test)
    own = [data[i] for i in train]
    vectorizer = (default_text() if text is None else text).settled(own, recurring)
    return vectorizer.fit_rows([own]), vectorizer.rows([data[i] for i in test])


def _try(contestant: Contestant, rival: Any, train: Rows, own: Any, test: Rows, truth: Any) -> None:
    began = time.process_time()
    rival._fit_rows(train, own)
    contestant.seconds.append(time.process_time() - began)
    began = time.process_time()
    ranking = rival._rank_rows(test, DEPTH)
    contestant.microseconds.append(1e6 * (time.process_time() - began) / test.n_rows)
    found = evaluate(ranking.stack([ranking], DEPTH), rival.label_numbers(truth), MEASURES, resamples=0)
    for name in MEASURES:
        contestant.quality[name].append(found[name])
    contestant.per_row.append(np.nan_to_num(found.per_instance[ORDERED_BY]))
    contestant.weights = getattr(rival, "n_edges_", getattr(rival, "n_weights_", None))
    contestant.n_bytes = sum(array.nbytes for array in rival.to_state().all_arrays().values())
