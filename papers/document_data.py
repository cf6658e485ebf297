"""The collections of paper 003's experiments: documents by query, with their scores under each
base function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.rows import Rows
from shortlist.errors import InputError
from shortlist.inputs import read
from shortlist.learners.documents.queries import scaled_within_queries
from shortlist.learners.documents.retrieval_index import RETRIEVAL_METHODS, RetrievalIndex
from shortlist.measures import evaluate_documents

STOPPED = {"stem": True, "stop": True}
INDEXES: dict[str, dict[str, Any]] = {"plain": {}, "stemmed": {"stem": True}, "stopped": STOPPED}
FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "title": ("title", STOPPED),
    "body": ("body", STOPPED),
    "body plain": ("body", {}),
}  # of an abstract
# documents that each base function contributes for a query
POOL = {"cranfield": 100, "wt10g": 1000}
DEEPEST = 2000  # a rank below all that a run of TREC has
LOWEST_RETRIEVED = 0.95  # below the first document of a topic
TOPICS = {"trec9": range(451, 501), "trec10": range(501, 551)}  # of the Web Tracks on WT10g


class Judged(NamedTuple):
    """Documents by query, with their scores under each base function."""

    scores: Floats  # documents × base functions
    relevance: Floats
    query: Longs  # 0, 1, …; the documents of a query stand together
    names: list[str]  # of the base functions
    fold: Longs  # of each query, from 1 on; 0 where there are none

    def of(self, queries: Iterable[int]) -> Judged:
        """The documents of some queries."""
        kept = np.isin(self.query, list(queries))
        return self._replace(
            scores=self.scores[kept], relevance=self.relevance[kept], query=self.query[kept]
        )

    def average_precision(self, scores: Floats) -> Floats:
        """By query, in order of appearance."""
        return evaluate_documents(
            scores, self.relevance, self.query, ["MAP"], resamples=0
        ).per_instance["MAP"]

    def best(self) -> int:
        """The base function with the highest mean average precision."""
        return int(np.argmax([self.average_precision(column).mean() for column in self.scores.T]))

    def in_figures(self) -> dict[str, float]:
        """A data set as table 5 describes it."""
        n = int(np.unique(self.query).size)
        return {
            "queries": n,
            "base functions": len(self.names),
            "documents of a query": self.query.size / n,
            "relevant of a query": float((self.relevance > 0).sum()) / n,
        }

    @classmethod
    def with_relevant(
        cls, scores: Floats, relevance: Floats, query: Longs, names: list[str], fold: Longs
    ) -> Judged:
        """Without the queries that have no relevant document, the others numbered anew."""
        kept = np.isin(query, query[relevance > 0])
        old, number = np.unique(query[kept], return_inverse=True)
        return cls(scores[kept], relevance[kept], number, names, fold[old])


@functools.cache
def load(data: Path, name: str) -> Judged:
    """A data set, prepared once for a process."""
    if name in TOPICS:
        return web_track(data / "wt10g", name)
    kind, folder = LOADERS[name]
    return kind(data / folder)


def ohsumed(folder: Path) -> Judged:
    """LETOR 3.0's OHSUMED, features scaled to [0, 1] within each query; its five test files are
    the whole set.
    """
    parts, relevance = [], []
    query: list[int] = []
    fold: list[int] = []
    number: dict[str, int] = {}
    for k in range(1, 6):
        for batch in read(folder / f"fold{k}_test.txt", format="letor", n_features=45):
            assert batch.rows is not None
            assert batch.relevance is not None
            assert batch.query is not None
            parts.append(batch.rows)
            relevance.append(batch.relevance)
            query += [number.setdefault(name, len(number)) for name in batch.query]
            fold += [k] * (len(number) - len(fold))
    scores = scaled_within_queries(Rows.stack(parts), query, "range")
    names = [f"feature {i}" for i in range(1, 46)]
    return Judged.with_relevant(
        scores, np.concatenate(relevance), np.array(query), names, np.array(fold)
    )


def cranfield(folder: Path, pool: int = POOL["cranfield"]) -> Judged:
    """Cranfield, with the paper's 15 base functions.

    All 1,837 documents that cranqrel lists count as relevant. The 225 that it lists with -1, one
    for each query, are no exception: bm25 puts them at place 2 in the median, before those of the
    best grade.
    """
    texts, questions = _abstracts(folder / "cran.all.1400"), _abstracts(folder / "cran.qry")
    functions = base_functions(lambda: texts, questions)
    return pooled(functions, _cranqrel(folder, len(questions)), pool)


def fields(folder: Path, pool: int = POOL["cranfield"]) -> Judged:
    """Cranfield, with five retrieval functions on indexes of titles alone, of bodies alone, and of
    bodies as written.

    Such functions know different things of a document, where those over whole texts agree.
    """
    questions = _abstracts(folder / "cran.qry")
    functions: dict[str, Floats] = {}
    for name, (part, settings) in FIELDS.items():
        index = RetrievalIndex(_abstracts(folder / "cran.all.1400", part), **settings)
        functions |= {
            f"{method}, {name}": index.scores(questions, method) for method in RETRIEVAL_METHODS
        }
    return pooled(functions, _cranqrel(folder, len(questions)), pool)


def _abstracts(path: Path, part: str = "all") -> list[str]:
    return [
        text for batch in read(path, format="cranfield", part=part) for text in batch.texts or ()
    ]


def _cranqrel(folder: Path, n_questions: int) -> list[set[int]]:
    """The relevant documents of each query."""
    relevant: list[set[int]] = [set() for _ in range(n_questions)]
    for batch in read(folder / "cranqrel", format="cranqrel"):
        for question, document in zip(batch.query or (), batch.ids or (), strict=True):
            relevant[int(question) - 1].add(int(document) - 1)
    return relevant


def submissions(folder: Path) -> Judged:
    """The runs submitted to a track of TREC as base functions, on the judged documents that some
    run retrieved.

    A run's scores are scaled to [0.05, 1] within each topic; a document that it did not retrieve
    has 0. Documents judged 1 (relevant) and 2 (highly relevant) count as relevant.
    """
    grades: dict[tuple[str, str], float] = {}
    for batch in read(folder / "robust03_qrels.txt", format="qrels"):
        assert batch.relevance is not None
        grades |= zip(
            zip(batch.query or (), batch.ids or (), strict=True),
            batch.relevance.tolist(),
            strict=True,
        )
    runs: dict[str, dict[tuple[str, str], float]] = {}
    for path in sorted(folder.glob("runs/input.*")):
        own = runs.setdefault(path.name.removeprefix("input.").removesuffix(".gz"), {})
        for batch in read(path, format="run"):
            assert batch.scores is not None
            scored = zip(
                zip(batch.query or (), batch.ids or (), strict=True),
                batch.scores.tolist(),
                strict=True,
            )
            own |= {pair: score for pair, score in scored if pair in grades}
    pairs = sorted(set().union(*runs.values()))
    relevance = np.array([float(grades[pair] > 0) for pair in pairs])
    _, query = np.unique([topic for topic, _ in pairs], return_inverse=True)
    scores = np.column_stack([_of_run(own, pairs, query) for own in runs.values()])
    return Judged.with_relevant(
        scores, relevance, query, list(runs), np.zeros(query.max() + 1, dtype=np.int64)
    )


def _of_run(
    own: dict[tuple[str, str], float], pairs: list[tuple[str, str]], query: Longs
) -> Floats:
    """A run's scores of these pairs of topic and document, scaled within each topic."""
    scores = np.array([own.get(pair, np.nan) for pair in pairs])
    known = np.flatnonzero(~np.isnan(scores))
    least, greatest = np.full(query.max() + 1, np.inf), np.full(query.max() + 1, -np.inf)
    np.minimum.at(least, query[known], scores[known])
    np.maximum.at(greatest, query[known], scores[known])
    topic = query[known]
    width = np.where(greatest > least, greatest - least, 1.0)[topic]
    scaled = np.zeros(len(pairs))
    scaled[known] = 1.0 - LOWEST_RETRIEVED * (greatest[topic] - scores[known]) / width
    return scaled


