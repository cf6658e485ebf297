"""Packed lists: the same index in fewer bits, rounded by no more than is said, and nothing in a file is trusted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.categories.index import packed
from shortlist.categories.index.lists import Index, make_edges, make_index
from shortlist.files.store import State

N_LABELS = 40
WEIGHTS = st.floats(2.0**-126, 1e9, width=32) | st.sampled_from([0.5, 1.0, 3e38])
CORRECTIONS = st.floats(-1e9, 1e9, width=32) | st.sampled_from([0.0, -0.0, 1.0, -1e-40])
LISTS = st.lists(st.lists(st.tuples(st.integers(0, N_LABELS - 1), WEIGHTS, CORRECTIONS), max_size=6), max_size=8)


def index_of(lists, seen=3):
    flat = [edge for one in lists for edge in one]
    edges = make_edges(
        np.array([c for c, _, _ in flat], dtype=np.int32), np.array([w for _, w, _ in flat], dtype=float)
    )
    edges["tuned"] = [u for _, _, u in flat]
    total = np.array([sum(w for _, w, _ in one) for one in lists], dtype=float)
    length = np.array([len(one) for one in lists], dtype=np.int32)
    return make_index(length, edges, total, np.full(length.size, seen))


def again(index):
    n = index.features.size
    return packed.unpacked(State("TunedIndex", {}, packed.packed(index, n)), n, N_LABELS)


def rounded_weight(weight):
    """The first 12 bits of the mantissa, without the others."""
    bits = np.float64(weight).view(np.uint64) >> np.uint64(40) << np.uint64(40)
    return max(bits, np.uint64(1 << 40)).view(np.float64)


def rounded_corrections(corrections):
    """Multiples of 1/4096 of the power of 2 above the largest; at most 4095 of them."""
    largest = max(map(abs, corrections), default=0.0)
    scale = 2.0 ** (np.frexp(largest)[1] - 12) if largest >= 2.0**-126 else np.inf
    return [
        np.copysign(min(np.rint(abs(u) / scale), 4095) * (0.0 if scale == np.inf else scale), u) for u in corrections
    ]


@given(LISTS, st.booleans(), st.integers(0, 2**53))
def test_lists_come_back_as_they_were_but_for_the_last_bits(lists, ordered, seen):
    if ordered:
        lists = [sorted(one, key=lambda edge: -edge[1]) for one in lists]
    lists = lists + lists[-1:]  # the same list twice
    index = index_of(lists, seen)
    found = again(index)
    for name in ("start", "length", "capacity", "total", "seen"):
        assert (found.features[name] == index.features[name]).all()
    assert (found.edges["label"] == index.edges["label"]).all()
    flat = [edge for one in lists for edge in one]
    assert found.edges["weight"].tolist() == [rounded_weight(w) for _, w, _ in flat]
    expected = [u for one in lists for u in rounded_corrections([u for _, _, u in one])]
    assert found.edges["tuned"].tolist() == np.array(expected, dtype=np.float32).tolist()


@given(LISTS)
def test_what_was_packed_once_loses_nothing_the_second_time(lists):
    once = again(index_of(lists))
    twice = again(once)
    assert once.edges.tobytes() == twice.edges.tobytes()
    assert once.features.tobytes() == twice.features.tobytes()


def test_weights_of_old_files_that_are_less_than_an_index_can_hold():
    """They count as the least that it can; so do the totals of their features, so that shares stay what they were."""
    index = index_of([[(1, 1.0, 0.5)], [(2, 1.0, 0.0), (3, 1.0, 0.0)]])
    arrays = {name: np.asarray(array) for name, array in index.to_arrays(2).items()}
    arrays |= {"edge_weight": np.array([1e-150, 0.5, 1e-200]), "total": np.array([1e-150, 0.5])}
    found = Index.from_arrays(State("TunedIndex", {}, arrays), 2, N_LABELS)
    assert (found.edges["weight"] / np.repeat(found.features["total"], [1, 2])).tolist() == [1.0, 1.0, 2.0**-125]
    again = Index.from_arrays(State("TunedIndex", {}, found.to_arrays(2)), 2, N_LABELS)
    assert again.edges.tobytes() == found.edges.tobytes()
    assert again.features.tobytes() == found.features.tobytes()


def many_lists(n=300):
    random = np.random.default_rng(0)
    lists = []
    for _ in range(n):
        weights = np.sort(random.exponential(size=random.integers(0, 6)))[::-1]
        lists.append([(int(random.integers(N_LABELS)), float(w), float(random.normal())) for w in weights])
        lists += lists[-1:] * int(random.integers(3))
    return lists


def test_chunks_are_put_together_in_order(monkeypatch):
    whole = again(index_of(many_lists()))
    monkeypatch.setattr(packed, "CHUNK", 7)
    parts = again(index_of(many_lists()))
    assert parts.edges.tobytes() == whole.edges.tobytes()
    assert parts.features.tobytes() == whole.features.tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_the_same_bytes_for_any_number_of_threads(threads, monkeypatch):
    monkeypatch.setattr(packed, "CHUNK", 7)
    index = index_of(many_lists())
    n = index.features.size
    expected = packed.packed(index, n)
    monkeypatch.setattr(packed.os, "cpu_count", lambda: threads)
    found = packed.packed(index, n)
    assert all(np.asarray(found[name]).tobytes() == np.asarray(expected[name]).tobytes() for name in expected)
    assert again(index).edges.tobytes() == packed.unpacked(State("x", {}, expected), n, N_LABELS).edges.tobytes()


def test_changed_bits_are_refused_or_give_an_index_that_kernels_can_trust():
    """Run without compilation too (test_without_jit): there, a read or write out of bounds is an error."""
    random = np.random.default_rng(1)
    index = index_of(many_lists(12))
    n = index.features.size
    arrays = packed.packed(index, n)
    refused = 0
    for _ in range(150):
        words = np.array(arrays["lists"])
        for at in random.integers(0, 64 * words.size, random.integers(1, 4)):
            words[at >> 6] ^= np.uint64(1) << np.uint64(at & 63)
        try:
            found = packed.unpacked(State("TunedIndex", {}, arrays | {"lists": words}), n, N_LABELS)
        except sl.ModelFileError:
            refused += 1
            continue
        assert found.features["length"].sum() == found.edges.size
        assert (found.features["start"] == np.cumsum(found.features["length"]) - found.features["length"]).all()
        assert (found.edges["label"] < N_LABELS).all()
        assert (found.edges["weight"] > 0).all()
        assert np.isfinite(found.edges["weight"]).all()
        assert np.isfinite(found.edges["tuned"]).all()
        assert (found.features["total"] >= 0).all()
        assert np.isfinite(found.features["total"]).all()
    assert refused > 20


def test_lists_that_are_the_same_as_before_to_no_end_are_refused():
    """In the last chunk, so that there is nothing behind it. Run without compilation too, as the test above."""
    ones = np.uint64(2**64 - 1)
    padded = np.full(2 * packed.CHUNK // 64 + 10, ones)
    padded[:2] = 0, ones << np.uint64(12)  # an empty list, then as many like it as there are bits
    words = np.concatenate([padded, padded[:2], np.full(packed.SPARE, ones)])
    arrays = {"lists": words, "list_chunks": np.array([[padded.size, 2], [0, 0]])}
    with pytest.raises(sl.ModelFileError):
        packed.unpacked(State("TunedIndex", {}, arrays), 2 * packed.CHUNK, N_LABELS)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: {"lists": np.asarray(a["lists"])[:-1]},
        lambda a: {"lists": np.append(a["lists"], np.uint64(0))},
        lambda a: {"lists": np.asarray(a["lists"]).astype(np.int64)},
        lambda a: {"list_chunks": a["list_chunks"] + np.array([[0], [1]])},
        lambda a: {"list_chunks": a["list_chunks"] - np.array([[0], [1]])},
        lambda a: {"list_chunks": a["list_chunks"] * -1},
        lambda a: {"list_chunks": a["list_chunks"][:, :0]},
        lambda a: {"list_chunks": a["list_chunks"][0]},
        lambda a: {"list_chunks": a["list_chunks"] + np.array([[0], [2**62]])},
        lambda a: {"list_chunks": a["list_chunks"] + np.array([[0], [2**40]])},
    ],
)
def test_lists_that_are_not_whole_are_refused(change):
    index = index_of(many_lists(12))
    n = index.features.size
    arrays = packed.packed(index, n)
    with pytest.raises(sl.ModelFileError):
        packed.unpacked(State("TunedIndex", {}, arrays | change(arrays)), n, N_LABELS)


def test_labels_that_are_not_known_are_refused():
    index = index_of(many_lists(12))
    n = index.features.size
    with pytest.raises(sl.ModelFileError):
        packed.unpacked(State("TunedIndex", {}, packed.packed(index, n)), n, int(index.edges["label"].max()))


def test_a_small_file_does_not_become_a_huge_index(monkeypatch):
    monkeypatch.setattr(packed, "MOST_MORE", 1000)
    same = index_of([[(1, 1.0, 0.5)] * 50] * 500)
    assert packed.packed(same, 500) is None  # is written as in a plain file
    monkeypatch.setattr(packed, "MOST_TIMES", 10**6)
    arrays = packed.packed(same, 500)
    monkeypatch.setattr(packed, "MOST_TIMES", 64)
    with pytest.raises(sl.ModelFileError):
        packed.unpacked(State("TunedIndex", {}, arrays), 500, N_LABELS)


@pytest.mark.parametrize(
    "learner", [sl.TunedIndex(), sl.FeatureFocus(), sl.IndependentIndex(), sl.UnweightedIndex()], ids=repr
)
def test_every_learner_of_an_index_has_a_compact_file(learner, tmp_path):
    random = np.random.default_rng(0)
    X = random.random((200, 30)) * (random.random((200, 30)) < 0.2)
    learner.fit(X, [[f"label {i % 7}"] for i in range(200)])
    learner.save(tmp_path / "m", compact=True)
    opened = sl.load(tmp_path / "m")
    assert opened.n_edges_ == learner.n_edges_
    assert np.nanmax(np.abs(opened.decision_function(X) - learner.decision_function(X))) < 2e-3
    opened.partial_fit(X, [[f"label {i % 7}"] for i in range(200)])


def test_what_is_not_finite_is_not_saved(tmp_path):
    learner = sl.TunedIndex().fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    learner._index.edges["tuned"][0] = np.inf
    with pytest.raises(sl.InputError, match="no longer finite"):
        learner.save(tmp_path / "m", compact=True)
