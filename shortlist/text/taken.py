"""Texts that a TextVectorizer has taken up, and may have to give back because learning was stopped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist.arrays.rows import Rows
from shortlist.text.saving import SavedVectorizer
from shortlist.text.settings import Settings


class Taken(NamedTuple):
    """The rows of counts of some texts, and what is needed to give them back."""

    rows: Rows
    settings: Settings  # before
    n_features: int
    after: tuple[int, int]  # documents and features

    def give_back(self, vectorizer: SavedVectorizer, n_kept: int) -> None:
        """Forget all these texts but the first few, unless others have been taken up since."""
        weighting, vocabulary = vectorizer._weighting, vectorizer.vocabulary_
        if self.after != (weighting.m, vectorizer.n_features_):
            return
        kept, left = np.split(self.rows.indices, self.rows.indptr[[n_kept]])
        weighting.unlearn(self.rows.n_rows - n_kept, left)
        if self.settings.hashed is None:  # features are numbered by first appearance
            vectorizer.vocabulary_ = vocabulary.first(max(self.n_features, int(kept.max(initial=-1)) + 1))
        if n_kept == 0:
            vectorizer._settings = self.settings
