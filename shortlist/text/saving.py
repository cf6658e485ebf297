"""A TextVectorizer <-> the state that a model file holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from shortlist.arrays.kernels import Longs
from shortlist.arrays.narrow import narrowed, widened
from shortlist.arrays.validation import MOST_AMOUNT
from shortlist.concurrency.locks import Shared, snapshot
from shortlist.errors import ModelFileError
from shortlist.files.later import Later
from shortlist.files.store import State
from shortlist.text.settings import Settings
from shortlist.text.weighting import Counts, Weighting
from shortlist.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing_extensions import Self

NO_COUNTS: Counts = np.zeros(0, dtype=np.uint32)


class SavedVectorizer(Shared, BaseEstimator, ABC):
    """Base class: can be saved."""

    hashed: int | None
    vocabulary_: Vocabulary
    _settings: Settings
    _weighting: Weighting

    @property
    @abstractmethod
    def n_features_(self) -> int:
        """How many columns there are."""

    @abstractmethod
    def _begin(self) -> None:
        """Check the parameters, and forget everything."""

    @snapshot
    def to_state(self) -> State:
        """What a model file keeps."""
        check_is_fitted(self, "vocabulary_")
        arrays: dict[str, Any] = self.vocabulary_.arrays()
        weighting, n_features, counts = self._weighting, self.n_features_, NO_COUNTS
        if weighting.needs_counts:
            weighting.make_room(n_features)
            counts = weighting.u[:n_features].copy()  # others may go on counting
            arrays["document_counts"] = Later(np.dtype(np.int64), counts.size, lambda: iter([counts.astype(np.int64)]))

        def compact() -> dict[str, NDArray[Any]]:
            narrow = {"document_counts": narrowed(counts)} if "document_counts" in arrays else {}
            return self.vocabulary_.compact_arrays() | narrow

        return State("TextVectorizer", {**self._settings.saved(), "documents": weighting.m}, arrays, compact=compact)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The vectorizer that a state describes, or ModelFileError."""
        settings = dict(state.settings)
        m = settings.pop("documents")
        vectorizer = cls(**settings)
        vectorizer._begin()
        vectorizer.vocabulary_ = Vocabulary.from_state(state)
        known = len(vectorizer.vocabulary_)
        state.require(vectorizer.hashed is None or known == 0, "hashed columns have no vocabulary")
        u = np.empty(0, dtype=np.int64)
        if vectorizer._weighting.needs_counts:
            u = _counts(state, vectorizer.n_features_)
        state.require(isinstance(m, int) and 0 <= m <= MOST_AMOUNT, "documents is a count")
        state.require(u.size == 0 or (u.min() >= 0 and u.max() <= m), "no feature is in more documents than there are")
        vectorizer._weighting.restore(m, u)
        return vectorizer


def _counts(state: State, n_features: int) -> Longs:
    """In how many documents each feature was; a compact file has that narrow."""
    if state.arrays["document_counts"].dtype == np.uint8:
        counts = widened(state.array("document_counts", np.uint8), n_features)
    else:
        counts = np.array(state.array("document_counts", np.int64))
    if counts is None or counts.size != n_features:
        raise ModelFileError("the TextVectorizer in the model file is damaged: every column has a count of documents")
    return counts
