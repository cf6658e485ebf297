"""Rows of features are answered as texts are: with probabilities, lists that keep a promise,
labels or none.
"""

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import shortlist as sl
from shortlist.confidence.calibrated import Reason
from shortlist.confidence.observers import STREAM_STRIDE
from shortlist.data.labels import in_sorted_order, numbered
from shortlist.data.validation import as_rows
from shortlist.errors import InputError, ModelFileError
from shortlist.files import store
from shortlist.inputs.examples import Examples
from shortlist.models.training_settings import open_model

LABELS, FEATURES = 8, 40


def examples(n, seed=0, several=False, noise=0.5, more=0):
    """Rows of six features that mostly belong to their labels; ``more`` columns behind hold one
    that is rarely met.
    """
    draws = np.random.default_rng(seed)
    X, truth = np.zeros((n, FEATURES + more)), []
    for i in range(n):
        own = draws.choice(LABELS, size=draws.integers(1, 4) if several else 1, replace=False)
        for _ in range(6):
            label = draws.choice(own) if draws.random() > noise else draws.integers(LABELS)
            X[i, label * 5 + draws.integers(5)] += 1
        if more:
            X[i, FEATURES + draws.integers(more)] = 1
        truth.append([f"label {label}" for label in own])
    return X, truth


@pytest.fixture(scope="module")
def single():
    return sl.RowCategorizer().fit(*examples(2000))


@pytest.fixture(scope="module")
def new():
    return examples(1500, seed=1)


def as_bytes(thing):
    return store.checksum(thing.to_state())


@pytest.mark.parametrize(
    "learner", [None, sl.TunedIndex(passes=3), sl.MMP(), sl.Rocchio()], ids=str
)
def test_the_learner_is_what_it_would_be_alone(learner):
    (X, Y), (more, labels) = examples(300), examples(80, seed=1)
    own = sl.TunedIndex() if learner is None else learner
    alone = own.fit(X, in_sorted_order(numbered(Y, len(Y))))  # as a model has its classes
    model = sl.RowCategorizer(learner).fit(X, Y)
    assert as_bytes(model.learner_) == as_bytes(alone)
    model.partial_fit(more, labels)
    assert as_bytes(model.learner_) == as_bytes(alone.partial_fit(more, labels))
    assert model.rank(more).scores.tobytes() == alone.rank(more, 5).scores.tobytes()
    assert model.score(more, labels) == alone.score(more, labels)


def test_batches_teach_what_rows_do():
    X, Y = examples(400)
    rows = [
        Examples(rows=sl.TunedIndex().checked_rows(X[some]), labels=Y[some])
        for some in (slice(150), slice(150, 400))
    ]
    assert as_bytes(sl.RowCategorizer().fit_batches(rows)) == as_bytes(
        sl.RowCategorizer().fit(X, Y)
    )
    going_on = [sl.RowCategorizer().fit(*examples(100)) for _ in range(2)]
    assert as_bytes(going_on[0].learn_batches(rows)) == as_bytes(going_on[1].partial_fit(X, Y))


def test_it_promises_what_it_keeps(single, new):
    X, truth = new
    best = single.rank(X, k=1)
    hits = np.array([label[0] in own for label, own in zip(best.labels, truth, strict=True)])
    assert abs(best.probabilities.mean() - hits.mean()) < 0.06
    lists = single.shortlist(X, coverage=0.9)
    covered = [own[0] in [label for label, _ in one] for own, one in zip(truth, lists, strict=True)]
    assert 0.87 < np.mean(covered) < 0.94
    decided = [
        (one[0], own[0])
        for one, own in zip(single.assign(X, precision=0.9), truth, strict=True)
        if one
    ]
    assert len(decided) > 100
    assert np.mean([label == own for label, own in decided]) > 0.87
    assert single.automation([0.9])[0].share > 0.1


