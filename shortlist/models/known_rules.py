"""What rules leave of a model's labels, worked out once for each of the last rules that somebody asked by.

A model's saved rules may name ten thousand labels. They are worked out with the first ranking; the rules of a request
are joined with them by one look at each label, whether it may stay by both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.given_labels import Label
from shortlist.arrays.kernels import Floats
from shortlist.categories.allowed import Allowed
from shortlist.categories.learner import CategoryLearner
from shortlist.concepts.vocabulary import LabelVocabulary
from shortlist.labels import LabelIndex
from shortlist.models.rules import Kinds, Rules, factors_by, kinds_of, left_by, mask_of, offsets_by

LAST = 16  # rules that are kept at hand
Of = tuple[LabelIndex, int, LabelVocabulary | None, tuple[Label, ...]]


class Known(NamedTuple):
    """Rules, the labels that they leave, and the kinds that they limit."""

    rules: Rules
    labels: NDArray[np.bool_]
    kinds: Kinds


class KnownRules:
    """The last rules for these labels, so many of them, with this vocabulary and these labels retired.

    Several threads may ask at a time: whatever is kept is replaced as a whole.
    """

    def __init__(self, of: Of) -> None:
        self.of = of
        labels, _, _, retired = of
        self.current = ~mask_of(labels, retired)  # not retired
        self.known: tuple[Known, ...] = ()
        self.counted: tuple[tuple[float, float, int], tuple[Floats | None, Floats | None]] | None = None

    def joined(self, every: Sequence[Rules], learner: CategoryLearner) -> tuple[Allowed, Kinds]:
        """What all of these rules leave together."""
        known = [self._known(rules) for rules in every]
        may = np.logical_and.reduce([self.current, *(one.labels for one in known)])
        by_counts = self._by_counts(sum(rules.prior for rules in every), sum(rules.tame for rules in every), learner)
        return Allowed(may, *by_counts), [kind for one in known for kind in one.kinds]

    def _known(self, rules: Rules) -> Known:
        """The one asked last comes first; the one not asked for longest goes."""
        for place, one in enumerate(self.known):
            if one.rules is rules or one.rules == rules:
                self.known = (one, *self.known[:place], *self.known[place + 1 :]) if place else self.known
                return one
        labels, _, vocabulary, _ = self.of
        new = Known(rules, left_by(rules, labels, vocabulary), kinds_of(rules, labels, vocabulary))
        self.known = (new, *self.known[: LAST - 1])
        return new

    def _by_counts(self, prior: float, tame: float, learner: CategoryLearner) -> tuple[Floats | None, Floats | None]:
        """What is added to each label, and what it is multiplied by: by counts, which change as the model learns."""
        if not (prior or tame) or not len(self.current):
            return None, None
        key = prior, tame, learner.n_examples_
        if self.counted is None or self.counted[0] != key:
            offsets = offsets_by(prior, learner) if prior else None
            self.counted = key, (offsets, factors_by(tame, learner) if tame else None)
        return self.counted[1]
