"""How fast models learn and rank: against other learners, singly against in batches, on two threads against one."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse
from mord import LogisticAT
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import shortlist as sl
from benchmarks.ratios.ratio import Ratio, data, in_turn
from shortlist.documents.average_precision import place_each


def newsgroups() -> Iterator[Ratio]:
    texts, groups = [], []
    for path in sorted(data("20newsgroups-original", "20_newsgroups").glob("*/*")):
        texts.append(path.read_text(encoding="latin-1").partition("\n\n")[2])
        groups.append(path.parent.name)
    X, y = sl.TextVectorizer(stop_words="english").fit_transform(texts), np.array(groups)
    sl.FeatureFocus().fit(X[:100], y[:100])  # compiled
    unit = scipy.sparse.csr_matrix(normalize(X))
    (ours,) = in_turn(lambda: sl.FeatureFocus(margin=0.5).fit(X, y), repeats=3)
    (theirs,) = in_turn(lambda: LinearSVC().fit(unit, y), repeats=1)
    yield Ratio("20 Newsgroups, FeatureFocus: LinearSVC", ours, theirs, 8)
    model, some = sl.Categorizer().fit(texts[::10], groups[::10]), texts[1:20000:100]
    model.rank(some)
    times = in_turn(lambda: [model.rank(text) for text in some], lambda: model.rank(some))
    yield Ratio("ranked one by one: the same in a batch", *times, 0.1)


def ratings() -> Iterator[Ratio]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40_000, 10))
    y = 1 + np.digitize(X @ generator.normal(size=10) + generator.logistic(size=40_000), [-4, -1, 1, 4])
    sl.PRank().fit(X[:10], y[:10])  # compiled
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of options that mord passes
        times = in_turn(lambda: sl.PRank().fit(X, y), lambda: LogisticAT().fit(X, y), repeats=2)
    yield Ratio("50,000 ratings, PRank: mord's LogisticAT", *times, 20)


def two_threads() -> Iterator[Ratio]:
    """Where two processors are free: what two threads of NumPy gain over one is the yardstick."""
    random = np.random.default_rng(0)
    n, width = 40_000, 20_000
    columns = (random.zipf(1.2, n * 50) - 1) % width
    X = scipy.sparse.csr_array((np.ones(n * 50), columns, np.arange(n + 1) * 50), shape=(n, width))
    Y = random.zipf(1.3, n) % 2000
    learner = sl.FeatureFocus(n_jobs=1).fit(X, Y)
    rows = learner._check(X)

    def on(n_jobs, work):
        return lambda: work(learner.set_params(n_jobs=n_jobs))

    rank = lambda one: one._rank_rows(rows, 5)  # noqa: E731
    times = in_turn(on(2, rank), on(1, rank), clock=time.perf_counter)
    yield Ratio("ranked on two threads: on one", *times, 1.7)
    numbers = random.random(4_000_000)
    with ThreadPoolExecutor(2) as pool:
        both = in_turn(
            lambda: list(pool.map(np.sort, [numbers, numbers])), lambda: [np.sort(numbers), np.sort(numbers)],
            clock=time.perf_counter,
        )  # fmt: skip
    yield Ratio(f"NumPy's sort on two threads: on one ({os.cpu_count()} processors)", *both, 1.8)


def queries() -> Iterator[Ratio]:
    random = np.random.default_rng(0)
    w = random.normal(0, 1, 20)

    def one_round(n_queries):
        X, query = random.random((n_queries * 100, 20)), np.repeat(np.arange(n_queries), 100)
        y = X @ w + random.normal(0, 1, len(X)) > np.quantile(X @ w, 0.9)
        y[::100], y[1::100] = True, False
        ranker = sl.MapSVM(C=10.0)
        (spent,) = in_turn(lambda: ranker.fit(X, y, query=query), repeats=3)
        return spent / ranker.n_iter_

    one_round(2)  # compiled
    yield Ratio("a round of MapSVM, 400 queries: 40 queries", one_round(400), one_round(40), 1 / 25)


def search_of_places() -> Iterator[Ratio]:
    """Eight times the documents: a quadratic search would need 64 times as long, n·log n about 9 times."""
    random = np.random.default_rng(1)

    def search(R, N):
        s, s_bar = np.sort(random.normal(0.1, 1, R))[::-1].copy(), np.sort(random.normal(0, 1, N))[::-1].copy()
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, R + N + 1))])
        return lambda: place_each(s, s_bar, harmonic)

    search(2, 2)()  # compiled
    times = in_turn(search(16_000, 160_000), search(2_000, 20_000))
    yield Ratio("MapSVM's search, 176,000 documents: 22,000", *times, 1 / 30)
