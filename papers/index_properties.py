"""Sections 6.4.3 to 6.4.5 of paper 004: what an index that was learned looks like.

6.4.3: the weights that come in to a class, taken as a prototype of it, rank documents worse than a
classifier does. 6.4.4: the classes that are ranked first have more incoming edges than others.
6.4.5: few connections are strong, and features that go with everything leak most of their weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve

from papers.comparators.one_versus_rest import OneVersusRest
from papers.experiment import Cell, Claim, Experiment, Figure, Job, Result, Table
from papers.index_comparison import PAPER
from papers.index_data import ORIGINALS, STAND_INS, LabelArray, load, split
from shortlist.compiled.kernels import Floats
from shortlist.data.rows import MatrixLike
from shortlist.learners.index.feature_focus import FeatureFocus

MARGINS = {"newsgroups": 0.5, "reuters": 0.5, "industry": 0.5, "rcv1": 0.1, "finna": 0.1}
PROTOTYPES: dict[str, Callable[[str], Any]] = {  # section 6.4.3
    "FF": lambda name: FeatureFocus(margin=MARGINS[name]),
    "Perceptron": lambda name: OneVersusRest("perceptron"),
    "SVM C=1": lambda name: OneVersusRest("svm", C=1.0),
}
PROTOTYPE_SETS = ("reuters", "newsgroups")
# published, of the class ranked first
INDEGREE = {"newsgroups": 6000, "industry": 2000, "rcv1": 4000, "finna": None}
RANKS = (1, 2, 5, 10, 20)
STRONG, LEAKY = 0.9, 0.25  # section 6.4.5


def jobs(quick: bool) -> list[Job]:
    trials = range(1 if quick else 3)
    every = product(PROTOTYPE_SETS[: 1 if quick else 2], PROTOTYPES, trials)
    prototypes = [{"section": "6.4.3", "set": s, "method": m, "trial": t} for s, m, t in every]
    indegrees = [
        {"section": "6.4.4", "set": name, "trial": t, "ranks": RANKS[-1]}
        for name, t in product(INDEGREE, trials)
    ]
    return [*prototypes, *indegrees, {"section": "6.4.5", "set": "rcv1", "trial": 0}]


def run(data: Path, job: Job) -> Result:
    X, Y = load(data, job["set"])
    train, test = split(job["set"], X.shape[0], job["trial"])
    if job["section"] == "6.4.3":
        learner: Any = PROTOTYPES[job["method"]](job["set"]).fit(X[train], Y[train])
        return {"max F1": max_f1(learner.decision_function(X[test]), learner.classes_, Y[test])}
    focus = FeatureFocus(margin=MARGINS[job["set"]]).fit(X[train], Y[train])
    if job["section"] == "6.4.4":
        return indegrees(focus, X[test], Y[test])
    return connections(focus, X.shape[1])


# Section 6.4.3.


def max_f1(scores: Floats, classes: Iterable[Any], Y: LabelArray) -> float:
    """Documents ranked for each class by its scores: the highest F1, the mean over the classes
    that some have.
    """
    found = []
    for column, label in enumerate(classes):
        true = np.array([label in own for own in Y])
        if true.any():
            precision, recall, _ = precision_recall_curve(true, scores[:, column])
            found.append(
                float(np.max(2 * precision * recall / np.maximum(precision + recall, 1e-300)))
            )
    return float(np.mean(found))


# Section 6.4.4.


def indegrees(focus: FeatureFocus, X: MatrixLike, Y: LabelArray) -> Result:
    """How many features point to the classes at each rank of test documents, and to their true
    classes.
    """
    degree = indegree(focus)
    ranking = focus.rank(X, k=RANKS[-1])
    ranked = np.where(ranking.ids >= 0, degree[np.maximum(ranking.ids, 0)], np.nan)
    number = {label: n for n, label in enumerate(focus.classes_.tolist())}
    true = [degree[number[label]] for own in Y for label in own if label in number]
    return {
        "by rank": np.nanmean(ranked, axis=0).tolist(),
        "true": float(np.mean(true)),
        "uniform": float(degree.mean()),
    }


def indegree(focus: FeatureFocus) -> Floats:
    """Of each class: the features that have it among their ``max_edges`` heaviest edges."""
    feature, edges = focus.index_.all_edges()
    first = np.concatenate([[0], np.cumsum(focus.index_.features["length"])])[feature]
    voting = np.arange(feature.size) - first < focus.max_edges
    return np.bincount(edges["label"][voting], minlength=len(focus.classes_)).astype(np.float64)


# Section 6.4.5.


def connections(focus: FeatureFocus, n_features: int) -> Result:
    """Strong connections, and among features seen at least ten times those that have lost most
    of their weight.
    """
    seen = focus.times_seen()
    strong = [
        (feature, weight)
        for label in focus.classes_.tolist()
        for feature, weight in focus.strongest(label, n_features)
        if weight > STRONG
    ]
    rated = sum(
        min(1.0, seen[feature] / focus.rare) * weight > STRONG for feature, weight in strong
    )
    lost = [share for _, share in focus.leaks(n_features)]
    return {
        "strong": len(strong),
        "strong and rated": int(rated),
        "edges": focus.n_edges_,
        "leaky": sum(share > 1 - LEAKY for share in lost),
        "seen ten times": len(lost),
    }


def show(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    of = {
        section: [(job, r) for job, r in done if job["section"] == section]
        for section in ("6.4.3", "6.4.4")
    }
    (found,) = (r for job, r in done if job["section"] == "6.4.5")
    return [prototypes(of["6.4.3"]), _indegrees(of["6.4.4"]), _connections(found)]


def prototypes(done: list[tuple[Job, Result]]) -> Table:
    rows: dict[str, dict[str, Cell | str]] = {}
    claims = []
    for name in dict.fromkeys(job["set"] for job, _ in done):
        rows[name] = {}
        for method in PROTOTYPES:
            rows[name][method] = Cell.of(
                [r["max F1"] for job, r in done if (job["set"], job["method"]) == (name, method)]
            )
        F1 = {
            method: cell.ours or 0.0
            for method, cell in rows[name].items()
            if isinstance(cell, Cell)
        }
        rival = "Perceptron" if name == "reuters" else "SVM C=1"
        says = (
            f"{name}: columns of the index are worse prototypes than {rival} ({F1['FF']:.3f} "
            f"against {F1[rival]:.3f})"
        )
        claims.append(Claim("section 6.4.3", says, F1["FF"] < F1[rival]))
    note = (
        "Published: on Reuters-21578 5 to 10 % below the Perceptron, on newsgroups level with it "
        "and below the SVM."
    )
    return Table(
        "Section 6.4.3: documents ranked for each class, max F1",
        list(PROTOTYPES),
        rows,
        note,
        tuple(claims),
    )


def _indegrees(done: list[tuple[Job, Result]]) -> Table:
    rows: dict[str, dict[str, Cell | str]] = {}
    claims = []
    for name in dict.fromkeys(job["set"] for job, _ in done):
        own = [r for job, r in done if job["set"] == name]
        by_rank = [Cell.of([r["by rank"][n - 1] for r in own]) for n in RANKS]
        first = Cell.of([r["by rank"][0] for r in own], INDEGREE[name])
        columns = [f"rank {n}" for n in RANKS]
        rows[name] = dict(zip(columns, [first, *by_rank[1:]], strict=True))
        rows[name] |= {kind: Cell.of([r[kind] for r in own]) for kind in ("true", "uniform")}
        means = [cell.ours or 0.0 for cell in by_rank]
        uniform = float(np.mean([r["uniform"] for r in own]))
        numbers = f"{means[0]:,.0f} against {uniform:,.0f}"
        above = f"{name}: classes ranked first have more edges than a class at random ({numbers})"
        even = "classes of one size differ little" if name == "newsgroups" else ""
        claims.append(Claim("section 6.4.4", above, means[0] > uniform, even))
        falls = (
            f"{name}: fewer edges at lower ranks ({means[0]:,.0f} at rank 1, {means[-1]:,.0f} at "
            f"rank {RANKS[-1]})"
        )
        claims.append(Claim("section 6.4.4", falls, means[0] > means[-1], "unexplained"))
    note = (
        "After one pass. Published for Ads 530 and for Web 14,000 at rank 1, and that in general a "
        "class has fewer at "
        "lower ranks: not so between the first few."
    )
    return Table(
        "Section 6.4.4: incoming edges of classes",
        list(rows["newsgroups"]),
        rows,
        note,
        tuple(claims),
    )


def _connections(found: Result) -> Table:
    shares = {
        "all": Cell(found["strong"]),
        "times the rating of the feature": Cell(found["strong and rated"], None, 300),
    }
    share = found["leaky"] / max(1, found["seen ten times"])
    rows: dict[str, dict[str, Cell | str]] = {
        f"edges above {STRONG}": {**shares, "of": Cell(found["edges"])},
        f"features that keep less than {LEAKY}": {
            "all": Cell(found["leaky"]),
            "of": Cell(found["seen ten times"]),
        },
    }
    rated, all_strong = found["strong and rated"], found["strong"]
    between = (
        f"about 300 edges are strong: between {rated:,} with ratings of features and "
        f"{all_strong:,} without"
    )
    claims = (
        Claim("section 6.4.5", between, rated <= 300 <= all_strong),
        Claim(
            "section 6.4.5",
            f"some features keep less than a quarter of their weight ({share:.1%})",
            found["leaky"] > 0,
            "with 101 classes instead of 414 fewer edges fall below w_min; some features do with "
            "sets of topics as classes (index-leakage)",
        ),
    )
    note = (
        "An edge of a feature seen once has weight 1; the paper does not say whether its 300 count "
        "such. The words "
        "behind the columns are not part of what stands in for RCV1; `shortlist inspect MODEL` "
        "shows those of a model."
    )
    columns = ["all", "times the rating of the feature", "of"]
    return Table("Section 6.4.5: strong connections and leaks on RCV1", columns, rows, note, claims)


EXPERIMENTS = [
    Experiment(
        "index-properties",
        PAPER,
        "What an index looks like (sections 6.4.3 to 6.4.5)",
        ("newsgroups", "reuters21578", "rcv1", "finna"),
        jobs,
        run,
        show,
        f"{STAND_INS['rcv1']} {STAND_INS['finna']}",
    ).with_original(
        ORIGINALS["rcv1"],
        "What an index looks like, on RCV1-v2 itself",
        stands_in=STAND_INS["finna"],
    ),
]
