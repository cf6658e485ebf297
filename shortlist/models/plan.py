"""Before training: how much memory, processor time and disk a model of all examples of a file will take.

A sample, the first examples of the file, is learned three times: a quarter of it, half, and all. What grows in
proportion to the examples (the rows, the time) is scaled up. What grows ever more slowly (the words of a language, by
Heaps' law V = a·n^b; the edges; the labels; the model file) follows its exponent b from one doubling to the next: b
falls from the first doubling to the second, and is taken to fall by half as much with each further one. Where it does
not fall, the mean of the two is kept.

Memory is what training holds at its peak, in bytes counted from the code (below), and what the libraries take.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple

from sklearn.base import clone

from shortlist.arrays.rows import Rows
from shortlist.categories.index.learner import IndexLearner
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.models.categorizer import Categorizer

LEAST = 40  # examples of which one can take a quarter
# What a process has usually taken before it learns anything; scikit-learn loads pandas where it is installed.
LIBRARIES = (340 if find_spec("pandas") else 275) * 10**6

# Bytes that training holds at its peak, while the index is learned, for each ...
COUNTED = 5  # entry of a text's row: column and count
GIVEN = 32  # entry of a row that was given: as it was read, as part of the whole, and scaled
ROW = 40  # row: where it begins, its labels, its place in the order
WORD = 80  # feature: 32 in the index, 24 in the vocabulary and its counts, and the slots of a table half full at most
LETTER = 1
EDGE = 21  # edge: 16, in lists that have a quarter to spare
LABEL = 300


@dataclass(frozen=True)
class Plan:
    """What training on all examples will take; ``sample`` of the ``examples`` were tried."""

    sample: int
    examples: int
    labels: int
    features: int
    edges: int
    memory: int
    model_size: int
    seconds: float


class Trial(NamedTuple):
    """What a model of some of the examples held and took."""

    labels: float
    words: float
    letters: float
    edges: float
    entries: float
    model_size: float
    seconds: float


def plan(batches: Sequence[Examples], share: float, model: Categorizer | IndexLearner, reading: float) -> Plan:
    """Plan the training of a model on a file of which these batches, its beginning, are that share.

    ``reading`` is the processor time, in seconds, that it took to read them.
    """
    n = sum(len(batch) for batch in batches)
    if n < LEAST:
        raise InputError(f"a plan needs at least {LEAST} examples to try, not {n}")
    examples = max(n, round(n / share))
    _tried(_first(batches, LEAST), model)  # compiles, or loads what was compiled
    trials = [_tried(_first(batches, size), model) for size in (n // 4, n // 2, n)]
    last, doublings = trials[-1], math.log2(examples / n)
    end = Trial(*(extrapolated([trial[what] for trial in trials], doublings) for what in range(len(last))))
    entries = last.entries * examples / n
    return Plan(
        sample=n,
        examples=examples,
        labels=round(end.labels),
        features=round(end.words),
        edges=round(end.edges),
        memory=LIBRARIES + peak(isinstance(model, Categorizer), examples, end._replace(entries=entries)),
        model_size=round(end.model_size),
        seconds=(reading + last.seconds) * examples / n,
    )


def _first(batches: Sequence[Examples], n: int) -> list[Examples]:
    """The first n examples."""
    first: list[Examples] = []
    for batch in batches:
        n -= len(batch)
        first.append(batch if n >= 0 else batch.take(list(range(len(batch) + n))))
        if n <= 0:
            break
    return first


def _tried(batches: list[Examples], model: Categorizer | IndexLearner) -> Trial:
    model = clone(model)
    began = time.process_time()
    if isinstance(model, Categorizer):
        model.fit_batches((batch.texts or [], batch.labels or []) for batch in batches)
        seconds = time.process_time() - began
        learner, letters = model.learner_, model.text_.vocabulary_.n_bytes
        entries = sum(int(model.text_.rows(batch.texts or []).indices.size) for batch in batches)
    else:
        rows = Rows.stack([batch.rows for batch in batches if batch.rows is not None])
        learner = model.fit_rows(rows, [own for batch in batches for own in batch.labels or ()])
        seconds, letters, entries = time.process_time() - began, 0, rows.indices.size
    size = sum(array.nbytes for array in model.to_state().all_arrays().values())
    return Trial(len(learner.label_counts_), learner.n_features_in_, letters, learner.n_edges_, entries, size, seconds)


def extrapolated(values: Sequence[float], doublings: float) -> float:
    """What has grown to these values at a quarter, at half and at all of a sample, after so many more doublings."""
    quarter, half, whole = (max(value, 1.0) for value in values)
    earlier, exponent = math.log2(half / quarter), math.log2(whole / half)
    if exponent >= earlier:
        return whole * 2 ** (doublings * (earlier + exponent) / 2)
    fall = earlier - exponent
    grown = whole
    while doublings > 0:
        fall /= 2
        exponent = max(0.0, exponent - fall)
        grown *= 2 ** (exponent * min(1.0, doublings))
        doublings -= 1
    return grown


def peak(of_texts: bool, examples: float, end: Trial) -> int:
    """The bytes that training takes when it holds the most."""
    rows = (COUNTED if of_texts else GIVEN) * end.entries + ROW * examples
    return round(rows + EDGE * end.edges + WORD * end.words + LETTER * end.n_bytes + LABEL * end.labels)
