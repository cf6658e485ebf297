"""Batches, merging, model files, and how much is kept."""

import copy
from itertools import pairwise

import numpy as np
import pytest

from shortlist import TunedIndex
from shortlist.confidence.calibration import F1
from shortlist.confidence.calibration_examples import MOST_BYTES, SIZE
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.observers import FirstPass, stretches_of_fit
from shortlist.data.batch import RowBatch
from shortlist.data.labels import LabelSets
from shortlist.errors import InputError, ModelFileError
from shortlist.files import store
from tests.confidence.made_up import observe, several, single


def observed(ids, scores, truth, edges):
    confidence = Confidence()
    for first, last in pairwise(edges):
        part = truth.chosen(np.arange(first, last))
        observe(confidence, ids[first:last], scores[first:last], part)
    return confidence


def test_batches_make_no_difference():
    ids, scores, truth, _ = several(1500, 0)
    whole = observed(ids, scores, truth, [0, 1500])
    parts = observed(ids, scores, truth, [0, 1, 2, 40, 41, 700, 1499, 1500])
    assert store.checksum(whole.to_state()) == store.checksum(parts.to_state())


@pytest.mark.long
def test_it_is_saved_and_goes_on_as_if_it_had_not_been(tmp_path):
    ids, scores, truth, _ = single(SIZE + 700, 0)
    first = observed(ids, scores, truth, [0, SIZE + 300])
    store.save(first, tmp_path / "confidence")
    second = store.load(tmp_path / "confidence", also=[Confidence])
    rest = truth.chosen(np.arange(SIZE + 300, SIZE + 700))
    for confidence in (first, second):
        observe(confidence, ids[SIZE + 300 :], scores[SIZE + 300 :], rest)
    assert store.checksum(first.to_state()) == store.checksum(second.to_state())
    assert np.array_equal(first.probabilities(scores), second.probabilities(scores))
    assert np.array_equal(first.lengths(scores, 0.9), second.lengths(scores, 0.9))


@pytest.mark.long
def test_no_more_is_kept_than_there_is_room_for():
    ids, scores, truth, _ = single(3 * SIZE, 0)
    confidence = observed(ids, scores, truth, [0, 3 * SIZE])
    assert confidence.window.n_examples <= SIZE
    assert sum(array.nbytes for array in confidence.to_state().all_arrays().values()) < 2_500_000


@pytest.mark.long
def test_what_it_takes_is_counted():
    ids, scores, truth, _ = single(2 * SIZE, 0)
    confidence = observed(ids, scores, truth, [0, 2 * SIZE])
    confidence.threshold(F1())
    held = [*confidence.window, confidence.past(), confidence.ascending]
    saved = list(confidence.to_state().all_arrays().values())
    assert confidence.window.n_examples == SIZE
    assert sum(array.nbytes for array in held + saved) < MOST_BYTES


def test_a_first_pass_keeps_no_whole_rankings():
    n = 2000
    X, Y = np.eye(200)[np.arange(n) % 200], [[i % 200] for i in range(n)]
    watch = FirstPass()
    TunedIndex(passes=1).fit_batch(RowBatch.of(X, Y), observer=watch)
    ranked = sum(some.size for _, _, some in stretches_of_fit(n))
    kept = [array for part in watch._seen for array in part]
    assert watch.confidence().window.n_examples == ranked
    assert sum(array.nbytes for array in kept) <= 200 * ranked


BAD = {
    "ids": lambda a: a - 2,
    "scores": lambda a: a * np.float32(np.nan),
    "depth": lambda a: -1 - a,
    "deepest": lambda a: a + np.float32(np.inf),
    "expected": lambda a: a - 0.5,
    "known": lambda a: a + np.float32(0.5),
}


@pytest.fixture
def state():
    ids, scores, truth, _ = several(200, 0)
    return observed(ids, scores, truth, [0, 200]).to_state()


