"""What every learner of ratings must do: scikit-learn's habits, kernels, scales, bad input."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from shortlist import InputError, PRank, WidrowHoff
from shortlist.ratings import dual
from shortlist.ratings.learner import RUN, in_runs
from tests.ratings.streams import rated_rows, same_state

LEARNERS = {
    "PRank": PRank,
    "WidrowHoff": partial(WidrowHoff, learning_rate=0.05),  # a step that suits few, small rows
    "MulticlassPerceptron": MulticlassPerceptron,
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
HYPOTHESES = ["last", "averaged", "voted"]

# scikit-learn's checks that do not apply, and why.
NOT_OURS = {
    "check_classifiers_regression_target": "ratings may be any ordered numbers, halves among them",
}


@pytest.fixture(params=LEARNERS.values(), ids=LEARNERS)
def learner(request):
    return request.param


# scikit-learn.


@pytest.mark.parametrize("chosen", [{"hypothesis": "averaged"}, {"hypothesis": "voted"}, {"kernel": "rbf"}])
def test_scikit_learn_checks(learner, chosen):
    results = check_estimator(learner(**chosen), expected_failed_checks=NOT_OURS, on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(NOT_OURS)


def test_in_a_pipeline_and_a_grid_search(learner):
    X, y = rated_rows(400)
    pipeline = Pipeline([("scaler", StandardScaler()), ("learner", learner(random_state=0))])
    grid = {"learner__hypothesis": HYPOTHESES, "learner__passes": [1, 3]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(1000 + 50 * X, y)
    assert -0.5 < search.best_score_ < 0
    assert cross_val_score(pipeline, X, y / 2).min() > -0.5  # half stars


def test_clone_keeps_the_parameters(learner):
    model = learner(passes=3, scale=["a", "b"], kernel="rbf", gamma=0.5, budget=7)
    assert clone(model).get_params() == model.get_params()


def test_score_is_minus_the_ranking_loss(learner):
    X, y = rated_rows()
    model = learner().fit(X, 10 * y)  # five steps, ten apart
    distances = np.abs(model.predict(X) / 10 - y)
    assert model.score(X, 10 * y) == -distances.mean()
    assert model.score(X, 10 * y, sample_weight=y) == pytest.approx(-np.average(distances, weights=y))
    for wrong in (y[1:], -y, 0 * y):
        with pytest.raises(InputError, match="sample_weight"):
            model.score(X, 10 * y, sample_weight=wrong)


def test_dense_sparse_and_frames_are_the_same(learner):
    X, y = rated_rows()
    X[X < 0] = 0
    dense = learner(hypothesis="voted").fit(X, y)
    for other in (scipy.sparse.csr_array(X), scipy.sparse.coo_array(X), X.tolist(), np.asfortranarray(X)):
        same_state(learner(hypothesis="voted").fit(other, y), dense)
    frame = pd.DataFrame(X, columns=list("abcd"))
    same_state(learner(hypothesis="voted").fit(frame, pd.Series(y)), dense)
    same_state(learner(hypothesis="voted").fit(X, pl.Series(y)), dense)


def test_the_seed_decides_the_order(learner):
    X, y = rated_rows()
    same_state(learner(passes=3, random_state=5).fit(X, y), learner(passes=3, random_state=5).fit(X, y))
    once = learner(passes=3, random_state=5).fit(X, y)
    again = learner(passes=3, random_state=6).fit(X, y)
    assert not np.array_equal(once._weights, again._weights)
    generator, moved, by_hand = np.random.default_rng(5), np.arange(len(X)), learner()
    generator.shuffle(moved)  # the first pass; later ones take runs of what it left together
    for number in range(3):
        order = moved[in_runs(len(X), generator)] if number else moved
        by_hand.partial_fit(X[order], y[order], classes=[1, 2, 3, 4, 5])
    same_state(once, by_hand)


@pytest.mark.parametrize("n", [1, RUN - 1, RUN, RUN + 1, 10 * RUN + 3])
def test_runs_are_shuffled_and_each_run_within(n):
    order = in_runs(n, np.random.default_rng(0))
    assert sorted(order) == list(range(n))
    changes = np.flatnonzero(np.diff(order // RUN))
    assert changes.size == (n - 1) // RUN, "each run stays in one piece"
    if n > 2 * RUN:
        assert (order[np.append(-1, changes) + 1] % RUN).any()
        assert not (np.diff(order // RUN) >= 0).all()


# Hypotheses.


def test_few_voters_are_the_longest_lived(learner):
    X, y = rated_rows(500)
    few = learner(hypothesis="voted", voters=5, passes=2).fit(X, y)
    all_of_them = learner(hypothesis="voted", voters=5000, passes=2).fit(X, y)
    assert all_of_them._clock[1] + all_of_them._lives.sum() == 1000
    assert sorted(few._lives) == sorted(np.sort(all_of_them._lives)[-5:])
    assert few.decision_function(X).min() >= -1
    assert few.decision_function(X).max() <= 1


def test_last_and_averaged_can_be_changed_after_learning(learner):
    X, y = rated_rows()
    model = learner(hypothesis="last").fit(X, y)
    averaged = learner(hypothesis="averaged").fit(X, y)
    np.testing.assert_array_equal(
        model.set_params(hypothesis="averaged").decision_function(X), averaged.decision_function(X)
    )
    with pytest.raises(InputError, match="before learning"):
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


# Kernels.


def quadratic_features(X):
    """φ with φ(x)·φ(x') = (x·x' + 1)²: all products of two of (1, x_1, …, x_n)."""
    ones = np.column_stack([np.ones(len(X)), X])
    return np.einsum("ni,nj->nij", ones, ones).reshape(len(X), -1)


@every_learner
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), passes=st.integers(1, 2))
def test_a_kernel_is_its_explicit_features(learner, hypothesis, seed, passes):
    generator = np.random.default_rng(seed)
    X = generator.integers(-8, 9, size=(60, 3)) / 8
    y = 1 + np.digitize(X[:, 0] * X[:, 1] + generator.normal(size=60) / 10, [-0.1, 0.1])
    same = {"hypothesis": hypothesis, "passes": passes, "random_state": 0, "scale": [1, 2, 3]}
    explicit = learner(**same).fit(quadratic_features(X), y)
    with_kernel = learner(kernel="polynomial", degree=2, gamma=1.0, coef0=1.0, **same).fit(X, y)
    expected = explicit.decision_function(quadratic_features(X))
    np.testing.assert_allclose(with_kernel.decision_function(X), expected, atol=1e-9)
    on_an_edge = np.diff(np.sort(expected)[:, -2:]).ravel() < 1e-9  # an average, rounded, may fall to either side
    agree = with_kernel.predict(X) == explicit.predict(quadratic_features(X))
    assert (agree | on_an_edge).all()


def test_kernels_by_name_and_by_function_agree(learner):
    X, y = rated_rows(150)

    def rbf(A, B):
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    by_name = learner(kernel="rbf", gamma=0.5, passes=20).fit(X, y)
    by_function = learner(kernel=rbf, passes=20).fit(X, y)
    np.testing.assert_allclose(by_name.decision_function(X), by_function.decision_function(X), atol=1e-9)
    assert (by_name.predict(X) == y).mean() > 0.6


@pytest.mark.parametrize("budget", [None, 1, 40, 2000])
def test_a_budget_holds_and_the_cut_into_calls_changes_nothing(learner, budget):
    X, y = rated_rows(350 if budget != 1 else 20)
    same = {"kernel": "rbf", "gamma": 0.2, "budget": budget, "scale": [1, 2, 3, 4, 5]}
    whole, pieces = learner(**same).fit(X, y), learner(**same)
    for part in np.array_split(np.arange(len(X)), [1, 5, 13, *(131, 300, 303, 304)[: len(X) // 80]]):
        pieces.partial_fit(X[part], y[part])
        assert budget is None or len(pieces._supports) <= budget
    np.testing.assert_allclose(whole._weights, pieces._weights, atol=1e-9)
    assert abs(whole._supports.rows - pieces._supports.rows).max() == 0


def test_a_budget_drops_the_lightest_and_of_equals_the_oldest():
    supports = dual.Supports(scipy.sparse.csr_array(np.eye(4)))
    supports.norms[:] = [1.0, 2.0, 1.0, 1.0]
    coefficients = np.array([2.0, 1.0, 0.0, 2.0])
    assert supports.drop(coefficients > 0, coefficients, 2).tolist() == [1, 3]


def test_a_row_met_again_in_a_later_pass_stays_one_support_vector(learner):
    X, y = rated_rows(50)
    model = learner(kernel="rbf", passes=20, random_state=1).fit(X, y)
    assert len(model._supports) <= 50


@pytest.mark.parametrize(
    "broken", [lambda A, B: np.zeros((3, 3)), lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan)]
)
def test_a_kernel_that_gives_nonsense_is_refused(learner, broken):
    X, y = rated_rows(10)
    with pytest.raises(InputError, match="kernel gave"):
        learner(kernel=broken).fit(X, y)


def test_a_kernel_changed_in_mid_stream_is_refused(learner):
    X, y = rated_rows(10)
    with pytest.raises(InputError, match="fit anew"):
        learner().fit(X, y).set_params(kernel="rbf").partial_fit(X, y)


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
    assert learner(scale=names.tolist()).fit(X, names[y - 1].astype(object)).predict(X).tolist()[0] in names


def test_half_stars_and_letters_are_learned(learner):
    X, y = rated_rows()
    assert learner().fit(X, y / 2).classes_.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5]
    assert learner().fit(X, np.array(list(" ABCDE"))[y]).classes_.tolist() == list("ABCDE")


def test_columns_and_ratings_arrive_later(learner):
    X, y = rated_rows(600, k=4)
    model = learner(hypothesis="voted").partial_fit(X[:300, :2], np.clip(y[:300], 2, 3) * 10)
    with pytest.raises(InputError, match="X has 4 features"):
        model.predict(X)
    model.partial_fit(X[300:], y[300:] * 10)
    assert model.classes_.tolist() == [10, 20, 30, 40]
    assert model.n_features_in_ == 4
    assert model.score(X[300:], y[300:] * 10) > -0.7
    with pytest.raises(InputError, match="3 features"):
        model.partial_fit(X[:, :3], y)


def test_columns_arrive_later_with_a_kernel(learner):
    X, y = rated_rows(200)
    same = {"kernel": "rbf", "gamma": 0.1, "scale": [1, 2, 3, 4, 5]}
    narrow = learner(**same).partial_fit(X[:100, :2], y[:100]).partial_fit(X[100:], y[100:])
    padded = X.copy()
    padded[:100, 2:] = 0
    np.testing.assert_allclose(narrow._weights, learner(**same).fit(padded, y)._weights)


def test_ratings_named_ahead(learner):
    model = learner().partial_fit([[1.0]], [3], classes=[1, 2, 3, 4])
    assert model.classes_.tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match="numbers, but these ratings are text"):
        learner().partial_fit([[1.0]], ["a"], classes=[1, 2])


def test_probabilities(learner):
    X, y = rated_rows(2000)
    model = learner().fit(X[:1000], y[:1000])
    assert not hasattr(model, "predict_proba")
    for hypothesis in ("averaged", "last"):
        probabilities = model.set_params(hypothesis=hypothesis).calibrate(X[1000:1500], y[1000:1500]).predict_proba(X)
        assert probabilities.shape == (2000, 5)
        assert (probabilities >= 0).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    model.set_params(hypothesis="averaged").calibrate(X[1000:1500], y[1000:1500])
    fresh, truth = model.predict_proba(X[1500:]), y[1500:] - 1
    said = -np.log(fresh[np.arange(500), truth]).mean()
    base = np.bincount(y[:1500] - 1, minlength=5) / 1500
    assert said < 0.6 * -np.log(base[truth]).mean()
    assert abs(fresh.mean(axis=0) - np.bincount(truth, minlength=5) / 500).max() < 0.05
    assert not hasattr(model.partial_fit(X[:1], y[:1]), "predict_proba")


def test_probabilities_of_ratings_not_held_out_are_zero(learner):
    X, y = rated_rows()
    model = learner(hypothesis="voted").fit(X, y).calibrate(X[(y == 2) | (y == 4)], y[(y == 2) | (y == 4)])
    probabilities = model.predict_proba(X)
    assert (probabilities[:, [0, 2, 4]] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert probabilities[X @ np.linspace(2, -1, 4) > 2, 3].mean() > 0.8
    with pytest.raises(InputError, match="one rating only"):
        model.calibrate(X[y == 2], y[y == 2])


@pytest.mark.parametrize("form", [{"hypothesis": "voted"}, {"kernel": "rbf"}, {"kernel": "rbf", "hypothesis": "voted"}])
def test_predictions_do_not_depend_on_the_blocks(learner, form, monkeypatch):
    X, y = rated_rows(100)
    model = learner(**form).fit(X, y)
    at_once = model.decision_function(X)
    monkeypatch.setattr("shortlist.ratings.learner.PREDICT_BLOCK", 700)
    np.testing.assert_allclose(model.decision_function(X), at_once, atol=1e-12)


# Bad input, and odd input.


@pytest.mark.parametrize(
    ("chosen", "X", "y", "says"),
    [
        ({"scale": [1, 2, 3]}, [[1.0], [2.0]], [1, 4], "rating 4 of row 1 is outside the scale 1, 2, 3"),
        ({"scale": [1, 2, 3]}, [[1.0], [2.0]], ["1", "2"], "rating 1 of row 0 is outside the scale"),
        ({"scale": ["low", "high"]}, [[1.0]], ["mid"], "rating mid of row 0 is outside the scale low, high"),
        ({"scale": [1, 1, 2]}, [[1.0]], [1], "names the rating 1 twice"),
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
        ({"hypothesis": "best"}, [[1.0]], [1], "hypothesis must be one of 'last', 'averaged', 'voted'"),
        ({"hypothesis": "voted", "voters": 0}, [[1.0]], [1], "voters must be at least 1"),
        ({"kernel": "sigmoid"}, [[1.0]], [1], "kernel must be one of 'polynomial', 'rbf'"),
        ({"kernel": "rbf", "gamma": -1}, [[1.0]], [1], "gamma must be at least 0"),
        ({"kernel": "polynomial", "degree": 0}, [[1.0]], [1], "degree must be at least 1"),
        ({"kernel": "rbf", "budget": 0}, [[1.0]], [1], "budget must be at least 1"),
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
    with pytest.raises(InputError, match="the scale so far holds numbers, but these ratings are text"):
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
    assert learner(kernel="rbf").fit(empty, [1, 2, 3] * 2).predict(empty).shape == (6,)


def test_predicting_before_learning_is_an_error(learner):
    for method in ("predict", "decision_function", "neighbour_distances"):
        with pytest.raises(NotFittedError):
            getattr(learner(), method)([[1.0]])
