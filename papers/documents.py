"""The experiments of paper 003: SVM-map on top of base retrieval functions, against them and
against other SVMs.

Tables 5, 6 and 9. Where WT10g is not there, the Cranfield collection stands in, with the paper's
own 15 base functions, which agree too much there for anything to be learned, and with 15 that know
different parts of a document (``fields``). LETOR's OHSUMED does, too, with its 45 features as base
functions; besides, LETOR's usual protocol on it in five folds. Tables 7, 8, 10 and 11: real runs of
another track of TREC for those that the paper combines (``submissions``), with all of them, and
learning without the best; from 10 topics as in the paper, and from 40. ``document_tables`` shows
what comes of it.

The paper chose thresholds of each base function that are "reasonably spaced and capture the
sensitive region": of a run, whose first documents matter most, those are even in the logarithm of
the rank. The outcome depends on it, so that evenly spaced ones and quantiles stand beside them.

A trial learns from some queries, chooses C on some others and ranks the documents of the rest. A
method's value for a query is its mean over the trials in which the query was tested; methods are
compared query by query. LambdaMART, a modern baseline, chooses its number of trees as others do C.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from papers.cells import Cell
from papers.claims import Claim
from papers.comparators.accuracy_svm import AccuracySVM
from papers.comparators.lambda_mart import LambdaMART
from papers.document_data import Judged, load, load_ranked
from papers.document_tables import CHOSEN, show
from papers.experiment import Done, Experiment, Figure, Job, Result, Row, Table
from papers.score_bins import ScoreBins
from shortlist.compiled.kernels import Floats, Longs
from shortlist.learners.documents.svms import (
    MapSVM,
    MrrSVM,
    NdcgSVM,
    RocSVM,
    most_violated_map,
)

STRUCTURAL = {"SVM-map": MapSVM, "SVM-roc": RocSVM, "SVM-ndcg": NdcgSVM, "SVM-mrr": MrrSVM}
ACCURACY = {"SVM-acc": 1, "SVM-acc2": 2, "SVM-acc3": 1, "SVM-acc4": 1}  # the variant that learns
# the variant whose bins it learns from, the same for each C
ON_SCORES = {"SVM-acc3": 3, "SVM-acc4": 4}
PAPERS = ("SVM-map", "SVM-roc", *ACCURACY)  # without the measures that it names as next steps


@dataclass(frozen=True)
class Protocol:
    """Section 5.3 of the paper, and what the paper leaves open."""

    trials: int = 50
    quick: int = 2  # trials of a quick run
    train: int = 10  # queries
    validation: int = 5  # and all the others to test; in the paper, 35
    thresholds: int = 50  # for each base function; 0 takes the scores themselves as features
    spacing: str = "even"  # of the thresholds
    by_rank: bool = False  # whether they are of the logarithms of ranks, instead of scores
    # against the mean loss of a query
    structural_C: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0)
    accuracy_C: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # against the sum over documents
    tol: float = 1e-3  # the duality gap of structural SVMs
    methods: tuple[str, ...] = (*STRUCTURAL, *ACCURACY)
    # whether the base function that is best on all queries is kept from the learners
    without_best: bool = False
    seed: int = 3


PAPER = Protocol()
FIVE_FOLDS = Protocol(
    trials=5,  # test fold k, validation fold k − 1, the other three to train
    thresholds=0,
    structural_C=(1.0, 10.0, 100.0, 1000.0),
    accuracy_C=(1e-3, 1e-2, 1e-1, 1.0),
    tol=1e-5,  # at 1e-3, differences in rounding lead to another C and to a MAP lower by 0.002
    methods=("SVM-map", "SVM-roc", "SVM-ndcg", "SVM-mrr", "SVM-acc", "SVM-acc2"),
)
SUBMISSIONS = Protocol(quick=1, thresholds=20, methods=PAPERS)
BY_RANK = replace(SUBMISSIONS, by_rank=True)
# what the outcome depends on: fewer trials of fewer methods
EVEN = replace(SUBMISSIONS, trials=20, methods=("SVM-map", "SVM-roc"))
QUANTILES = replace(EVEN, thresholds=50, spacing="quantiles")
FORTY = replace(EVEN, trials=6, train=40, validation=10)
PROTOCOLS = {
    "cranfield": PAPER,
    "fields": replace(PAPER, methods=PAPERS),
    "ohsumed": replace(PAPER, methods=PAPERS),
    "ohsumed-folds": FIVE_FOLDS,
    "submissions-ten-ranks": BY_RANK,
    "submissions-ten-ranks-without": replace(BY_RANK, without_best=True),
    "submissions-ten": EVEN,
    "submissions-ten-without": replace(EVEN, without_best=True),
    "submissions-ten-quantiles": QUANTILES,
    "submissions": FORTY,
    "submissions-without": replace(FORTY, without_best=True),
    "submissions-ranks": replace(FORTY, by_rank=True),
    "trec9": PAPER,
    "trec10": PAPER,
}
# where LambdaMART stands beside the others, and of how many trials
MODERN = {"fields": 5, "submissions-ten-ranks": 5, "ohsumed-folds": 5}
MOST_TREES = 60
SEARCH_SIZES = (10_000, 20_000, 40_000, 80_000, 160_000)  # documents of a query
SEARCH_RELEVANT = 50
SEARCH_REPEATS = 20
MOST_GROWTH = 3.0  # of n log n it is about 2.2, of n² 4


# Trials.

Roles = tuple[Longs, Longs, Longs]  # queries to train on, to choose C on, to test on


def balanced_roles(n_queries: int, protocol: Protocol) -> list[Roles]:
    """The queries of each trial, chosen at random among those least often chosen for the same
    before.
    """
    generator = np.random.default_rng(protocol.seed)
    trained, validated = np.zeros(n_queries), np.zeros(n_queries)
    roles = []
    for _ in range(protocol.trials):
        train = np.lexsort((generator.random(n_queries), trained))[: protocol.train]
        trained[train] += 1
        rest = np.setdiff1d(np.arange(n_queries), train)
        validation = rest[
            np.lexsort((generator.random(rest.size), validated[rest]))[: protocol.validation]
        ]
        validated[validation] += 1
        roles.append((train, validation, np.setdiff1d(rest, validation)))
    return roles


def fold_roles(fold: Longs) -> list[Roles]:
    """LETOR's: test on fold k, choose on the one before, train on the other three."""
    masks = [
        (~np.isin(fold, (k, k - 1 or 5)), fold == (k - 1 or 5), fold == k) for k in range(1, 6)
    ]
    return [
        (np.flatnonzero(train), np.flatnonzero(chosen), np.flatnonzero(test))
        for train, chosen, test in masks
    ]


