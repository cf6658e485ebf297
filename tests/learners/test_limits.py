"""Rows that are learned as they are: too long ones are refused, and so is what they make of a
learner.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from shortlist import Categorizer, InputError, RowCategorizer, TextVectorizer, TunedIndex
from shortlist import concurrency as interrupts
from shortlist.inputs import read
from shortlist.learners.index.edges import check_finite_biases
from shortlist.learners.index.index_learner import LEAST_VALUE, MOST_VALUE, round_to_weights
from tests.contract import as_bytes


@pytest.mark.parametrize("learner", [TunedIndex(values="raw", vector=n) for n in (None, 4, 2)])
def test_rows_that_are_too_long_to_learn_as_they_are(learner):
    fine, labels = np.eye(4), ["a", "b", "c", "a"]
    learner.partial_fit(fine, labels)
    before = as_bytes(learner)
    for long in (1e3, 1e10, 1e200):
        rows = np.eye(4) * [1.0, long, 1.0, 1.0]
        for learn in (learner.partial_fit, learner.fit):
            with pytest.raises(InputError, match=r"row 1 has the length .*learn with values='l2'"):
                learn(rows, labels)
        assert as_bytes(learner) == before
    slow = clone(learner).set_params(step=1e-8).fit(1e3 * fine, labels).rank(1e3 * fine)
    assert np.isfinite(slow.scores[slow.ids >= 0]).all()


@pytest.mark.parametrize("learner", [TunedIndex(values="raw", vector=n) for n in (None, 4, 2)])
def test_a_row_that_is_too_long_is_named_by_its_place_in_what_was_given(learner, monkeypatch):
    monkeypatch.setattr(interrupts, "RUN", 4)  # more rows are learned a run at a time
    rows, labels = np.tile(np.eye(4), (3, 1)), ["a", "b", "c"] * 4
    learner.partial_fit(rows, labels)
    before = as_bytes(learner)
    rows[9] *= 1e3
    with pytest.raises(InputError, match=r"^row 9 has the length 1000"):
        learner.partial_fit(rows, labels)
    assert as_bytes(learner) == before  # the runs before it were not learned, either


def test_a_row_of_a_file_is_named_by_its_place_in_the_file(tmp_path):
    lines = [f"{n % 2} {n % 3 + 1}:1" for n in range(200)]
    path = tmp_path / "rows.svm"
    path.write_text("\n".join([*lines, ""]))
    model = RowCategorizer(TunedIndex(values="raw")).fit_batches(read(path, batch=100))
    path.write_text("\n".join([*lines[:150], "1 2:1e3", *lines[151:], ""]))
    assert len(list(read(path, batch=100))) > 5
    for learn in (model.learn_batches, model.fit_batches):
        with pytest.raises(InputError, match=r"rows\.svm, line 151: the row has the length 1000"):
            learn(read(path, batch=100))


def test_a_text_that_is_too_long_is_named_by_its_place_in_the_batch():
    model = Categorizer(TunedIndex(values="raw"), TextVectorizer())
    short, labels = ["one two", "two three"], ["a", "b"]
    long = " ".join(f"word{n}" for n in range(400))
    with pytest.raises(InputError, match=r"^row 1 has the length 20, and"):
        model.learn_batches(
            [(short, labels), (short, labels), ([short[0], long], labels), (short, labels)]
        )
    assert model.learner_.n_examples_ == 4
    assert "word7" not in model.text_.get_feature_names_out()


def test_a_text_that_is_too_long_is_found_before_fit_learns_any():
    long = " ".join(f"word{n}" for n in range(400))
    model = Categorizer(TunedIndex(values="raw"), TextVectorizer())
    with pytest.raises(InputError, match=r"^row 4 has the length 20, and"):
        model.fit(["one two", "two three", "one", "two", long, "three"], ["a", "b"] * 3)
    with pytest.raises(NotFittedError):
        model.rank("one")


@pytest.mark.parametrize(
    "learner",
    [
        TunedIndex(values="raw"),
        TunedIndex(values="raw", vector=2),
        TunedIndex(values="raw", vector=1),
        RowCategorizer(TunedIndex(values="raw")),
    ],
)
def test_what_refused_its_first_rows_has_learned_nothing(learner):
    for learn in (learner.partial_fit, learner.fit):
        with pytest.raises(InputError, match="has the length"):
            learn(1e3 * np.eye(2), ["a", "b"])
        with pytest.raises(NotFittedError):
            learner.rank(np.eye(2))
    with pytest.raises(InputError, match="has the length"):
        learner.partial_fit(1e3 * np.eye(2), ["a", "b"], classes=["a", "b", "c"])
    with pytest.raises(NotFittedError):
        learner.predict(np.eye(2))
    assert learner.partial_fit(np.eye(2), ["d", "e"]).classes_.tolist() == ["d", "e"]


@pytest.mark.parametrize("max_memory", [None, "1GB"])
@pytest.mark.parametrize("classes", [None, ["a", "b", "c"]])
def test_a_model_that_refused_its_first_texts_has_learned_nothing(max_memory, classes):
    long = " ".join(f"word{n}" for n in range(400))
    model = Categorizer(TunedIndex(values="raw"), TextVectorizer(), max_memory)
    with pytest.raises(InputError, match=r"^row 1 has the length 20, and"):
        model.partial_fit(["one two", long], ["a", "b"], classes)
    with pytest.raises(NotFittedError):
        model.rank("one")
    assert model.partial_fit(["two three"], ["d"]).classes_.tolist() == ["d"]
    assert model.text_.get_feature_names_out().tolist() == ["two", "three"]


def test_what_could_not_be_merged_has_learned_nothing():
    taker = TunedIndex(vector=1)
    with pytest.raises(InputError, match="cannot be merged"):
        taker.merge(TunedIndex(vector=2).fit(np.eye(3), ["a", "b", "c"]))
    with pytest.raises(NotFittedError):
        taker.rank(np.eye(3))


@pytest.mark.parametrize("vector", [0, 10])
def test_what_grows_without_end_is_said_and_not_kept(vector):
    random = np.random.default_rng(5)
    rows, labels = (
        random.random((200, 10)),
        [[f"l{random.integers(3)}", f"m{random.integers(3)}"] for _ in range(200)],
    )
    learner = TunedIndex(values="raw", passes=40, vector=vector).fit(rows[:5], labels[:5])
    before = as_bytes(learner)
    long = rows * (14 / np.linalg.norm(rows, axis=1, keepdims=True))
    with np.errstate(all="ignore"), pytest.raises(InputError, match="no longer finite numbers"):
        learner.fit(long, labels)
    assert as_bytes(learner) == before


@given(arrays(float, 8, elements=st.floats(0, 1e300)))
def test_values_have_the_digits_and_the_range_of_weights(data):
    expected = np.clip(data, LEAST_VALUE, MOST_VALUE).astype(np.float32).astype(np.float64)
    round_to_weights(data)
    np.testing.assert_array_equal(data, expected)


@given(arrays(np.float64, st.integers(0, 9)))
def test_what_is_not_finite_is_noticed_wherever_it_stands(biases):
    if np.isfinite(biases).all():
        check_finite_biases("l2", biases)
    else:
        with pytest.raises(InputError, match="no longer finite"):
            check_finite_biases("l2", biases)
