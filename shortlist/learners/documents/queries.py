"""Rows grouped by query: the groups, their scaled features, the pairs whose order matters, and
the ranking.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.stats is imported at its first use
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.rows import Rows
from shortlist.errors import InputError, counted

METHODS = ("range", "percentile")  # of scaling features within each query


class Queries(NamedTuple):
    """The queries in order of appearance. Query q has rows starts[q]..starts[q+1]-1."""

    names: NDArray[Any]
    starts: Longs

    def __len__(self) -> int:
        return int(self.names.size)

    @property
    def of_rows(self) -> Longs:
        """The number of the query each row belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.starts))

    def order(self, scores: Floats) -> Longs:
        """Return the rows, query after query, best first; equal scores keep the order of the
        rows.
        """
        return np.lexsort((-scores, self.of_rows))


def as_queries(query: ArrayLike | None, n_rows: int) -> Queries:
    """Check one query id for each row; the rows of a query must stand together."""
    if query is None:
        raise InputError(
            "query is missing: give the query id of each row, as in fit(X, relevance, query=ids)"
        )
    not_ids = "query must hold one id for each row, a text or a number, and no lists"
    try:
        ids = np.asarray(query)
    except ValueError:
        raise InputError(not_ids) from None
    if ids.ndim != 1:
        raise InputError(f"query must have one dimension, not {ids.ndim}")
    if ids.size != n_rows:
        raise InputError(
            f"query has {ids.size} ids where {n_rows} are needed, one for each row of X"
        )
    missing = ids != ids
    if ids.dtype == object:
        if not all(isinstance(name, Hashable) for name in ids):
            raise InputError(not_ids)
        missing = np.array([name is None for name in ids])
    if missing.any():
        raise InputError(
            f"query[{int(np.argmax(missing))}] is missing; each row needs the id of its query"
        )
    starts = np.zeros(1, dtype=np.int64)
    if n_rows:
        changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
        starts = np.concatenate([starts, changes, [n_rows]])
    names = ids[starts[:-1]]
    first_rows: dict[Hashable, int] = {}
    for name, start in zip(names.tolist(), starts.tolist(), strict=False):
        if name in first_rows:
            raise InputError(
                f"query {name!r} stands in two places: it begins at row {first_rows[name]} and "
                f"again at row {start}; put the rows of each query together, for instance by "
                "sorting on the query id"
            )
        first_rows[name] = start
    return Queries(names, starts)


def scaled_within_queries(rows: Rows, query: ArrayLike | None, method: str) -> Floats:
    """Each feature of each query's documents scaled to [0, 1], as a dense array.

    "range" is (f − least)/(greatest − least) within the query, 0 where all are equal, as in
    SVM-acc4 of paper 003; "percentile" is the share of the query's other documents that score
    lower, as in its SVM-acc3.
    """
    queries = as_queries(query, rows.n_rows)
    scaled: Floats = rows.to_matrix().toarray()
    for first, last in zip(queries.starts[:-1], queries.starts[1:], strict=True):
        block = scaled[first:last]
        if method == "range":
            least = block.min(axis=0)
            spread = block.max(axis=0) - least
            scaled[first:last] = (block - least) / np.where(spread > 0, spread, 1.0)
        else:
            lower = scipy.stats.rankdata(block, method="min", axis=0) - 1
            scaled[first:last] = lower / max(1, last - first - 1)
    return scaled


class Pairs(NamedTuple):
    """Groups of documents; the relevant ones of a group should stand before the others.

    Group p has the rows rows[starts[p]:starts[p+1]], the relevant[p] relevant ones first. Its loss
    counts weight[p] times in the mean over queries.
    """

    rows: Longs
    starts: Longs
    relevant: Longs
    weight: Floats

    @classmethod
    def of(cls, groups: Sequence[tuple[Longs, NDArray[np.bool_], float]]) -> Pairs:
        """From (rows, which of them are relevant, weight) of each group."""
        sizes = [rows.size for rows, _, _ in groups]
        sorted_rows = [np.append(rows[good], rows[~good]) for rows, good, _ in groups]
        return cls(
            np.concatenate([np.zeros(0, dtype=np.int64), *sorted_rows]),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([good.sum() for _, good, _ in groups], dtype=np.int64),
            np.array([weight for _, _, weight in groups], dtype=np.float64),
        )

    def above(self, order: Longs, queries: Queries) -> Longs:
        """For each relevant entry, best first, how many non-relevant rows a ranking of all rows
        puts before it.
        """
        rank = np.empty(order.size, dtype=np.int64)
        rank[order] = np.arange(order.size) - queries.starts[queries.of_rows]
        above = np.zeros(self.rows.size, dtype=np.int64)
        for first, count in zip(self.starts.tolist(), self.relevant.tolist(), strict=False):
            entries = slice(first, first + count)
            above[entries] = np.sort(rank[self.rows[entries]]) - np.arange(count)
        return above


