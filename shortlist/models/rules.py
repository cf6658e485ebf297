"""Rules for rankings: only these labels, all but those, those below a concept, at most so many of a
kind.

The result is the ranking of all labels without those that a rule forbids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import repeat
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
DEEPER = 4  # factor of the depth if a kind has too many labels


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
            given = getattr(self, name)
            if isinstance(given, (str, int, float)):
                given = (given,)
            if given is not None:
                object.__setattr__(self, name, tuple(given))
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
        most = {
            kind: min(n for n in (self.at_most.get(kind), other.at_most.get(kind)) if n is not None)
            for kind in {**self.at_most, **other.at_most}
        }
        below = other.below if self.below is None else self.below
        tame = min(max(self.tame + other.tame, -MOST_POWER), MOST_POWER)
        return Rules(only, (*self.but, *other.but), below, most, tame)

    def to_dict(self) -> dict[str, Any]:
        """The rules for JSON, without defaults."""
        every = {one.name: getattr(self, one.name) for one in fields(self)}
        found = {name: value for name, value in every.items() if value != getattr(Rules(), name)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
        }


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
        found = rank(min(depth, n_labels))
        kept = np.zeros(found.ids.shape, dtype=np.bool_)
        for row, ids in enumerate(found.ids):
            kept[row] = _first_of_kinds(ids, k, kinds)
        enough = (kept.sum(axis=1) >= k) | (found.ids[:, -1] < 0)
        if enough.all() or depth >= n_labels:
            break
        depth *= DEEPER
    ids, scores = np.full((len(kept), k), -1, dtype=np.int32), np.full((len(kept), k), np.nan)
    for row, of_row in enumerate(kept):
        n = int(of_row.sum())
        ids[row, :n], scores[row, :n] = found.ids[row, of_row], found.scores[row, of_row]
    return Ranking(ids, scores, found.label_names)


def _first_of_kinds(ids: NDArray[np.int32], k: int, kinds: Kinds) -> NDArray[np.bool_]:
    kept, left, n = np.zeros(ids.size, dtype=np.bool_), [most for _, most in kinds], 0
    for place, label in enumerate(ids.tolist()):
        if label < 0 or n == k:
            break
        kinds_of_label = [j for j, (mask, _) in enumerate(kinds) if mask[label]]
        if all(left[j] > 0 for j in kinds_of_label):
            kept[place] = True
            n += 1
            for j in kinds_of_label:
                left[j] -= 1
    return kept


def _narrower(vocabulary: LabelVocabulary | None, labels: Labels) -> set[str]:
    """The labels and all narrower ones; without a vocabulary there are none."""
    if vocabulary is None:
        return {str(label) for label in labels}
    known = (
        label if vocabulary.get(label) else vocabulary.of_name(str(label)) or label
        for label in labels
    )
    return set().union(*map(vocabulary.subtree, known))


def _numbers(
    labels: LabelIndex, wanted: Labels, vocabulary: LabelVocabulary | None = None
) -> Longs:
    """The numbers of labels, found as such, by their text (7 and "7" are the same) or by their
    names in the vocabulary.

    Labels that were never learned have no number.
    """
    asked = list(wanted)
    texts = [str(label) for label in asked if not isinstance(label, str)]
    given = (text for text in (*texts, *asked) if isinstance(text, str))
    whole = [
        int(text) for text in given if text.isascii() and text.isdigit() and len(text) < DIGITS
    ]
    every = [*asked, *texts, *whole]
    found = np.fromiter(map(labels.number.get, every, repeat(-1)), dtype=np.int64, count=len(every))
    if vocabulary is not None and found.min(initial=0) < 0:
        named = (vocabulary.of_name(str(every[i])) for i in np.flatnonzero(found < 0).tolist())
        more = [labels.number.get(label, -1) for label in named if label is not None]
        found = np.append(found, np.array(more, dtype=np.int64))
    return found[found >= 0]


def mask_of(
    labels: LabelIndex, wanted: Labels, vocabulary: LabelVocabulary | None = None
) -> NDArray[np.bool_]:
    """Which labels are wanted."""
    mask = np.zeros(len(labels), dtype=np.bool_)
    mask[_numbers(labels, wanted, vocabulary)] = True
    return mask


# The labels that rules allow, cached for the last rules.


LAST = 16  # rules in the cache
Of = tuple[LabelIndex, int, LabelVocabulary | None, tuple[Label, ...]]


class Known(NamedTuple):
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
        self.known: tuple[Known, ...] = ()

    def joined(self, every: Sequence[Rules], learner: CategoryLearner) -> tuple[Allowed, Kinds]:
        """The labels, factors and kinds of all these rules together."""
        known = [self._known(rules) for rules in every]
        may = np.logical_and.reduce([self.current, *(one.labels for one in known)])
        factors = self._factors(sum(rules.tame for rules in every), learner)
        return Allowed(may, factors), [kind for one in known for kind in one.kinds]

    def _known(self, rules: Rules) -> Known:
        """Look up rules: the last used come first, the least recently used are dropped."""
        for place, one in enumerate(self.known):
            if one.rules is rules or one.rules == rules:
                self.known = (
                    (one, *self.known[:place], *self.known[place + 1 :]) if place else self.known
                )
                return one
        labels, _, vocabulary, _ = self.of
        kinds = [
            (mask_of(labels, _narrower(vocabulary, [kind])), most)
            for kind, most in rules.at_most.items()
        ]
        new = Known(rules, left_by(rules, labels, vocabulary), kinds)
        self.known = (new, *self.known[: LAST - 1])
        return new

    def _factors(self, tame: float, learner: CategoryLearner) -> Floats | None:
        """The factor of the score of each label, by its count, which changes as the model
        learns.
        """
        if not tame or not len(self.current):
            return None
        counts = learner.all_label_counts()
        factors: Floats = ((1.0 + counts) / (1.0 + counts.mean())) ** -tame
        return factors
