"""Widrow-Hoff and the multiclass Perceptron against their twins, and what is theirs alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from shortlist import InputError, WidrowHoff
from tests.learners.ratings.streams import integer_streams, rated_rows
from tests.reference.multiclass_perceptron import MulticlassPerceptronTwin
from tests.reference.widrow_hoff import WidrowHoffTwin


@given(
    rows=st.lists(
        st.tuples(st.integers(-1, 1), st.integers(-1, 1), st.integers(1, 5)),
        min_size=1,
        max_size=20,
    ),
    intercept=st.booleans(),
)
def test_widrow_hoff_agrees_exactly_with_its_twin(rows, intercept):
    """With η = ½ and entries of −1, 0, 1 each round adds at most two binary digits: twenty
    rounds are exact.
    """
    X, y = np.array(rows, dtype=np.float64)[:, :2], np.array(rows)[:, 2]
    slow = WidrowHoffTwin(5, 2, 0.5, intercept)
    fast = WidrowHoff(learning_rate=0.5, fit_intercept=intercept, scale=[1, 2, 3, 4, 5])
    predicted = [slow.learn(x, rating) for x, rating in zip(X.tolist(), y.tolist(), strict=True)]
    assert fast.predict_and_learn(X, y).tolist() == predicted
    w, c = slow.average_sums()
    np.testing.assert_array_equal(fast.weights_[0, 0] * len(X) - fast.weights_[1, 0], w)
    np.testing.assert_array_equal(fast.biases_[0] * len(X) - fast.biases_[1], c)
    fast.set_params(hypothesis="last")
    np.testing.assert_array_equal(fast.coef_, slow.w)
    assert fast.predict(X).tolist() == [slow.predict(x) for x in X.tolist()]


@given(integer_streams())
def test_multiclass_perceptron_agrees_with_its_twin_on_longer_scales(stream):
    """Thirds are rounded, but alike in both."""
    k, X, y = stream
    slow = MulticlassPerceptronTwin(k, X.shape[1], intercept=True)
    fast = MulticlassPerceptron(scale=list(range(1, k + 1)))
    predicted = [slow.learn(x, rating) for x, rating in zip(X.tolist(), y.tolist(), strict=True)]
    assert fast.predict_and_learn(X, y).tolist() == predicted
    np.testing.assert_allclose(fast.coef_ * len(X), slow.average_sums()[0], atol=1e-9)


@given(stream=integer_streams(most_steps=3), intercept=st.booleans())
def test_multiclass_perceptron_agrees_exactly_with_its_twin(stream, intercept):
    """At most two prototypes share the loss of x, so everything is a whole number of halves."""
    k, X, y = stream
    slow = MulticlassPerceptronTwin(k, X.shape[1], intercept)
    same = {"fit_intercept": intercept, "scale": list(range(1, k + 1))}
    fast = MulticlassPerceptron(hypothesis="last", **same)
    predicted = [slow.learn(x, rating) for x, rating in zip(X.tolist(), y.tolist(), strict=True)]
    assert fast.predict_and_learn(X, y).tolist() == predicted
    np.testing.assert_array_equal(fast.coef_, slow.w)
    w, c = slow.average_sums()
    np.testing.assert_array_equal(fast.weights_[0] * len(X) - fast.weights_[1], w)
    np.testing.assert_array_equal(fast.biases_[0] * len(X) - fast.biases_[1], c)
    assert fast.predict(X).tolist() == [slow.predict(x) for x in X.tolist()]


@pytest.mark.parametrize("learner", [WidrowHoff, MulticlassPerceptron])
def test_the_intercept_is_a_column_of_ones(learner):
    X, y = rated_rows()
    X -= 1
    with_ones = learner(fit_intercept=False).fit(np.column_stack([X, np.ones(len(X))]), y)
    without = learner(fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(
        without.decision_function(X),
        with_ones.decision_function(np.column_stack([X, np.ones(len(X))])),
        atol=1e-9,
    )
    np.testing.assert_allclose(
        with_ones.weights_[0, ..., -1].ravel(), without.biases_[0], atol=1e-9
    )
    assert (learner(fit_intercept=False).fit(X, y).biases_ == 0).all()


def test_widrow_hoff_that_diverges_says_so():
    X, y = rated_rows()
    with pytest.raises(InputError, match=r"learning_rate=0\.5 is too large"):
        WidrowHoff(learning_rate=0.5, passes=50).fit(100 * X, y)
    with pytest.raises(InputError, match="learning_rate must be at least 0"):
        WidrowHoff(learning_rate=-1).fit(X, y)


def test_widrow_hoff_rounds_to_the_nearest_rating_of_any_scale():
    X = np.ones((1, 1))
    for scale, value, rating in (
        ([1, 2, 3], 2.4, 2),
        ([1, 2, 3], 2.5, 3),
        ([1, 2, 3], -7.0, 1),
        ([1, 2, 3], 99.0, 3),
        ([0.5, 1.0, 4.0], 2.4, 1.0),
        ([0.5, 1.0, 4.0], 2.6, 4.0),
        (["a", "b", "c"], 2.4, "b"),
        ([3, 2, 1], 1.2, 3),
    ):
        model = WidrowHoff(hypothesis="last", scale=scale).fit(X, scale[:1])
        model.weights_[0], model.biases_[0] = value, 0.0
        assert model.predict(X)[0] == rating, (scale, value)


def test_a_new_step_of_numbers_leaves_the_regression_as_it_is():
    X, y = rated_rows(400, k=4)
    late = WidrowHoff().fit(X[:200], np.clip(y[:200], 2, 3)).partial_fit(X[200:], y[200:])
    known = (
        WidrowHoff(scale=[1, 2, 3, 4])
        .fit(X[:200], np.clip(y[:200], 2, 3))
        .partial_fit(X[200:], y[200:])
    )
    np.testing.assert_array_equal(late.weights_, known.weights_)


def test_a_new_step_of_the_multiclass_perceptron_has_a_prototype_of_zeros():
    X, y = rated_rows(100, k=3)
    model = MulticlassPerceptron(hypothesis="last").fit(X, 2 * y)
    before = model.coef_.copy()
    model._grow(4, np.array([2, 3, 4, 6]), [1])
    np.testing.assert_array_equal(model.coef_, np.insert(before, 1, 0, axis=0))
