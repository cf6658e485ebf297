"""RowCategorizer: a learner of categories and its confidence, for rows of features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.concurrency import learning, nothing_if_refused, prefetch, reading, snapshot
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.observers import FirstPass, StreamObserver
from shortlist.data.batch import RowBatch
from shortlist.data.label_input import Label, LabelsLike, class_list
from shortlist.data.labels import in_sorted_order, numbered
from shortlist.data.ranking import Explanation, Ranking
from shortlist.data.rows import MatrixLike, Rows
from shortlist.data.validation import Names, check_names, column_names, grown_names, note_names
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State, build
from shortlist.inputs.examples import Examples
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import BIAS
from shortlist.models.category_model import CategoryModel
from shortlist.models.text_batches import LabelBatches


class RowCategorizer(CategoryModel[MatrixLike]):
    """Learns from labelled rows of features, and ranks the labels of new ones: a ``Categorizer``
    without texts.

    Unlike a learner alone, it has probabilities. A feature that no example had has no votes, but
    counts for the length of a row.

    Parameters
    ----------
    learner : CategoryLearner or str, default=None
        Any learner of categories, or the short name of one, such as "mmp"; ``TunedIndex()`` if
        None.

    Attributes
    ----------
    learner_ : CategoryLearner
        The learner, once something was learned.
    classes_ : ndarray
        All labels: sorted by ``fit``, then in order of first appearance.

    References
    ----------
    Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004), for the
    usual learner.

    Examples
    --------
    >>> from shortlist import RowCategorizer
    >>> model = RowCategorizer().fit([[1, 0, 2], [0, 3, 0]], ["sun", "rain"])
    >>> model.rank([[2, 0, 1]], k=1).labels.tolist()
    [['sun']]
    """

    def __init__(self, learner: CategoryLearner | str | None = None) -> None:
        self.learner = learner

    @classmethod
    def of(cls, learner: CategoryLearner) -> Self:
        """A learner that has learned, as a model; it has no probabilities before it learns more."""
        model = cls(clone(learner))
        model.learner_ = learner
        return model

    # Learning.

    def fit(self, X: MatrixLike, Y: LabelsLike) -> Self:
        """Forget everything and learn these rows: shuffled, in as many passes as the learner is set
        to.
        """
        learner = self.new_learner()
        batch = RowBatch.of(X, Y)
        rows = learner.checked_signs(batch.rows)
        batch = RowBatch(rows, in_sorted_order(batch.labels))
        return self._fit(learner, batch, column_names(X))

    def _fit(self, learner: CategoryLearner, batch: RowBatch, names: Names | None) -> Self:
        first_pass = FirstPass(counts_unknown=True)
        learner.fit_batch(batch, names, first_pass)
        self.set_learned(learner_=learner, noted_confidence_=first_pass.confidence())
        return self

    @learning
    def partial_fit(
        self,
        X: MatrixLike,
        Y: LabelsLike,
        classes: Iterable[Label] | None = None,
        *,
        checked: bool = False,
    ) -> Self:
        """Learn more rows, once, in the order given. ``classes`` names labels that need not occur
        in Y; ``checked`` says that all rows are spot checks, as in ``Categorizer.learn``.
        """
        learner = self.learner_ if self.__sklearn_is_fitted__() else self.new_learner()
        learner.check_updatable()
        batch = RowBatch.of(X, Y)
        batch = batch._replace(rows=learner.checked_signs(batch.rows))
        is_new = not learner.__sklearn_is_fitted__()
        names = column_names(X) if is_new else grown_names(learner, X)
        learner.expect_labels([] if classes is None else class_list(classes))
        note_names(learner, names)
        with nothing_if_refused(self):
            self._learn(learner, batch, checked)
        return self

    @learning
    def _learn(self, learner: CategoryLearner, batch: RowBatch, checked: bool = False) -> None:
        confidence = self.noted_confidence_ or Confidence()
        self.set_learned(learner_=learner, noted_confidence_=confidence)
        observer = StreamObserver(confidence, counts_unknown=True, checked=checked)
        learner.learn_batch(batch, observer)

    def fit_batches(self, batches: Iterable[Examples]) -> Self:
        learner = self.new_learner()
        learner.reset()  # checks its settings
        labels = LabelBatches()
        parts = []
        names: list[str] | None = None
        for batch in prefetch(batches):
            labels.add(numbered(batch.labels or [], len(batch)))
            rows = learner.checked_signs(rows_in(batch), batch.row_called)
            learner.check_learnable(rows, batch.row_called)
            parts.append(rows)
            check_names(names, batch.feature_names)
            names = names or batch.feature_names
        if not parts:
            raise InputError("there are no examples to learn from")
        column_names = None if names is None else np.array(names, dtype=object)
        return self._fit(learner, RowBatch(Rows.stack(parts), labels.all()), column_names)

    def learn_batches(self, batches: Iterable[Examples], *, checked: bool = False) -> Self:
        self.check_can_learn()
        for batch in prefetch(batches):
            rows = self.inputs_of(batch)
            self.learner_.check_learnable(rows, batch.row_called)
            labels = numbered(batch.labels or [], len(batch))
            self._learn(self.learner_, RowBatch(rows, labels), checked)
        return self

    # Features.

    def inputs_of(self, examples: Examples) -> Rows:
        check_names(getattr(self.learner_, "feature_names_in_", None), examples.feature_names)
        rows: Rows = self.learner_.checked_signs(rows_in(examples), examples.row_called)
        return rows

    def rows_of(self, inputs: MatrixLike | Rows) -> Rows:
        return inputs if isinstance(inputs, Rows) else self.learner_.check_rows(inputs)

    def known_shares(self, inputs: MatrixLike | Rows) -> NDArray[np.float32]:
        return self.learner_.known_part(self.rows_of(inputs))[0]

    def has_known_features(self, inputs: MatrixLike | Rows) -> NDArray[np.bool_]:
        rows = self.rows_of(inputs)
        return (self.known_shares(rows) > 0) & (rows.lengths() > 0)

    def feature_names(self, columns: Sequence[int]) -> list[Any]:
        names: Sequence[Any] = getattr(self.learner_, "feature_names_in_", ())
        # later columns may have no names
        return [names[column] if column < len(names) else column for column in columns]

    # Answering.

    @reading
    def rank(self, X: MatrixLike, k: int = 5) -> Ranking:
        """The k best labels of each row, with probabilities."""
        self.check_fitted()
        return self.rank_under_rules(self.rows_of(X), k)

    @reading
    def explain(self, x: MatrixLike, label: Label) -> Explanation:
        """The votes of the columns of one row for a label, with their names if they have any.

        They sum to the label's score; the score before any vote is called "(any row)".
        """
        self.check_fitted()
        explanation = self.learner_.explain(x, label)
        columns = [voter for voter, _ in explanation.votes if isinstance(voter, int) and voter >= 0]
        names: dict[Label, Label] = dict(zip(columns, self.feature_names(columns), strict=True))
        names[BIAS] = "(any row)"
        votes = [(names.get(voter, voter), vote) for voter, vote in explanation.votes]
        return Explanation(explanation.label, explanation.score, votes)

    @property
    def n_features_in_(self) -> int:
        """How many columns the widest row had."""
        self.check_fitted()
        return int(self.learner_.n_features_in_)

    # Model files.

    @snapshot
    def to_state(self) -> State:
        self.check_fitted()
        parts = {"learner": self.learner_.to_state(), "confidence": self.confidence_.to_state()}
        return State("RowCategorizer", parts=parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        learner = build(state.parts["learner"])
        state.require(
            isinstance(learner, CategoryLearner), "its learner is a learner of categories"
        )
        model = cls.of(learner)
        model.noted_confidence_ = Confidence.from_state(state.parts["confidence"])
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.new_learner().nonnegative
        tags.classifier_tags.multi_label = True
        return tags


def rows_in(examples: Examples) -> Rows:
    """The rows of a batch, refused where it holds texts."""
    if examples.rows is None:
        raise InputError(
            "the model takes rows of features, and the data hold texts; train another model on them"
        )
    return examples.rows
