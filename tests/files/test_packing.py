"""Compact files: the same arrays in less room, weights rounded by no more than is said, nothing
trusted.
"""

import json
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import shortlist as sl
from shortlist.files import container, store
from shortlist.files.store import METADATA_KEY
from tests.files.test_store import parts

NUMBERS = st.sampled_from([np.int32, np.int64, np.uint64, np.float32, np.float64, np.uint8])


@given(NUMBERS.flatmap(lambda kind: arrays(kind, st.integers(1, 40))), st.booleans())
def test_arrays_come_back_as_they_were(array, ascending):
    array = np.sort(array) if ascending else array
    packed, note = container.pack(array)
    again = container.unpack({"a": packed}, {"a": json.loads(json.dumps(note))})["a"]
    assert again.dtype == array.dtype
    assert again.tobytes() == array.tobytes()


@pytest.fixture
def model():
    random = np.random.default_rng(0)
    labels = [[f"label {c}"] for c in random.integers(0, 30, 2000)]
    texts = [f"{own[0]} " + " ".join(f"w{w}" for w in random.zipf(1.3, 9)) for own in labels]
    return sl.Categorizer().fit(texts, labels), texts, labels


def test_a_compact_model_is_smaller_and_ranks_as_before(model, tmp_path):
    model, texts, _ = model
    model.save(tmp_path / "plain")
    model.save(tmp_path / "compact", compact=True)
    assert (tmp_path / "compact").stat().st_size < (tmp_path / "plain").stat().st_size / 2.5
    opened = sl.load(tmp_path / "compact")
    found, before = opened.rank(texts, k=5), model.rank(texts, k=5)
    assert (found.ids[:, 0] == before.ids[:, 0]).mean() > 0.999
    assert np.nanmax(np.abs(found.scores - before.scores)) < 1e-3
    opened.learn("a new text", ["a new label"])
    opened.save(tmp_path / "again", compact=True)
    assert sl.load(tmp_path / "again").predict(["a new text"]) == ["a new label"]


def test_what_cannot_be_unpacked_is_refused(model, tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "m.shortlist"
    model[0].save(path, compact=True)
    whole, header = parts(path)
    names = sorted(header["packed"])
    changes = [
        ("size", 2**50),
        ("size", -1),
        ("size", 0),
        ("size", None),
        ("dtype", "O"),
        ("dtype", "<i8"),
        ("dtype", 3),
        ("differences", 1),
        ("differences", []),
        ("differences", None),
    ]
    for name in names:
        for key, value in changes:
            if header["packed"][name][key] == value:
                continue
            other = json.loads(json.dumps(header))
            other["packed"][name][key] = value
            other["checksum"] = store._checksum(store._described(other), whole)
            save_file(whole, path, metadata={METADATA_KEY: json.dumps(other)})
            with pytest.raises(sl.ModelFileError):
                sl.load(path)
    for name in names[:5]:
        damaged = whole | {name: whole[name][:-1]}
        other = json.loads(json.dumps(header))
        other["checksum"] = store._checksum(store._described(other), damaged)
        save_file(damaged, path, metadata={METADATA_KEY: json.dumps(other)})
        with pytest.raises(sl.ModelFileError):
            sl.load(path)


@pytest.mark.long
def test_a_small_file_does_not_become_a_huge_model():
    packed, note = container.pack(np.zeros(60 << 19))
    with (
        mock.patch.object(container, "MOST_MORE_BYTES", 1 << 20),
        pytest.raises(container.NotPacked),
    ):
        container.unpack({"a": packed}, {"a": note})


def test_the_arrays_of_a_compact_file_keep_their_order(model):
    """The header names them in this order: it must not change from one run of Python to the
    next.
    """
    state = model[0].learner_.to_state()
    compact = state.compacted().arrays
    assert [name for name in compact if name in state.arrays] == [
        name for name in state.arrays if name in compact
    ]
