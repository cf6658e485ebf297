"""What a model of categories says of itself: its labels, and what speaks for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from numpy.typing import NDArray

from shortlist.compiled.kernels import Longs
from shortlist.data.label_input import Label
from shortlist.errors import InputError
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.models.policy import LabelPolicy


class DescribesLabels(ABC):
    """Names the labels of a model, and the features that speak for them."""

    learner_: CategoryLearner
    policy_: LabelPolicy
    check_fitted: Callable[[], None]

    @property
    @abstractmethod
    def vocabulary_(self) -> LabelVocabulary | None:
        """The names of the labels."""

    def describe(self) -> dict[str, Any]:
        learner = self.learner_
        facts: dict[str, Any] = {
            "learner": type(learner).__name__,
            "examples": learner.n_examples_,
            "labels": len(learner.label_counts_),
            "features": learner.n_features_in_,
        }
        if hasattr(learner, "n_edges_"):
            facts["edges"] = learner.n_edges_
        if self.policy_.strikes:
            facts["struck"] = [str(strike) for strike in self.policy_.strikes]
        return facts

    def feature_names(self, columns: Sequence[int]) -> list[Any]:
        """The names of the features in these columns."""
        return list(columns)

    def strongest(self, label: Label, n: int = 10) -> list[tuple[Any, float]]:
        """The n features that speak for a label the most, by weight and by how often they were
        seen; their weights.
        """
        self.check_index()
        return self._with_names(self.learner_.strongest(label, n))

    def check_index(self) -> None:
        """Refuse a learner whose features cannot be listed."""
        self.check_fitted()
        if not hasattr(self.learner_, "strongest"):
            raise InputError(
                f"{type(self.learner_).__name__} has no index whose connections could be shown"
            )

    def leaks(self, n: int = 10) -> list[tuple[Any, float]]:
        """The n features that occur with all labels and predict none, and the share of weight that
        they lose.
        """
        self.check_fitted()
        if not hasattr(self.learner_, "leaks"):
            return []
        return self._with_names(self.learner_.leaks(n))

    def _with_names(self, pairs: Sequence[tuple[int, float]]) -> list[tuple[Any, float]]:
        names = self.feature_names([column for column, _ in pairs])
        return [(name, weight) for name, (_, weight) in zip(names, pairs, strict=True)]

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, in order of first appearance."""
        self.check_fitted()
        return self.learner_.classes_

    @property
    def label_counts_(self) -> Longs:
        """How many examples each label was learned from, in the order of ``classes_``."""
        self.check_fitted()
        return self.learner_.label_counts_

    def name_of(self, label: Label) -> str:
        """What people call a label."""
        return str(label) if self.vocabulary_ is None else self.vocabulary_.name(label)

    def knows_label(self, label: object) -> bool:
        """Whether the label was learned."""
        n_learned = self.label_counts_.size
        if not isinstance(label, Hashable):
            return False
        number: int | None = self.learner_.label_index_.number.get(label)  # type: ignore[call-overload]
        return number is not None and number < n_learned
