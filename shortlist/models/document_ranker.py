"""DocumentRanker: scaling within each query, and a ranker of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike

from shortlist.compiled.kernels import Floats
from shortlist.concurrency import reading, snapshot
from shortlist.data.ranking import Explanation
from shortlist.data.rows import MatrixLike, Rows
from shortlist.data.validation import (
    MOST_AMOUNT,
    Names,
    as_choice,
    as_rows,
    as_whole,
    check_columns,
    column_names,
    note_names,
)
from shortlist.errors import InputError, counted
from shortlist.estimators import clone
from shortlist.files.store import State, build
from shortlist.inputs.examples import Examples
from shortlist.learners.documents.linear_ranker import LinearRanker
from shortlist.learners.documents.queries import (
    METHODS,
    QueryRanking,
    as_queries,
    scaled_within_queries,
)
from shortlist.measures import evaluate_documents
from shortlist.models.model import Model, Report, ReportTable, finite_or_none

# The scores of some documents, how relevant they are, and the query that each answers.
JudgedDocuments: TypeAlias = tuple[Floats, Floats, list[str]]


class RankedDocuments:
    """The documents of some queries, best first."""

    def __init__(self, ranking: QueryRanking, ids: Sequence[str] | None) -> None:
        self.ranking = ranking
        self.ids = ids

    def lines(self) -> Iterator[str]:
        """A TREC run: query Q0 document rank score tag."""
        return self.ranking.run_lines(self.ids)

    def records(self) -> Iterator[dict[str, Any]]:
        for name, order, scores in self.ranking:
            documents = [self.ids[row] if self.ids else row for row in order.tolist()]
            yield {"query": str(name), "documents": documents, "scores": scores.tolist()}


class DocumentRanker(Model[JudgedDocuments]):
    """Learns from judged documents of queries, and orders the documents of others.

    Retrieval scores of different queries are seldom comparable, so each feature is scaled to [0, 1]
    within its query.

    Parameters
    ----------
    learner : LinearRanker or str, default=None
        Any ranker of documents, or the short name of one, such as "ndcg"; ``MapSVM()`` if None.
    scale : {"range", "percentile"} or None, default="range"
        How each feature is scaled to [0, 1] within its query: from the least to the greatest value,
        or by the share of the query's other documents that have less. None for no scaling.

    Attributes
    ----------
    learner_ : LinearRanker
        The ranker, once it has learned.
    n_examples_, n_queries_ : int
        How many documents and queries it learned from.

    References
    ----------
    Yue, Finley, Radlinski and Joachims, "A support vector method for optimizing average precision",
    SIGIR 2007 (paper 003).

    Examples
    --------
    >>> from shortlist import DocumentRanker
    >>> X, relevance, query = [[1.0], [0.0], [3.0], [2.0]], [1, 0, 1, 0], [1, 1, 2, 2]
    >>> model = DocumentRanker().fit(X, relevance, query)
    >>> [rows.tolist() for _, rows, _ in model.rank([[2.0], [5.0]], [3, 3])]
    [[1, 0]]
    """

    task = "documents"
    default_measures = ("MAP", "nDCG@10", "MRR", "P@10")
    detail_kind = "query"
    learner_: LinearRanker

    # With scikit-learn's metadata routing enabled, `query` finds its way through Pipeline and
    # GridSearchCV.
    __metadata_request__fit = {"query": True}  # noqa: RUF012
    __metadata_request__score = {"query": True, "sample_weight": None}  # noqa: RUF012

    def __init__(
        self, learner: LinearRanker | str | None = None, scale: str | None = "range"
    ) -> None:
        self.learner = learner
        self.scale = scale

    # Learning.

    def fit(self, X: MatrixLike, relevance: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Forget everything and learn from rows X, their relevance and the query that each
        answers.
        """
        rows = as_rows(X)
        names = column_names(X)
        n_queries = len(as_queries(query, rows.n_rows))
        learner = self.new_learner()
        learner.fit(self.scaled(rows, query), relevance, query=query)
        note_names(learner, names)
        self.set_learned(
            learner_=learner,
            n_examples_=rows.n_rows,
            n_queries_=n_queries,
            n_features_in_=rows.n_features,
        )
        return self

    def fit_batches(self, batches: Iterable[Examples]) -> Self:
        """``fit`` from batches of judged documents, all of which are kept."""
        rows, query, relevance, _ = _gathered(batches)
        return self.fit(rows, relevance, query)

    def learn_batches(self, batches: Iterable[Examples]) -> Self:
        """Refused: a structural SVM learns from all documents at once."""
        self.check_fitted()
        raise InputError(
            f"{type(self.learner_).__name__} learns from all documents at once; train it anew"
        )

    # Ranking.

    @reading
    def rank(self, X: MatrixLike, query: ArrayLike | None = None) -> QueryRanking:
        """The rows of each query, best first."""
        scores = self.decision_function(X, query)
        return QueryRanking(as_queries(query, scores.size), scores)

    @reading
    def decision_function(self, X: MatrixLike, query: ArrayLike | None = None) -> Floats:
        """The score of each row among those of its query."""
        scaled = self._as_learned(X, query)
        return self.learner_.decision_function(scaled)

    @reading
    def score(self, X: MatrixLike, y: ArrayLike, query: ArrayLike | None = None) -> float:
        """The measure that the learner optimises, averaged over the queries for which it is
        defined.
        """
        scaled = self._as_learned(X, query)
        return self.learner_.score(scaled, y, query=query)

    @reading
    def explain(self, X: MatrixLike, row: int, query: ArrayLike | None = None) -> Explanation:
        """What each feature adds to the score of one row of X, among the rows of its query."""
        scaled = as_rows(self._as_learned(X, query)).to_matrix()[[row]].toarray().ravel()
        votes = scaled * self.learner_.coef_
        heaviest = [
            feature
            for feature in np.argsort(-np.abs(votes), kind="stable").tolist()
            if votes[feature] != 0
        ]
        return Explanation(
            row, float(np.sum(votes)), [(feature, float(votes[feature])) for feature in heaviest]
        )

    def answer_batches(self, batches: Iterable[Examples], k: int = 5) -> Iterator[RankedDocuments]:
        for rows, query, _, ids in whole_queries(batches):
            yield RankedDocuments(self.rank(rows, query), ids)

    def scaled(self, rows: Rows, query: ArrayLike | None) -> scipy.sparse.csr_array | Floats:
        """The features of these rows, scaled for the learner."""
        as_choice(self.scale, "scale", (*METHODS, None))
        return (
            rows.to_matrix()
            if self.scale is None
            else scaled_within_queries(rows, query, self.scale)
        )

    def _as_learned(self, X: Any, query: ArrayLike | None) -> Any:
        self.check_fitted()
        if not isinstance(X, Rows):
            check_columns(self.learner_, X)
        rows = as_rows(X)
        width = self.learner_.n_features_in_
        if rows.n_features > width:
            raise InputError(
                f"the documents have {counted(rows.n_features, 'features')}, and the model learned "
                f"from {width}"
            )
        return self.scaled(rows._replace(n_features=width), query)

    # Measuring.

    def judge_batches(
        self, batches: Iterable[Examples], measures: Sequence[str]
    ) -> Iterator[JudgedDocuments]:
        rows, query, relevance, _ = _gathered(batches)
        yield self.decision_function(rows, query), relevance, query

    def report_on(
        self, judged: Iterable[JudgedDocuments], measures: Sequence[str], *, details: bool = False
    ) -> Report:
        every_score, every_relevance, every_query = zip(*judged, strict=True)
        scores = np.concatenate(every_score)
        relevance = np.concatenate(every_relevance)
        query = [name for names in every_query for name in names]
        report = Report(evaluate_documents(scores, relevance, query, measures))
        if details:
            per_query = report.measures.per_instance
            names = list(dict.fromkeys(query))
            table = [
                {"query": name} | {m: finite_or_none(per_query[m][n]) for m in per_query}
                for n, name in enumerate(names)
            ]
            report.tables = [
                ReportTable(
                    "", ["query", *per_query], [list(row.values()) for row in table], "queries"
                )
            ]
            report.details = {"queries": table}
        return report

    @property
    def feature_names_in_(self) -> Names:
        """The names of the columns learned from, where they have names."""
        return self.learner_.feature_names_in_

    def describe(self) -> dict[str, Any]:
        return {
            "learner": type(self.learner_).__name__,
            "examples": self.n_examples_,
            "queries": self.n_queries_,
            "features": self.learner_.n_features_in_,
        }

    # Model files.

    @snapshot
    def to_state(self) -> State:
        self.check_fitted()
        settings = {
            "scale": self.scale,
            "n_examples": self.n_examples_,
            "n_queries": self.n_queries_,
        }
        return State("DocumentRanker", settings, parts={"learner": self.learner_.to_state()})

    @classmethod
    def from_state(cls, state: State) -> Self:
        learner = build(state.parts["learner"])
        state.require(isinstance(learner, LinearRanker), "its learner is a ranker of documents")
        ranker = cls(clone(learner), as_choice(state.settings["scale"], "scale", (*METHODS, None)))
        ranker.learner_ = learner
        counts = [
            as_whole(state.settings[name], name, most=MOST_AMOUNT)
            for name in ("n_examples", "n_queries")
        ]
        ranker.n_examples_, ranker.n_queries_ = counts
        ranker.n_features_in_ = int(learner.n_features_in_)
        return ranker


