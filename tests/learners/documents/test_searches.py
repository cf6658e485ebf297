"""Each measure's most violated ranking against brute force over all rankings, and its loss
against the definition.
"""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import MapSVM, MrrSVM, NdcgSVM, RocSVM
from shortlist.learners.documents.queries import as_queries
from shortlist.learners.documents.svms import place_each
from tests.reference.documents import (
    average_precision,
    ndcg,
    paper_search,
    reciprocal_rank,
    roc_area,
    step_up,
    worst_value,
)

MEASURES = [
    (MapSVM(), average_precision),
    (RocSVM(), roc_area),
    (MrrSVM(), reciprocal_rank),
    *[(NdcgSVM(k=k), partial(ndcg, k=k)) for k in (1, 2, 3, 4, 6, 100)],
]
IDS = [f"{type(ranker).__name__}{getattr(ranker, 'k', '')}" for ranker, _ in MEASURES]
# Few distinct values, so that ties and exact margins come up often.
SCORE = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 3.0]) | st.floats(-2, 2)


def sorted_scores(s, s_bar):
    return np.array(sorted(s, reverse=True) + sorted(s_bar, reverse=True))


def value_found(ranker, s, s_bar):
    """Δ + w·Ψ(ŷ) − w·Ψ(y) of the ranking that the search gives."""
    R, N = len(s), len(s_bar)
    scores = sorted_scores(s, s_bar)
    starts, relevant = np.array([0, R + N]), np.array([R])
    above = ranker._search(scores, starts, relevant)
    assert (np.diff(above[:R]) >= 0).all()
    assert 0 <= above[0] <= above[R - 1] <= N
    swapped = sum(scores[R : R + above[i]].sum() - above[i] * scores[i] for i in range(R))
    return ranker._loss(above, starts, relevant)[0] + 2 * swapped / (R * N)


@pytest.mark.long
@pytest.mark.parametrize(("ranker", "measure"), MEASURES, ids=IDS)
@settings(max_examples=60)
@given(s=st.lists(SCORE, min_size=1, max_size=3), s_bar=st.lists(SCORE, min_size=1, max_size=3))
def test_no_ranking_is_more_violated(ranker, measure, s, s_bar):
    relevant = [True] * len(s) + [False] * len(s_bar)
    worst = worst_value(np.array(s + s_bar), relevant, lambda ranking: 1 - measure(ranking))
    assert value_found(ranker, s, s_bar) == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize(("ranker", "measure"), MEASURES, ids=IDS)
@given(
    ranking=st.lists(st.booleans(), min_size=2, max_size=12).filter(lambda r: any(r) and not all(r))
)
def test_the_loss_is_one_minus_the_measure(ranker, measure, ranking):
    before = [ranking[:place].count(False) for place, good in enumerate(ranking) if good]
    above = np.array(before + [0] * ranking.count(False))
    loss = ranker._loss(above, np.array([0, len(ranking)]), np.array([sum(ranking)]))[0]
    assert loss == pytest.approx(1 - measure(ranking), abs=1e-12)


@given(
    s=st.lists(SCORE, min_size=1, max_size=5),
    s_bar=st.lists(SCORE, min_size=1, max_size=5),
    k=st.integers(1, 11),
)
def test_ndcg_search_behind_place_k(s, s_bar, k):
    """More documents than all permutations can be tried of: every way to merge the two sorted
    lists.
    """
    ranker = NdcgSVM(k=k)
    R, N = len(s), len(s_bar)
    scores = sorted_scores(s, s_bar)
    best = -np.inf
    for bars in itertools.combinations(range(R + N), N):
        above = [sum(bar < place for bar in bars) for place in range(R + N) if place not in bars]
        ranking = [place not in bars for place in range(R + N)]
        swapped = sum(scores[R : R + above[i]].sum() - above[i] * scores[i] for i in range(R))
        best = max(best, 1 - ndcg(ranking, k) + 2 * swapped / (R * N))
    assert value_found(ranker, s, s_bar) == pytest.approx(best, abs=1e-12)


