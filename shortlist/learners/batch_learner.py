"""How a learner learns and ranks checked batches: the steps of the port (port.py) put together.

Models call ``fit_batch``, ``learn_batch``, ``rank_rows`` and ``explain_row``; what users call is in
category_learner.py.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist import concurrency
from shortlist.compiled.kernels import Longs, count_up
from shortlist.concurrency import nothing_if_refused, runs, stop_here
from shortlist.data.batch import RowBatch
from shortlist.data.label_input import (
    Columns,
    Label,
    joined_columns,
)
from shortlist.data.labels import LabelIndex, LabelSets, NumberedLabels
from shortlist.data.rows import Rows, RowStore, grown
from shortlist.data.validation import (
    Names,
    as_seed,
    as_whole,
    note_names,
)
from shortlist.errors import InputError
from shortlist.learners.port import KnowsColumns, Observer, RankedAhead
from shortlist.learners.row_ranker import RowRanker


class BatchLearner(RowRanker):
    """Learns batches that were checked before."""

    in_stream_ = False  # whether examples are learned once, as they come

    # Learning.

    def expect_labels(self, labels: list[list[Label]]) -> None:
        """Number these labels, each in a list of its own, before any example of them is seen."""
        self.check_updatable()
        if not self.__sklearn_is_fitted__():
            self.reset()
        if labels:
            self.label_index_.learn(labels, len(labels))
            self.labels_expected()

    def fit_batch(
        self, batch: RowBatch, names: Names | None = None, observer: Observer | None = None
    ) -> Self:
        """``fit`` on a checked batch, whose columns have these names."""
        state_before = dict(self.__dict__)  # fitting makes new arrays
        try:
            self.reset()
            for _ in self.learn_passes(batch, observer):
                pass
            note_names(self, names)
        except BaseException:
            self.__dict__ = state_before
            raise
        return self

    def learn_passes(self, batch: RowBatch, observer: Observer | None = None) -> Iterator[int]:
        """Learn more rows as ``fit`` does, several times and shuffled, without forgetting.

        Yields the number of each pass that is done; the observer is told of the first.
        """
        rows = batch.rows
        labels = batch.labels
        if rows.n_rows == 0:
            raise InputError(
                "there are no rows to learn from: found 0 samples where at least 1 is needed"
            )
        if not self.__sklearn_is_fitted__():
            self.reset()
        self.check_judged(labels)
        self.check_learnable(rows)
        label_sets = self._take_up(rows, labels, shuffled=True)
        passes = self.passes_through(rows.n_rows, label_sets.n_labels)
        if isinstance(rows, Rows):
            rows = self.prepare(rows)
        generator = None
        seed = as_seed(getattr(self, "random_state", None))
        if seed is not None:
            generator = np.random.default_rng(seed)
        for n_pass in range(passes):
            order = np.arange(rows.n_rows, dtype=np.int64)
            if generator is not None:
                order = generator.permutation(order)
            if n_pass == 0:
                self._learn_observed(rows, label_sets, order, observer)
            else:
                self.update(rows, label_sets, order, False)  # type: ignore[arg-type]
            yield n_pass + 1

    def passes_through(self, n_rows: int, n_labels: int = 0) -> int:
        """The number of passes of ``fit`` through that many rows with so many labels in all."""
        return as_whole(getattr(self, "passes", 1), "passes", least=1)

    def learn_batch(self, batch: RowBatch, observer: Observer | None = None) -> Self:
        """``partial_fit`` of a checked batch."""
        self.check_updatable()
        self.check_judged(batch.labels)
        with nothing_if_refused(self):
            if not self.__sklearn_is_fitted__():
                self.reset()
            self.check_learnable(batch.rows)
            self.in_stream_ = True
            try:
                prepared = self.prepare(batch.rows)  # type: ignore[arg-type]
                for rows, labels in portions(prepared, batch.labels):
                    label_sets = self._take_up(rows, labels)
                    order = np.arange(rows.n_rows, dtype=np.int64)
                    self._learn_observed(rows, label_sets, order, observer, batch.unmarked)
                    stop_here()
            finally:
                del self.in_stream_
        return self

    def _learn_observed(
        self,
        rows: Any,
        labels: LabelSets,
        order: Longs,
        observer: Observer | None,
        unmarked: Rows | None = None,
    ) -> None:
        """Learn examples for the first time, in the stretches that an observer wants; rank
        ``unmarked`` rows in place of rows with marks.
        """
        if observer is None or not self.takes_pieces:
            self.update(rows, labels, order, True)
            return
        for first, last, ranked in observer.plan(self, labels, order):
            which = order[ranked]
            if which.size == 0:
                self.update(rows, labels, order[first:last], True)
                continue
            rank = self.rank_ahead if unmarked is None else self.rank_unlearned
            ranked_rows = rows if unmarked is None else unmarked
            rankings = rank(ranked_rows, which, observer.depth, observer.counts_unknown)
            self.update(rows, labels, order[first:last], True)
            observer.note(rankings, labels.chosen(which))
        observer.finish(self, rows, labels, order)

    def rank_ahead(
        self, rows: Rows | RowStore, which: Longs, k: int, counts_unknown: bool = False
    ) -> RankedAhead:
        """Rankings of rows that the next ``update`` learns.

        A learner that ``ranks_while_learning`` fills the arrays in that ``update``.
        """
        return self.rank_unlearned(rows, which, k, counts_unknown)

    def rank_unlearned(
        self, rows: Rows | RowStore, which: Longs, k: int, counts_unknown: bool = False
    ) -> RankedAhead:
        """Rankings of rows that are not learned yet, without the features that no example had.

        With ``counts_unknown`` these count for the length of a row.
        """
        chosen = rows.take(which) if isinstance(rows, Rows) else rows.chosen(which)
        known_shares, known_rows = self.known_part(chosen)
        ranking = self.rank_rows(chosen if counts_unknown else known_rows, k)
        return RankedAhead(ranking.ids, ranking.scores, known_shares)

    def known_part(self, rows: Rows) -> tuple[NDArray[np.float32], Rows]:
        """The share of the features of each row that earlier examples had, and the rows without
        the other features.

        The share is 1 for empty rows, and where the learner cannot tell.
        """
        shares = np.ones(rows.n_rows, dtype=np.float32)
        if not isinstance(self, KnowsColumns):
            return shares, rows
        is_known = self.has_seen(rows.indices)
        if is_known.all():
            return shares, rows
        known_rows = rows.only(is_known)
        lengths = rows.lengths()
        np.divide(known_rows.lengths(), lengths, out=shares, where=lengths > 0, casting="same_kind")
        return shares, known_rows

    def reset(self) -> None:
        """Forget everything learned."""
        self.n_threads()  # checks n_jobs
        as_seed(getattr(self, "random_state", None))
        self.begin()
        self.label_index_ = LabelIndex()
        self.counts_by_label_ = np.zeros(0, dtype=np.int64)
        self.label_columns_ = None
        self.n_examples_ = 0
        self.n_features_in_ = 0
        note_names(self, None)

    def _take_up(
        self, rows: Rows | RowStore, labels: NumberedLabels, shuffled: bool = False
    ) -> LabelSets:
        """Number the labels of some rows, and count labels and rows."""
        self._take_up_columns(labels.columns)
        label_sets = self.label_index_.learn_right(labels, rows.n_rows, shuffled)
        self.counts_by_label_ = grown(self.counts_by_label_, len(self.label_index_))
        count_up(label_sets.ids, self.counts_by_label_)
        self.n_examples_ += rows.n_rows
        self.n_features_in_ = max(self.n_features_in_, rows.n_features)
        return label_sets

    def _take_up_columns(self, columns: Columns | None) -> None:
        """Number the labels of an indicator matrix in the order of its columns, whether they
        occur or not.
        """
        columns_before = columns if self.n_examples_ == 0 else self.label_columns_
        joined = joined_columns(columns_before, columns)
        if joined is not None and len(joined) > len(self.label_columns_ or ()):
            self.label_index_.learn([[column] for column in joined], len(joined))
            self.labels_expected()
        self.label_columns_ = joined

    # Changes of labels. Each gives a changed copy; the learner itself stays as it was.

    def with_label_renamed(self, old: Label, new: Label) -> Self:
        """A copy with another name for a label."""
        names = list(self.label_index_.names)
        names[self.label_index_.find(old)] = new
        changed = copy.copy(self)
        changed.label_index_ = LabelIndex(names)
        changed.label_columns_ = None
        return changed

    def with_labels_merged(self, labels: Sequence[Label], into: Label) -> Self:
        """A copy with the weights of several labels added to those of one of them.

        A merged label keeps its number, without weights, so that numbers held elsewhere stay valid.
        """
        raise InputError(f"{type(self).__name__} keeps no sums that could be merged; train it anew")

    def with_label_split(self, label: Label, new: Label) -> Self:
        """A copy with a new label, which begins with the weights of another one."""
        raise InputError(
            f"{type(self).__name__} has no index from which a label could be split off"
        )

    def without_recent_examples(self, labels: Sequence[Label]) -> Self:
        """A copy that will not learn examples of these labels again."""
        return self

    # Checks.

    def check_judged(self, labels: NumberedLabels) -> None:
        """Refuse partial judgements if the learner cannot leave labels alone."""
        if labels.sets.partial.complete.size and not self.takes_partial:
            raise InputError(
                f"{type(self).__name__} learns only from complete judgements, not from some labels "
                "of an example; use TunedIndex, MMP or TopicPerceptron"
            )

    def check_updatable(self) -> None:
        """Refuse to go on learning if the learner has ``fit`` only."""
        if not self.updatable:
            raise InputError(
                f"a {type(self).__name__} learns all its examples at once and cannot go on; use fit"
            )


def portions(rows: Rows, labels: NumberedLabels) -> Iterator[tuple[Rows, NumberedLabels]]:
    """The rows and their labels in runs, which share memory with them."""
    if rows.n_rows <= concurrency.RUN:
        yield rows, labels
        return
    for run in runs(rows.n_rows):
        indptr = rows.indptr[run.start : run.stop + 1]
        inside = slice(indptr[0], indptr[-1])
        indices = rows.indices[inside]
        width = rows.n_features
        if run.stop < rows.n_rows:  # of this run alone, since learning may stop after it
            width = int(indices.max(initial=-1)) + 1
        yield Rows(indptr - indptr[0], indices, rows.data[inside], width), labels[run]
