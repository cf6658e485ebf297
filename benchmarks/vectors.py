"""Embeddings of short texts: TunedVectors beside scikit-learn's linear classifiers on the same vectors, in one run.

    python benchmarks/vectors.py DATA VECTORS [SET ...]

DATA has the folder short_texts; VECTORS has, made by whatever encoder, SET.train.npy and SET.test.npy: a row for each
text, in order.
"""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from benchmarks.short_texts import SETS, part
from shortlist import MMP, TunedVectors

LEARNERS = {
    "TunedVectors": TunedVectors,
    "MMP, passive-aggressive": lambda: MMP(step="passive-aggressive", margin=1.0, hypothesis="averaged", passes=3),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "LinearSVC": LinearSVC,
}


def few(labels, n):
    """The places of the first n examples of each label, or of all if n is None."""
    seen: dict[str, int] = {}
    chosen = []
    for place, label in enumerate(labels):
        seen[label] = seen.get(label, 0) + 1
        if n is None or seen[label] <= n:
            chosen.append(place)
    return np.array(chosen)


def main(data, vectors, names):
    for make in LEARNERS.values():  # compiles, loads
        make().fit(np.eye(4), ["a", "b", "a", "b"]).predict(np.eye(4))
    print("| set, examples a label | " + " | ".join(f"{name}: P@1, fit in s" for name in LEARNERS) + " |")
    print("|---|" + "---|" * len(LEARNERS))
    for name in names or SETS:
        (_, y), (_, truth) = (part(Path(data) / "short_texts", name, which) for which in ("train", "test"))
        X, new = (normalize(np.load(Path(vectors) / f"{name}.{which}.npy")) for which in ("train", "test"))
        order = np.random.default_rng(0).permutation(len(y))
        X, y, truth = X[order], np.array(y)[order], np.array(truth)
        for n in (10, 50, None):
            chosen, cells = few(y, n), []
            for make in LEARNERS.values():
                model, began = make(), time.process_time()
                model.fit(X[chosen], y[chosen])
                taken = time.process_time() - began
                cells.append(f"{np.mean(model.predict(new) == truth):.3f}, {taken:.2f}")
            print(f"| {name}, {n or 'all'} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
