"""The baseline of paper 004: every row gets the labels in order of their frequency in training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.categories.learner import BIAS, CategoryLearner
from shortlist.door import Rows
from shortlist.kernels import Floats, Ints, Longs
from shortlist.labels import LabelSets
from shortlist.store import State


class FrequencyBaseline(CategoryLearner):
    """Ranks the labels by how often they were seen, whatever the row. The score is the share of the examples."""

    def _begin(self) -> None:
        self._n_examples = 0

    def _learn(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self._n_examples += rows.n_rows

    def _share(self) -> Floats:
        return self.label_counts_ / max(self._n_examples, 1)

    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        share = self._share()
        best = np.argsort(-share, kind="stable")[: ids.shape[1]]
        ids[:, : best.size] = best
        scores[:, : best.size] = share[best]

    def _scores(self, rows: Rows) -> Floats:
        return np.tile(self._share(), (rows.n_rows, 1))

    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        return np.array([BIAS], dtype=np.int32), self._share()[[label]]

    def _to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"n_examples": np.array([self._n_examples], dtype=np.int64)}

    def _from_arrays(self, state: State) -> None:
        self._n_examples = int(state.array("n_examples", np.int64)[0])
