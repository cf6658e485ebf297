"""Ctrl-C is heard where a whole number of examples has been learned; a fit that fails changes
nothing.
"""

import os
import signal
import threading

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import shortlist as sl
from papers.comparators.unweighted_index import UnweightedIndex
from shortlist import concurrency as interrupts
from shortlist.concurrency import stop_here, uninterrupted
from shortlist.files import store
from tests.contract import example_data


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def steps(done, stop=False):
    with uninterrupted():
        for n in range(3):
            done.append(n)
            if n == 1:
                ctrl_c()
            if stop:
                stop_here()


@pytest.mark.parametrize(("stop", "expected"), [(False, [0, 1, 2]), (True, [0, 1])])
def test_ctrl_c_waits_for_a_good_moment(stop, expected):
    done = []
    with pytest.raises(KeyboardInterrupt):
        steps(done, stop)
    assert done == expected
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    stop_here()  # it is over


def test_a_handler_of_the_programs_own_is_left_alone():
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(len(done)))
    try:
        done = []
        steps(done)
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [2]


def test_other_threads_are_left_alone():
    handlers = []

    def look():
        with uninterrupted():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    look()
    assert handlers[0] is signal.default_int_handler
    assert handlers[1] is not signal.default_int_handler


def interrupted_at(monkeypatch, kind, name, turn):
    """Send Ctrl-C when a step of a learner begins for the n-th time."""
    step, turns = getattr(kind, name), []

    def with_ctrl_c(*args, **kwargs):
        turns.append(1)
        if len(turns) == turn:
            ctrl_c()
        return step(*args, **kwargs)

    monkeypatch.setattr(kind, name, with_ctrl_c)


