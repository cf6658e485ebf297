"""The baseline of paper 004: every row gets the labels in order of their frequency in training."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.labels import LabelSets
from shortlist.data.rows import Rows
from shortlist.files.store import State
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import BIAS


class FrequencyBaseline(CategoryLearner):
    """Ranks the labels by how often they were seen, whatever the row. The score is the share of the
    examples.

    Attributes
    ----------
    classes_ : ndarray
        All labels, in order of first appearance.
    label_counts_ : ndarray
        In how many examples each label was seen.
    n_examples_, n_features_in_ : int
        How many examples were learned, and how many columns the widest had.
    feature_names_in_ : ndarray of str
        The names of the columns, where they have names.

    References
    ----------
    The baseline of Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009
    (paper 004).

    Examples
    --------
    >>> from shortlist import FrequencyBaseline
    >>> FrequencyBaseline().fit([[1.0], [2.0], [3.0]], ["a", "b", "b"]).predict([[1.0]]).tolist()
    ['b']
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"frequency": {}}

    def begin(self) -> None:
        """There is nothing to set, and the labels are counted for every learner."""

    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        """The labels are counted for every learner."""

    def _share(self) -> Floats:
        return self.label_counts_ / max(self.n_examples_, 1)

    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        share = self._share()
        best = np.argsort(-share, kind="stable")[: ids.shape[1]]
        ids[:, : best.size] = best
        scores[:, : best.size] = share[best]

    def all_scores(self, rows: Rows) -> Floats:
        return np.tile(self._share(), (rows.n_rows, 1))

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        return np.array([BIAS], dtype=np.int32), self._share()[[label]]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {}

    def from_arrays(self, state: State) -> None:
        """There is nothing but the labels and their counts."""