@pytest.mark.long
@pytest.mark.parametrize("name", BAD)
def test_a_damaged_window_is_refused(state, name):
    Confidence.from_state(copy.deepcopy(state))
    arrays = state.parts["window"].arrays
    arrays[name] = BAD[name](arrays[name])
    with pytest.raises(ModelFileError):
        Confidence.from_state(state)


def test_a_file_may_hold_the_examples_as_a_ring():
    ids, scores, truth, _ = single(SIZE, 0)
    state = observed(ids, scores, truth, [0, SIZE]).to_state()
    as_it_was, ring = Confidence.from_state(state).window, state.parts["window"]
    for name, array in ring.arrays.items():
        ring.arrays[name] = np.roll(array, 5, axis=0)
    ring.settings.update(next=5, length=SIZE - 3)
    found = Confidence.from_state(state).window
    assert all(
        np.array_equal(own, there)
        for own, there in zip(found, as_it_was.last(SIZE - 3), strict=True)
    )


@pytest.mark.parametrize("name", ["ids", "true", "expected"])
def test_rows_that_do_not_agree_are_refused(state, name):
    state.parts["window"].arrays[name] = state.parts["window"].arrays[name][1:]
    with pytest.raises(ModelFileError):
        Confidence.from_state(state)


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.settings.update(fitted_on=-1),
        lambda s: s.settings.update(observed=1),
        lambda s: s.settings.update(fitted_on=199),
        lambda s: s.settings.update(observed="many"),
        lambda s: s.parts["window"].settings.update(next=-1),
        lambda s: s.parts["window"].settings.update(next=SIZE),
        lambda s: s.parts["window"].settings.update(next=7),
        lambda s: s.parts["window"].settings.update(next=200.0),
        lambda s: s.parts["window"].settings.update(length=201),
        lambda s: s.parts["window"].settings.update(length=True),
        lambda s: s.parts["curves"].arrays["weights"].__setitem__((0, 0), np.nan),
        lambda s: s.parts["curves"].arrays["scale"].__setitem__((3, 1), 0.0),
        lambda s: s.parts["curves"].arrays.update(centre=np.zeros((2, 5))),
        lambda s: s.arrays.update(levels=np.zeros(3)),
        lambda s: s.arrays.update(levels=s.arrays["levels"] + 2),
        lambda s: s.arrays.update(
            ascending=s.arrays["ascending"][::-1] - np.arange(s.arrays["ascending"].size)
        ),
        lambda s: s.arrays.update(ascending=s.arrays["ascending"] * np.nan),
        lambda s: s.arrays.pop("ascending"),
        lambda s: s.parts.pop("window"),
    ],
)
def test_other_damage_is_refused(state, change, tmp_path):
    """As a file, whose reader gives every damage its name."""
    change(state)
    store.write(state, tmp_path / "damaged")
    with pytest.raises((ModelFileError, InputError)):
        store.load(tmp_path / "damaged", also=[Confidence])


@pytest.mark.parametrize(
    ("ids", "scores"),
    [
        ([[1, 2]], [[0.5]]),
        ([[-1, 2]], [[0.5, 0.4]]),
        ([[1, 2]], [[0.5, np.inf]]),
        ([[1, 2], [2, 1]], [[0.5, 0.4], [0.5, 0.4]]),
    ],
)
def test_rankings_that_are_none_are_refused(ids, scores):
    with pytest.raises(InputError):
        observe(Confidence(), np.array(ids, dtype=np.int32), np.array(scores), LabelSets.of([[1]]))


@pytest.mark.parametrize("n", [0, 1, 2, 7, 100, 2000, 5000, 9000, 100_000])
def test_every_row_is_learned_once_and_ranked_before(n):
    done, ranked = 0, 0
    for first, last, some in stretches_of_fit(n):
        assert first == done
        assert ((some >= first) & (some < last)).all()
        done, ranked = last, ranked + some.size
    assert done == n
    assert ranked == min(SIZE, n - n // 2, max(n // 10, 512, min(1024, n // 8)))