@pytest.mark.parametrize("kind", [sl.TunedIndex, sl.MMP, sl.Rocchio, UnweightedIndex])
def test_partial_fit_stops_after_a_run_of_rows(kind, monkeypatch):
    X, Y = example_data()
    monkeypatch.setattr(interrupts, "RUN", 40)
    interrupted_at(monkeypatch, kind, "update", 3)
    learner = kind()
    with pytest.raises(KeyboardInterrupt):
        learner.partial_fit(X, Y)
    assert learner.n_examples_ == 120
    monkeypatch.undo()
    expected = kind().partial_fit(X[:120], Y[:120])
    assert store.checksum(learner.to_state()) != store.checksum(kind().partial_fit(X, Y).to_state())
    assert list(learner.classes_) == list(expected.classes_)
    assert np.array_equal(learner.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(
    "learner", [sl.TunedIndex(), sl.MMP(), sl.FeatureFocus(), sl.IndependentIndex()]
)
def test_a_fit_that_is_stopped_leaves_what_was_there(learner, monkeypatch):
    X, Y = example_data()
    learner.fit(*example_data(seed=1))
    before = store.checksum(learner.to_state())
    interrupted_at(monkeypatch, type(learner), "update", 1)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(X, Y)
    assert store.checksum(learner.to_state()) == before


def test_texts_that_were_not_learned_are_given_back(monkeypatch):
    """Of a batch that is stopped, words and counts are those of the texts that were learned."""
    texts = [f"word{i} word{i // 2} often" for i in range(90)]
    model = sl.Categorizer(text=sl.TextVectorizer(idf="smooth")).learn("often", "label 0")
    monkeypatch.setattr(interrupts, "RUN", 20)
    interrupted_at(monkeypatch, sl.TunedIndex, "update", 2)  # two runs of 20 are learned
    with pytest.raises(KeyboardInterrupt):
        model.learn_many(texts, [f"label {i}" for i in range(90)])
    assert model.learner_.n_examples_ == 41
    expected = sl.TextVectorizer(idf="smooth").fit(["often", *texts[:40]])
    assert store.checksum(model.text_.to_state()) == store.checksum(expected.to_state())
    assert list(model.classes_) == [f"label {i}" for i in range(40)]


def test_a_stage_ahead_takes_up_no_more(monkeypatch):
    """Two batches have been tokenised when the first one is stopped: their words go again."""
    model = sl.Categorizer().learn("wheat", "grain")
    before = store.checksum(model.text_.to_state())
    begun = threading.Event()
    learn_batch = sl.TunedIndex.learn_batch

    def stopped(self, batch, observer):
        begun.wait(60)
        raise KeyboardInterrupt

    def batches():
        for n in range(9):
            if n == 2:
                begun.set()
            yield [f"word{n}"], ["label"]

    monkeypatch.setattr(sl.TunedIndex, "learn_batch", stopped)
    with pytest.raises(KeyboardInterrupt):
        model.learn_batches(batches())
    assert store.checksum(model.text_.to_state()) == before
    monkeypatch.setattr(sl.TunedIndex, "learn_batch", learn_batch)
    assert model.learn("rye", "grain").rank("rye")[0][0] == "grain"


BAD_Y = [["a"], [None], ["b"]]


@pytest.mark.parametrize(
    ("model", "good", "bad", "ask"),
    [
        (
            sl.FeatureFocus(),
            (np.eye(3), "abc"),
            (np.eye(3), BAD_Y),
            lambda m: m.rank(np.eye(3), 1).ids.tolist(),
        ),
        (
            sl.MMP(),
            (np.eye(3), "abc"),
            (np.eye(3), BAD_Y),
            lambda m: m.decision_function(np.eye(3)).tolist(),
        ),
        (sl.Categorizer(), (["x x", "yy"], "ab"), (["x x", 5], "ab"), lambda m: list(m.rank("yy"))),
        (
            sl.Categorizer(),
            (["x x", "yy"], "ab"),
            (["x x", "yy"], "a"),
            lambda m: m.learner_ and list(m.rank("yy")),
        ),
        (
            sl.TextVectorizer(),
            (["xx", "yy"],),
            (["xx", 7],),
            lambda m: m.transform(["yy zz"]).toarray().tolist(),
        ),
        (
            sl.PRank(),
            (np.eye(3), [1, 2, 3]),
            (np.eye(3), [1, 2]),
            lambda m: m.predict(np.eye(3)).tolist(),
        ),
        (
            sl.Rater(),
            (np.eye(3), [1, 2, 3]),
            (np.eye(3), [1, 2]),
            lambda m: m.predict(np.eye(3)).tolist(),
        ),
        (
            sl.MapSVM(),
            (np.eye(4), [1, 0, 1, 0], [1, 1, 2, 2]),
            (np.eye(4), [0, 0, 0, 0], [1, 1, 2, 2]),
            lambda m: m.decision_function(np.eye(4)).tolist(),
        ),
        (
            sl.DocumentRanker(),
            (np.eye(4), [1, 0, 1, 0], [1, 1, 2, 2]),
            (np.eye(4), [1, 0], [1, 1, 2, 2]),
            lambda m: m.decision_function(np.eye(4), [1, 1, 2, 2]).tolist(),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore:.*queries have no relevant")
def test_a_fit_that_fails_changes_nothing(model, good, bad, ask):
    good, bad = (
        [list(part) if isinstance(part, str) else part for part in data] for data in (good, bad)
    )
    with pytest.raises(sl.InputError):
        model.fit(*bad)
    with pytest.raises((NotFittedError, AttributeError), match=r"fit|learn"):
        ask(model)
    model.fit(*good)
    before = ask(model)
    with pytest.raises(sl.InputError):
        model.fit(*bad)
    assert ask(model) == before


@pytest.mark.parametrize("verb", ["save", "to_state"])
@pytest.mark.parametrize(
    "kind", [sl.FeatureFocus, sl.Categorizer, sl.Rater, sl.PRank, sl.DocumentRanker, sl.MapSVM]
)
def test_what_has_learned_nothing_says_so(kind, verb, tmp_path):
    with pytest.raises(NotFittedError, match="fit"):
        kind().save(tmp_path / "m.shortlist") if verb == "save" else kind().to_state()
