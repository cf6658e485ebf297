"""What is promised, on made-up rankings that are like one another, and on streams that are not."""

import numpy as np
import pytest

from shortlist.confidence.calibration import F1, Precision, calibration_error, reliability
from shortlist.confidence.calibration_examples import look
from shortlist.confidence.confidence import Confidence
from shortlist.data.labels import LabelSets
from tests.confidence.made_up import hits_of, observe, several, single


def fitted(made, n=4000, seed=0):
    confidence = Confidence()
    confidence.fit(look(*made(n, seed)[:3]))
    return confidence


@pytest.mark.parametrize("made", [single, several])
@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_lists_hold_all_true_labels_as_often_as_promised(made, coverage):
    confidence = fitted(made)
    ids, scores, truth, _ = made(6000, 1)
    lengths = confidence.lengths(scores, coverage)
    listed = np.arange(ids.shape[1]) < lengths[:, None]
    covered = (hits_of(ids, truth) & listed).sum(axis=1) == np.diff(truth.indptr)
    assert covered.mean() == pytest.approx(coverage, abs=0.02)
    assert lengths.min() >= 1


@pytest.mark.long
def test_few_honest_examples_are_enough_for_the_promise_and_too_few_list_everything():
    """On average over many times 60 examples, which draw the curves and are judged by them,
    part by part.
    """
    covered = []
    for seed in range(60):
        confidence = Confidence()
        confidence.fit(look(*single(60, seed, sharpness=10.0)[:3]))
        ids, scores, truth, _ = single(200, 1000 + seed, sharpness=10.0)
        lengths = confidence.lengths(scores, 0.8)
        covered.append(
            (hits_of(ids, truth) & (np.arange(ids.shape[1]) < lengths[:, None])).any(axis=1).mean()
        )
    assert np.mean(covered) > 0.79
    assert (fitted(single, 60).lengths(single(5, 9)[1], 0.999) == 30).all()


@pytest.mark.parametrize("made", [single, several])
def test_probabilities_are_what_comes_true(made):
    confidence = fitted(made)
    ids, scores, truth, chance = made(6000, 1)
    found, hits = confidence.probabilities(scores), hits_of(ids, truth)
    assert calibration_error(found[:, 0], hits[:, 0]) < 0.03
    assert calibration_error(found[:, :10], hits[:, :10]) < 0.01
    assert np.abs(found[:, :10] - chance[:, :10]).mean() < 0.05
    assert sum(own.n for own in reliability(found[:, 0], hits[:, 0])) == 6000


@pytest.mark.parametrize("alone", [False, True])
def test_assigned_labels_are_as_precise_as_asked(alone):
    confidence = fitted(several)
    ids, scores, truth, _ = several(6000, 1)
    assigned = confidence.assigned(scores, Precision(0.8, alone))
    assert assigned.any()
    assert hits_of(ids, truth)[assigned].mean() == pytest.approx(0.8, abs=0.02)
    assert not (alone and assigned[:, 1:].any())


def test_the_best_f1_needs_no_look_at_the_truth():
    confidence = fitted(several)
    ids, scores, truth, _ = several(3000, 1)
    hits, chance = hits_of(ids, truth), confidence.probabilities(scores)

    def f1(assigned):
        return 2 * hits[assigned].sum() / (assigned.sum() + truth.ids.size)

    best = max(f1(chance >= t) for t in np.linspace(0.01, 0.99, 99))
    assert f1(confidence.assigned(scores, F1())) > best - 0.01


def test_random_labels_are_not_assigned():
    ids, scores, _, _ = single(4000, 0)
    draws = np.random.default_rng(1)
    truth = LabelSets(np.arange(4001, dtype=np.int64), draws.integers(0, 30, 4000).astype(np.int32))
    confidence = Confidence()
    observe(confidence, ids, scores, truth)
    for aim in (Precision(0.5), Precision(0.9, alone=True)):
        assert not confidence.assigned(scores, aim).any()
    assert confidence.probabilities(scores).max() < 0.1
    lengths = confidence.lengths(scores, 0.9)
    covered = (hits_of(ids, truth) & (np.arange(30) < lengths[:, None])).any(axis=1)
    assert covered.mean() > 0.88


