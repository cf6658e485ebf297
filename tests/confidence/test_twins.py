"""Each step against its slow twin, written from the formulas."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.confidence.calibration import (
    F1,
    FURTHEST,
    PENALTY,
    TOGETHER,
    WIDTH,
    Precision,
    find_threshold,
    limit,
    most_likely,
)
from shortlist.confidence.calibration_examples import NEVER, CalibrationExamples, look
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.drift import DRIFT_ALARM, stretch_to_keep
from shortlist.data.labels import LabelSets
from tests.confidence.made_up import several
from tests.reference import confidence as twin

ROUND = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])


@given(st.lists(ROUND, max_size=40), st.integers(0, 100))
def test_the_limit_counts_one_example_more(numbers, percent):
    alpha = Fraction(percent, 100)
    assert limit(np.sort(np.array(numbers, dtype=np.float64)), float(alpha)) == twin.limit(
        numbers, alpha
    )


@given(
    st.lists(st.integers(0, 40), unique=True, max_size=30),
    st.lists(st.integers(0, 45), unique=True, max_size=6),
)
def test_what_is_kept_of_a_ranking(ids, true):
    scores = np.arange(len(ids), 0, -1.0)[None]
    seen = look(np.array([ids], dtype=np.int32).reshape(1, -1), scores, LabelSets.of([true]))
    hits, beyond, depth = twin.truth(ids, true, WIDTH, NEVER)
    assert seen.hits[0, : len(hits)].tolist() == hits
    assert not seen.hits[0, len(hits) :].any()
    assert seen.beyond[0] == beyond
    assert (seen.depth[0], seen.true[0]) == (depth, len(true))
    if 0 < depth < NEVER:
        assert seen.deepest[0] == scores[0, depth - 1]


def test_curves_are_the_most_likely_ones():
    ids, scores, truth, _ = several(600, seed=1)
    confidence = Confidence()
    confidence.fit(look(ids, scores, truth))
    curves, seen = confidence.curves, confidence.window
    for place in (0, 1, 5, WIDTH - 1):
        X = [twin.features(seen.scores[i].astype(float).tolist(), place) for i in range(600)]
        shift, scale = curves.centre[place], curves.scale[place]
        X = [
            [1.0]
            + [min(FURTHEST, max(-FURTHEST, (x[a] - shift[a]) * scale[a])) for a in (1, 2, 3, 4)]
            for x in X
        ]
        hits = seen.hits[:600, place].tolist()
        if place == 0:  # those for which nothing speaks are wrong, two among others and two alone
            for share in (1 / TOGETHER, 1 / TOGETHER, 1.0, 1.0):
                nothing = [1.0, 0.0, 0.0, 0.0, share]
                cut = [
                    min(FURTHEST, max(-FURTHEST, (nothing[a] - shift[a]) * scale[a]))
                    for a in (1, 2, 3, 4)
                ]
                X, hits = [*X, [1.0, *cut]], [*hits, 0]
        slope = twin.slope(X, hits, curves.weights[place].tolist(), PENALTY)
        assert np.abs(slope).max() < 0.02  # as steep as a hundredth of one example


@given(
    st.lists(st.floats(-40, 40), min_size=5, max_size=5),
    st.integers(0, 2**32 - 1),
    st.floats(0.01, 0.99),
)
def test_the_most_likely_weights_are_found_from_any_others(weights, seed, share):
    draws = np.random.default_rng(seed)
    X = np.hstack([np.ones((60, 1)), draws.normal(0, 1.5, (60, 4)).clip(-FURTHEST, FURTHEST)])
    X[:, 4] = X[:, 3]  # as at the second place, whose distances are the same
    hits = (draws.random(60) < share).astype(np.float64)
    found = np.array(weights)
    most_likely(X, hits, found)
    assert np.abs(twin.slope(X.tolist(), hits.tolist(), found.tolist(), PENALTY)).max() < 0.02


@given(
    st.lists(st.integers(0, WIDTH + 4), min_size=1, max_size=6),
    st.integers(0, WIDTH + 4),
    st.integers(0, 99),
)
def test_probabilities_follow_the_curves_and_never_rise(lengths, k, seed):
    confidence, draws = sure_of_several(), np.random.default_rng(seed)
    scores = -np.sort(-draws.normal(0.3, 0.5, (len(lengths), WIDTH + 4)), axis=1)
    scores[np.arange(WIDTH + 4) >= np.array(lengths)[:, None]] = np.nan
    found = confidence.probabilities(scores)
    for n, row, own in zip(lengths, found, scores.tolist(), strict=True):
        expected = twin.probabilities(own[:n], confidence.curves, WIDTH, FURTHEST)
        assert row[:n].tolist() == pytest.approx(expected, rel=1e-6)
        assert np.isnan(row[n:]).all()
        assert (np.diff(row[: min(n, WIDTH)]) <= 0).all()
        assert (row[WIDTH:n] <= row[WIDTH - 1]).all()
    promised = confidence.promised(scores, k)
    assert promised is not None
    assert promised().tobytes() == found[:, :k].tobytes()


@cache
def sure_of_several():
    ids, scores, truth, _ = several(500, seed=2)
    confidence = Confidence()
    confidence.fit(look(ids, scores, truth))
    return confidence


def a_few(rows, behind=0):
    """Honest examples of these rows of (probability, hit), so many more true labels each, and
    their probabilities.
    """
    seen, p = CalibrationExamples.room(len(rows)), np.full((len(rows), WIDTH), np.nan)
    for i, row in enumerate(rows):
        for j, (chance, hit) in enumerate(sorted(row, reverse=True)):
            seen.ids[i, j], seen.hits[i, j], p[i, j] = j % 3, hit, chance
        seen.beyond[i] = behind
        seen.true[i] = seen.hits[i].sum() + behind
    return seen, p


ROWS = st.lists(st.lists(st.tuples(ROUND, st.integers(0, 1)), max_size=5), min_size=1, max_size=8)


@given(ROWS, ROUND, st.booleans())
def test_a_precise_threshold(rows, share, alone):
    seen, p = a_few(rows)
    width = 1 if alone else WIDTH
    known = ~np.isnan(p[:, :width])
    expected = twin.precise_threshold(
        p[:, :width][known].tolist(), seen.hits[:, :width][known].tolist(), share
    )
    assert find_threshold(Precision(share, alone), seen, p) == expected


SURE = st.lists(
    st.tuples(st.sampled_from([0.9, 0.95, 0.97, 0.98, 0.99]), st.sampled_from([0, 1, 1, 1, 1])),
    max_size=60,
)


@given(SURE, st.sampled_from([0.5, 0.75, 0.8, 0.9, 0.95, 0.97, 1.0]))
def test_a_precise_threshold_where_few_are_wrong(pairs, share):
    seen, p = a_few([[pair] for pair in pairs])
    expected = twin.precise_threshold(p[:, 0].tolist(), seen.hits[:, 0].tolist(), share)
    assert find_threshold(Precision(share, True), seen, p) == expected


@given(SURE)
def test_who_asks_for_more_precision_is_given_no_more_labels(pairs):
    seen, p = a_few([[pair] for pair in pairs])
    thresholds = [
        find_threshold(Precision(share, True), seen, p) for share in np.linspace(0, 1, 101)
    ]
    assert thresholds == sorted(thresholds)


@given(ROWS, st.integers(0, 2))
def test_a_threshold_for_the_largest_f1(rows, behind):
    seen, p = a_few(rows, behind)
    known = ~np.isnan(p)
    chances, hits = p[known].tolist(), seen.hits[known].tolist()
    found = find_threshold(F1(), seen, p)
    if not any(hits):
        assert found == math.inf
    else:
        reached, *all_reach = (
            twin.f1(chances, hits, seen.true.sum(), t) for t in (found, *set(chances))
        )
        assert reached == pytest.approx(max(all_reach))


@given(st.integers(0, 300), st.integers(0, 2**32 - 1), st.floats(0.02, 0.98))
def test_a_change_is_seen_where_what_came_is_far_from_what_was_expected(n, seed, p):
    draws = np.random.default_rng(seed)
    seen = CalibrationExamples.room(n)
    seen.expected[:] = draws.choice([p, 0.5], n)
    seen.hits[:, 0] = draws.random(n) < np.where(
        np.arange(n) < n // 2, seen.expected, draws.random()
    )
    stretches = [32, 64, 128, 256, 512, 1024]
    expected = twin.contradiction(
        seen.expected.tolist(), seen.hits[:, 0].tolist(), stretches, DRIFT_ALARM
    )
    assert stretch_to_keep(seen) == expected
