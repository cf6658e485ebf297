"""The last examples of a stream: exactly the twin's, however it is cut, saved, renumbered or
merged.
"""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import Categorizer, ModelFileError, TunedIndex, load
from shortlist.data.batch import RowBatch
from shortlist.data.labels import LabelSets, judged
from shortlist.data.rows import Rows
from shortlist.files.store import State
from shortlist.learners.index import replay_buffer
from shortlist.learners.index.training import EXAMPLES, LABELS
from shortlist.learners.port import Stretch
from tests.contract import as_bytes
from tests.learners.test_tuned_index import any_stream, learned, learned_by, matrix
from tests.reference.tuned_index import SlowTunedIndex

N, RULES = 7, {"min_weight": 0.05, "rare": 3}
long_enough = st.lists(any_stream, min_size=1, max_size=3).map(
    lambda parts: [one for part in parts for one in part]
)


def kept_by(learner):
    """[(row, label)], the oldest first."""
    rows, _, labels = learner.ring_.examples()
    names = learner.label_index_.names
    return [
        (list(zip(*(part.tolist() for part in rows.row(i)), strict=True)), names[labels.ids[i]])
        for i in range(rows.n_rows)
    ]


@given(long_enough, st.sampled_from([2, 25]), st.data())
@settings(max_examples=150, deadline=None)
def test_a_stream_is_exactly_its_twin_however_it_is_cut(stream, max_edges, data):
    learner = TunedIndex(values="raw", max_edges=max_edges, **RULES)
    learner.partial_fit(matrix([([(0, 0.0)], [])]), [[]], classes=list(range(N)))
    slow = SlowTunedIndex(max_edges=max_edges, **RULES)
    slow.learn([], [])
    wrong = [data.draw(st.sampled_from([None, None, None, [3]])) for _ in stream]
    for (x, classes), own in zip(stream, wrong, strict=True):
        # who has judged all labels has judged completely
        whole = own is None or len({*classes, *own}) == N
        slow.learn_next(x, classes, wrong=None if whole else [c for c in own if c not in classes])
    cuts = sorted(data.draw(st.sets(st.integers(1, len(stream)), max_size=3)) | {0, len(stream)})
    for first, last in pairwise(cuts):
        Y, said = [classes for _, classes in stream[first:last]], wrong[first:last]
        crossed = [
            [c for c in own or [] if c not in classes] for own, classes in zip(said, Y, strict=True)
        ]
        labels = judged(Y, len(Y), crossed, [own is None for own in said])
        learner.partial_fit(matrix(stream[first:last]), labels)
    assert learned(learner) == learned_by(slow)
    assert kept_by(learner) == [(x, own[0]) for x, own, _ in slow.kept]


def test_a_stream_that_has_grown_long_keeps_nothing():
    learner = TunedIndex().partial_fit(np.eye(3), ["a", "b", "c"])
    assert len(kept_by(learner)) == 3
    learner.running_counts_[[EXAMPLES, LABELS]] = replay_buffer.MOST_EXAMPLES
    learner.partial_fit(np.eye(3), ["a", "b", "c"])
    assert learner.ring_ is replay_buffer.NO_RING


def random_rows(n, longest, seed):
    random = np.random.default_rng(seed)
    indptr = np.append(0, np.cumsum(random.integers(0, longest, size=n))).astype(np.int64)
    indices = random.integers(0, 1000, size=indptr[-1]).astype(np.int32)
    return Rows(
        indptr, indices, random.random(indices.size).astype(np.float32).astype(np.float64), 1000
    )


