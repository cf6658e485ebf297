"""Raters and rankers of documents: one set and one tool, in a process of its own. ``python -m
benchmarks`` starts it.

    python -m benchmarks.rivals.others SET TOOL DATA OUT SECONDS

A rater has one setting, and learns four fifths of the rows; ours is Rater() as it comes. A ranker
of documents works in five folds of queries: one to test, the one before to choose its C or the
number of leaves, three to train; times are of the setting that was chosen, the mean of five folds.
Features of documents are scaled to [0, 1] within each query; Cranfield's are the scores of 15
retrieval functions.
"""

import importlib
import importlib.metadata
import json
import resource
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import shortlist as sl
from benchmarks.rivals.protocol import peak
from benchmarks.running import arguments, timed
from papers.document_data import load
from papers.documents import fold_roles
from papers.query_scaler import QueryScaler
from papers.rating_data import read_movielens

# Ratings.


class RoundedRidge(BaseEstimator):
    """Ridge regression on the ratings, rounded to the nearest one."""

    def fit(self, X, y):
        self.ridge_ = Ridge().fit(X, y)
        self.bounds_ = y.min(), y.max()
        return self

    def predict(self, X):
        return np.clip(np.rint(self.ridge_.predict(X)), *self.bounds_).astype(int)


RATERS = {
    "shortlist": sl.Rater,
    "mord LogisticAT": lambda: importlib.import_module("mord").LogisticAT(alpha=1.0),
    "mord LogisticIT": lambda: importlib.import_module("mord").LogisticIT(alpha=1.0),
    "LinearSVC": lambda: LinearSVC(C=0.1),
    "Ridge, rounded": RoundedRidge,
}


def line(data, n=100_000, n_features=10):
    """The proportional-odds model itself: a direction, logistic noise, five steps."""
    generator = np.random.default_rng(10)
    X = generator.normal(size=(n, n_features))
    score = X @ generator.normal(size=n_features) + generator.logistic(size=n)
    return X, 1 + np.digitize(score, [-4, -1, 1, 4])


def saddle(data, n=100_000):
    """Paper 002's synthetic set, (x₁ − ½)(x₂ − ½) with noise and uneven steps, on its five
    quadratic features.
    """
    generator = np.random.default_rng(11)
    x1, x2 = generator.uniform(size=(2, n))
    score = 10 * (x1 - 0.5) * (x2 - 0.5) + generator.normal(0, 0.125, size=n)
    return np.column_stack([x1, x2, x1**2, x2**2, x1 * x2]), 1 + np.digitize(
        score, [-1, -0.1, 0.25, 1]
    )


def movielens(data):
    """All ratings of MovieLens 100k; the features are who rated and which film."""
    ratings = read_movielens(data / "movielens100k" / "u.data")
    viewer, film = np.nonzero(ratings)
    n = viewer.size
    columns = np.column_stack([viewer, len(ratings) + film]).astype(np.int32)
    offsets = np.arange(0, 2 * n + 1, 2, dtype=np.int32)
    X = scipy.sparse.csr_array(
        (np.ones(2 * n), columns.ravel(), offsets), shape=(n, sum(ratings.shape))
    )
    return X, ratings[viewer, film]


RATED = {"ratings-line": line, "ratings-saddle": saddle, "ratings-movielens": movielens}


def rate(name, tool, data):
    X, y = RATED[name](data)
    y = y.astype(np.int64)  # mord counts in their type
    order = np.random.default_rng(19).permutation(y.size)
    learn, test = order[: int(0.8 * y.size)], order[int(0.8 * y.size) :]
    if not scipy.sparse.issparse(X):
        X = StandardScaler().fit(X[learn]).transform(X)
    few = learn[:2000]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop early
        # what is loaded or compiled is not timed
        RATERS[tool]().fit(X[few], y[few]).predict(X[test[:2000]])
        model, spent = timed(RATERS[tool]().fit, X[learn], y[learn])
    found, ranked = timed(model.predict, X[test])
    measures = {
        "MAE": float(np.abs(found - y[test]).mean()),
        "exact": float((found == y[test]).mean()),
    }
    return {"train": spent, "batch": ranked / test.size, "measures": measures}


# Documents.


class MapSVM:
    settings = (1.0, 10.0, 100.0, 1000.0)

    def __init__(self, setting):
        self.ranker = sl.MapSVM(C=setting, tol=1e-5)  # as exact as the experiments on five folds

    def fit(self, train, validation):
        self.ranker.fit(train.scores, train.relevance, query=train.query)

    def predict(self, part):
        return self.ranker.predict(part.scores)