def relevant_entries(starts: Longs, relevant: Longs) -> tuple[Longs, Longs, Longs]:
    """Of the relevant entries, group after group: the group, the place among those of the group
    from 0, the entry.
    """
    group = np.repeat(np.arange(relevant.size), relevant)
    nth = np.arange(group.size) - np.repeat(np.cumsum(relevant) - relevant, relevant)
    return group, nth, starts[group] + nth


class QueryRanking:
    """The rows of each query, best first. Iterates as (query, rows, scores).

    Parameters
    ----------
    queries : Queries
        Which rows belong to which query.
    scores : array of shape (n_rows,)
        The score of each row; equal scores keep the order of the rows.

    Attributes
    ----------
    queries : array
        The ids of the queries, in order of appearance.
    rows : array of shape (n_rows,)
        The row numbers, query after query, best first.
    scores : array of shape (n_rows,)
        The scores in the same order.
    ranks : array of shape (n_rows,)
        The rank of each row within its query, from 1 on.

    Examples
    --------
    >>> from shortlist import MapSVM
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> svm = MapSVM().fit(X, [1, 0], query=["q1", "q1"])
    >>> ranking = svm.rank([[0.0, 1.0], [1.0, 0.0]], query=["q2", "q2"])
    >>> ranking.ranks
    array([2, 1])
    >>> query, rows, scores = ranking[0]
    >>> str(query), rows.tolist()
    ('q2', [1, 0])
    """

    def __init__(self, queries: Queries, scores: Floats) -> None:
        self.queries = queries.names
        self._starts = queries.starts
        self.rows = queries.order(scores)
        self.scores = scores[self.rows]

    @property
    def ranks(self) -> Longs:
        ranks = np.empty(self.rows.size, dtype=np.int64)
        first = np.repeat(self._starts[:-1], np.diff(self._starts))
        ranks[self.rows] = np.arange(1, self.rows.size + 1) - first
        return ranks

    def __len__(self) -> int:
        return int(self.queries.size)

    def __getitem__(self, item: int) -> tuple[Hashable, Longs, Floats]:
        item = range(len(self))[item]
        of_query = slice(self._starts[item], self._starts[item + 1])
        return self.queries[item], self.rows[of_query], self.scores[of_query]

    def __iter__(self) -> Iterator[tuple[Hashable, Longs, Floats]]:
        return (self[item] for item in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"<QueryRanking of {counted(self.rows.size, 'documents')} for "
            f"{counted(len(self), 'queries')}>"
        )

    def run_lines(
        self, documents: Sequence[object] | None = None, tag: str = "shortlist"
    ) -> Iterator[str]:
        """The lines of a TREC run, which trec_eval and ir-measures read: ``query Q0 document rank
        score tag``.

        A document has the name given for its row, or the row's number. The tools sort by score and
        break ties in their own way, so equal scores are lowered by the least possible step to keep
        the order.
        """
        if documents is not None and len(documents) != self.rows.size:
            raise InputError(
                f"documents has {counted(len(documents), 'names')} where {self.rows.size} are "
                "needed"
            )
        names = [str(name) for name in (range(self.rows.size) if documents is None else documents)]
        for name in [*names, *map(str, self.queries.tolist()), tag]:
            if not name or name.split() != [name]:
                raise InputError(
                    f"{name!r} cannot stand in a TREC run, whose fields are separated by blanks"
                )
        for query, rows, scores in self:
            strict = np.minimum.accumulate(scores)
            for place in range(1, strict.size):
                if strict[place] >= strict[place - 1]:
                    strict[place] = np.nextafter(strict[place - 1], -np.inf)
            scored = zip(rows.tolist(), strict.tolist(), strict=True)
            for place, (row, score) in enumerate(scored, 1):
                yield f"{query} Q0 {names[row]} {place} {score!r} {tag}"