Gathered = tuple[Rows, list[str], Any, list[str] | None]  # rows, their queries, relevance and names


def _gathered(batches: Iterable[Examples]) -> Gathered:
    """All rows, their queries, their relevance and their names."""
    every = list(batches)
    if not every:
        raise InputError("there are no documents")
    ids = [name for batch in every for name in batch.ids or ()]
    rows = Rows.stack([batch.rows for batch in every if batch.rows is not None])
    query = [name for batch in every for name in batch.query or ()]
    relevance = [batch.relevance for batch in every if batch.relevance is not None]
    return rows, query, np.concatenate(relevance) if relevance else None, ids or None


def whole_queries(batches: Iterable[Examples]) -> Iterator[Gathered]:
    """The documents as they come, those of a query together."""
    held: list[Examples] = []  # the documents of the query that the last batch ended in
    for batch in batches:
        if batch.query is None or batch.rows is None:
            raise InputError(
                "the data have no queries; documents come as LETOR lines: relevance qid:query "
                "1:value …"
            )
        last = batch.query[-1]
        cut = batch.query.index(last)
        if cut == 0 and held and held[-1].query == [last] * len(held[-1]):
            held.append(batch)
            continue
        if cut or held:
            yield _gathered(held + ([batch.take(list(range(cut)))] if cut else []))
        held = [batch.take(list(range(cut, len(batch))))]
    if held:
        yield _gathered(held)