@pytest.mark.parametrize(
    ("n", "longest"), [(0, 3), (1500, 4), (1500, 1000), (700, 3000), (5, 600_000)]
)
@pytest.mark.parametrize("n_vector", [0, 2])
def test_the_last_examples_are_kept_whole(n, longest, n_vector):
    """The last so many, or as many as there is room for entries; a ring that was saved on the
    way goes on alike.
    """
    rows, ids = random_rows(n, longest, n), np.arange(n, dtype=np.int32)
    vectors = np.random.default_rng(1).normal(size=(n, n_vector)).astype(np.float32)
    labels = LabelSets(np.arange(n + 1, dtype=np.int64), ids)
    ring = replay_buffer.ring_of(rows, vectors, labels)
    kept, own, found = ring.examples()
    fits = ids[np.diff(rows.indptr) <= replay_buffer.MOST_ENTRIES]
    assert found.ids.tolist() == fits[fits.size - kept.n_rows :].tolist()
    assert kept.n_rows <= replay_buffer.SLOTS
    assert kept.indices.size <= replay_buffer.MOST_ENTRIES
    if longest < 10:
        assert kept.n_rows == min(n, replay_buffer.SLOTS)
    if kept.n_rows < min(fits.size, replay_buffer.SLOTS):  # or there was no room
        assert kept.indices.size + 2 * longest > replay_buffer.MOST_ENTRIES
    for i, number in enumerate(found.ids.tolist()):
        assert all(map(np.array_equal, kept.row(i), rows.row(number)))
    assert np.array_equal(own, vectors[found.ids][:, : own.shape[1]])


def of_words(n, wrong=0.1, of_a_label=14):
    """Examples of eight words, three of which are of their label, which shares those beyond
    seven with two others.
    """
    random = np.random.default_rng(0)
    y = random.integers(20, size=n)
    own, common = random.integers(of_a_label, size=(n, 3)), random.integers(100, size=(n, 5))
    columns = np.hstack([100 + (7 * y[:, None] + own) % 140, common])
    X = scipy.sparse.csr_array(
        (np.ones(8 * n), columns.ravel(), np.arange(0, 8 * n + 1, 8)), shape=(n, 240)
    )
    X.sum_duplicates()
    said = np.where(random.random(n) < wrong, random.integers(20, size=n), y)
    return X, said.tolist(), y.tolist()


@pytest.mark.parametrize("wrong", [0.0, 0.3])
def test_it_ranks_better_than_what_goes_through_each_example_once(wrong):
    X, Y, true = of_words(3000, wrong)
    once, again = (
        TunedIndex(passes=passes).partial_fit(X[:2000], Y[:2000]) for passes in (6, None)
    )
    assert again.score(X[2000:], true[2000:]) > once.score(X[2000:], true[2000:]) + 0.02
    assert kept_by(once) == []


@pytest.mark.parametrize("n_changed", [20, 2])
def test_after_a_change_of_what_labels_mean_it_soon_learns_anew(n_changed):
    """Old examples are rehearsed for a while; a ring that is short holds new ones only soon."""
    X, Y, _ = of_words(4000, wrong=0.0, of_a_label=7)
    moved = [own if own >= n_changed else (own + 1) % n_changed for own in Y]
    again, once = TunedIndex(), TunedIndex(passes=2)
    for one in (again, once):
        one.partial_fit(X[:2000], Y[:2000])
        one.partial_fit(X[2000:3200], moved[2000:3200])
    which = [i for i in range(3200, 4000) if Y[i] < n_changed]
    own = [moved[i] for i in which]
    assert again.score(X[which], own) > once.score(X[which], own) - 0.02


def test_what_was_saved_goes_on_as_it_would_have(tmp_path):
    X, Y, _ = of_words(600)
    learner = TunedIndex().partial_fit(X[:300], Y[:300])
    learner.save(tmp_path / "model")
    opened = load(tmp_path / "model")
    assert as_bytes(opened) == as_bytes(learner)
    assert kept_by(opened) == kept_by(learner)
    for i in range(300, 600):
        opened.partial_fit(X[[i]], Y[i : i + 1])
    assert as_bytes(opened) == as_bytes(learner.partial_fit(X[300:], Y[300:]))


