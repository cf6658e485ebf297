"""MapSVM, LightGBM and a pairwise LinearSVC on OHSUMED and Cranfield. ``python -m benchmarks`` runs them.

Five folds of queries: one to test, the one before to choose settings, three to train. Features are scaled to [0, 1]
within each query. Cranfield's are the scores of 15 retrieval functions.
"""

import time
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

import shortlist as sl
from papers.document_data import Judged, load
from papers.documents import fold_roles

__all__ = ["LightGBM", "MapSVM", "PairwiseSVC", "fold_roles", "in_folds", "trained"]


class MapSVM:
    settings = (1.0, 10.0, 100.0, 1000.0)

    def __init__(self, setting):
        self.ranker = sl.MapSVM(C=setting, tol=1e-5)  # as exact as the experiments on five folds

    def fit(self, train, validation):
        self.ranker.fit(train.scores, train.relevance, query=train.query)

    def predict(self, part):
        return self.ranker.predict(part.scores)


class PairwiseSVC:
    """A linear classifier of differences: for each relevant and non-relevant document of a query, which is which."""

    settings = (1e-4, 1e-3, 1e-2, 1e-1)

    def __init__(self, setting):
        self.svm = LinearSVC(C=setting, fit_intercept=False, dual=False)

    def fit(self, train, validation):
        pairs = []
        for query in np.unique(train.query):
            rows, good = train.scores[train.query == query], train.relevance[train.query == query] > 0
            pairs.append((rows[good][:, None] - rows[~good]).reshape(-1, rows.shape[1]))
        differences = np.concatenate(pairs)
        signs = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
        self.svm.fit(differences * signs[:, None], signs)

    def predict(self, part):
        return part.scores @ self.svm.coef_[0]


class LightGBM:
    """Lambdarank with graded relevance; the number of trees is where the validation queries stop improving."""

    settings = (7, 31)

    def __init__(self, setting):
        import lightgbm

        self.stop = lightgbm.early_stopping(50, verbose=False)
        self.ranker = lightgbm.LGBMRanker(
            num_leaves=setting, n_estimators=1000, learning_rate=0.05, n_jobs=1, verbose=-1, random_state=0
        )

    def fit(self, train, validation):
        self.ranker.fit(
            train.scores, train.relevance.astype(int), group=sizes(train),
            eval_X=(validation.scores,), eval_y=(validation.relevance.astype(int),), eval_group=[sizes(validation)],
            eval_metric="map", eval_at=[1000], callbacks=[self.stop],
        )  # fmt: skip

    def predict(self, part):
        return self.ranker.booster_.predict(part.scores, num_threads=1)


def sizes(part):
    return np.unique(part.query, return_counts=True)[1]


def in_folds(data: Path):
    """Each set with its features scaled within the query, and with folds drawn at random if it has none."""
    for name in ("ohsumed", "cranfield"):
        judged = scaled(load(data, name))
        fold = judged.fold if judged.fold.any() else 1 + np.random.default_rng(0).permutation(judged.fold.size) % 5
        yield name, judged._replace(fold=fold)


def scaled(judged: Judged) -> Judged:
    return judged._replace(scores=sl.QueryScaler().transform(judged.scores, query=judged.query))


def trained(tool, settings: tuple, judged: Judged, roles: tuple):
    """For each setting: the ranker, its MAP on the validation queries, the seconds it took to train."""
    train, validation = (judged.of(one) for one in roles[:2])
    for setting in settings:
        ranker = tool(setting)
        began = time.process_time()
        ranker.fit(train, validation)
        seconds = time.process_time() - began
        yield ranker, validation.average_precision(ranker.predict(validation)).mean(), seconds
