"""The order of documents for a query."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from shortlist.cli.options import Reading
from shortlist.cli.tasks import Asked, Settings, change
from shortlist.cli.terminal import print_json, print_table, say
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.cli.on_cluster import OnCluster
    from shortlist.inputs import Examples, Stream

MEASURES = {"map": "MapSVM", "roc": "RocSVM", "ndcg": "NdcgSVM", "mrr": "MrrSVM", "accuracy": "AccuracySVM"}
USUAL = ["MAP", "nDCG@10", "MRR", "P@10"]
SHOWN = 30


def open_data(reading: Reading, source: str) -> Stream:
    return reading.open(source)


def labelled(source: str, stream: Stream, batches: Iterator[Examples]) -> Iterator[Examples]:
    for batch in batches:
        if batch.relevance is None or batch.query is None:
            raise InputError(f"{source} has no judged documents; they come as lines: relevance qid:query 1:value …")
        yield batch


def unfitted(settings: Settings, texts: bool = False) -> Any:
    """A DocumentRanker to train, with the machine that optimises the measure asked for."""
    import shortlist

    asked = settings.measure or settings.learner or "map"
    if asked not in MEASURES:
        raise InputError(f"--measure must be one of {', '.join(MEASURES)}, not {asked!r}")
    values = dict(settings.values)
    scale = values.pop("scale", "range")
    return shortlist.DocumentRanker(change(getattr(shortlist, MEASURES[asked])(), values), scale)


def train(batches: Iterator[Examples], stream: Stream, settings: Settings) -> Any:
    """A DocumentRanker, with the machine that optimises the measure asked for."""
    from shortlist.documents.ranker import QueriesSetAside

    model = unfitted(settings)
    rows, query, relevance, _ = gathered(batches)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", QueriesSetAside)
        model.fit(rows, relevance, query)
    for warning in said:
        say(str(warning.message))
    return model


def learn(model: Any, batches: Iterable[Examples], stream: Stream) -> None:
    raise InputError(f"{type(model.learner_).__name__} learns from all documents at once; train it anew")


def lines(model: Any, batches: Iterator[Examples], stream: Stream, k: int, as_json: bool) -> Iterator[str]:
    """A TREC run: query Q0 document rank score tag; with --json an object for each query."""
    for rows, query, ids in whole_queries(batches):
        ranking = model.rank(rows, query)
        if not as_json:
            yield from ranking.run_lines(ids)
            continue
        for name, order, scores in ranking:
            found = {"query": str(name), "documents": [ids[row] if ids else row for row in order.tolist()]}
            yield json.dumps(found | {"scores": scores.tolist()}, ensure_ascii=False)


def evaluate(model: Any, batches: Iterator[Examples], stream: Stream, asked: Asked) -> None:
    """Measures by query, with 95 % intervals over queries."""
    rows, query, relevance, _ = gathered(batches)
    report(model.scores(rows, query), relevance, query, asked)


def evaluate_there(model: Any, there: OnCluster, asked: Asked) -> None:
    """The same on a cluster."""
    scores, relevance, query = there.score_judged(model)
    report(scores, relevance, query, asked)


def report(scores: Any, relevance: Any, query: list[str], asked: Asked) -> None:
    """Measure scores of judged documents, and print what was found."""
    from shortlist.measures import evaluate_documents

    if asked.plot or asked.per_label:
        raise InputError("--plot and --per-label are for labels of texts; --per-query shows each query")
    found = evaluate_documents(scores, relevance, query, asked.measures or USUAL)
    names = list(dict.fromkeys(query))
    own = found.per_instance
    table = [{"query": name} | {m: _known(own[m][n]) for m in own} for n, name in enumerate(names)]
    if asked.as_json:
        print_json(found.to_dict() | ({"queries": table} if asked.per_query else {}))
        return
    print(found.table())
    if asked.per_query:
        print_table("", ["query", *own], [list(row.values()) for row in table[:SHOWN]])
        if len(table) > SHOWN:
            print(f"and {len(table) - SHOWN:,} queries more; --json gives all")


def describe(model: Any) -> dict[str, Any]:
    return {
        "learner": type(model.learner_).__name__,
        "examples": model.n_examples_,
        "queries": model.n_queries_,
        "features": model.learner_.n_features_in_,
    }


def gathered(batches: Iterator[Examples]) -> tuple[Any, list[str], Any, list[str] | None]:
    """All rows, their queries, their relevance and their names."""
    import numpy as np

    from shortlist.arrays.rows import Rows

    every = list(batches)
    if not every:
        raise InputError("there are no documents")
    ids = [name for batch in every for name in batch.ids or ()]
    rows = Rows.stack([batch.rows for batch in every if batch.rows is not None])
    query = [name for batch in every for name in batch.query or ()]
    relevance = [batch.relevance for batch in every if batch.relevance is not None]
    return rows, query, np.concatenate(relevance) if relevance else None, ids or None


def whole_queries(batches: Iterator[Examples]) -> Iterator[tuple[Any, list[str], list[str] | None]]:
    """Rows, queries and document names, as they come, with the documents of a query together."""
    held: list[Examples] = []  # the documents of the query that the last batch ended in
    for batch in batches:
        if batch.query is None or batch.rows is None:
            raise InputError("the data have no queries; documents come as LETOR lines: relevance qid:query 1:value …")
        last = batch.query[-1]
        cut = batch.query.index(last)
        if cut == 0 and held and held[-1].query == [last] * len(held[-1]):
            held.append(batch)
            continue
        if cut or held:
            yield _joined(held + ([batch.take(list(range(cut)))] if cut else []))
        held = [batch.take(list(range(cut, len(batch))))]
    if held:
        yield _joined(held)


def _joined(parts: list[Examples]) -> tuple[Any, list[str], list[str] | None]:
    rows, query, _, ids = gathered(iter(parts))
    return rows, query, ids


def _known(value: float) -> float | None:
    return float(value) if value == value else None