def test_fit_keeps_nothing_and_a_compact_file_has_nothing(tmp_path):
    X, Y, _ = of_words(300)
    learner = TunedIndex().partial_fit(X, Y)
    assert set(replay_buffer.ARRAYS[:-1]) < set(learner.to_state().arrays)
    learner.save(tmp_path / "compact", compact=True)
    opened = load(tmp_path / "compact")
    assert not opened.ring_.span.size
    assert opened.partial_fit(X, Y).score(X, Y) > 0.8
    assert not set(replay_buffer.ARRAYS) & set(learner.fit(X, Y).to_state().arrays)
    learner.partial_fit(X[:5], Y[:5])
    assert [label for _, label in kept_by(learner)] == Y[:5]


def test_columns_that_are_forgotten_are_so_there_too():
    learner = TunedIndex(values="raw").partial_fit(
        [[1.0, 2.0, 0.0], [0.0, 3.0, 4.0], [5.0, 0.0, 0.0]], ["a", "b", "c"]
    )
    learner.forget_columns(np.array([False, True, True]))
    assert kept_by(learner) == [([(0, 2.0)], "a"), ([(0, 3.0), (1, 4.0)], "b"), ([], "c")]
    assert learner.partial_fit([[1.0, 0.0], [0.0, 2.0]], ["a", "b"]).predict([[0.0, 1.0]]) == ["b"]


def test_labels_that_change_do_so_there_too():
    learner = TunedIndex(values="raw").partial_fit(np.eye(3), ["a", "b", "c"])
    own = [[(0, 1.0)], [(1, 1.0)], [(2, 1.0)]]
    assert kept_by(learner.with_label_renamed("a", "d")) == list(
        zip(own, ["d", "b", "c"], strict=True)
    )
    assert kept_by(learner.with_labels_merged(["a"], "b")) == list(
        zip(own, ["b", "b", "c"], strict=True)
    )
    assert kept_by(learner.without_recent_examples(["b"])) == [(own[0], "a"), (own[2], "c")]
    assert kept_by(learner.with_label_split("b", "d")) == [(own[0], "a"), (own[2], "c")]
    assert kept_by(learner) == list(zip(own, ["a", "b", "c"], strict=True))


def test_merged_learners_have_the_last_of_both():
    one = TunedIndex(values="raw").partial_fit(np.eye(3), ["a", "b", "c"])
    other = TunedIndex(values="raw").partial_fit(np.eye(3)[:2], ["c", "d"])
    one.merge(other)
    assert [label for _, label in kept_by(one)] == ["a", "b", "c", "c", "d"]
    other.running_counts_[EXAMPLES] = 16_384
    assert kept_by(one.merge(other)) == []


def changed(**arrays):
    learner = TunedIndex().partial_fit(np.eye(3), ["a", "b", "c"])
    state = learner.to_state()
    return State(
        state.kind,
        state.settings,
        state.arrays | {name: np.array(*own) for name, own in arrays.items()},
    )


@pytest.mark.parametrize(
    "arrays",
    [
        {"recent_labels": ([0, 1, 3], np.int32)},
        {"recent_labels": ([0, 1, -1], np.int32)},
        {"recent_labels": ([0, 1], np.int32)},
        {"recent_labels": ([], np.int32)},
        {"recent_labels": ([0, 1, 2], np.int64)},
        {"recent_ends": ([2, 1, 3], np.int64)},
        {"recent_ends": ([1, 2, 4], np.int64)},
        {"recent_ends": ([-1, 2, 3], np.int64)},
        {"recent_ends": ([1, 2], np.int64)},
        {"recent_ends": ([], np.int64)},
        {"recent_ends": ([2**62, -(2**62), 3], np.int64)},
        {"recent_columns": ([0, 1, 3], np.int32)},
        {"recent_columns": ([0, 1, -1], np.int32)},
        {"recent_values": ([1, 1, np.nan], np.float32)},
        {"recent_values": ([1, 1, np.inf], np.float32)},
        {"recent_values": ([1, 1, 2], np.float32)},
        {"recent_values": ([1, 1, -1], np.float32)},
        {"recent_values": ([1, 1, 0], np.float32)},
        {"recent_values": ([1, 1], np.float32)},
    ],
)
def test_a_damaged_file_is_refused(arrays):
    with pytest.raises(ModelFileError):
        TunedIndex.from_state(changed(**arrays))
    assert kept_by(TunedIndex.from_state(changed())) == [
        ([(i, 1.0)], label) for i, label in enumerate("abc")
    ]