class PairwiseSVC:
    """A linear classifier of differences: for each relevant and non-relevant document of a
    query, which is which.
    """

    settings = (1e-4, 1e-3, 1e-2, 1e-1)

    def __init__(self, setting):
        self.svm = LinearSVC(C=setting, fit_intercept=False, dual=False)

    def fit(self, train, validation):
        pairs = []
        for query in np.unique(train.query):
            rows, good = (
                train.scores[train.query == query],
                train.relevance[train.query == query] > 0,
            )
            pairs.append((rows[good][:, None] - rows[~good]).reshape(-1, rows.shape[1]))
        differences = np.concatenate(pairs)
        signs = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
        self.svm.fit(differences * signs[:, None], signs)

    def predict(self, part):
        return part.scores @ self.svm.coef_[0]


class LightGBM:
    """Lambdarank with graded relevance; the number of trees is where the validation queries
    stop improving.
    """

    settings = (7, 31)

    def __init__(self, setting):
        import lightgbm

        self.stop = lightgbm.early_stopping(50, verbose=False)
        self.ranker = lightgbm.LGBMRanker(
            num_leaves=setting,
            n_estimators=1000,
            learning_rate=0.05,
            n_jobs=1,
            verbose=-1,
            random_state=0,
        )

    def fit(self, train, validation):
        sizes = [np.unique(part.query, return_counts=True)[1] for part in (train, validation)]
        self.ranker.fit(
            train.scores,
            train.relevance.astype(int),
            group=sizes[0],
            eval_X=(validation.scores,),
            eval_y=(validation.relevance.astype(int),),
            eval_group=[sizes[1]],
            eval_metric="map",
            eval_at=[1000],
            callbacks=[self.stop],
        )

    def predict(self, part):
        return self.ranker.booster_.predict(part.scores, num_threads=1)


RANKERS = {"shortlist": MapSVM, "pairwise LinearSVC": PairwiseSVC, "LightGBM": LightGBM}


def in_folds(judged):
    """With features scaled within the query, and with folds drawn at random if there are none."""
    fold = (
        judged.fold
        if judged.fold.any()
        else 1 + np.random.default_rng(0).permutation(judged.fold.size) % 5
    )
    return judged._replace(
        scores=QueryScaler().transform(judged.scores, query=judged.query), fold=fold
    )


def compare(kind, judged):
    """For each query its average precision, and for each fold the seconds of training and of
    ranking a document.
    """
    values, times = np.zeros(judged.fold.size), []
    for roles in fold_roles(judged.fold):
        train, validation, test = (judged.of(one) for one in roles)
        tried = []
        for setting in kind.settings:
            ranker = kind(setting)
            _, spent = timed(ranker.fit, train, validation)
            tried.append(
                (validation.average_precision(ranker.predict(validation)).mean(), spent, ranker)
            )
        _, spent, ranker = max(tried, key=lambda one: one[0])
        scores, ranked = timed(ranker.predict, test)
        times.append((spent, ranked / test.query.size))
        values[roles[2]] = test.average_precision(scores)
    return values, times


def rank(name, tool, data):
    sl.MapSVM().fit(np.eye(4), [1, 0, 1, 0], query=[1, 1, 2, 2])  # compile or load the kernels
    values, times = compare(RANKERS[tool], in_folds(load(data, name.removeprefix("documents-"))))
    spent, ranked = np.mean(times, axis=0).tolist()
    return {"train": spent, "batch": ranked, "measures": {"MAP": float(values.mean())}}


def main():
    parser = arguments(__doc__, data=False)
    for name, kind in {
        "set": str,
        "tool": str,
        "data": Path,
        "out": Path,
        "seconds": float,
    }.items():
        parser.add_argument(name, type=kind)
    given = parser.parse_args()
    most = int(given.seconds) + 60  # what is loaded and compiled may take a minute
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
    report = (rate if given.set in RATED else rank)(given.set, given.tool, given.data)
    package = (
        given.tool.split()[0].lower()
        if given.tool.startswith(("mord", "LightGBM"))
        else "scikit-learn"
    )
    named = "shortlist" if given.tool == "shortlist" else package
    version = sl.__version__ if named == "shortlist" else importlib.metadata.version(package)
    report |= {
        "versions": {"python": sys.version.split()[0], named: version},
        "memory": peak(),
        "done": True,
    }
    (given.out / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main()