GRADES = st.lists(st.sampled_from([0, 0, 1, 2, 3]), min_size=2, max_size=9).filter(
    lambda grades: len(set(grades)) > 1
)


@given(grades=GRADES, k=st.integers(1, 10))
def test_graded_ndcg_is_the_weighted_mean_of_its_grades(grades, k):
    ranker = NdcgSVM(k=k)
    queries = as_queries([1] * len(grades), len(grades))
    pairs, _ = ranker._pairs(np.array(grades, dtype=float), queries, both=False)
    above = pairs.above(np.arange(len(grades)), queries)
    assert pairs.weight.sum() == pytest.approx(1)
    assert 1 - pairs.weight @ ranker._loss(above, pairs.starts, pairs.relevant) == pytest.approx(
        ndcg(grades, k)
    )


def violation(opt, s, s_bar):
    """H of the ranking that has non-relevant document j just before relevant document opt_j."""
    R, N = len(s), len(s_bar)
    above = np.array([sum(o <= i for o in opt) for i in range(1, R + 1)])
    ap = np.mean(np.arange(1, R + 1) / (np.arange(1, R + 1) + above))
    return 1 - ap + 2 / (R * N) * sum(s_bar[: above[i]].sum() - above[i] * s[i] for i in range(R))


@given(s=st.lists(SCORE, min_size=1, max_size=40), s_bar=st.lists(SCORE, min_size=1, max_size=60))
def test_map_search_is_as_good_as_the_paper_s(s, s_bar):
    s, s_bar = np.sort(s)[::-1].copy(), np.sort(s_bar)[::-1].copy()
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, s.size + s_bar.size + 1))])
    fast, slow = place_each(s, s_bar, harmonic), paper_search(s.tolist(), s_bar.tolist())
    assert (np.diff(fast) >= 0).all()
    assert (np.diff(slow) >= 0).all()  # Theorem 2
    assert violation(fast, s, s_bar) == pytest.approx(violation(slow, s, s_bar), abs=1e-12)


@given(s=st.lists(SCORE, min_size=1, max_size=6), s_bar=st.lists(SCORE, min_size=1, max_size=6))
def test_a_document_that_slides_up_gains_its_step_and_later_ones_gain_less(s, s_bar):
    """Figure 1 and Lemma 1."""
    s, s_bar = np.sort(s)[::-1].copy(), np.sort(s_bar)[::-1].copy()
    R, N = s.size, s_bar.size
    steps = np.array([[step_up(s, s_bar, j, i) for i in range(1, R + 1)] for j in range(1, N + 1)])
    for j in range(1, N + 1):
        for i in range(1, R + 1):
            before, after = [i] * (j - 1), [R + 1] * (N - j)
            slid = violation([*before, i, *after], s, s_bar) - violation(
                [*before, i + 1, *after], s, s_bar
            )
            assert slid == pytest.approx(steps[j - 1, i - 1], abs=1e-9)
    assert (np.diff(steps, axis=0) <= 1e-12).all()


def test_map_search_gives_the_paper_s_places_when_nothing_ties():
    random = np.random.default_rng(0)
    for R, N in [(1, 1), (1, 100), (100, 1), (7, 64), (50, 63), (80, 200)]:
        s, s_bar = (
            np.sort(random.normal(0.1, 1, R))[::-1].copy(),
            np.sort(random.normal(0, 1, N))[::-1].copy(),
        )
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, R + N + 1))])
        assert place_each(s, s_bar, harmonic).tolist() == paper_search(s.tolist(), s_bar.tolist())


def test_queries_that_are_searched_together_stay_apart():
    """Where one query alone is tried, its end is also the end of all."""
    scores = np.array([0.9, 0.2, 0.8, 0.1, 0.3, 0.7, 0.6, 0.5, 0.4, 0.0])
    starts, relevant = np.array([0, 4, 7, 10]), np.array([2, 1, 2])
    above = RocSVM()._search(scores, starts, relevant)
    assert above.tolist() == [1, 2, 0, 0, 2, 0, 0, 0, 1, 0]
    assert RocSVM()._loss(above, starts, relevant).tolist() == [3 / 4, 2 / 2, 1 / 2]