def test_several_labels_are_assigned():
    model = sl.RowCategorizer().fit(*examples(1500, several=True))
    X, truth = examples(500, seed=1, several=True)
    both = [(set(one), set(own)) for one, own in zip(model.assign(X), truth, strict=True)]
    f1 = 2 * sum(len(a & b) for a, b in both) / sum(len(a) + len(b) for a, b in both)
    assert f1 > 0.6
    assert {len(a) for a, _ in both} > {1, 2}


def test_a_row_of_which_nothing_is_known_gets_nothing(single):
    X = np.zeros((3, FEATURES + 2))
    X[0, FEATURES + 1] = 1.0
    X[2, :5] = 1.0
    assert [one.reason for one in single.assign(X)] == [
        Reason.NO_KNOWN_FEATURE,
        Reason.NO_KNOWN_FEATURE,
        Reason.ASSIGNED,
    ]
    assert str(single.assign(X)[0].reason) == "no known feature"
    X[2, FEATURES:] = 1.0
    X[2, 1:5] = 0.0
    assert single.assign(X, precision=0.5)[2].reason is Reason.UNLIKE_ANYTHING_LEARNED


@pytest.mark.parametrize("learner", [sl.TunedIndex(), sl.FeatureFocus()], ids=str)
def test_honest_rankings_are_those_of_the_rows_as_they_are(learner):
    """A slow twin: each row is ranked by a learner that has learned those before it, with all
    its features.
    """
    X, Y = examples(330, more=60)
    model, twin = (
        sl.RowCategorizer(learner).partial_fit(X, Y),
        sl.RowCategorizer(learner).new_learner(),
    )
    found = []
    for i in range(len(Y)):
        if (i + 1) % STREAM_STRIDE == 0:
            found.append(twin.rank(X[i : i + 1], 1).scores[0, 0])
        twin.partial_fit(X[i : i + 1], Y[i : i + 1])
    seen = model.confidence_.window
    assert (seen.known < 1).any(), "or there would be nothing to tell apart"
    if isinstance(learner, sl.TunedIndex):  # others are asked ahead of a piece of the stream
        np.testing.assert_allclose(seen.scores[:, 0], found, rtol=1e-5)
    else:
        assert abs(float(seen.scores[:, 0].mean()) - np.mean(found)) < 0.05


def test_what_is_observed_does_not_depend_on_how_a_stream_is_cut():
    X, Y = examples(400)
    made = []
    for size in (1, 7, 400):
        model = sl.RowCategorizer()
        for first in range(0, 400, size):
            model.partial_fit(X[first : first + size], Y[first : first + size])
        made.append([array.tobytes() for array in model.confidence_.window])
    assert made[0] == made[1] == made[2]


def test_scikit_learns_forms(new):
    X, truth = new
    y = [int(own[0].split()[1]) for own in truth]
    first = np.argsort(y, kind="stable")  # labels come in their sorted order
    model = sl.RowCategorizer(sl.TunedIndex(random_state=None)).fit(
        scipy.sparse.csr_array(X[first]), np.array(y)[first]
    )
    table = model.predict_proba(X[:50])
    assert table.shape == (50, LABELS)
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    best = model.rank(X[:50])
    np.testing.assert_allclose(table[np.arange(50), best.ids[:, 0]], best.probabilities[:, 0])
    assert model.predict(X[:50]).tolist() == best.labels[:, 0].tolist()
    assert model.explain(X[0], 3).score == pytest.approx(
        sum(vote for _, vote in model.explain(X[0], 3).votes)
    )


def test_a_file_holds_how_sure_it_is(tmp_path, single, new):
    single.save(tmp_path / "rows")
    opened = sl.load(tmp_path / "rows")
    assert isinstance(opened, sl.RowCategorizer)
    assert as_bytes(opened) == as_bytes(single)
    assert (
        opened.rank(new[0]).probabilities.tobytes() == single.rank(new[0]).probabilities.tobytes()
    )
    copied = opened.copy().partial_fit(*new)
    assert copied.confidence_.observed > opened.confidence_.observed == single.confidence_.observed


