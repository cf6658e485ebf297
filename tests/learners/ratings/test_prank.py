"""PRank: the paper's lemma and theorem on generated streams, its twin, and what makes both
tests fail.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import PRank
from shortlist.files.store import build
from tests.learners.ratings.streams import integer_streams, separable_streams
from tests.reference.prank import PRankTwin


def twin(k, X):
    return PRankTwin(k, X.shape[1])


def fast(k, X, **settings):
    return PRank(scale=list(range(1, k + 1)), **settings)


# Lemma 1 and Theorem 2, as checks of anything that learns one example at a time.


def check_thresholds_stay_sorted(rounds):
    for thresholds in rounds:
        assert (np.diff(thresholds) >= 0).all()


def check_mistake_bound(predicted, k, X, y, gamma):
    squared_radius = (X**2).sum(axis=1).max()
    assert np.abs(np.asarray(predicted) - y).sum() <= (k - 1) * (squared_radius + 1) / gamma**2


def thresholds_of_prank(k, X, y):
    learner = fast(k, X, hypothesis="last")
    for row in range(len(X)):
        yield learner.partial_fit(X[row : row + 1], y[row : row + 1]).thresholds_


def thresholds_of_twin(learner, X, y):
    for x, rating in zip(X.tolist(), y.tolist(), strict=True):
        learner.learn(x, rating)
        yield learner.b


def ratings_of_twin(learner, X, y):
    return [learner.learn(x, rating) for x, rating in zip(X.tolist(), y.tolist(), strict=True)]


@given(integer_streams())
def test_thresholds_stay_sorted_on_any_stream(stream):
    k, X, y = stream
    check_thresholds_stay_sorted(thresholds_of_prank(k, X, y))


def test_few_rows_are_gone_through_more_often():
    """2,000 rows for each column, if it takes no more than 20 passes."""
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.arange(400) % 4
    for n, passes in ((400, 15), (300, 20), (50, 20)):
        usual = PRank().fit(X[:n], y[:n])
        assert (usual.coef_ == PRank(passes=passes).fit(X[:n], y[:n]).coef_).all()
        assert usual.passes is None
    many = np.repeat(X[:, :1], 5, axis=0)
    assert (
        PRank().fit(many, np.arange(2000) % 4).coef_
        == PRank(passes=1).fit(many, np.arange(2000) % 4).coef_
    ).all()


def test_a_stream_is_learned_once_as_it_comes():
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 4
    streamed = PRank(scale=[0, 1, 2, 3])
    for row in range(50):
        streamed.partial_fit(X[row : row + 1], y[row : row + 1])
    assert (streamed.coef_ == PRank(passes=1).fit(X, y).coef_).all()


@given(st.integers(0, 2**32 - 1))
def test_thresholds_of_all_rules_stay_sorted_on_real_valued_streams(seed):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(200, 3)) * 10 ** generator.uniform(-3, 3)
    y = generator.integers(1, 6, size=200)
    for hypothesis in ("last", "averaged"):
        thresholds = PRank(hypothesis=hypothesis, passes=2, random_state=0).fit(X, y).thresholds_
        assert (np.diff(thresholds) >= -1e-9).all()


@given(separable_streams())
def test_mistake_bound_holds_on_separable_streams(stream):
    k, X, y, gamma = stream
    check_mistake_bound(fast(k, X).predict_and_learn(X, y), k, X, y, gamma)


class OnlyTheLowestThreshold(PRankTwin):
    """Broken: corrects for the lowest threshold and forgets the others."""

    def tau(self, score, y):
        return [one if r == 0 else 0 for r, one in enumerate(super().tau(score, y))]


class WrongSign(PRankTwin):
    """Broken: pushes the direction and the thresholds the wrong way."""

    def tau(self, score, y):
        return [-one for one in super().tau(score, y)]


class NeverMoves(PRankTwin):
    def tau(self, score, y):
        return [0] * (self.k - 1)


def a_line_of_ratings(n_rows=400):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, 2))
    X = X[(np.abs(X[:, :1] - [-0.5, 0.0, 0.5]) > 0.1).all(axis=1)]
    b = np.array([-0.5, 0.0, 0.5]) / np.sqrt(1.5)
    y = 1 + (X[:, :1] / np.sqrt(1.5) >= b).sum(axis=1)
    gamma = np.abs(X[:, :1] / np.sqrt(1.5) - b).min()
    return 4, X, y, gamma


def test_a_broken_update_breaks_the_lemma():
    k, X, y, _ = a_line_of_ratings()
    check_thresholds_stay_sorted(thresholds_of_twin(twin(k, X), X, y))
    with pytest.raises(AssertionError):
        check_thresholds_stay_sorted(thresholds_of_twin(OnlyTheLowestThreshold(k, 2), X, y))


@pytest.mark.parametrize("broken", [WrongSign, NeverMoves])
def test_a_broken_update_breaks_the_mistake_bound(broken):
    k, X, y, gamma = a_line_of_ratings()
    X, y = np.tile(X, (20, 1)), np.tile(y, 20)
    check_mistake_bound(ratings_of_twin(twin(k, X), X, y), k, X, y, gamma)
    with pytest.raises(AssertionError):
        check_mistake_bound(ratings_of_twin(broken(k, 2), X, y), k, X, y, gamma)


# The twin.


@given(integer_streams(), st.integers(1, 3))
def test_agrees_exactly_with_the_twin_on_integers(stream, passes):
    k, X, y = stream
    slow, last, averaged = (
        twin(k, X),
        fast(k, X, hypothesis="last"),
        fast(k, X, hypothesis="averaged"),
    )
    for _ in range(passes):
        predicted = [
            slow.learn(x, rating) for x, rating in zip(X.tolist(), y.tolist(), strict=True)
        ]
        for learner in (last, averaged):
            assert learner.predict_and_learn(X, y).tolist() == predicted
    n_examples = passes * len(X)
    np.testing.assert_array_equal(last.coef_, slow.w)
    np.testing.assert_array_equal(last.thresholds_, slow.b)
    assert last.predict(X).tolist() == [slow.predict(x) for x in X.tolist()]
    w, b = slow.average_sums()
    np.testing.assert_array_equal(averaged.weights_[0, 0] * n_examples - averaged.weights_[1, 0], w)
    np.testing.assert_array_equal(averaged.biases_[0] * n_examples - averaged.biases_[1], b)
    np.testing.assert_allclose(averaged.coef_ * n_examples, w, atol=1e-9)


@given(integer_streams(), st.integers(1, 3))
def test_fit_is_passes_times_the_loop_of_partial_fit(stream, passes):
    k, X, y = stream
    whole = fast(k, X, passes=passes).fit(X, y)
    pieces = fast(k, X)
    for _ in range(passes):
        for row in range(len(X)):
            pieces.partial_fit(X[row : row + 1], y[row : row + 1])
    np.testing.assert_array_equal(whole.weights_, pieces.weights_)
    np.testing.assert_array_equal(whole.biases_, pieces.biases_)


@pytest.mark.parametrize("k", range(2, 6))
def test_thresholds_that_are_met_exactly(k):
    """w·x = b_r is not below the threshold: with the zero rule every row is rated at the top."""
    learner = fast(k, np.zeros((1, 1)), hypothesis="last")
    assert learner.predict_and_learn([[1.0]], [k]) == k
    assert learner.thresholds_.tolist() == [0] * (k - 1)


# A step that arrives later.


def test_a_step_between_two_others_changes_no_prediction_and_keeps_the_order():
    X = np.random.default_rng(1).normal(size=(500, 3))
    y = np.digitize(X @ [1.0, -2.0, 0.5], [-2, 0, 2]) * 2  # 0, 2, 4, 6
    for hypothesis in ("last", "averaged"):
        learner = PRank(hypothesis=hypothesis).fit(X, y)
        before = learner.predict(X)
        learner._grow(3, np.array([0, 2, 3, 4, 6]), [2])
        np.testing.assert_array_equal(learner.predict(X), before)
        learner.partial_fit(X[:5], [-1, 1, 3, 5, 7])
        assert learner.classes_.tolist() == [-1, 0, 1, 2, 3, 4, 5, 6, 7]
        assert (np.diff(learner.thresholds_) >= -1e-9).all()


def test_a_step_at_the_end_lies_an_average_step_further_out():
    learner = PRank(hypothesis="last").fit([[0.0]], [1])
    learner.partial_fit([[0.0], [0.0], [0.0]], [2, 3, 4])
    learner.biases_[0] = [1.0, 2.0, 5.0]
    learner._grow(1, np.array([0, 1, 2, 3, 4, 5]), [0, 5])
    assert learner.thresholds_.tolist() == [-1.0, 1.0, 2.0, 5.0, 7.0]


def test_a_scale_learned_step_by_step_ends_up_rating_well():
    generator = np.random.default_rng(2)
    X = generator.normal(size=(20_000, 4))
    y = 1 + np.digitize(X @ [2.0, -1.0, 0.5, 0.0], [-3, -1, 1, 3])
    late = PRank().fit(X[:1000], np.clip(y[:1000], 2, 4))
    late.partial_fit(X[1000:], y[1000:])
    assert late.classes_.tolist() == [1, 2, 3, 4, 5]
    assert -late.score(X, y) < 0.12


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 9)), min_size=1, max_size=60),
    st.integers(1, 5),
)
def test_thresholds_stay_in_order_whatever_ratings_arrive(stream, batch):
    """Lemma 1, also for a scale that grows at its ends and in between while it is learned; and
    so it can be saved.
    """
    learner = PRank(hypothesis="averaged")
    for first in range(0, len(stream), batch):
        some = stream[first : first + batch]
        learner.partial_fit([[x, 1.0] for x, _ in some], [rating for _, rating in some])
        for hypothesis in ("last", "averaged"):
            thresholds = learner.set_params(hypothesis=hypothesis).thresholds_
            assert (np.diff(thresholds) >= -1e-9).all()
        assert (learner.biases_[0] == np.round(learner.biases_[0])).all()
        build(learner.to_state())