@pytest.mark.parametrize("values", ["l2", "raw", "boolean"])
def test_rows_as_they_were_learned_are_taken(values):
    X = np.array([[0.3, 0.0, 2.0], [1.0, 1.0, 1.0], [0.0, 5.0, 0.0]])
    learner = TunedIndex(values=values).partial_fit(X, ["a", "b", "c"])
    assert kept_by(TunedIndex.from_state(learner.to_state())) == kept_by(learner)


def test_a_text_is_kept_the_same_way_by_learn_and_by_learn_many():
    random = np.random.default_rng(5)
    y = random.integers(5, size=60)
    texts = [" ".join(f"word{a}" for a in (*random.integers(40, size=4), 40 + own)) for own in y]
    singly, many = Categorizer(TunedIndex()), Categorizer(TunedIndex())
    for text, own in zip(texts, y.tolist(), strict=True):
        singly.learn(text, own)
    assert len(kept_by(singly.learner_)) == 60
    many.learn_many(texts[:1], y[:1].tolist())
    for text, own in zip(texts[1:], y[1:].tolist(), strict=True):
        many.learn_many([text], [own])
    assert as_bytes(singly.learner_) == as_bytes(many.learner_)


def test_what_a_retired_label_was_taught_by_is_not_gone_through_again():
    model = Categorizer().learn_many(
        ["red apple", "green pear", "red plum"], ["apple", "pear", "plum"]
    )
    model.retire_labels(["pear"])
    assert [label for _, label in kept_by(model.learner_)] == ["apple", "plum"]


def test_a_row_just_as_long_as_may_be_is_taken_though_its_values_have_fewer_digits():
    longest = 12.909944487358057  # its square is 100 / 0.6 at most, that of its 32 bits is more
    learner = TunedIndex(values="raw", step=0.6).partial_fit([[longest]], ["a"])
    assert len(kept_by(TunedIndex.from_state(learner.to_state()))) == 1


@pytest.mark.parametrize("settings", [{"step": 5.0}, {"values": "l2"}, {"values": "boolean"}])
def test_rows_that_are_too_long_for_other_settings_are_let_go(settings):
    X, Y = [[10.0, 0.0], [0.0, 3.0]], ["a", "b"]
    learner = TunedIndex(values="raw").partial_fit(X, Y).set_params(**settings)
    assert kept_by(TunedIndex.from_state(learner.to_state())) == []
    learner.partial_fit([[0.5, 0.5]], ["a"])
    assert [label for _, label in kept_by(learner)] == ["a"]
    other = (
        TunedIndex(**settings)
        .partial_fit([[0.0, 0.1]], ["b"])
        .merge(TunedIndex(values="raw").partial_fit(X, Y))
    )
    assert kept_by(other) == kept_by(TunedIndex.from_state(other.to_state())) == []


def test_rows_that_fit_other_settings_stay():
    learner = TunedIndex(values="raw").partial_fit(np.eye(2), ["a", "b"]).set_params(step=0.1)
    assert len(kept_by(TunedIndex.from_state(learner.to_state()))) == 2
    assert len(kept_by(learner.partial_fit(np.eye(2), ["a", "b"]))) == 4


def test_a_long_stream_that_was_stopped_has_let_all_go_too():
    X, Y, _ = of_words(40)
    stopped, in_peace = (TunedIndex().partial_fit(X[:20], Y[:20]) for _ in range(2))
    for learner in (stopped, in_peace):
        learner.running_counts_[[EXAMPLES, LABELS]] = 16_380

    class Stops:
        depth = 1
        counts_unknown = False

        def plan(self, learner, labels, order):
            return [Stretch(0, order.size, order[:0])]

        def finish(self, learner, rows, labels, order):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped.learn_batch(RowBatch.of(X[20:], Y[20:]), Stops())
    assert as_bytes(stopped) == as_bytes(in_peace.partial_fit(X[20:], Y[20:]))
