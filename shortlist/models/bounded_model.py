"""A model of texts that keeps within a bound on its memory, where it has one (memory.py)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from shortlist.arrays.given_labels import LabelsLike
from shortlist.categories.learner import CategoryLearner
from shortlist.concurrency.prefetch import prefetch
from shortlist.errors import InputError
from shortlist.labels import NumberedLabels
from shortlist.models.memory import Bound
from shortlist.models.observing import FirstPass
from shortlist.models.relabelling import RelabellingModel
from shortlist.text.vectorizer import TextVectorizer
from shortlist.texts import blocks
from shortlist.texts.fields import Document


class BoundedModel(RelabellingModel):
    """Base class: has a bound on its memory if ``max_memory`` says so."""

    max_memory: str | int | None
    _bound_now: Bound | None = None

    @abstractmethod
    def _checked(self, texts: Sequence[Document], Y: LabelsLike) -> NumberedLabels:
        """The labels; what is bad is refused before anything is learned from any text."""

    def _bound(self, text: TextVectorizer, learner: CategoryLearner) -> Bound | None:
        """The bound on the memory of these parts, as long as it is the same."""
        if self.max_memory is None:
            return None
        now = self._bound_now
        same = now is not None and now.given == self.max_memory and now.learner is learner
        return now if same else Bound(self.max_memory, text, learner, now)

    def _fit_within(
        self, bound: Bound, batches: Iterable[tuple[Sequence[Document], LabelsLike]], honest: FirstPass
    ) -> None:
        """Learn in windows of as many texts as there is room for; where one holds all, as if there were no bound."""
        checked = ((texts, self._checked(texts, labels)) for texts, labels in prefetch(batches))
        small = ((texts[block], labels[block]) for texts, labels in checked for block in blocks(texts))
        apart = ((*self._apart(texts, bound.learner), labels) for texts, labels in small)
        for rows, labels in bound.windows(apart):
            for _ in bound.learner._learn_passes(rows, labels, honest):
                pass
            honest.follow_level()
            bound.keep()
        if bound.learner.n_examples_ == 0:
            raise InputError("there are no texts to learn from")

    @property
    def forgotten_(self) -> dict[str, int]:
        """How many words and edges have made room to keep within ``max_memory``, since fit or since it was opened."""
        bound = self._bound_now
        return {"words": bound.words_forgotten if bound else 0, "edges": getattr(self.learner_, "edges_dropped_", 0)}
