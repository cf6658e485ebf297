"""How fast dense vectors are learned and ranked, beside LogisticRegression and beside rows with a gap, in one run.

    python benchmarks/vector_speed.py [ROWS]

Vectors of 384 numbers around a centre for each of 77 labels; processor time on one core. For PRank and MapSVM the same
rows are learned behind an empty column too: then they are not full, and go the way of sparse rows.
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import shortlist as sl

WIDE, LABELS, MANY = 384, 77, 100_000


def clouds(n, seed=0):
    random = np.random.default_rng(seed)
    centres, y = np.random.default_rng(99).normal(size=(LABELS, WIDE)), random.integers(LABELS, size=n)
    X = centres[y] + 6.0 * random.normal(size=(n, WIDE))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def seconds(do, times=3):
    """The least of some tries."""
    found = []
    for _ in range(times):
        began = time.process_time()
        do()
        found.append(time.process_time() - began)
    return min(found)


def learning(n):
    (X, y), (new, truth) = clouds(n), clouds(2000, 1)
    ours, theirs = sl.TunedVectors(), LogisticRegression(C=10)
    ours.fit(X[:100], y[:100])
    own, other = seconds(lambda: ours.fit(X, y)), seconds(lambda: theirs.fit(X, y), 1)
    print(f"fit, {n:,} rows: TunedVectors {own:.2f} s, P@1 {100 * ours.score(new, truth):.1f}; LogisticRegression "
          f"{other:.2f} s, P@1 {100 * theirs.score(new, truth):.1f}; {other / own:.1f} times as fast")  # fmt: skip
    some = [(X[i : i + 1], y[i : i + 1]) for i in range(min(n, 500))]
    each = seconds(lambda: [ours.partial_fit(*one) for one in some]) / len(some)
    print(f"one example: TunedVectors.partial_fit {1e6 * each:.0f} µs")
    texts, labels = [f"text {label}" for label in y[:500]], y[:500].tolist()
    with_one, without = sl.Categorizer().fit(texts, labels, vectors=X[:500]), sl.Categorizer().fit(texts, labels)
    some = list(zip(texts, labels, X, strict=False))
    for verb, one, other in (
        ("learn", lambda t, c, x: with_one.learn(t, c, vector=x), lambda t, c, x: without.learn(t, c)),
        ("rank", lambda t, c, x: with_one.rank(t, vector=x), lambda t, c, x: without.rank(t)),
    ):
        both, words = (1e6 * seconds(lambda do=do: [do(*s) for s in some]) / len(some) for do in (one, other))
        print(f"one text: Categorizer.{verb} {words:.0f} µs, with a vector {both:.0f} µs")


def ranking():
    random = np.random.default_rng(0)
    learner = sl.TunedVectors().partial_fit(np.eye(1, WIDE), [0], classes=range(MANY))
    learner._weights = random.standard_normal((WIDE, MANY), dtype=np.float32)
    learner._biases = random.normal(size=MANY)
    for n in (1, 16, 64):
        X = random.normal(size=(n, WIDE))
        learner.rank(X, k=5)
        each = seconds(lambda X=X: learner.rank(X, k=5), 5) / n
        print(f"{MANY:,} labels, {n} at a time: ranked in {1e3 * each:.1f} ms a text")


def ratings_and_documents():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, WIDE))
    scores = X @ random.normal(size=WIDE) + 5.0 * random.normal(size=4000)
    y, query = np.digitize(scores, np.quantile(scores, [0.2, 0.4, 0.6, 0.8])), np.repeat(np.arange(100), 40)
    behind = np.hstack([np.zeros((4000, 1)), X])
    for name, fit in (
        ("PRank, 20 passes", lambda X: sl.PRank(passes=20).fit(X, y)),
        ("MapSVM, 60 passes", lambda X: sl.MapSVM(C=1.0, max_iter=60).fit(X, y == 4, query=query)),
    ):
        fit(X), fit(behind)
        full, gap = seconds(lambda fit=fit: fit(X), 5), seconds(lambda fit=fit: fit(behind), 5)
        print(f"{name}: {full:.3f} s, as sparse rows {gap:.3f} s: {gap / full:.2f} times as fast")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)  # MapSVM stops after 60 passes
    learning(int(sys.argv[1]) if len(sys.argv) > 1 else 10_003)
    ranking()
    ratings_and_documents()
