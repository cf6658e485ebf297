"""Which labels a model learns and ranks: its vocabulary, its retired labels and its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shortlist.data.label_input import Label, shown
from shortlist.data.labels import NumberedLabels
from shortlist.errors import InputError
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import Allowed
from shortlist.models.rules import Kinds, KnownRules, Rules
from shortlist.models.strikes import Strike


class LabelPolicy(NamedTuple):
    """What a model keeps to beside what it has learned. A changed policy is a new one."""

    vocabulary: LabelVocabulary | None = None  # names of the labels
    retired: tuple[Label, ...] = ()  # neither ranked nor learned
    rules: Rules | None = None  # of all rankings
    strikes: tuple[Strike, ...] = ()  # words that do not count

    def check(self, labels: NumberedLabels) -> None:
        """Refuse labels that must not be learned."""
        for label in labels.names if self.retired else ():
            if label in self.retired:
                raise InputError(
                    f"the label {shown(label)} was retired or merged; it is not learned any more"
                )
        if self.vocabulary is not None:
            self.vocabulary.check(labels.names)

    def rules_of(self, rules: Rules | None) -> list[Rules]:
        """The rules of a ranking: those of the model, and those given for it."""
        return [each for each in (self.rules, rules) if each]


class AllowedLabels:
    """The labels that a policy and rules allow. The last results are kept."""

    def __init__(self) -> None:
        self.known: KnownRules | None = None

    def __call__(
        self, learner: CategoryLearner, policy: LabelPolicy, rules: Sequence[Rules]
    ) -> tuple[Allowed, Kinds]:
        """Which labels may be ranked, and the kinds of labels that rules limit."""
        labels = learner.label_index_
        state = (labels, len(labels), policy.vocabulary, policy.retired)
        current = self.known
        if current is None or current.of != state:
            current = KnownRules(state)
            self.known = current
        return current.joined(rules, learner)
