"""Models of texts that decide: for one text or many, with vectors beside them or without."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from shortlist.inputs.examples import Examples
from shortlist.models.confidence import Aim
from shortlist.models.deciding import Assigned, DecidingModel
from shortlist.models.encoding import with_vectors
from shortlist.models.text_batches import texts_of
from shortlist.ranking import Ranking
from shortlist.texts.fields import Document, as_documents, is_one, many


class TextDecider(DecidingModel[Sequence[Document]]):
    """Base class: decides about texts."""

    def shortlist(
        self,
        texts: Document | Sequence[Document],
        coverage: float = 0.95,
        by: str = "example",
        *,
        vectors: ArrayLike | None = None,
    ) -> Ranking | list[Ranking]:
        """For each text a ranking that is as long as it must be; for one text, one.

        by="example" : all true labels of a text are listed, for this share of all texts.
        by="wrong" : of all labels listed, this share is right. A list may be empty.

        No list is longer than 100 labels; where that is too short for the promise, a warning says so. Until enough
        examples have been learned one by one or fitted, nothing can be promised: lists hold all, by="wrong" none.
        """
        found = self._cut(_many(texts, vectors), coverage, by)
        return found[0] if is_one(texts) else found

    def assign(
        self,
        texts: Document | Sequence[Document],
        aim: str | Aim = "f1",
        *,
        precision: float | None = None,
        costs: tuple[float, float] | None = None,
        vectors: ArrayLike | None = None,
    ) -> Assigned | list[Assigned]:
        """For each text its labels, none where nothing is sure enough; the list's ``reason`` says why.

        Labels are chosen for an aim: "f1" (over all labels together), "f1-macro" (its mean over labels), "f1-example"
        (over texts); or so that a share of ``precision`` of them is right; or by the costs of a wrong and of a missing
        label. Where each text that was learned has one label, none gets more.
        """
        wanted = self.aim(aim, precision, costs)
        found = self._assigned(_many(texts, vectors), wanted)
        return found[0] if is_one(texts) else found

    def _given_in(self, examples: Examples) -> Sequence[Document]:
        return as_documents(texts_of(examples))


def _many(texts: Document | Sequence[Document], vectors: ArrayLike | None) -> Sequence[Document]:
    return many(texts) if vectors is None else with_vectors(many(texts), vectors)