def trial(data: Judged, protocol: Protocol, roles: Roles) -> Result:
    """Learn from the training queries with each C, keep the best on the validation queries,
    rank the test queries.
    """
    result: Result = {"queries": roles[2].tolist(), "C": {}, "validation": {}, "test": {}}
    result["seconds"] = {}
    test = data.of(roles[2])
    for name in protocol.methods:
        began = time.process_time()
        method = learned(data, protocol, roles, name)
        result["seconds"][name] = time.process_time() - began
        result["C"][name], result["validation"][name] = method.C, method.validation
        result["test"][name] = test.average_precision(method.scores).tolist()
    n_functions = len(data.names) - protocol.without_best
    result["data"] = data.in_figures() | {"features": n_functions * (protocol.thresholds or 1)}
    for name, column in zip(data.names, test.scores.T, strict=True):
        result["test"][name] = test.average_precision(column).tolist()
    # What a user can do without learning: take the base function that is best on the queries seen.
    best_seen = data.names[data.of(np.concatenate(roles[:2])).best()]
    result["test"][CHOSEN] = result["test"][best_seen]
    return result


class Learned(NamedTuple):
    """A method with the C that is best on the validation queries."""

    C: float
    validation: float  # mean average precision
    scores: Floats  # of the test documents


def learned(data: Judged, protocol: Protocol, roles: Roles, name: str) -> Learned:
    parts = [data.of(queries) for queries in roles]
    train, validation, _ = parts
    used = np.arange(len(data.names))
    if protocol.without_best:
        used = np.delete(used, data.best())
    features = [part.scores[:, used] for part in parts]
    if variant := ON_SCORES.get(name):
        percentiles = AccuracySVM(variant=variant, n_thresholds=protocol.thresholds)
        features = [
            percentiles.features(scores, part.query)
            for scores, part in zip(features, parts, strict=True)
        ]
    elif protocol.thresholds:
        bins = ScoreBins(protocol.thresholds, protocol.spacing).fit(features[0])
        features = [bins.transform(scores) for scores in features]
    best = -1.0
    for ranker in _rankers(name, protocol):
        ranker.fit(features[0], train.relevance, query=train.query)
        reached = validation.average_precision(ranker.predict(features[1])).mean()
        if reached > best:
            best, chosen = reached, ranker
    return Learned(chosen.C, float(best), chosen.predict(features[2]))


