"""What all learners of prototypes share: they rank, score and explain by them."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from shortlist.arrays.kernels import Floats, Ints
from shortlist.arrays.rows import MatrixLike, Rows
from shortlist.categories.learner import CategoryLearner
from shortlist.categories.prototypes.weights import Prototypes, all_scores, rank, votes_for
from shortlist.categories.scratch import make_scratch
from shortlist.concurrency.locks import reading


class PrototypeLearner(CategoryLearner):
    """A learner that ranks labels by their prototypes; it says which in ``_hypothesis``."""

    @abstractmethod
    def _hypothesis(self) -> Prototypes:
        """What a learner defines itself."""

    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        rank(rows, self._hypothesis(), make_scratch(len(self._labels)), ids, scores)

    def _scores(self, rows: Rows) -> Floats:
        found = np.empty((rows.n_rows, len(self._labels)))
        all_scores(rows, self._hypothesis(), make_scratch(len(self._labels)), found)
        return found

    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        votes = np.zeros(row.indices.size)
        votes_for(row, self._hypothesis(), label, votes)
        return row.indices[votes != 0], votes[votes != 0]

    @reading
    def edges_touched(self, X: MatrixLike) -> float:
        """d of paper 004: the mean number of labels whose weights each active feature of some rows brings in."""
        rows, listed = self._prepare(self._check(X)), self._hypothesis().length
        return float(listed[rows.indices[rows.indices < listed.size]].sum()) / max(rows.indices.size, 1)

    @property
    @reading
    def n_weights_(self) -> int:
        """How many weights the prototypes hold, the shared ones counted once."""
        return self._hypothesis().n_weights
