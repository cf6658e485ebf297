"""Examples that a model contradicts: their labels may be wrong.

The examples are split into parts, and each part is ranked by a model that has learned the others.
Equal texts are in the same part, so that no example or copy of it is ranked by a model that has
learned it. The contradiction of an example is the score of the best label that it does not have,
less that of its own label with the lowest score:

    max_{c ∉ y} s_c − min_{c ∈ y} s_c.

Labels that the other parts do not have cannot be contradicted. Of a partial judgement only the
labels that were judged wrong count as c ∉ y. The words of an explanation vote more for the other
label than for the own one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.data.label_input import Label
from shortlist.data.labels import NumberedLabels
from shortlist.data.texts import Document
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.models.categorizer import Categorizer

AUDIT_PARTS = 5
LABELS_RANKED = 100  # labels of a ranking; other labels have lower scores
WORDS_SHOWN = 5
LABELS_IN_MATRIX = 20  # labels of the matrix, those most often confused

# gives a model that has learned the examples of these numbers
Train = Callable[[list[int]], "Categorizer"]
Watch = Callable[[int, int], None]  # called with the numbers of finished parts and of parts


@dataclass(frozen=True)
class Doubt:
    """An example that is contradicted."""

    number: int  # of the example
    text: str
    labels: list[Label]
    label: Label  # the most doubtful one of them
    found: Label  # the label that the model found instead
    by: float  # the contradiction: the difference of their scores
    # the words with the largest differences of votes, strongest first
    words: list[tuple[str, float]]


@dataclass(frozen=True)
class Duplicate:
    """Equal texts with different labels; spaces and capitals make no difference."""

    numbers: list[int]
    text: str
    labels: list[list[Label]]


@dataclass(frozen=True)
class Confusion:
    """How often a label is contradicted by another one, and in which examples."""

    label: Label
    found: Label
    numbers: list[int]


@dataclass(frozen=True)
class Audit:
    """The result of an audit, largest contradictions first."""

    examples: int
    contradicted: int  # number of examples; ``doubts`` has the first of them
    doubts: list[Doubt]
    duplicates: list[Duplicate]
    confusions: list[Confusion]

    def matrix(self, most: int = LABELS_IN_MATRIX) -> tuple[list[Label], list[list[int]]]:
        """The labels most often confused, and how often each (row) is contradicted by each
        (column).
        """
        times: dict[Label, int] = defaultdict(int)
        for confusion in self.confusions:
            times[confusion.label] += len(confusion.numbers)
            times[confusion.found] += len(confusion.numbers)
        names = sorted(times, key=lambda name: -times[name])[:most]
        place = {name: n for n, name in enumerate(names)}
        counts = [[0] * len(names) for _ in names]
        for confusion in self.confusions:
            if confusion.label in place and confusion.found in place:
                row = counts[place[confusion.label]]
                row[place[confusion.found]] = len(confusion.numbers)
        return names, counts

    def to_dict(self) -> dict[str, Any]:
        names, counts = self.matrix()
        return asdict(self) | {"matrix": {"labels": names, "counts": counts}}


def audit(
    texts: Sequence[Document],
    labels: NumberedLabels,
    train: Train,
    n: int = 100,
    seed: int = 0,
    watch: Watch = lambda done, parts: None,
    numbers: Sequence[int] | None = None,
) -> Audit:
    """Audit examples, which have these numbers, from 0 by default; explain the ``n`` largest
    contradictions.
    """
    if len(texts) < AUDIT_PARTS:
        raise InputError(f"an audit needs at least {AUDIT_PARTS} examples; there are {len(texts)}")
    equal: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        equal[same(text)].append(number)
    parts = dealt(list(equal.values()), seed)
    doubts: list[Doubt] = []
    pairs: dict[tuple[Label, Label], list[int]] = defaultdict(list)
    for done, part in enumerate(parts):
        watch(done, len(parts))
        model = train(sorted(number for other in parts if other is not part for number in other))
        in_part = contradicted(model, texts, labels, part)
        for doubt in in_part:
            pairs[doubt.label, doubt.found].append(doubt.number)
        doubts += [explained(model, texts[doubt.number], doubt) for doubt in in_part[:n]]
    watch(len(parts), len(parts))
    if numbers is None:
        numbers = range(len(texts))
    doubts.sort(key=lambda doubt: (-doubt.by, doubt.number))
    doubts = [replace(doubt, number=numbers[doubt.number]) for doubt in doubts[:n]]
    for places in pairs.values():
        places.sort()
    most_often = sorted(pairs.items(), key=lambda pair: (-len(pair[1]), pair[1]))
    confusions = [
        Confusion(label, other, [numbers[i] for i in places])
        for (label, other), places in most_often
    ]
    duplicates = []
    for places in equal.values():
        if len({frozenset(map(repr, labels[i])) for i in places}) > 1:
            text = shown(texts[places[0]])
            duplicates.append(
                Duplicate([numbers[i] for i in places], text, [labels[i] for i in places])
            )
    return Audit(len(texts), sum(map(len, pairs.values())), doubts, duplicates, confusions)


def dealt(groups: list[list[int]], seed: int) -> list[list[int]]:
    """The numbers in parts of about the same size; a group is never split."""
    order = np.random.default_rng(seed).permutation(len(groups))
    parts = [
        [number for g in order[part::AUDIT_PARTS] for number in groups[g]]
        for part in range(AUDIT_PARTS)
    ]
    if not all(parts):
        raise InputError(
            f"an audit needs at least {AUDIT_PARTS} different texts; there are {len(groups)}"
        )
    return [sorted(part) for part in parts]


def contradicted(
    model: Categorizer, texts: Sequence[Document], labels: NumberedLabels, part: list[int]
) -> list[Doubt]:
    """The examples of a part that the model contradicts, largest contradictions first, without
    words.
    """
    known_labels = model.learner_.label_index_.number
    partial = labels.sets.partial
    doubts = []
    for number, ranking in zip(
        part, model.rank([texts[i] for i in part], LABELS_RANKED), strict=True
    ):
        own_labels = labels[number]
        learned = [label for label in own_labels if label in known_labels]
        scores = dict(ranking)
        rivals = [label for label in scores if label not in own_labels]
        if partial.complete.size and not partial.complete[number]:
            judged = slice(partial.indptr[number], partial.indptr[number + 1])
            wrong = {labels.names[c] for c in partial.ids[judged].tolist()}
            rivals = [label for label in rivals if label in wrong]
        if not learned or not rivals:
            continue
        least = 0.0 if len(scores) < LABELS_RANKED else min(scores.values())
        label = min(learned, key=lambda name: scores.get(name, least))
        by = scores[rivals[0]] - scores.get(label, least)
        if by > 0:
            doubts.append(Doubt(number, shown(texts[number]), own_labels, label, rivals[0], by, []))
    doubts.sort(key=lambda doubt: (-doubt.by, doubt.number))
    return doubts


def explained(model: Categorizer, text: Document, doubt: Doubt) -> Doubt:
    """The same with its words."""
    votes: dict[str, float] = defaultdict(float)
    for label, sign in ((doubt.found, 1.0), (doubt.label, -1.0)):
        explanation = model.explain(text, label)
        for (word, vote), spans in zip(explanation.votes, explanation.spans, strict=True):
            votes[whole_words(text, spans) or str(word)] += sign * vote
    votes.pop("(any text)", None)
    strongest = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))[:WORDS_SHOWN]
    return replace(doubt, words=[(word, vote) for word, vote in strongest if vote > 0])


def whole_words(text: Document, spans: Sequence[tuple[int, int]]) -> str:
    """The whole words at the first of these places in a text; nothing if there is no place."""
    if not isinstance(text, str) or not spans:
        return ""
    first, last = spans[0]
    while first > 0 and not text[first - 1].isspace():
        first -= 1
    while last < len(text) and not text[last].isspace():
        last += 1
    return " ".join(text[first:last].split())


def same(text: Document) -> str:
    """A key that equal texts share."""
    if isinstance(text, Mapping):
        return json.dumps({name: same(str(value)) for name, value in sorted(text.items())})
    return " ".join(str(text).casefold().split())


def shown(text: Document) -> str:
    """The text, or its fields one after the other."""
    if not isinstance(text, Mapping):
        return str(text)
    values = [value if isinstance(value, (list, tuple)) else [value] for value in text.values()]
    return " · ".join(", ".join(map(str, parts)) for parts in values)