def write_runs(folder: Path, name: str, out: Path) -> list[Path]:
    """The first trial of a set for ir_measures and trec_eval: judgements, and a run of each method
    and each base function.
    """
    data, roles = data_and_roles(folder, name)
    protocol = PROTOCOLS[name]
    test = data.of(roles[0][2])
    runs = dict(zip(data.names, test.scores.T, strict=True))
    runs |= {
        method: learned(data, protocol, roles[0], method).scores for method in protocol.methods
    }
    names = [(f"q{query}", f"d{n}") for n, query in enumerate(test.query.tolist())]
    out.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{query} 0 {document} {grade:.0f}\n"
        for (query, document), grade in zip(names, test.relevance, strict=True)
    ]
    written = [out / f"{name}.qrels"]
    written[0].write_text("".join(lines), encoding="utf-8")
    for method, scores in runs.items():
        tag = method.replace(", ", "-").replace(" ", "-")
        lines = []
        for query in np.unique(test.query):
            documents = np.flatnonzero(test.query == query)
            ranked = documents[np.argsort(-scores[documents], kind="stable")]
            lines += [
                f"q{query} Q0 d{document} {place} {scores[document]:.9g} {tag}\n"
                for place, document in enumerate(ranked.tolist(), 1)
            ]
        written.append(out / f"{name}.{tag}.run")
        written[-1].write_text("".join(lines), encoding="utf-8")
    return written


def modern_trial(data: Judged, roles: Roles) -> Result:
    """LambdaMART over the base functions' scores, with the number of trees that is best on the
    validation queries.
    """
    train, validation, test = (data.of(queries) for queries in roles)
    ranker = LambdaMART(MOST_TREES).fit(train.scores, train.relevance, train.query)
    reached = [
        validation.average_precision(scores).mean()
        for scores in ranker.staged_scores(validation.scores)
    ]
    scores = list(ranker.staged_scores(test.scores))[int(np.argmax(reached))]
    values = test.average_precision(scores).tolist()
    return {"queries": roles[2].tolist(), "test": {"LambdaMART": values}}


def _rankers(name: str, protocol: Protocol) -> list[Any]:
    """A method with each C that is tried."""
    if name in STRUCTURAL:
        return [STRUCTURAL[name](C=C, tol=protocol.tol) for C in protocol.structural_C]
    return [AccuracySVM(C=C, variant=ACCURACY[name]) for C in protocol.accuracy_C]


# The experiments.


def jobs(names: tuple[str, ...], quick: bool) -> list[Job]:
    """Trial after trial, so that a run that was stopped has some of each set."""
    trials = {name: PROTOCOLS[name].quick if quick else PROTOCOLS[name].trials for name in names}
    listed = [
        {"set": name, "trial": number}
        for number in range(max(trials.values()))
        for name in names
        if number < trials[name]
    ]
    if quick:
        return listed
    return listed + [
        {"set": name, "trial": number, "modern": True}
        for name in names
        for number in range(MODERN.get(name, 0))
    ]


def run(folder: Path, job: Job) -> Result:
    data, roles = data_and_roles(folder, job["set"])
    if job.get("modern"):
        return modern_trial(data, roles[job["trial"]])
    return trial(data, PROTOCOLS[job["set"]], roles[job["trial"]])


def data_and_roles(folder: Path, name: str) -> tuple[Judged, list[Roles]]:
    """A set's documents, and the queries of each of its trials."""
    protocol = PROTOCOLS[name]
    data = (load_ranked if protocol.by_rank else load)(folder, name.partition("-")[0])
    if name == "ohsumed-folds":
        return data, fold_roles(data.fold)
    return data, balanced_roles(data.fold.size, protocol)