def test_a_file_of_a_learner_alone_opens_and_begins_to_know(tmp_path, new):
    """As files were before."""
    X, Y = examples(300)
    sl.TunedIndex().fit(X, Y).save(tmp_path / "alone")
    model = open_model(tmp_path / "alone")
    assert isinstance(model, sl.RowCategorizer)
    assert not model.confidence_.ready
    assert np.isnan(model.rank(X).probabilities).all()
    assert not any(model.assign(X))
    assert model.partial_fit(*new).confidence_.ready


def test_a_damaged_file_is_refused(single):
    state = single.to_state()
    state.parts["learner"] = sl.PRank().fit(np.eye(3), [1, 2, 3]).to_state()
    with pytest.raises(ModelFileError, match="learner of categories"):
        store.build(state)


def test_an_explanation_names_the_columns():
    X, labels = np.array([[1.0, 0.0], [0.0, 1.0]] * 4), ["a", "b"] * 4
    plain = sl.RowCategorizer().fit(X, labels)
    assert {voter for voter, _ in plain.explain(X[:1], "a").votes} == {0, "(any row)"}
    batch = Examples(
        rows=as_rows(X), labels=[[label] for label in labels], feature_names=["wings", "paws"]
    )
    named = sl.RowCategorizer().fit_batches([batch])
    found = named.explain(pandas.DataFrame(X[:1], columns=["wings", "paws"]), "a")
    assert {voter for voter, _ in found.votes} == {"wings", "(any row)"}
    assert [vote for _, vote in found.votes] == [
        vote for _, vote in plain.explain(X[:1], "a").votes
    ]
    assert named.strongest("b", 1) == [("paws", plain.strongest("b", 1)[0][1])]


def test_batches_with_other_columns_are_refused():
    rows, labels = as_rows(np.eye(2)), [["a"], ["b"]]
    batches = [
        Examples(rows=rows, labels=labels, feature_names=list(names)) for names in ("uv", "vu")
    ]
    with pytest.raises(InputError, match="the columns are v, u, and the model learned from u, v"):
        sl.RowCategorizer().fit_batches(batches)


def test_a_row_that_is_refused_is_numbered_within_its_file(tmp_path):
    model = sl.RowCategorizer().fit(*examples(100))
    (tmp_path / "rows.svm").write_text("+1 1:0.5 2:3\n" * 40 + "+1 1:0.5 2:-3\n")
    for ask in (model.learn_batches, lambda batches: list(model.rank_batches(batches, 1))):
        batches = sl.read(tmp_path / "rows.svm", batch=100)
        with pytest.raises(InputError, match=r"rows.svm, line 41: the row holds -3 in column 1"):
            ask(batches)


def test_columns_that_came_without_a_name_are_numbers():
    X, labels = np.array([[1.0, 0.0], [0.0, 1.0]] * 4), ["a", "b"] * 4
    batch = Examples(
        rows=as_rows(X), labels=[[label] for label in labels], feature_names=["wings", "paws"]
    )
    wider = Examples(rows=as_rows([[1.0, 0.0, 1.0]]), labels=[["a"]])
    model = sl.RowCategorizer().fit_batches([batch]).learn_batches([wider])
    assert {name for name, _ in model.strongest("a", 2)} == {"wings", 2}


def test_who_has_learned_nothing_says_how_to_begin():
    with pytest.raises(NotFittedError, match="nothing yet; call fit or partial_fit first"):
        sl.RowCategorizer().rank([[1.0]])


def test_what_it_cannot_take_is_refused(single):
    with pytest.raises(InputError, match="texts"):
        next(single.assign_batches([Examples(texts=["wheat"])], single.aim(None)))
    with pytest.raises(InputError, match="cannot go on"):
        sl.RowCategorizer("ovr-svm").fit(*examples(60)).partial_fit(*examples(20))
