"""A Rater: columns, scales and a learner of ratings in one object."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import shortlist as sl
from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from shortlist.data.validation import as_rows
from shortlist.inputs.examples import Examples


@pytest.fixture
def rated():
    """Ratings 1 to 3 by the sum of two columns on very different scales, and a column that
    tells nothing.
    """
    random = np.random.default_rng(3)
    X = np.column_stack(
        [random.normal(5, 1, 300), random.normal(0, 1000, 300), random.normal(size=300)]
    )
    hidden = (X[:, 0] - 5) + X[:, 1] / 1000
    return X, np.digitize(hidden, [-0.7, 0.7]) + 1


def test_it_rates_better_than_a_guess_whatever_the_scales(rated):
    X, ratings = rated
    rater = sl.Rater().fit(X[:200], ratings[:200])
    guess = np.abs(ratings[200:] - np.median(ratings[:200])).mean()
    assert -rater.score(X[200:], ratings[200:]) < 0.4 * guess
    assert rater.classes_.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("learner", "length"), [(sl.PRank(), 3**0.5), (sl.WidrowHoff(), 1.0)])
def test_scales_are_those_of_fit_by_hand(rated, learner, length):
    X, ratings = rated
    rater = sl.Rater(learner).fit(X, ratings)
    scaled = (X - X.mean(axis=0)) / (X.std(axis=0) * length)
    assert (rater.predict(X) == clone(learner).fit(scaled, ratings).predict(scaled)).all()
    assert rater.scale_ == pytest.approx(X.std(axis=0) * length)


def test_a_column_that_never_changes_does_not_count_among_them(rated):
    X, ratings = rated
    wider = np.column_stack([X, np.full(len(X), 7.0)])
    assert sl.Rater().fit(wider, ratings).scale_[:3] == pytest.approx(
        sl.Rater().fit(X, ratings).scale_
    )


def test_few_rows_are_gone_through_as_often_as_it_takes():
    """Ten steps from fifty rows: once through them would have twice the error."""
    random = np.random.default_rng(5)
    X = random.normal(size=(2050, 10))
    score = X @ random.normal(size=10) + random.logistic(size=2050)
    ratings = 1 + np.digitize(score, np.quantile(score, np.arange(0.1, 0.95, 0.1)))
    usual, once = (
        one.fit(X[:50], ratings[:50]).score(X[50:], ratings[50:])
        for one in (sl.Rater(), sl.Rater(sl.PRank(passes=1, random_state=0)))
    )
    assert -usual < 0.9 * -once


@pytest.mark.parametrize(
    "ask",
    [
        lambda rater: rater.predict([[1.0]]),
        lambda rater: rater.score([[1.0]], [1]),
        lambda rater: rater.neighbour_distances([[1.0]]),
        lambda rater: rater.explain([1.0]),
        lambda rater: rater.classes_,
        lambda rater: rater.to_state(),
        lambda rater: rater.save("nowhere"),
        lambda rater: rater.learn_batches([]),
    ],
)
def test_before_it_has_learned_it_says_so(ask):
    with pytest.raises(NotFittedError, match="has learned nothing yet; call fit or learn first"):
        ask(sl.Rater())


def test_a_failed_fit_leaves_what_was_learned(rated):
    X, ratings = rated
    rater = sl.Rater().fit(X, ratings, ["a", "b", "c"])
    before, file = rater.predict(X), rater.to_state().all_arrays()
    with pytest.raises(sl.InputError):
        rater.fit(X[:, :2], ratings[:-1], ["a", "b"])
    assert (rater.predict(X, ["a", "b", "c"]) == before).all()
    assert all((rater.to_state().all_arrays()[name] == array).all() for name, array in file.items())


def test_it_goes_on_learning_and_begins_by_itself(rated):
    X, ratings = rated
    whole = sl.Rater().fit(X[:150], ratings[:150]).learn(X[150:], ratings[150:])
    again = sl.Rater().partial_fit(X[:150], ratings[:150]).partial_fit(X[150:], ratings[150:])
    assert whole.n_examples_ == again.n_examples_ == 300
    assert (whole.predict(X) == again.predict(X)).all()


def test_batches_are_what_fit_takes(rated):
    X, ratings = rated
    names = ["a", "b", "c"]
    batches = [
        Examples(
            rows=as_rows(X[part]), labels=[[str(r)] for r in ratings[part]], feature_names=names
        )
        for part in (slice(0, 100), slice(100, 300))
    ]
    rater = sl.Rater().fit_batches(batches)
    assert rater.columns_ == names
    assert (rater.predict(X) == sl.Rater().fit(X, ratings, names).predict(X)).all()
    found = rater.evaluate(batches)
    assert found.measures["exact"] == pytest.approx((rater.predict(X) == ratings).mean())
    assert np.sum(found.details["confusion"]) == 300
    ((given, below, above), *_), *_ = (list(answers) for answers in rater.answer_batches(batches))
    assert given == rater.predict(X)[0]
    assert below > 0
    assert above > 0


def test_columns_that_changed_are_refused(rated):
    X, ratings = rated
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    rater = sl.Rater().fit(frame, ratings)
    assert rater.columns_ == ["a", "b", "c"]
    assert (rater.predict(frame) == rater.predict(X)).all()
    with pytest.raises(
        sl.InputError, match="the columns are b, a, c, and the model learned from a, b, c"
    ):
        rater.predict(frame[["b", "a", "c"]])
    with pytest.raises(sl.InputError, match="2 columns, and the model learned from 3"):
        rater.predict(X[:, :2])


@pytest.mark.parametrize(
    "learner", [sl.PRank(), sl.WidrowHoff(), MulticlassPerceptron()], ids=lambda one: str(one)[:6]
)
def test_an_explanation_sums_to_the_score(rated, learner):
    X, ratings = rated
    rater = sl.Rater(learner).fit(X, ratings, ["a", "b", "c"])
    found = rater.explain(X[0])
    assert found.label == rater.predict(X[:1])[0]
    assert sum(vote for _, vote in found.votes) == pytest.approx(found.score)
    scaled = (X[:1] - rater.mean_) / rater.scale_
    if isinstance(learner, MulticlassPerceptron):
        assert found.score == pytest.approx(rater.learner_.scores(scaled).max())
    assert {name for name, _ in found.votes} <= {"a", "b", "c", "(any row)"}
    # the column that tells nothing
    assert next(name for name, _ in found.votes if name != "(any row)") != "c"


def test_scikit_learn_can_use_it(rated):
    X, ratings = rated
    assert cross_val_score(sl.Rater(), X, ratings, cv=3).mean() > -0.5
    search = GridSearchCV(sl.Rater(sl.PRank()), {"learner__passes": [1, 5]}, cv=3).fit(X, ratings)
    assert search.best_params_["learner__passes"] in (1, 5)
    assert not hasattr(clone(sl.Rater().fit(X, ratings)), "learner_")


def test_it_is_the_same_after_saving(rated, tmp_path):
    X, ratings = rated
    rater = sl.Rater(sl.WidrowHoff()).fit(X, ratings, ["a", "b", "c"])
    rater.save(tmp_path / "rater.shortlist")
    again = sl.load(tmp_path / "rater.shortlist")
    assert (again.predict(X) == rater.predict(X)).all()
    assert again.columns_ == ["a", "b", "c"]
    assert (
        again.describe()
        == rater.describe()
        == {"learner": "WidrowHoff", "examples": 300, "ratings": 3, "features": 3}
    )


def test_sparse_rows_stay_sparse_and_are_rated_as_the_same_rows_in_full():
    chance = np.random.default_rng(3)
    X = scipy.sparse.random_array((600, 300), density=0.02, rng=chance, format="csr")
    ratings = 1 + np.digitize(X @ chance.normal(size=300), [-0.5, 0.5])
    rater = sl.Rater().fit(X, ratings)
    assert not rater.mean_.any()
    scaled = rater._matrix(X, None)
    assert scaled.nnz == X.nnz
    assert np.mean(scaled.multiply(scaled).sum(axis=1)) == pytest.approx(1.0)
    full = sl.Rater().fit(X.toarray(), ratings)
    assert full.predict(X.toarray()).tolist() == rater.predict(X).tolist()
    assert np.mean(rater.predict(X) == ratings) > 0.8
    assert rater.explain(X[[0]].toarray()).label == rater.predict(X[[0]])[0]