# Section 3.2: how long the search for the most violated ranking takes.


def search_jobs(quick: bool) -> list[Job]:
    return [{"documents": n} for n in SEARCH_SIZES[: 3 if quick else None]]


def run_search(folder: Path, job: Job) -> Result:
    """The least of some times that sorting and searching take for one query."""
    n = job["documents"]
    scores = np.random.default_rng(3).normal(size=n)
    starts, relevant = np.array([0, n]), np.array([SEARCH_RELEVANT])
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, n + 1))])
    seconds = []
    for _ in range(SEARCH_REPEATS + 1):  # the first compiles
        began = time.process_time()
        parts = np.split(scores, relevant)
        most_violated_map(
            np.concatenate([-np.sort(-part) for part in parts]), starts, relevant, harmonic
        )
        seconds.append(time.process_time() - began)
    return {"seconds": min(seconds[1:])}


def show_search(done: Done) -> list[Table | Figure]:
    sizes = [job["documents"] for job, _ in done]
    seconds = np.array([result["seconds"] for _, result in done])
    growth = float((seconds[-1] / seconds[0]) ** (1 / (len(sizes) - 1)))
    says = f"twice the documents take {growth:.2f} times as long: O(n log n), not O(n²)"
    claim = Claim("section 3.2", says, growth < MOST_GROWTH)
    row: Row = {f"{n:,}": Cell(1000 * s) for n, s in zip(sizes, seconds, strict=True)}
    title = f"Milliseconds to search a query's rankings, {SEARCH_RELEVANT} documents relevant"
    return [Table(title, list(row), {"sort and search": row}, claims=(claim,))]


STAND_IN = (
    "WT10g is sold under an agreement. Published figures are shown for the direction, not to be "
    "met."
)
NEEDS = {"fields": "cranfield", "submissions": "robust03"}  # where the data set has another name
RUNS = (
    "The runs submitted to the Web Tracks of TREC 9 and 10 are given to participants only. 17 runs "
    "of the Robust Track "
    "of 2003 stand in, on its 100 topics: 10 to train and 5 to choose C, as in the paper, and all "
    "others to test; then 40, 10 and 50. A run's scores are scaled within each topic; documents "
    "are the judged ones that some run retrieved."
)


def experiment(name: str, title: str, sets: tuple[str, ...], stands_in: str = "") -> Experiment:
    prefix = name.partition("-")[0]
    return Experiment(
        f"svmmap-{name}",
        "Yue, Finley, Radlinski and Joachims (paper 003)",
        title,
        (NEEDS.get(prefix, prefix),),
        functools.partial(jobs, sets),
        run,
        show,
        stands_in,
    )


EXPERIMENTS = [
    Experiment(
        "svmmap-search",
        "Yue, Finley, Radlinski and Joachims (paper 003)",
        "How long the search for the most violated ranking takes (section 3.2)",
        (),
        search_jobs,
        run_search,
        show_search,
    ),
    experiment(
        "cranfield",
        "SVM-map over 15 retrieval functions of the Cranfield collection (tables 6 and 9)",
        ("cranfield",),
        STAND_IN,
    ).with_original(
        {"cranfield": "wt10g"},
        "SVM-map over 15 retrieval functions of WT10g (tables 6 and 9)",
        jobs=functools.partial(jobs, ("trec9", "trec10")),
    ),
    experiment(
        "fields",
        "SVM-map over retrieval functions that know different parts of Cranfield (tables 6 and 9)",
        ("fields",),
        STAND_IN,
    ),
    experiment(
        "submissions",
        "SVM-map over runs submitted to TREC (tables 7, 8, 10 and 11)",
        tuple(name for name in PROTOCOLS if name.startswith("submissions")),
        RUNS,
    ),
    experiment(
        "ohsumed",
        "SVM-map over the 45 features of LETOR's OHSUMED as base functions (tables 6 and 9)",
        ("ohsumed",),
        STAND_IN,
    ),
    experiment(
        "ohsumed-folds", "Document rankers on LETOR's OHSUMED, five folds", ("ohsumed-folds",)
    ),
]
