"""Further passes move the level of scores, and what is known of the first pass moves with it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import Categorizer, TunedIndex
from shortlist.confidence.calibration import TOGETHER, WIDTH
from shortlist.confidence.calibration_examples import NEVER, look
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.observers import LEVEL_ROWS, FirstPass, moved_level, rows_of_few_labels
from shortlist.data.batch import RowBatch
from shortlist.data.labels import LabelSets
from shortlist.data.validation import as_rows
from shortlist.models.memory import Bound
from tests.confidence.made_up import hits_of

LENGTHS = st.lists(st.tuples(st.integers(0, WIDTH + 2), st.integers(0, WIDTH + 2)), max_size=6)


@given(LENGTHS, st.integers(0, 2**32 - 1))
def test_the_level_is_that_of_the_places_behind_the_first_eight(lengths, seed):
    draws = np.random.default_rng(seed)
    before, after = (np.full((len(lengths), WIDTH + 2), np.nan) for _ in range(2))
    differences = []
    for i, (first, last) in enumerate(lengths):
        before[i, :first], after[i, :last] = draws.normal(size=first), draws.normal(size=last)
        differences += [after[i, j] - before[i, j] for j in range(8, min(first, last, 16))]
    expected = sum(differences) / len(differences) if differences else 0.0
    assert moved_level(before, after) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(0, 20), max_size=300), st.integers(0, 99))
def test_some_rows_of_few_labels_are_taken_from_all_parts_of_the_order(n_labels, seed):
    order = np.random.default_rng(seed).permutation(len(n_labels))
    found = rows_of_few_labels(order, np.append(0, np.cumsum(n_labels, dtype=np.int64))).tolist()
    few = [i for i in order.tolist() if n_labels[i] <= TOGETHER]
    assert found == [few[math.floor(a * len(few) / len(found))] for a in range(len(found))]
    assert len(found) == min(LEVEL_ROWS, len(few))


def test_scores_are_moved_where_there_are_any():
    ids = np.array([[4, 2, -1], [1, 3, -1], [-1, -1, -1]], dtype=np.int32)
    scores = np.array([[0.5, 0.25, np.nan], [0.5, -0.25, np.nan], [np.nan] * 3])
    seen = look(ids, scores, LabelSets.of([[2], [9], [1]]))
    assert seen.depth.tolist() == [2, NEVER, NEVER]
    moved = seen.moved(-0.5)
    assert moved.scores[:, :3].tolist() == [[0.0, -0.25, 0.0], [0.0, -0.75, 0.0], [0.0, 0.0, 0.0]]
    assert moved.deepest.tolist() == [-0.25, 0.0, 0.0]
    assert [a.tolist() for a in moved._replace(scores=seen.scores, deepest=seen.deepest)] == [
        a.tolist() for a in seen
    ]
    assert np.isfinite(seen.moved(1e39).scores).all()


def topics(n, seed, labels=40):
    """Rows of one to three labels each, whose words others have too."""
    draws = np.random.default_rng(seed)
    Y = [draws.choice(labels, 1 + i % 3, replace=False).tolist() for i in range(n)]
    X = np.zeros((n, 3 * labels))
    for i, own in enumerate(Y):
        for label in own:
            X[i, [label, labels + label // 2, 2 * labels + label // 5]] += draws.random(3) < 0.9
        X[i, draws.choice(3 * labels, 4)] += 1.0
    return X, Y


def gathered(passes, X, Y):
    first_pass = FirstPass(counts_unknown=True)
    learner = TunedIndex(passes=passes).fit_batch(RowBatch.of(X, Y), observer=first_pass)
    return learner, first_pass.confidence().window


def test_honest_scores_follow_the_level_of_further_passes():
    X, Y = topics(3000, 0)
    once, first = gathered(1, X, Y)
    often, both = gathered(4, X, Y)
    new = as_rows(topics(500, 1)[0])
    of_new = moved_level(*(learner.rank_rows(new, WIDTH).scores for learner in (once, often)))
    assert np.array_equal(both.ids, first.ids)
    moves = (both.scores - first.scores)[first.ids >= 0]
    assert moves.max() - moves.min() < 1e-6
    assert of_new < -0.05
    assert moves.mean() == pytest.approx(of_new, rel=0.15)


def test_one_pass_moves_nothing():
    X, Y = topics(600, 0)
    watch = FirstPass(counts_unknown=True)
    TunedIndex(passes=1).fit_batch(RowBatch.of(X, Y), observer=watch)
    found = [seen.scores.copy() for seen in watch._seen]
    watch.follow_level()
    assert all(
        np.array_equal(own, seen.scores) for own, seen in zip(found, watch._seen, strict=True)
    )


def test_rankings_of_few_labels_stay_as_they_are():
    X, Y = topics(600, 0)
    Y = [[label % TOGETHER for label in own] for own in Y]
    windows = [gathered(passes, X, Y)[1] for passes in (1, 4)]
    assert np.array_equal(*(window.scores for window in windows))


def test_the_level_is_measured_before_a_bound_on_memory_renumbers_columns(monkeypatch):
    calls = []

    def note(owner, name):
        own = getattr(owner, name)

        def noted(self):
            calls.append(name)
            own(self)

        monkeypatch.setattr(owner, name, noted)

    note(FirstPass, "follow_level")
    note(Bound, "keep")
    Categorizer(max_memory="64 MB").fit(["one word", "another one"] * 40, [["a"], ["b"]] * 40)
    learned = calls.index("follow_level")
    assert "keep" in calls[learned:]


def test_probabilities_come_nearer_to_what_is_right():
    X, Y = topics(3000, 0)
    learner, followed = gathered(4, X, Y)
    as_they_were = gathered(1, X, Y)[1]
    new, truth = topics(2000, 1)
    ranking = learner.rank_rows(as_rows(new), WIDTH)
    hits = hits_of(ranking.ids, learner.label_numbers(truth))
    errors = []
    for window in (followed, as_they_were):
        confidence = Confidence()
        confidence.fit(window)
        surplus = (np.nan_to_num(confidence.probabilities(ranking.scores)) - hits).mean(axis=0)
        errors.append(np.abs(surplus[1:]).mean())
    assert errors[0] < 0.8 * errors[1]
