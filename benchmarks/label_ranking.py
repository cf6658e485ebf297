"""Orders of labels predicted: LabelRanker beside nearest neighbours and beside one order for all, by Kendall's τ.

python -m benchmarks.label_ranking [repeats]

The sets are made as those that the field has used since Hüllermeier et al. (2008) are: a classification set whose rows
get the order of classes that Gaussian naive Bayes, fitted to all of it, has for them. Columns are scaled to mean 0 and
variance 1 and a constant is added. Of the training rows' orders so many labels are left out at random. Ten-fold
cross-validation, repeated; mean and standard deviation over repeats.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from shortlist import LabelRanker, kendall_tau

SETS = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
MISSING = (0.0, 0.3, 0.6)  # of the labels of each training row
NEIGHBOURS = 10
RANKERS = {
    "LabelRanker, MMP": LabelRanker("mmp"),
    "LabelRanker, MMP, loss2": LabelRanker("mmp", loss=2),
    "LabelRanker, PRank": LabelRanker("prank"),
}


def ordered(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and the order of all classes of each, best first."""
    X, y = SETS[name](return_X_y=True)
    likely = GaussianNB(var_smoothing=1e-3).fit(X, y).predict_joint_log_proba(X)
    rows = StandardScaler().fit_transform(X)
    return np.column_stack([rows, np.ones(len(rows))]), np.argsort(-likely, axis=1, kind="stable")


def without_some(orders: np.ndarray, share: float, random: np.random.Generator) -> list[list[int]]:
    left = random.random(orders.shape) >= share
    return [own[kept].tolist() for own, kept in zip(orders, left, strict=True)]


def borda(orders: list[list[int]], k: int) -> np.ndarray:
    """How high each label stands on average over the orders that have it, from 0 (last) to 1."""
    points, counts = np.full(k, 0.5), np.ones(k)  # a label of which nothing is known stands in the middle
    for own in orders:
        points[own] += 1 - np.arange(len(own)) / max(len(own) - 1, 1) if len(own) > 1 else 0.5
        counts[own] += 1
    return points / counts


def by_neighbours(X: np.ndarray, orders: list[list[int]], rows: np.ndarray, k: int) -> list[list[int]]:
    near = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(X).kneighbors(rows, return_distance=False)
    return [np.argsort(-borda([orders[i] for i in own], k), kind="stable").tolist() for own in near]


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for name in SETS:
        X, orders = ordered(name)
        k = orders.shape[1]
        for share in MISSING:
            found: dict[str, list[float]] = {}
            for repeat in range(repeats):
                taus: dict[str, list[float]] = {}
                for train, test in KFold(10, shuffle=True, random_state=repeat).split(X):
                    seen = without_some(orders[train], share, np.random.default_rng([repeat, test[0]]))
                    true = orders[test].tolist()
                    guesses = {
                        way: ranker.set_params(labels=list(range(k))).fit(X[train], seen).predict(X[test]).tolist()
                        for way, ranker in RANKERS.items()
                    }
                    guesses[f"{NEIGHBOURS} nearest neighbours"] = by_neighbours(X[train], seen, X[test], k)
                    guesses["one order for all"] = [np.argsort(-borda(seen, k), kind="stable").tolist()] * len(test)
                    for way, guess in guesses.items():
                        taus.setdefault(way, []).append(kendall_tau(guess, true))
                for way, values in taus.items():
                    found.setdefault(way, []).append(float(np.mean(values)))
            for way, values in found.items():
                print(f"{name:7} {share:4.0%} left out  {way:26} {np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main()
