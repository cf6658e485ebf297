"""A process that forks while its threads use models; and models whose arrays lie in a file."""

import multiprocessing
import threading
from contextlib import contextmanager

import joblib
import numpy as np
import pytest

import shortlist as sl
from shortlist import concurrency
from shortlist.concurrency import reading, writing
from shortlist.learners.category_learner import Made

PATIENCE = 60
TEXTS = [f"wheat corn {n % 7}" if n % 2 else f"bank rates {n % 5}" for n in range(80)]
LABELS = ["grain" if n % 2 else "money" for n in range(80)]


def in_child(work):
    """What work returns, or the words of its error, in a child of this process."""
    receiving, sending = multiprocessing.Pipe(duplex=False)

    def run():
        try:
            sending.send(work())
        except Exception as problem:
            sending.send(str(problem))

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    try:
        assert receiving.poll(PATIENCE), "the child hangs"
        return receiving.recv()
    finally:
        child.kill()
        child.join()


@contextmanager
def busy(work):
    """Another thread that works until the end."""
    stop = threading.Event()

    def run():
        while not stop.is_set():
            work()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_child_ranks_and_learns_while_a_thread_of_its_parent_learns():
    model = sl.Categorizer().fit(TEXTS, LABELS)
    with busy(lambda: model.learn(TEXTS[0], LABELS[0])):
        for _ in range(5):
            assert in_child(lambda: model.rank("wheat", 1).labels.tolist()) == ["grain"]
            assert in_child(lambda: model.learn("zebra", "animals").classes_.tolist()) == [
                *("grain", "money", "animals")
            ]
    assert in_child(lambda: in_child(lambda: model.rank("wheat", 1).labels.tolist())) == ["grain"]


class Model:
    def __init__(self):
        self.begun = threading.Event()
        self.go_on = threading.Event()

    @writing
    def change(self):
        self.begun.set()
        assert self.go_on.wait(PATIENCE)

    @reading
    def read(self):
        return "read"

    @reading
    def read_in_child(self):
        return in_child(self.read)

    @writing
    def change_and_read_in_child(self):
        return in_child(self.read)


def test_a_model_that_is_half_changed_says_so(monkeypatch):
    """A fork does not wait for long."""
    monkeypatch.setattr(concurrency, "FORK_SECONDS", 0.05)
    model, other = Model(), Model()
    thread = threading.Thread(target=model.change)
    thread.start()
    assert model.begun.wait(PATIENCE)
    assert "forked while another thread changed the model" in in_child(model.read)
    assert "another thread changed the model" in in_child(lambda: in_child(model.read))
    assert in_child(other.read) == "read"
    model.go_on.set()
    thread.join()
    assert model.read() == in_child(model.read) == "read"


def test_a_thread_forks_while_it_has_a_model():
    model = Model()
    assert model.read_in_child() == model.change_and_read_in_child() == "read"
    assert model.read() == "read", "its parent has it still"


def test_what_another_thread_was_making_is_made_anew():
    made = Made()
    begun, go_on = threading.Event(), threading.Event()

    def make():
        begun.set()
        assert go_on.wait(PATIENCE)

    thread = threading.Thread(target=made.of, args=(make,))
    thread.start()
    assert begun.wait(PATIENCE)
    assert in_child(lambda: made.of(lambda: "value")) == "value"
    go_on.set()
    thread.join()


@pytest.mark.parametrize("change", ["learn", "learn_many", "rename_label", "fit"])
def test_a_model_whose_arrays_lie_in_a_file_learns(tmp_path, change):
    """As joblib gives large ones to its processes."""
    model = sl.Categorizer().fit(TEXTS, LABELS)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    arguments = {
        "learn": ("zebra", "animals"),
        "learn_many": (TEXTS[:9], LABELS[:9]),
        "rename_label": ("grain", "cereals"),
        "fit": (TEXTS[:9], LABELS[:9]),
    }[change]
    assert mapped.rank(TEXTS[1], 2).scores.tolist() == model.rank(TEXTS[1], 2).scores.tolist()
    for one in (model, mapped):
        getattr(one, change)(*arguments)
        one.learn("wheat and zebra", "both")
    assert mapped.classes_.tolist() == model.classes_.tolist()
    texts = [*TEXTS[:3], "zebra"]
    assert str(mapped.rank(texts, 3).scores) == str(model.rank(texts, 3).scores)


def test_a_learner_whose_arrays_lie_in_a_file_learns(tmp_path):
    joblib.dump(sl.FeatureFocus().fit(np.eye(3), ["a", "b", "c"]), tmp_path / "learner")
    mapped = joblib.load(tmp_path / "learner", mmap_mode="r")
    mapped.partial_fit(np.eye(3), ["d", "e", "f"])
    assert mapped.classes_.tolist() == [*"abcdef"]
