"""Rules for rankings: only these labels, all but those, those below a concept, at most so many of a
kind.

The result is the ranking of all labels without those that a rule forbids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.label_input import Label
from shortlist.data.labels import LabelIndex
from shortlist.data.ranking import Ranking
from shortlist.data.validation import as_real, as_whole
from shortlist.errors import InputError
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import Allowed

Labels = Iterable[Label]
# which labels are of a kind, and how many of them there may be
Kinds = list[tuple[NDArray[np.bool_], int]]
DIGITS = 20  # a longer text is not looked up as a number
MOST_POWER = 1.0
DEPTH_FACTOR = 4  # factor of the depth if a kind has too many labels


@dataclass(frozen=True)
class Rules:
    """The labels that a ranking may contain.

    Parameters
    ----------
    only : labels, default=None
        Only these; None for any.
    but : labels, default=()
        All but these.
    below : labels, default=None
        Only these and narrower labels, by the vocabulary of the model; None for any.
    at_most : dict of label to int, default={}
        For each label the largest number of it and narrower labels in one ranking. Here and above a
        label may be given by its name in the vocabulary.
    tame : float, default=0
        Scores above 0 are multiplied by (mean / count) to this power, where count is the number of
        examples of the label, and mean the average over all labels, both plus 1: with 0.05 a label
        that is ten times as frequent has 0.89 of its score, one that is ten times as rare 1.12 of
        it.

    Attributes
    ----------
    only, but, below, at_most, tame
        As given; labels as tuples.

    References
    ----------
    Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004), section
    3.2, for retrieval without some labels. Menon and others, "Long-tail learning via logit
    adjustment", ICLR 2021, for ``tame``; here a small power, since scores depend on frequency only
    in part.

    Examples
    --------
    >>> from shortlist import Categorizer, Rules
    >>> model = Categorizer().learn("wheat exports rose", ["grain", "trade"])
    >>> model.rank("wheat", k=2, rules=Rules(but=["grain"])).labels.tolist()
    ['trade', None]
    """

    only: Sequence[Label] | None = None
    but: Sequence[Label] = ()
    below: Sequence[Label] | None = None
    at_most: Mapping[str, int] = field(default_factory=dict)
    tame: float = 0.0

    def __post_init__(self) -> None:
        for name in ("only", "but", "below"):
            labels = getattr(self, name)
            if isinstance(labels, (str, int, float)):
                labels = (labels,)
            if labels is not None:
                object.__setattr__(self, name, tuple(labels))
        most = {str(kind): as_whole(n, f"at_most[{kind!r}]") for kind, n in self.at_most.items()}
        object.__setattr__(self, "at_most", most)
        as_real(self.tame, "tame", least=-MOST_POWER, most=MOST_POWER)

    def __bool__(self) -> bool:
        return self != Rules()

    def with_more(self, other: Rules) -> Rules:
        """Both rules as one. Two lists of ``below`` are refused: the labels below both cannot
        be listed.
        """
        if self.below is not None and other.below is not None:
            raise InputError("the rules of the model have a list of below already; leave it out")
        only = other.only if self.only is None else self.only
        if self.only is not None and other.only is not None:
            only = tuple(label for label in self.only if label in other.only)
        most = dict(self.at_most)
        for kind, n in other.at_most.items():
            most[kind] = min(n, most.get(kind, n))
        below = other.below if self.below is None else self.below
        tame = min(max(self.tame + other.tame, -MOST_POWER), MOST_POWER)
        return Rules(only, (*self.but, *other.but), below, most, tame)

    def to_dict(self) -> dict[str, Any]:
        """The rules for JSON, without defaults."""
        written = {}
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if value != getattr(Rules(), parameter.name):
                written[parameter.name] = list(value) if isinstance(value, tuple) else value
        return written


def left_by(
    rules: Rules, labels: LabelIndex, vocabulary: LabelVocabulary | None
) -> NDArray[np.bool_]:
    """The labels that rules allow."""
    may = np.ones(len(labels), dtype=np.bool_)
    if rules.only is not None:
        may &= mask_of(labels, rules.only, vocabulary)
    if rules.below is not None:
        may &= mask_of(labels, _narrower(vocabulary, rules.below))
    may[_numbers(labels, rules.but, vocabulary)] = False
    return may


def within_kinds(rank: Callable[[int], Ranking], k: int, n_labels: int, kinds: Kinds) -> Ranking:
    """The k best labels of each row in which no kind has too many; ``rank`` ranks to a given
    depth.
    """
    depth = k
    while True:
        ranking = rank(min(depth, n_labels))
        fits = np.zeros(ranking.ids.shape, dtype=np.bool_)
        for row, ids in enumerate(ranking.ids):
            fits[row] = _first_of_kinds(ids, k, kinds)
        enough = (fits.sum(axis=1) >= k) | (ranking.ids[:, -1] < 0)
        if enough.all() or depth >= n_labels:
            break
        depth *= DEPTH_FACTOR
    best = np.full((len(fits), k), -1, dtype=np.int32)
    scores = np.full((len(fits), k), np.nan)
    for row, fits_in_row in enumerate(fits):
        n = int(fits_in_row.sum())
        best[row, :n] = ranking.ids[row, fits_in_row]
        scores[row, :n] = ranking.scores[row, fits_in_row]
    return Ranking(best, scores, ranking.label_names)


def _first_of_kinds(ids: NDArray[np.int32], k: int, kinds: Kinds) -> NDArray[np.bool_]:
    fits = np.zeros(ids.size, dtype=np.bool_)
    room = [most for _, most in kinds]
    n = 0
    for place, label in enumerate(ids.tolist()):
        if label < 0 or n == k:
            break
        kinds_of_label = [j for j, (mask, _) in enumerate(kinds) if mask[label]]
        if all(room[j] > 0 for j in kinds_of_label):
            fits[place] = True
            n += 1
            for j in kinds_of_label:
                room[j] -= 1
    return fits


def _narrower(vocabulary: LabelVocabulary | None, labels: Labels) -> set[str]:
    """The labels and all narrower ones; without a vocabulary there are none."""
    if vocabulary is None:
        return {str(label) for label in labels}
    narrower = set()
    for label in labels:
        if label not in vocabulary:
            label = vocabulary.of_name(str(label)) or label
        narrower |= vocabulary.subtree(label)
    return narrower


def _numbers(
    labels: LabelIndex, searched: Labels, vocabulary: LabelVocabulary | None = None
) -> Longs:
    """The numbers of labels, found as such, by their text (7 and "7" are the same) or by their
    names in the vocabulary.

    Labels that were never learned have no number.
    """
    numbers = []
    for label in searched:
        text = str(label)
        forms: set[Label] = {label, text}
        if text.isascii() and text.isdigit() and len(text) < DIGITS:
            forms.add(int(text))
        for form in forms:
            number = labels.number.get(form)
            if number is None and vocabulary is not None:
                named = vocabulary.of_name(str(form))
                number = None if named is None else labels.number.get(named)
            if number is not None:
                numbers.append(number)
    return np.array(numbers, dtype=np.int64)


def mask_of(
    labels: LabelIndex, searched: Labels, vocabulary: LabelVocabulary | None = None
) -> NDArray[np.bool_]:
    """Which labels are among those searched."""
    mask = np.zeros(len(labels), dtype=np.bool_)
    mask[_numbers(labels, searched, vocabulary)] = True
    return mask


# The labels that rules allow, cached for the last rules.


MOST_CACHED = 16  # rules in the cache
Of = tuple[LabelIndex, int, LabelVocabulary | None, tuple[Label, ...]]


class AllowedByRules(NamedTuple):
    """Rules, the labels that they allow, and the kinds that they limit."""

    rules: Rules
    labels: NDArray[np.bool_]
    kinds: Kinds


class KnownRules:
    """The last rules for ``of``: labels, their number, a vocabulary and retired labels.

    Several threads may rank at a time: each attribute is replaced as a whole.
    """

    def __init__(self, of: Of) -> None:
        self.of = of
        labels, _, _, retired = of
        self.current = ~mask_of(labels, retired)  # not retired
        self._cached: tuple[AllowedByRules, ...] = ()

    def joined(self, every: Sequence[Rules], learner: CategoryLearner) -> tuple[Allowed, Kinds]:
        """The labels, factors and kinds of all these rules together."""
        allowed = [self._allowed(rules) for rules in every]
        may = np.logical_and.reduce([self.current, *(entry.labels for entry in allowed)])
        factors = self._factors(sum(rules.tame for rules in every), learner)
        return Allowed(may, factors), [kind for entry in allowed for kind in entry.kinds]

    def _allowed(self, rules: Rules) -> AllowedByRules:
        """Look up rules: the last used come first, the least recently used are dropped."""
        cached = self._cached
        for place, entry in enumerate(cached):
            if entry.rules is rules or entry.rules == rules:
                if place:
                    self._cached = (entry, *cached[:place], *cached[place + 1 :])
                return entry
        labels, _, vocabulary, _ = self.of
        kinds = []
        for kind, most in rules.at_most.items():
            kinds.append((mask_of(labels, _narrower(vocabulary, [kind])), most))
        entry = AllowedByRules(rules, left_by(rules, labels, vocabulary), kinds)
        self._cached = (entry, *cached[: MOST_CACHED - 1])
        return entry

    def _factors(self, tame: float, learner: CategoryLearner) -> Floats | None:
        """The factor of the score of each label, by its count, which changes as the model
        learns.
        """
        if not tame or not len(self.current):
            return None
        counts = learner.all_label_counts()
        factors: Floats = ((1.0 + counts) / (1.0 + counts.mean())) ** -tame
        return factors
