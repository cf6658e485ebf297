"""Appendix A of paper 004: with at most one edge a feature, the best index is as hard to find as the smallest cover.

The reduction from SET COVER, built and checked on small cases by trying everything: an index that puts the right class
first on |U| + |S| − C instances exists if and only if a cover of C sets does.
"""

from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st


def instances(universe, sets):
    """Element e: the features of the sets that hold it, class 1. Set i: its own feature alone, class 2."""
    originals = [([i for i, members in enumerate(sets) if e in members], 1) for e in universe]
    extras = [([i], 2) for i in range(len(sets))]
    return originals + extras


def best_reward(universe, sets):
    """The most instances with the right class first, over every index with one edge a feature.

    With weights to choose, c1 wins an original instance exactly if one of its features points to c1: give those edges
    a weight above all others.
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
