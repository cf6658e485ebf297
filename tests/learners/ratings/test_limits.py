"""Values that are too large to be added up: refused in a sentence, and never learned half."""

import warnings

import numpy as np
import pytest

import shortlist as sl
from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from shortlist.learners.ratings.row_rater import LARGEST_RATED_VALUE
from tests.learners.ratings.streams import same_state

X = np.random.default_rng(0).normal(size=(50, 3))
Y = np.digitize(X[:, 0], [0.0, 1.0])
every_learner = pytest.mark.parametrize("learner", [sl.PRank, sl.WidrowHoff, MulticlassPerceptron])


def with_one(value):
    far = X.copy()
    far[7, 1] = value
    return far


@every_learner
@pytest.mark.parametrize("value", [1e300, -1e300, 1.01 * LARGEST_RATED_VALUE])
def test_too_large_a_value_is_refused(learner, value):
    said = rf"the value {value:g} in row 7, column 1, is too large".replace("+", r"\+")
    fitted = learner().fit(X, Y)
    before = learner().fit(X, Y)
    for verb in (fitted.fit, fitted.partial_fit):
        with pytest.raises(sl.InputError, match=said):
            verb(with_one(value), Y)
    with pytest.raises(sl.InputError, match=said):
        fitted.predict(with_one(value))
    same_state(fitted, before)


@every_learner
def test_a_rater_refuses_it_too(learner):
    rater = sl.Rater(learner()).fit(X, Y)
    for verb in (rater.fit, rater.learn):
        with pytest.raises(sl.InputError, match="row 7, column 1, is too large"):
            verb(with_one(1e300), Y)
    with pytest.raises(sl.InputError, match="row 7, column 1, is too large"):
        rater.predict(with_one(1e300))
    assert np.isfinite(rater.scale_).all()


@pytest.mark.parametrize("learner", [sl.PRank, MulticlassPerceptron])
def test_the_largest_values_are_learned_and_stay_finite(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = (
            learner(passes=3)
            .fit(with_one(LARGEST_RATED_VALUE), Y)
            .partial_fit(-LARGEST_RATED_VALUE * np.ones((4, 3)), [0, 2, 0, 2])
        )
        fitted.predict(with_one(-LARGEST_RATED_VALUE))
    assert np.isfinite(fitted.weights_).all()


def test_widrow_hoff_stops_before_its_weights_are_infinite():
    fitted = sl.WidrowHoff().fit(X, Y)
    with pytest.raises(sl.InputError, match="the weights grew past all numbers"):
        fitted.partial_fit(np.full((9, 3), LARGEST_RATED_VALUE), [0] * 9)
    assert np.isfinite(fitted.weights_).all()
