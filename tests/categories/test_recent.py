"""The last examples of a stream: exactly the twin's, however it is cut, saved, renumbered or merged."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import Categorizer, ModelFileError, TunedBoth, TunedIndex, load
from shortlist.arrays.rows import Rows
from shortlist.categories.checks import as_bytes
from shortlist.categories.index import recent
from shortlist.categories.index.course import EXAMPLES, LABELS, MISSED
from shortlist.categories.relabelling import let_go, merged, renamed, split_off
from shortlist.files.store import State
from shortlist.labels import judged
from tests.categories.test_tuned_index import any_stream, learned, learned_by, matrix
from tests.reference.recent import SlowStream, gone_through_again, last_of

N, RULES = 7, {"min_weight": 0.05, "rare": 3}
long_enough = st.lists(any_stream, min_size=1, max_size=3).map(lambda parts: [one for part in parts for one in part])


def begun(**settings):
    """A learner that has numbered all labels, and its twin: ties go by the number of a label."""
    learner = TunedIndex(values="raw", **RULES, **settings)
    learner.partial_fit(matrix([([(0, 0.0)], [])]), [[]], classes=list(range(N)))
    slow = SlowStream(step=0.3, **RULES, **({"max_edges": 50} | settings))
    slow.learn([], [])
    return learner, slow


def kept_by(learner):
    """[(row, label)], the oldest first."""
    return [(x, label) for x, label, _ in with_first(learner)]


def with_first(learner):
    """[(row, label, label that was first when it was new)], the oldest first."""
    rows, ids, first = learner._recent.examples()
    names = [*learner._labels.names, None]
    return [
        (list(zip(*(part.tolist() for part in rows.row(i)), strict=True)), names[ids[i]], names[first[i]])
        for i in range(rows.n_rows)
    ]


@given(long_enough, st.sampled_from([2, 25]), st.booleans(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_stream_is_exactly_its_twin_however_it_is_cut(stream, max_edges, leakage, data):
    learner, slow = begun(max_edges=max_edges, leakage=leakage)
    wrong = [data.draw(st.sampled_from([None, None, None, [3]])) for _ in stream]
    for (x, classes), own in zip(stream, wrong, strict=True):
        whole = own is None or len({*classes, *own}) == N  # who has judged all labels has judged completely
        slow.learn_next(x, classes, None if whole else [c for c in own if c not in classes])
    cuts = sorted(data.draw(st.sets(st.integers(1, len(stream)), max_size=3)) | {0, len(stream)})
    for first, last in pairwise(cuts):
        Y, said = [classes for _, classes in stream[first:last]], wrong[first:last]
        crossed = [[c for c in own or [] if c not in classes] for own, classes in zip(said, Y, strict=True)]
        labels = judged(Y, len(Y), crossed, [own is None for own in said])
        learner.partial_fit(matrix(stream[first:last]), labels)
    assert learned(learner) == learned_by(slow)
    assert with_first(learner) == slow.kept
    assert learner._recent.lately[0] == slow.lately


def test_a_stream_that_has_grown_long_lets_all_go():
    learner, slow = begun()
    learner._stats[[EXAMPLES, LABELS]] = slow.stats.n_first = slow.stats.n_labels = 16_379
    stream = [([(i % 4, 1.0), (4 + i % 2, 0.5)], [i % 3]) for i in range(8)]
    for x, classes in stream[:4]:
        slow.learn_next(x, classes)
    learner.partial_fit(matrix(stream[:4]), [classes for _, classes in stream[:4]])
    assert with_first(learner) == slow.kept
    assert kept_by(learner) == [(x, classes[0]) for x, classes in stream[:4]]
    for x, classes in stream[4:]:
        slow.learn_next(x, classes)
        learner.partial_fit(matrix([(x, classes)]), [classes])
    assert kept_by(learner) == slow.kept == []
    assert learner._recent is recent.NOTHING_RECENT
    assert learned(learner) == learned_by(slow)


def random_rows(n, longest, seed):
    random = np.random.default_rng(seed)
    indptr = np.append(0, np.cumsum(random.integers(0, longest, size=n))).astype(np.int64)
    indices = random.integers(0, 1000, size=indptr[-1]).astype(np.int32)
    return Rows(indptr, indices, random.random(indices.size).astype(np.float32).astype(np.float64), 1000)


@pytest.mark.parametrize(("n", "longest"), [(0, 3), (9000, 4), (1500, 1000), (5, 600_000)])
def test_the_last_that_there_is_room_for_are_kept(n, longest):
    """So many rows, or so many entries; and a ring that was saved on the way goes on as it would have."""
    rows, ids = random_rows(n, longest, n), np.arange(n, dtype=np.int32)
    first = (ids[::-1] - 1).astype(np.int32)
    kept = last_of([(rows.row(i)[0], i, n - 2 - i) for i in range(n)])
    at_once = recent.recent_of(rows, ids, first, 0.5)
    assert at_once.examples()[1].tolist() == [label for _, label, _ in kept]
    assert at_once.examples()[2].tolist() == [own for _, _, own in kept]
    assert at_once.rows.indices.size <= recent.ROOM
    whole, opened = recent.NOTHING_RECENT, recent.NOTHING_RECENT
    for begin in range(0, n, 700):
        some = rows.take(np.arange(begin, min(n, begin + 700)))
        own = recent.LabelSets(np.arange(some.n_rows + 1, dtype=np.int64), ids[begin : begin + 700])
        saved = recent.recent_of(*opened.examples(), 0.5)
        whole, opened = (recent.with_room(one, some.indices.size) for one in (whole, saved))
        recent.keep_all(whole, some, own, first[begin : begin + 700])
        recent.keep_all(opened, some, own, first[begin : begin + 700])
    for one in (whole, opened):
        assert all(map(np.array_equal, one.examples()[0], at_once.examples()[0]))
        assert all(map(np.array_equal, one.examples()[1:], at_once.examples()[1:]))
        lag, expected = recent.longest_lag(one), gone_through_again(kept)
        slots = [recent.ago(one, lag >> k) // 2 for k in range(len(expected))]
        assert one.labels.ids[slots].tolist() == [label for _, label, _ in expected]


def of_words(n, wrong=0.1, of_a_label=14):
    """Examples of eight words, three of which are of their label, which shares those beyond seven with two others."""
    random = np.random.default_rng(0)
    y = random.integers(20, size=n)
    own, common = random.integers(of_a_label, size=(n, 3)), random.integers(100, size=(n, 5))
    columns = np.hstack([100 + (7 * y[:, None] + own) % 140, common])
    X = scipy.sparse.csr_array((np.ones(8 * n), columns.ravel(), np.arange(0, 8 * n + 1, 8)), shape=(n, 240))
    X.sum_duplicates()
    said = np.where(random.random(n) < wrong, random.integers(20, size=n), y)
    return X, said.tolist(), y.tolist()


@pytest.mark.parametrize("wrong", [0.0, 0.3])
def test_it_ranks_better_than_what_goes_through_each_example_once(wrong):
    X, Y, true = of_words(3000, wrong)
    once, again = (TunedIndex(passes=passes).partial_fit(X[:2000], Y[:2000]) for passes in (6, None))
    assert again.score(X[2000:], true[2000:]) > once.score(X[2000:], true[2000:]) + 0.02
    assert kept_by(once) == []


def test_after_a_change_of_what_labels_mean_what_was_kept_is_let_go():
    X, Y, _ = of_words(3000, wrong=0.0)
    moved = [(own + 10) % 20 for own in Y]
    learner, once = TunedIndex(), TunedIndex(passes=2)
    for one in (learner, once):
        one.partial_fit(X[:2000], Y[:2000])
    assert len(kept_by(learner)) == 2000
    learner.partial_fit(X[2000:2040], moved[2000:2040])
    assert kept_by(learner) == []
    assert as_bytes(TunedIndex.from_state(learner.to_state())) == as_bytes(learner)  # it knows that still
    learner.partial_fit(X[2040:2500], moved[2040:2500])
    once.partial_fit(X[2000:2500], moved[2000:2500])
    assert learner.score(X[2500:], moved[2500:]) > once.score(X[2500:], moved[2500:]) - 0.02


def some_swapped(n, swapped=(3, 8)):
    """of_words, two labels of which swap their meaning half-way."""
    X, Y, _ = of_words(n, wrong=0.0, of_a_label=7)
    other = dict(zip(swapped, swapped[::-1], strict=True))
    return X, Y[: n // 2] + [other.get(own, own) for own in Y[n // 2 :]]


def test_of_labels_that_swap_their_meaning_what_was_kept_is_let_go():
    X, Y = some_swapped(3000)
    learner, once = TunedIndex().partial_fit(X[:1500], Y[:1500]), TunedIndex(passes=2).partial_fit(X[:1500], Y[:1500])
    before = [label for _, label in kept_by(learner)]
    assert len(before) == 1500
    for one in (learner, once):
        one.partial_fit(X[1500:2200], Y[1500:2200])
    kept = [label for _, label in kept_by(learner)]
    for label in range(20):
        came = Y[1500:2200].count(label)
        assert kept.count(label) <= came if label in (3, 8) else kept.count(label) == before.count(label) + came
    moved = [i for i in range(2200, 3000) if Y[i] in (3, 8)]
    own = [Y[i] for i in moved]
    assert learner.score(X[moved], own) > once.score(X[moved], own) - 0.02


@pytest.mark.parametrize("wrong", [0.0, 0.3])
def test_where_nothing_changes_all_are_kept(wrong):
    X, Y, _ = of_words(4000, wrong)
    assert len(kept_by(TunedIndex().partial_fit(X, Y))) == 4000


def test_what_is_let_go_of_a_label_is_exactly_what_its_twin_lets_go():
    """However the stream is cut, and where it is saved and opened on the way."""
    X, Y = some_swapped(1000)
    X.data[:] = 1 / 8
    slow = SlowStream(step=0.3, max_edges=50, **RULES)
    slow.learn([], [])
    cut = TunedIndex(values="raw", **RULES).partial_fit(X[:0], [], classes=list(range(20)))
    cut.partial_fit(matrix([([(0, 0.0)], [])]), [[]])
    whole = TunedIndex.from_state(cut.to_state())
    lost = 0
    for i in range(X.shape[0]):
        n = len(slow.kept)
        slow.learn_next(list(zip(X[[i]].indices.tolist(), X[[i]].data.tolist(), strict=True)), [Y[i]])
        lost += len(slow.kept) <= n
        cut.partial_fit(X[[i]], Y[i : i + 1])
        if i % 50 == 49:
            assert with_first(cut) == slow.kept
            cut = TunedIndex.from_state(cut.to_state())
    assert lost >= 2
    assert learned(cut) == learned(whole.partial_fit(X, Y)) == learned_by(slow)
    assert with_first(cut) == with_first(whole) == slow.kept


@pytest.mark.parametrize("seed", range(5))
def test_a_label_that_is_let_go_leaves_all_others_as_they_were(seed):
    """Also where the ring has gone round, and what is kept later."""
    rows = random_rows(7000, 60, seed)
    random = np.random.default_rng(seed)
    ids, first = (random.integers(low, 9, size=7000).astype(np.int32) for low in (0, -1))
    kept = last_of([(rows.row(i)[0].tolist(), ids[i], first[i]) for i in range(6000)])
    one = recent.recent_of(rows.take(np.arange(6000)), ids[:6000], first[:6000], 0.5)
    one = recent.with_room(one, rows.indices.size)
    recent.let_label_go(one, 4)
    kept = [own for own in kept if own[1] != 4]
    assert kept_in(one) == kept
    later = rows.take(np.arange(6000, 7000))
    recent.keep_all(one, later, recent.LabelSets(np.arange(1001, dtype=np.int64), ids[6000:]), first[6000:])
    kept = last_of(kept + [(rows.row(i)[0].tolist(), ids[i], first[i]) for i in range(6000, 7000)])
    assert kept_in(one) == kept
    assert one.span[recent.ENTRIES] == sum(len(x) for x, _, _ in kept)


def kept_in(one):
    rows, ids, first = one.examples()
    return [(rows.row(i)[0].tolist(), ids[i], first[i]) for i in range(ids.size)]


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
    assert set(recent.ARRAYS) < set(learner.to_state().arrays)
    learner.save(tmp_path / "compact", compact=True)
    opened = load(tmp_path / "compact")
    assert not opened._recent.span.size
    assert opened.partial_fit(X, Y).score(X, Y) > 0.8
    assert not set(recent.ARRAYS) & set(learner.fit(X, Y).to_state().arrays)
    learner.partial_fit(X[:5], Y[:5])
    assert [label for _, label in kept_by(learner)] == Y[:5]


def test_columns_that_are_forgotten_are_so_there_too():
    learner = TunedIndex(values="raw").partial_fit([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0], [5.0, 0.0, 0.0]], ["a", "b", "c"])
    learner.forget_columns(np.array([False, True, True]))
    assert kept_by(learner) == [([(0, 2.0)], "a"), ([(0, 3.0), (1, 4.0)], "b")]
    assert learner.partial_fit([[1.0, 0.0], [0.0, 2.0]], ["a", "b"]).predict([[0.0, 1.0]]) == ["b"]


def test_labels_that_change_do_so_there_too():
    learner = TunedIndex(values="raw").partial_fit(np.eye(3), ["a", "b", "c"])
    own = [[(0, 1.0)], [(1, 1.0)], [(2, 1.0)]]
    assert kept_by(renamed(learner, "a", "d")) == list(zip(own, ["d", "b", "c"], strict=True))
    assert kept_by(merged(learner, ["a"], "b")) == list(zip(own, ["b", "b", "c"], strict=True))
    assert kept_by(let_go(learner, ["b"])) == [(own[0], "a"), (own[2], "c")]
    assert kept_by(split_off(learner, "b", "d")) == [(own[0], "a"), (own[2], "c")]
    assert kept_by(learner) == list(zip(own, ["a", "b", "c"], strict=True))


def test_merged_learners_have_the_last_of_both():
    one = TunedIndex(values="raw").partial_fit(np.eye(3), ["a", "b", "c"])
    other = TunedIndex(values="raw").partial_fit(np.eye(3)[:2], ["c", "d"])
    one.merge(other)
    assert [label for _, label in kept_by(one)] == ["a", "b", "c", "c", "d"]
    other._stats[EXAMPLES] = 16_384
    assert kept_by(one.merge(other)) == []


def test_words_beside_a_vector_are_kept_as_words_alone_are():
    X, Y, _ = of_words(200)
    V = np.random.default_rng(0).normal(size=(200, 2))
    both = TunedBoth(2).partial_fit(scipy.sparse.hstack([V, X]).tocsr(), Y)
    alone = TunedIndex().partial_fit(scipy.sparse.hstack([np.zeros((200, 2)), X]).tocsr(), Y)
    assert kept_by(both) == kept_by(alone)
    assert learned(both) == learned(alone)


def changed(**arrays):
    learner = TunedIndex().partial_fit(np.eye(3), ["a", "b", "c"])
    state = learner.to_state()
    return State(state.kind, state.settings, state.arrays | {name: np.array(*own) for name, own in arrays.items()})


@pytest.mark.parametrize(
    "arrays",
    [
        {"recent": ([0, 1, 3], np.int32)}, {"recent": ([0, 1, -1], np.int32)}, {"recent": ([0, 1], np.int32)},
        {"recent": ([], np.int32)}, {"recent": ([0, 1, 2], np.int64)},
        {"recent_first": ([0, 1, 3], np.int32)}, {"recent_first": ([0, 1, -2], np.int32)},
        {"recent_first": ([0, 1], np.int32)}, {"recent_first": ([0, 1, 2], np.int64)},
        {"recent_missed": ([2.0],)}, {"recent_missed": ([np.nan],)}, {"recent_missed": ([0.0, 0.0],)},
        {"recent_ends": ([1, 1, 3], np.int64)}, {"recent_ends": ([1, 2, 4], np.int64)},
        {"recent_ends": ([-1, 2, 3], np.int64)}, {"recent_ends": ([1, 2], np.int64)},
        {"recent_ends": ([2**62, -(2**62), 3], np.int64)},
        {"recent_columns": ([0, 1, 3], np.int32)}, {"recent_columns": ([0, 1, -1], np.int32)},
        {"recent_values": ([1, 1, np.nan], np.float32)}, {"recent_values": ([1, 1, np.inf], np.float32)},
        {"recent_values": ([1, 1, 2], np.float32)}, {"recent_values": ([1, 1, -1], np.float32)},
        {"recent_values": ([1, 1, 0], np.float32)}, {"recent_values": ([1, 1], np.float32)},
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused(arrays):
    with pytest.raises(ModelFileError):
        TunedIndex.from_state(changed(**arrays))
    assert kept_by(TunedIndex.from_state(changed())) == [([(i, 1.0)], label) for i, label in enumerate("abc")]


def test_a_file_of_before_does_not_say_which_label_was_first():
    state = changed()
    del state.arrays["recent_first"]
    assert [first for _, _, first in with_first(TunedIndex.from_state(state))] == [None] * 3


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
    rows = singly.learner_._recent.examples()
    assert rows[1].size == 60
    many.learn_many(texts[:1], y[:1].tolist())
    for text, own in zip(texts[1:], y[1:].tolist(), strict=True):
        many.learn_many([text], [own])
    assert as_bytes(singly.learner_) == as_bytes(many.learner_)


def test_before_labels_contend_it_goes_through_them_too():
    """Where nothing can be foreseen, each label is corrected for itself."""
    random = np.random.default_rng(0)
    X, Y = np.eye(6)[random.integers(6, size=200)], random.integers(5, size=200).tolist()
    again, once = TunedIndex().partial_fit(X, Y), TunedIndex(passes=2).partial_fit(X, Y)
    assert again._stats[MISSED] > 0.5
    assert learned(again)[0] != learned(once)[0]


def test_what_a_retired_label_was_taught_by_is_not_gone_through_again():
    model = Categorizer().learn_many(["red apple", "green pear", "red plum"], ["apple", "pear", "plum"])
    model.retire_labels(["pear"])
    assert [model.learner_._labels.names[c] for c in model.learner_._recent.examples()[1]] == ["apple", "plum"]


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
    other = TunedIndex(**settings).partial_fit([[0.0, 0.1]], ["b"]).merge(TunedIndex(values="raw").partial_fit(X, Y))
    assert kept_by(other) == kept_by(TunedIndex.from_state(other.to_state())) == []


def test_rows_that_fit_other_settings_stay():
    learner = TunedIndex(values="raw").partial_fit(np.eye(2), ["a", "b"]).set_params(step=0.1)
    assert len(kept_by(TunedIndex.from_state(learner.to_state()))) == 2
    assert len(kept_by(learner.partial_fit(np.eye(2), ["a", "b"]))) == 4


def test_a_long_stream_that_was_stopped_has_let_all_go_too():
    X, Y, _ = of_words(40)
    stopped, in_peace = (TunedIndex().partial_fit(X[:20], Y[:20]) for _ in range(2))
    for learner in (stopped, in_peace):
        learner._stats[[EXAMPLES, LABELS]] = 16_380

    def stop(learner, rows, labels, order):
        yield order
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped._learn_rows(stopped._as_rows(X[20:]), Y[20:], stop)
    assert as_bytes(stopped) == as_bytes(in_peace.partial_fit(X[20:], Y[20:]))