def test_why_nothing_is_assigned():
    confidence = fitted(single)
    low = np.sort(single(4000, 0)[1][:, 0])[5]
    scores = np.array([[np.nan] * 8, [low / 2] + [low / 3] * 7, [0.9] * 8, [1.0] + [0.0] * 7])
    aim = Precision(0.5, alone=True)
    assert confidence.assigned(scores, aim)[:, 0].tolist() == [False, False, False, True]
    # unlike anything learned
    assert (scores[:, 0] < confidence.lowest(aim)).tolist() == [False, True, False, False]


def test_what_is_less_known_than_one_honest_example_in_a_hundred_is_unlike_them():
    ids, scores, truth, _ = single(4000, 0)
    known = np.random.default_rng(2).random(4000).astype(np.float32)
    fitted, observing, few = Confidence(), Confidence(), Confidence()
    fitted.fit(look(ids, scores, truth, known_shares=known))
    observe(observing, ids, scores, truth, known=known)
    few.fit(look(ids[:99], scores[:99], truth.chosen(np.arange(99)), known_shares=known[:99]))
    least = np.sort(known)[40]
    new = np.array([0.0, np.nextafter(least, np.float32(0)), least, 1.0], dtype=np.float32)
    assert (
        fitted.are_unlike(new).tolist()
        == observing.are_unlike(new).tolist()
        == [True, True, False, False]
    )
    assert not few.are_unlike(new).any()
    closed = Confidence()
    closed.fit(
        look(
            ids,
            scores,
            truth,
            known_shares=np.where(np.arange(4000) < 30, np.float32(0.1), np.float32(1.0)),
        )
    )
    assert closed.are_unlike(np.array([0.0, 0.49, 0.5, 0.9], dtype=np.float32)).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_nothing_is_said_before_anything_is_known():
    confidence = Confidence()
    scores = np.array([[0.9, 0.1, np.nan]])
    assert np.isnan(confidence.probabilities(scores)).all()
    assert confidence.lengths(scores, 0.5).tolist() == [2]
    assert not confidence.assigned(scores, F1()).any()
    assert confidence.automation([0.9])[0].share == 0.0


def test_a_table_of_what_deciding_alone_brings():
    table = fitted(single).automation([0.5, 0.7, 0.9])
    assert [row.share for row in table] == sorted((row.share for row in table), reverse=True)
    assert all(row.right >= row.precision for row in table if row.share > 0)


@pytest.mark.long
def test_coverage_comes_back_after_labels_change_their_meaning():
    """Half-way, the label that was likely never is; then the ranker learns anew, over 1,500
    examples.
    """
    n, labels = 8000, 30
    draws = np.random.default_rng(5)
    grown = np.where(np.arange(n) < n // 2, 1.0, np.minimum(1.0, (np.arange(n) - n // 2) / 1500))
    scores = draws.random((n, labels)) ** 3 * 0.6
    true = draws.integers(0, labels, n)
    wrong = (true + 1) % labels  # what it used to mean
    strong = draws.random(n) < 0.9
    scores[np.arange(n), true] += np.where(strong, grown, 0.0)
    scores[np.arange(n), wrong] += np.where(strong, 1.0 - grown, 0.0)
    ids = np.argsort(-scores, axis=1, kind="stable").astype(np.int32)
    scores = np.take_along_axis(scores, ids.astype(np.int64), 1)
    confidence, covered = Confidence(), np.zeros(n, dtype=bool)
    for i in range(0, n, 4):
        block = slice(i, i + 4)
        lengths = confidence.lengths(scores[block], 0.9)
        covered[block] = (
            (ids[block] == true[block, None]) & (np.arange(labels) < lengths[:, None])
        ).any(axis=1)
        observe(
            confidence,
            ids[block],
            scores[block],
            LabelSets(np.arange(5, dtype=np.int64), true[block].astype(np.int32)),
        )
    assert covered[n // 2 : n // 2 + 200].mean() < 0.88  # it was a blow
    assert confidence.window.n_examples <= n // 2  # what came before is forgotten
    for first in range(n // 2 + 2000, n - 999, 500):
        assert covered[first : first + 1000].mean() == pytest.approx(0.9, abs=0.02)
