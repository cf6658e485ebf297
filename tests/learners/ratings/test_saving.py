"""A model of ratings is one file: it comes back the same, goes on learning, and a tampered one
is refused.
"""

import numpy as np
import pytest

from shortlist import InputError, ModelFileError, PRank, WidrowHoff, load
from shortlist.files.store import State, build
from tests.learners.ratings.streams import rated_rows, same_state
from tests.learners.ratings.test_learners import every_learner

FORMS = [
    {"hypothesis": "last"},
    {"passes": 2, "random_state": np.int64(3)},
    {"scale": np.array([1, 2, 3, 4, 5])},
]


@pytest.mark.parametrize("form", FORMS)
@every_learner
def test_saved_and_loaded_it_is_the_same_and_learns_on(learner, form, tmp_path):
    X, y = rated_rows()
    model = learner(**form).fit(X, y)
    model.save(tmp_path / "model.shortlist")
    again = load(tmp_path / "model.shortlist")
    assert type(again) is type(model)
    same_state(model, again)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    same_state(model.partial_fit(X[:50], y[:50]), again.partial_fit(X[:50], y[:50]))


@every_learner
def test_text_scales_are_saved(learner, tmp_path):
    model = learner(scale=["low", "mid", "größer"]).fit(
        [[1.0], [2.0], [3.0]], ["low", "größer", "mid"]
    )
    model.save(tmp_path / "model.shortlist")
    again = load(tmp_path / "model.shortlist")
    assert again.scale == ["low", "mid", "größer"]
    assert again.predict([[1.0]]).tolist() == model.predict([[1.0]]).tolist()


def change(name, alter):
    def apply(state: State) -> None:
        state.arrays[name] = alter(state.arrays[name].copy())

    return apply


def put(value, *place):
    def alter(array):
        array[place] = value
        return array

    return alter


HOSTILE = {
    "weights too narrow": change("weights", lambda a: a[:, :, :-1]),
    "weights of another type": change("weights", lambda a: a.astype(np.float32)),
    "a weight is NaN": change("weights", put(np.nan, 0, 0, 0)),
    "a rule is missing": change("weights", lambda a: a[:-1]),
    "biases too short": change("biases", lambda a: a[:, :-1]),
    "no count": lambda state: state.settings.pop("clock"),
    "a negative count": lambda state: state.settings.update(clock=-1),
    "a count of none": lambda state: state.settings.update(clock=0),
    "half a count": lambda state: state.settings.update(clock=0.5),
    "too large a count": lambda state: state.settings.update(clock=2**63),
    "a rating twice": change(
        "classes", lambda a: np.frombuffer(b"[1, 2, 2, 4, 5]", dtype=np.uint8)
    ),
    "no scale": change("classes", lambda a: np.frombuffer(b"[]", dtype=np.uint8)),
    "an unknown parameter": lambda state: state.settings["parameters"].update(nonsense=1),
    "no columns": lambda state: state.settings.update(n_features=0),
    "fewer columns": lambda state: state.settings.update(n_features=2),
    "an array is missing": lambda state: state.arrays.pop("biases"),
}


@pytest.mark.parametrize("attack", HOSTILE)
@every_learner
def test_a_tampered_state_is_refused(learner, attack):
    X, y = rated_rows()
    state = learner().fit(X, y).to_state()
    assert build(state).predict(X).shape == y.shape
    HOSTILE[attack](state)
    # store.load turns every one of these into a ModelFileError that names the file
    with pytest.raises((ModelFileError, KeyError, TypeError, ValueError)):
        build(state)


def test_a_scale_of_another_length_is_refused():
    """Of PRank, which has a threshold for each rating; the weights of Widrow-Hoff fit any scale."""
    state = PRank().fit(*rated_rows()).to_state()
    state.arrays["classes"] = np.frombuffer(b"[1, 2, 3]", dtype=np.uint8)
    with pytest.raises(ModelFileError):
        build(state)


def test_a_learner_that_has_diverged_is_not_saved(tmp_path):
    learner = WidrowHoff().fit([[1.0], [2.0]], [1, 2])
    learner.save(tmp_path / "m.shortlist")
    before = (tmp_path / "m.shortlist").read_bytes()
    learner.weights_[1] = np.inf
    with pytest.raises(InputError, match="cannot be saved"):
        learner.save(tmp_path / "m.shortlist")
    assert (tmp_path / "m.shortlist").read_bytes() == before
