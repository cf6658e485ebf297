"""Raters and rankers of documents: one set and one tool, in a process of its own.

    python -m benchmarks.rivals.others SET TOOL DATA OUT SECONDS

The sets and tools are those of benchmarks/ratings.py and benchmarks/documents.py. A rater has one setting, and learns
four fifths of the rows; ours is Rater() as it comes. A ranker of documents chooses its C, or the number of leaves, on
the fold before the one that is tested; times are of the setting that was chosen, the mean of five folds.
"""

import importlib.metadata
import json
import resource
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import shortlist as sl
from benchmarks.rivals.protocol import peak

RATERS = {
    "shortlist": lambda: sl.Rater(),
    "mord LogisticAT": lambda: imported("mord").LogisticAT(alpha=1.0),
    "mord LogisticIT": lambda: imported("mord").LogisticIT(alpha=1.0),
    "LinearSVC": lambda: imported("sklearn.svm").LinearSVC(C=0.1),
    "Ridge, rounded": lambda: imported("benchmarks.ratings").RoundedRidge(),
}
RANKERS = {"shortlist": "MapSVM", "pairwise LinearSVC": "PairwiseSVC", "LightGBM": "LightGBM"}


def imported(name):
    return importlib.import_module(name)


def rate(name, tool, data):
    ratings = imported("benchmarks.ratings")
    problem = {
        "ratings-line": ratings.line,
        "ratings-saddle": ratings.saddle,
        "ratings-movielens": lambda: ratings.movielens_all(data / "movielens100k" / "u.data"),
    }[name]()
    learn, check, test = ratings.cut(replace(problem, y=problem.y.astype(np.int64)))  # mord counts in their type
    whole = ratings.stacked(learn, check)
    few = slice(0, 2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop early
        model = RATERS[tool]().fit(learn.X[few], learn.y[few])  # what is loaded or compiled is not timed
        model.predict(test.X[few])
        model, began = RATERS[tool](), time.process_time()
        model.fit(whole.X, whole.y)
        spent = time.process_time() - began
    began = time.process_time()
    found = model.predict(test.X)
    ranked = (time.process_time() - began) / len(test.y)
    measures = {"MAE": float(np.abs(found - test.y).mean()), "exact": float((found == test.y).mean())}
    return {"train": spent, "batch": ranked, "measures": measures}


def rank(name, tool, data):
    documents = imported("benchmarks.documents")
    kind, judged = getattr(documents, RANKERS[tool]), dict(documents.in_folds(data))[name.removeprefix("documents-")]
    sl.MapSVM().fit(np.eye(4), [1, 0, 1, 0], query=[1, 1, 2, 2])  # compile or load the kernels
    values, fits, ranked = np.zeros(judged.fold.size), [], []
    for roles in documents.fold_roles(judged.fold):
        ranker, _, seconds = max(documents.trained(kind, kind.settings, judged, roles), key=lambda one: one[1])
        test = judged.of(roles[2])
        began = time.process_time()
        scores = ranker.predict(test)
        ranked.append((time.process_time() - began) / test.query.size)
        fits.append(seconds)
        values[roles[2]] = test.average_precision(scores)
    measures = {"MAP": float(values.mean())}
    return {"train": float(np.mean(fits)), "batch": float(np.mean(ranked)), "measures": measures}


def main(name, tool, data, out, seconds):
    most = int(float(seconds)) + 60  # what is loaded and compiled may take a minute
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
    report = (rate if name.startswith("ratings") else rank)(name, tool, Path(data))
    package = tool.split()[0].lower() if tool.startswith(("mord", "LightGBM")) else "scikit-learn"
    version = sl.__version__ if tool == "shortlist" else importlib.metadata.version(package)
    named = "shortlist" if tool == "shortlist" else package
    report |= {"versions": {"python": sys.version.split()[0], named: version}, "memory": peak(), "done": True}
    (Path(out) / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(*sys.argv[1:])