@functools.cache
def load_ranked(data: Path, name: str) -> Judged:
    """The same, with logarithms of ranks within a query as scores, from 1 at the first place down;
    0 for what was not retrieved.
    """
    judged = load(data, name)
    scores = np.zeros_like(judged.scores)
    for query in np.unique(judged.query):
        documents = np.flatnonzero(judged.query == query)
        for column, values in enumerate(judged.scores[documents].T):
            order = np.argsort(-values, kind="stable")
            depth = 1 - np.log(np.arange(1, order.size + 1)) / np.log(DEEPEST)
            scores[documents[order], column] = np.where(values[order] > 0, depth, 0)
    return judged._replace(scores=scores)


def web_track(folder: Path, track: str, pool: int = POOL["wt10g"]) -> Judged:
    """WT10g with the descriptions of one Web Track's topics as queries, and the paper's 15 base
    functions.

    Three indexes are made, one after the other, each in one reading of the whole collection.
    Documents judged 1 (relevant) and 2 (highly relevant) count as relevant.
    """
    descriptions: dict[str, str] = {}
    for path in sorted(folder.glob("*topics*")):
        for batch in read(path, format="trec-topics", part="desc"):
            descriptions |= zip(batch.ids or (), batch.texts or (), strict=True)
    relevant: dict[str, set[str]] = {str(n): set() for n in TOPICS[track] if str(n) in descriptions}
    for path in sorted(folder.glob("*qrels*")):
        for batch in read(path, format="qrels"):
            assert batch.relevance is not None
            for number, name, grade in zip(
                batch.query or (), batch.ids or (), batch.relevance, strict=True
            ):
                if grade > 0 and number in relevant:
                    relevant[number].add(name)
    if not any(relevant.values()):
        raise InputError(
            f"{folder} lacks topics {TOPICS[track][0]} to {TOPICS[track][-1]} with their "
            "judgements: put the files of "
            "topics and qrels from https://trec.nist.gov/data/webmain.html there"
        )
    documents: dict[str, int] = {}

    def texts() -> Iterator[str]:
        for batch in read(folder, format="trec-documents"):
            for name in batch.ids or ():
                documents.setdefault(name, len(documents))
            yield from batch.texts or ()

    functions = base_functions(texts, [descriptions[number] for number in relevant])
    numbers = [{documents[name] for name in own if name in documents} for own in relevant.values()]
    return pooled(functions, numbers, pool)


