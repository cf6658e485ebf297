"""Many may read a model at a time, or one may change it; a copy has a lock of its own."""

import copy
import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone

import shortlist as sl
from shortlist.concurrency import lock_of, reading, writing
from shortlist.files import store

PATIENCE = 60  # seconds until a test that hangs says so


class Model:
    def __init__(self):
        self.inside = 0
        self.most = 0
        self.both = threading.Barrier(2)

    @reading
    def read(self, then=lambda: None):
        then()
        return self.inside

    @reading
    def meet(self):
        self.both.wait(PATIENCE)

    @writing
    def write(self, then=lambda: None):
        self.inside += 1
        self.most = max(self.most, self.inside)
        then()
        self.inside -= 1


def in_threads(*calls):
    """Run calls at the same time; what each has raised is raised again."""
    problems = []

    def attempt(call):
        try:
            call()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=attempt, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "two threads wait for each other"
    if problems:
        raise problems[0]


def test_two_may_read_at_a_time():
    model = Model()
    in_threads(model.meet, model.meet)


def test_who_changes_a_model_is_alone():
    model = Model()
    seen = []

    def read():
        seen.extend(model.read() for _ in range(300))

    def write():
        for _ in range(300):
            model.write(then=lambda: seen.append(model.read() - 1))

    in_threads(read, write, read, write)
    assert set(seen) == {0}
    assert model.most == 1
    assert not lock_of(model).readers
    assert not lock_of(model).gate.locked()


def test_a_verb_may_call_others():
    model = Model()
    assert model.read(then=model.read) == 0
    model.write(then=model.read)
    model.write(then=model.write)
    assert model.most == 2


def test_who_reads_may_go_on_reading_while_another_waits_to_write():
    model = Model()
    waits, goes_on = threading.Event(), threading.Event()

    def inner():
        waits.set()
        while not lock_of(model).gate.locked():  # until the writer has closed the gate
            goes_on.wait(0.001)
        model.read()

    in_threads(lambda: model.read(then=inner), lambda: waits.wait(PATIENCE) and model.write())


@pytest.mark.parametrize("verb", ["read", "write"])
def test_an_exception_leaves_nothing_locked(verb):
    model = Model()
    with pytest.raises(ZeroDivisionError):
        getattr(model, verb)(then=lambda: 1 / 0)
    in_threads(model.write, model.read)


def test_what_an_interruption_left_behind_holds_nothing():
    """A reader's lock is let go in any case; that it stands among the readers does not count
    without it.
    """
    model, thread = Model(), threading.get_ident()
    lock_of(model).readers[thread] = left = threading.Lock()
    assert not lock_of(model).is_held(thread)
    model.read()
    with left:
        lock_of(model).readers[thread] = left
        assert lock_of(model).is_held(thread)


def test_copies_have_locks_of_their_own():
    model = sl.FeatureFocus().fit(np.eye(3), ["a", "b", "c"])
    fitted_again = clone(model).fit(np.eye(3), ["a", "b", "c"])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), fitted_again):
        assert lock_of(other) is not lock_of(model)
        assert other.rank(np.eye(3), 1).ids.tolist() == model.rank(np.eye(3), 1).ids.tolist()
    assert "lock_" not in model.get_params()


def test_batches_may_ask_the_model_that_learns_them():
    """As in active learning: whoever makes the batches ranks with what was learned so far."""
    model = sl.Categorizer().learn("wheat", "grain")

    def batches():
        for n in range(5):
            assert len(model.rank("wheat", 3)) >= 1
            yield [f"wheat word{n}"], [f"label {n}"]

    in_threads(lambda: model.learn_batches(batches()), lambda: model.fit_batches(batches()))


TEXTS, LABELS = [f"w{i % 7} w{i % 5} v{i}" for i in range(60)], [[f"l{i % 5}"] for i in range(60)]
TABLE, RATINGS = np.random.default_rng(0).random((60, 4)), np.arange(60) % 3


def learned(name):
    """A model, and what teaches it more."""
    if name in ("prank", "widrow-hoff", "multiclass-perceptron"):
        model = sl.Rater(name).fit(TABLE, RATINGS)
        return model, lambda model: model.learn(TABLE, (RATINGS + 1) % 3)
    model = sl.Categorizer(name).fit(TEXTS, LABELS)
    return model, lambda model: model.learn_many([*TEXTS, "w1 other words"], [*LABELS, ["l9"]])


ONLINE = [
    "tuned-index",
    "feature-focus",
    "mmp",
    "topic-perceptron",
    "rocchio",
    "independent",
    "unweighted-index",
]
ONLINE += ["frequency", "prank", "widrow-hoff", "multiclass-perceptron"]


@pytest.mark.parametrize("name", ONLINE)
def test_a_state_and_a_copy_share_nothing_that_learning_changes(name):
    model, teach = learned(name)
    state = model.to_state()
    before, again = store.checksum(state), model.copy()
    teach(model)
    assert store.checksum(model.to_state()) != before
    assert store.checksum(state) == before
    assert store.checksum(again.to_state()) == before
    after = store.checksum(model.to_state())
    again.learner_.random_state = 1  # whatever is done to it
    teach(again)
    assert store.checksum(model.to_state()) == after


def test_saving_copies_nothing_and_holds_the_model(monkeypatch, tmp_path):
    model, teach = learned("tuned-index")
    write, held = store.write, []

    def look_and_write(state, path, **options):
        held.append(bool(lock_of(model).readers))
        write(state, path, **options)

    monkeypatch.setattr(store, "write", look_and_write)
    monkeypatch.setattr(store.State, "copied", lambda self: pytest.fail("as much memory again"))
    model.save(tmp_path / "model.shortlist")
    assert held == [True]
    teach(model)
