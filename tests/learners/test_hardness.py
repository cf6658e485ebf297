"""Appendix A of paper 004: with at most one edge a feature, the best index is as hard to find as
the smallest cover.

The reduction from SET COVER, built and checked on small cases by trying everything: an index that
puts the right class first on |U| + |S| − C instances exists if and only if a cover of C sets does.
The same is true of the sum of reciprocal ranks, which HR is made of: the package ranks by each
index, and its measures count.
"""

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.data.ranking import Ranking
from shortlist.data.validation import as_rows
from shortlist.learners.index import scoring
from shortlist.learners.index.edges import make_edges, make_index
from shortlist.measures import evaluate


def instances(universe, sets):
    """Element e: the features of the sets that hold it, class 1. Set i: its own feature alone,
    class 2.
    """
    originals = [([i for i, members in enumerate(sets) if e in members], 1) for e in universe]
    extras = [([i], 2) for i in range(len(sets))]
    return originals + extras


def best_reward(universe, sets):
    """The most instances with the right class first, over every index with one edge a feature.

    With weights to choose, c1 wins an original instance exactly if one of its features points to
    c1: give those edges a weight above all others.
    """
    data = instances(universe, sets)
    best = 0
    for edges in product((1, 2), repeat=len(sets)):
        right = 0
        for features, label in data:
            weight = {1: 0, 2: 0}
            for f in features:
                weight[edges[f]] += len(sets) + 1 if edges[f] == 1 else 1
            right += weight[label] > weight[3 - label]
        best = max(best, right)
    return best


def smallest_cover(universe, sets):
    for size in range(len(sets) + 1):
        for chosen in combinations(sets, size):
            if set().union(*chosen) >= set(universe):
                return size
    return None


@given(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=6))
def test_the_best_index_is_the_smallest_cover(sets):
    universe = sorted(set().union(*sets))
    assert best_reward(universe, sets) == len(universe) + len(sets) - smallest_cover(universe, sets)


def rewards_by_the_package(universe, sets):
    """The best sum of R1 and the best sum of reciprocal ranks, over every index with one edge a
    feature.
    """
    data = instances(universe, sets)
    X = np.zeros((len(data), len(sets)))
    for row, (features, _) in enumerate(data):
        X[row, features] = 1
    rows = as_rows(X)
    truth = [[f"c{label}"] for _, label in data]
    best = {"R1": 0.0, "MRR": 0.0}
    for edges in product((1, 2), repeat=len(sets)):
        labels = np.array(edges, dtype=np.int32) - 1
        weights = np.where(labels == 0, len(sets) + 1.0, 1.0)
        index = make_index(
            np.ones(len(sets), np.int32),
            make_edges(labels, weights),
            np.ones(len(sets)),
            np.ones(len(sets), np.int64),
        )
        ids, scores = np.full((len(data), 2), -1, dtype=np.int32), np.zeros((len(data), 2))
        scoring.rank(rows, index, np.zeros(2), 1, 0, ids, scores)
        found = evaluate(Ranking(ids, scores, ["c1", "c2"]), truth, list(best), resamples=0)
        best = {name: max(value, found[name] * len(data)) for name, value in best.items()}
    return best


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=4))
def test_the_package_finds_the_same_for_r1_and_for_hr(sets):
    universe = sorted(set().union(*sets))
    expected = len(universe) + len(sets) - smallest_cover(universe, sets)
    best = rewards_by_the_package(universe, sets)
    assert round(best["R1"], 9) == expected
    assert round(best["MRR"], 9) == expected
