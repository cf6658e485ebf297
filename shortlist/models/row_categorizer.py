"""A learner of categories alone, as a model: for data that are rows of features already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sklearn.base import clone

from shortlist.arrays.rows import Rows
from shortlist.categories.learner import CategoryLearner
from shortlist.concurrency.locks import snapshot
from shortlist.concurrency.prefetch import prefetch
from shortlist.errors import InputError
from shortlist.files.store import State, build
from shortlist.inputs.examples import Examples
from shortlist.models.category_model import CategoryModel
from shortlist.models.text_batches import LabelBatches
from shortlist.ranking import Explanation

if TYPE_CHECKING:
    from typing_extensions import Self


class RowCategorizer(CategoryModel):
    """Ranks labels of rows of features. Its file is that of its learner, and opens as the learner.

    Parameters
    ----------
    learner : any learner of categories.
    """

    def __init__(self, learner: CategoryLearner) -> None:
        self.learner = learner

    @classmethod
    def of(cls, learner: CategoryLearner) -> Self:
        """A learner that has learned, as a model."""
        model = cls(learner)
        model.learner_ = learner
        return model

    def new_learner(self) -> CategoryLearner:
        learner: CategoryLearner = clone(self.learner)
        return learner

    def fit_batches(self, batches: Iterable[Examples]) -> Self:
        labels, parts = LabelBatches(), []
        for batch in prefetch(batches):
            labels.add(batch.labels or [], len(batch))
            parts.append(self._rows(batch))
        if not parts:
            raise InputError("there are no examples to learn from")
        self.learner_ = self.new_learner()._fit_rows(Rows.stack(parts), labels.all())
        return self

    def learn_batches(self, batches: Iterable[Examples]) -> Self:
        self.check_can_learn()
        for batch in prefetch(batches):
            self.learner_._learn_rows(self._rows(batch), batch.labels)
        return self

    def explain_example(self, examples: Examples, n: int = 0) -> Explanation:
        row = self._rows(examples).block(n, n + 1)
        best = list(self.learner_._rank_rows(row, 1)[0])
        if not best:
            raise InputError("nothing is retrieved for this row: the model knows none of its features")
        return self.learner_._explain_row(row, best[0][0])

    def _rows(self, examples: Examples) -> Rows:
        if examples.rows is None:
            raise InputError("the model takes rows of features, and the data hold texts; train another model on them")
        return examples.rows

    def copy(self) -> Self:
        return self.of(build(self.to_state()))

    @snapshot
    def to_state(self) -> State:
        return self.learner_.to_state()
