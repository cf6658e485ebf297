"""What every learner of ratings must do: scikit-learn's habits, scales, bad input."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from shortlist import InputError, PRank, WidrowHoff
from shortlist.learners.ratings.rating_learner import ROWS_TOGETHER, in_runs
from tests.learners.ratings.streams import rated_rows, same_state

LEARNERS = {
    "PRank": PRank,
    "WidrowHoff": partial(WidrowHoff, learning_rate=0.05),  # a step that suits few, small rows
    "MulticlassPerceptron": MulticlassPerceptron,
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
HYPOTHESES = ["last", "averaged"]

# scikit-learn's checks that do not apply, and why.
NOT_OURS = {
    "check_classifiers_regression_target": "ratings may be any ordered numbers, halves among them",
}


@pytest.fixture(params=LEARNERS.values(), ids=LEARNERS)
def learner(request):
    return request.param


# scikit-learn.


def test_scikit_learn_checks(learner):
    results = check_estimator(
        learner(), expected_failed_checks=NOT_OURS, on_fail=None, on_skip=None
    )
    failed = {
        result["check_name"]: result["exception"]
        for result in results
        if result["status"] == "failed"
    }
    assert not failed
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(
        NOT_OURS
    )


def test_in_a_pipeline_and_a_grid_search(learner):
    X, y = rated_rows(400)
    pipeline = Pipeline([("scaler", StandardScaler()), ("learner", learner(random_state=0))])
    grid = {"learner__hypothesis": HYPOTHESES, "learner__passes": [1, 3]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(1000 + 50 * X, y)
    assert -0.5 < search.best_score_ < 0
    assert cross_val_score(pipeline, X, y / 2).min() > -0.5  # half stars


def test_clone_keeps_the_parameters(learner):
    model = learner(passes=3, scale=["a", "b"], hypothesis="last", random_state=7)
    assert clone(model).get_params() == model.get_params()


def test_score_is_minus_the_ranking_loss(learner):
    X, y = rated_rows()
    model = learner().fit(X, 10 * y)  # five steps, ten apart
    distances = np.abs(model.predict(X) / 10 - y)
    assert model.score(X, 10 * y) == -distances.mean()
    assert model.score(X, 10 * y, sample_weight=y) == pytest.approx(
        -np.average(distances, weights=y)
    )
    for wrong in (y[1:], -y, 0 * y):
        with pytest.raises(InputError, match="sample_weight"):
            model.score(X, 10 * y, sample_weight=wrong)


def test_dense_sparse_and_frames_are_the_same(learner):
    X, y = rated_rows()
    X[X < 0] = 0
    dense = learner().fit(X, y)
    for other in (
        scipy.sparse.csr_array(X),
        scipy.sparse.coo_array(X),
        X.tolist(),
        np.asfortranarray(X),
    ):
        same_state(learner().fit(other, y), dense)
    frame = pd.DataFrame(X, columns=list("abcd"))
    same_state(learner().fit(frame, pd.Series(y)), dense)
    same_state(learner().fit(X, pl.Series(y)), dense)


def test_the_seed_decides_the_order(learner):
    X, y = rated_rows()
    same_state(
        learner(passes=3, random_state=5).fit(X, y), learner(passes=3, random_state=5).fit(X, y)
    )
    once = learner(passes=3, random_state=5).fit(X, y)
    again = learner(passes=3, random_state=6).fit(X, y)
    assert not np.array_equal(once.weights_, again.weights_)
    generator, moved, by_hand = np.random.default_rng(5), np.arange(len(X)), learner()
    generator.shuffle(moved)  # the first pass; later ones take runs of what it left together
    for number in range(3):
        order = moved[in_runs(len(X), generator)] if number else moved
        by_hand.partial_fit(X[order], y[order], classes=[1, 2, 3, 4, 5])
    same_state(once, by_hand)


@pytest.mark.parametrize(
    "n", [1, ROWS_TOGETHER - 1, ROWS_TOGETHER, ROWS_TOGETHER + 1, 10 * ROWS_TOGETHER + 3]
)
def test_runs_are_shuffled_and_each_run_within(n):
    order = in_runs(n, np.random.default_rng(0))
    assert sorted(order) == list(range(n))
    changes = np.flatnonzero(np.diff(order // ROWS_TOGETHER))
    assert changes.size == (n - 1) // ROWS_TOGETHER, "each run stays in one piece"
    if n > 2 * ROWS_TOGETHER:
        assert (order[np.append(-1, changes) + 1] % ROWS_TOGETHER).any()
        assert not (np.diff(order // ROWS_TOGETHER) >= 0).all()


# Hypotheses.


def test_last_and_averaged_can_be_changed_after_learning(learner):
    X, y = rated_rows()
    model = learner(hypothesis="last").fit(X, y)
    averaged = learner(hypothesis="averaged").fit(X, y)
    np.testing.assert_array_equal(
        model.set_params(hypothesis="averaged").decision_function(X), averaged.decision_function(X)
    )
    with pytest.raises(InputError, match="hypothesis must be one of 'last', 'averaged'"):
        model.set_params(hypothesis="voted").predict(X)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_decisions_and_distances_tell_the_prediction(learner, hypothesis):
    X, y = rated_rows()
    model = learner(hypothesis=hypothesis).fit(X, y)
    numbers = model.predict(X) - 1
    decisions, near = model.decision_function(X), model.neighbour_distances(X)
    np.testing.assert_array_equal(decisions.argmax(axis=1), numbers)
    assert (near >= 0).all()
    np.testing.assert_array_equal(np.isinf(near), np.column_stack([numbers == 0, numbers == 4]))
    model.fit(X, y > 2)
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X))


# Scales and growth.


def test_minus_nought_is_nought(learner):
    X, y = [[-1.0], [0.0], [0.0], [1.0]], [-1.0, -0.0, 0.0, 1.0]
    for order in (slice(None), slice(None, None, -1)):
        model = learner().fit(X[order], y[order])
        assert np.signbit(model.classes_).tolist() == [True, False, False]
    assert not np.signbit(learner(scale=[-0.0, 1.0]).fit(X[1:], y[1:]).classes_).any()


def test_text_in_a_given_order(learner):
    names = np.array(["poor", "fair", "good", "excellent", "superb"])
    X, y = rated_rows()
    model = learner(scale=names.tolist()).fit(X, names[y - 1])
    assert model.classes_.tolist() == names.tolist()
    assert model.predict(X).tolist() == names[learner().fit(X, y).predict(X) - 1].tolist()
    assert model.score(X, names[y - 1]) > -0.6
    assert (
        learner(scale=names.tolist()).fit(X, names[y - 1].astype(object)).predict(X).tolist()[0]
        in names
    )


def test_half_stars_and_letters_are_learned(learner):
    X, y = rated_rows()
    assert learner().fit(X, y / 2).classes_.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5]
    assert learner().fit(X, np.array(list(" ABCDE"))[y]).classes_.tolist() == list("ABCDE")


def test_columns_and_ratings_arrive_later(learner):
    X, y = rated_rows(600, k=4)
    model = learner().partial_fit(X[:300, :2], np.clip(y[:300], 2, 3) * 10)
    with pytest.raises(InputError, match="X has 4 features"):
        model.predict(X)
    model.partial_fit(X[300:], y[300:] * 10)
    assert model.classes_.tolist() == [10, 20, 30, 40]
    assert model.n_features_in_ == 4
    assert model.score(X[300:], y[300:] * 10) > -0.7
    with pytest.raises(InputError, match="3 features"):
        model.partial_fit(X[:, :3], y)


def test_ratings_named_ahead(learner):
    model = learner().partial_fit([[1.0]], [3], classes=[1, 2, 3, 4])
    assert model.classes_.tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match="numbers, but these ratings are text"):
        learner().partial_fit([[1.0]], ["a"], classes=[1, 2])


# Bad input, and odd input.


@pytest.mark.parametrize(
    ("chosen", "X", "y", "says"),
    [
        (
            {"scale": [1, 2, 3]},
            [[1.0], [2.0]],
            [1, 4],
            "rating 4 of row 1 is outside the scale 1, 2, 3",
        ),
        (
            {"scale": [1, 2, 3]},
            [[1.0], [2.0]],
            ["1", "2"],
            "rating 1 of row 0 is outside the scale",
        ),
        (
            {"scale": ["low", "high"]},
            [[1.0]],
            ["mid"],
            "rating mid of row 0 is outside the scale low, high",
        ),
        ({"scale": [1, 1, 2]}, [[1.0]], [1], "lists the rating 1 twice"),
        ({"scale": [1]}, [[1.0]], [1], "at least 2 ratings"),
        ({"scale": "ABC"}, [[1.0]], ["A"], "must be a list of ratings"),
        ({}, [[1.0], [np.nan]], [1, 2], "NaN"),
        ({}, [[1.0], [np.inf]], [1, 2], "infinity"),
        ({}, [[1.0], [2.0]], [1, np.nan], "rating 1 is NaN"),
        ({}, [[1.0], [2.0]], [1, None], "numbers only or text only"),
        ({}, [[1.0], [2.0]], np.array([1, "a"], dtype=object), "numbers only or text only"),
        ({}, [[1.0], [2.0]], [1], "2 rows but there is 1 rating"),
        ({}, [[1.0], [2.0]], None, "y is None"),
        ({}, np.zeros((0, 3)), [], "0 rows"),
        ({}, [["a"]], [1], "could not convert"),
        ({"passes": 0}, [[1.0]], [1], "passes must be at least 1"),
        ({"passes": 1.5}, [[1.0]], [1], "passes must be a whole number"),
        ({"hypothesis": "best"}, [[1.0]], [1], "hypothesis must be one of 'last', 'averaged'"),
        ({"random_state": "x"}, [[1.0]], [1], "random_state must be a whole number"),
    ],
)
def test_bad_input_is_named(learner, chosen, X, y, says):
    with pytest.raises(InputError, match=says):
        learner(**chosen).fit(X, y)


def test_a_refused_call_leaves_the_model_as_it_was(learner):
    X, y = rated_rows(50)
    model, twin = learner().fit(X, y), learner().fit(X, y)
    wide = np.hstack([X, X])
    for bad_X, bad_y in ((wide, y[:3]), (wide, ["a"] * 50), (X[:, :2], y), (X * np.nan, y)):
        with pytest.raises(InputError):
            model.partial_fit(bad_X, bad_y)
        same_state(model, twin)
        np.testing.assert_array_equal(model.predict(X), twin.predict(X))


def test_text_after_numbers_is_refused(learner):
    model = learner().fit([[1.0], [2.0]], [1, 2])
    with pytest.raises(
        InputError, match="the scale so far holds numbers, but these ratings are text"
    ):
        model.partial_fit([[1.0]], ["a"])


def test_one_single_rating_is_predicted_always(learner):
    model = learner().fit([[1.0], [-2.0]], [4, 4])
    assert model.predict([[-5.0], [0.0], [5.0]]).tolist() == [4, 4, 4]
    assert model.score([[1.0]], [4]) == 0
    assert model.partial_fit([[-1.0]] * 3, [2] * 3).classes_.tolist() == [2, 4]


def test_constant_features_and_empty_rows_are_rated(learner):
    constant = learner(passes=5).fit(np.ones((40, 2)), [1, 2, 3, 3] * 10)
    assert set(constant.predict(np.ones((2, 2)))) <= {1, 2, 3}
    empty = scipy.sparse.csr_array((6, 3))
    assert set(learner().fit(empty, [1, 2, 3] * 2).predict(empty)) <= {1, 2, 3}


def test_a_first_call_that_is_refused_teaches_nothing():
    model = WidrowHoff(learning_rate=-1)
    with pytest.raises(InputError, match="learning_rate must be at least 0"):
        model.partial_fit([[1.0], [2.0]], [1, 2])
    with pytest.raises(NotFittedError):
        model.predict([[1.0]])
    assert model.set_params(learning_rate=0.1).partial_fit([[1.0, 2.0]], [3]).classes_.tolist() == [
        3
    ]


def test_predicting_before_learning_is_an_error(learner):
    for method in ("predict", "decision_function", "neighbour_distances"):
        with pytest.raises(NotFittedError):
            getattr(learner(), method)([[1.0]])