def base_functions(texts: Callable[[], Iterable[str]], questions: list[str]) -> dict[str, Floats]:
    """The scores of five retrieval functions on three indexes, queries × documents."""
    functions: dict[str, Floats] = {}
    for name, settings in INDEXES.items():
        index = RetrievalIndex(texts(), **settings)
        functions |= {
            f"{method}, {name}": index.scores(questions, method) for method in RETRIEVAL_METHODS
        }
    return functions


def pooled(functions: dict[str, Floats], relevant: list[set[int]], pool: int) -> Judged:
    """Each query with the union of the first ``pool`` documents of each base function."""
    scores, relevance, query = [], [], []
    for number, own in enumerate(relevant):
        all_scores = np.column_stack([of_function[number] for of_function in functions.values()])
        kept = np.unique(np.argsort(-all_scores, axis=0, kind="stable")[:pool])
        scores.append(all_scores[kept])
        relevance.append(np.isin(kept, list(own)).astype(np.float64))
        query.append(np.full(kept.size, number))
    folds = np.zeros(len(relevant), dtype=np.int64)
    judged = np.concatenate(scores), np.concatenate(relevance), np.concatenate(query)
    return Judged.with_relevant(*judged, list(functions), folds)


LOADERS: dict[str, tuple[Callable[[Path], Judged], str]] = {
    "cranfield": (cranfield, "cranfield"),
    "fields": (fields, "cranfield"),
    "ohsumed": (ohsumed, "letor_ohsumed"),
    "submissions": (submissions, "trec_robust03"),
}
