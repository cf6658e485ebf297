"""The fast measures against their slow twins, on rankings of every awkward kind."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.labels import LabelSets
from shortlist.measures import evaluate
from shortlist.ranking import Ranking
from tests.reference import measures as twin


def rankings_of(lists, width, n_labels):
    """A Ranking from lists of (label, score)."""
    ids = np.full((len(lists), width), -1, dtype=np.int32)
    scores = np.full((len(lists), width), np.nan)
    for row, pairs in enumerate(lists):
        for place, (label, score) in enumerate(pairs):
            ids[row, place], scores[row, place] = label, score
    return Ranking(ids, scores, range(n_labels))


@st.composite
def problems(draw):
    """Few labels and few distinct scores: cut and complete rankings, ties, empty and full truths, unseen labels."""
    n_labels = draw(st.integers(1, 6))
    width = draw(st.integers(3, 6))
    lists, truth = [], []
    for _ in range(draw(st.integers(1, 6))):
        labels = draw(st.permutations(range(n_labels)))[: draw(st.integers(0, min(width, n_labels)))]
        scores = draw(st.lists(st.integers(-1, 1), min_size=len(labels), max_size=len(labels)))
        lists.append(list(zip(labels, sorted(map(float, scores), reverse=True), strict=True)))
        truth.append(draw(st.sets(st.integers(0, n_labels + 1))))  # the last two are labels never learned
    return lists, truth, width, n_labels


ONE_LABEL = ([[(0, 0.5)], []], [{0}, {0}], 3, 1)
ALL_RELEVANT = ([[(1, 1.0), (0, 0.5)]], [{0, 1}], 3, 2)
NONE_RELEVANT = ([[(1, 1.0), (0, 0.5)]], [set()], 3, 2)
TIES_EVERYWHERE = ([[(2, 0.0), (0, 0.0), (1, 0.0)]], [{0, 1}], 3, 3)
NEVER_RETRIEVED = ([[(0, 0.9), (1, 0.8)]], [{3}], 3, 5)


@given(problems())
@example(ONE_LABEL)
@example(ALL_RELEVANT)
@example(NONE_RELEVANT)
@example(TIES_EVERYWHERE)
@example(NEVER_RETRIEVED)
def test_each_instance_agrees_with_the_twin(problem):
    lists, truth, width, n_labels = problem
    found = evaluate(rankings_of(lists, width, n_labels), LabelSets.of(truth), list(twin.BY_NAME), resamples=0)
    for name, slow in twin.BY_NAME.items():
        expected = [
            slow(pairs, y, set(range(n_labels)) | y) if y else math.nan for pairs, y in zip(lists, truth, strict=True)
        ]
        np.testing.assert_allclose(found.per_instance[name], expected, rtol=1e-12, err_msg=name)
        mean = np.nanmean(expected) if not np.isnan(expected).all() else math.nan
        assert found[name] == pytest.approx(mean, nan_ok=True, rel=1e-12)
    assert found.n_instances == len(truth)
    assert sum(found.left_out.values()) == sum(not y for y in truth)


@given(problems())
def test_harmonic_rank_is_the_reciprocal_of_mrr(problem):
    lists, truth, width, n_labels = problem
    found = evaluate(rankings_of(lists, width, n_labels), LabelSets.of(truth), ["HR", "MRR"], resamples=0)
    with np.errstate(divide="ignore"):
        assert found["HR"] == pytest.approx(1 / np.float64(found["MRR"]), nan_ok=True)


@given(problems(), st.randoms(use_true_random=False))
def test_losses_do_not_depend_on_how_ties_are_broken(problem, random):
    lists, truth, width, n_labels = problem
    shuffled = [sorted(pairs, key=lambda pair: (-pair[1], random.random())) for pairs in lists]
    names = ["loss1", "loss2", "loss3", "ROC"]
    one, other = (
        evaluate(rankings_of(some, width, n_labels), LabelSets.of(truth), names, resamples=0)
        for some in (lists, shuffled)
    )
    for name in names:
        np.testing.assert_array_equal(one.per_instance[name], other.per_instance[name])


@given(problems(), st.integers(3, 5))
def test_cutting_a_ranking_never_makes_it_look_better(problem, width):
    lists, truth, full, n_labels = problem
    names = ["AP", "MRR", "nDCG", "loss1", "loss2", "loss3", "coverage"]
    whole = evaluate(rankings_of(lists, full, n_labels), LabelSets.of(truth), names, resamples=0)
    cut = evaluate(
        rankings_of([pairs[:width] for pairs in lists], width, n_labels), LabelSets.of(truth), names, resamples=0
    )
    for one in whole.measures:
        worse = cut.per_instance[one.name] - whole.per_instance[one.name]
        worse = worse[~np.isnan(worse)] * (1 if one.better == "lower" else -1)
        assert (worse >= -1e-12).all(), one.name
