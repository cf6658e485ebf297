"""Texts that lie in one behave as the list of them does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.data import texts as room
from shortlist.data.texts import Texts, as_documents, as_texts, blocks, to_codes, to_text
from shortlist.errors import InputError

anything = st.text(st.characters(exclude_categories=[]), max_size=8)  # lone surrogates and NULs too


def apart(listed, gap):
    """The same texts with something between them, as in a file."""
    starts, at = [], 0
    for text in listed:
        at += len(gap)
        starts.append(at)
        at += len(text)
    laid = Texts.of(["x"] * len(listed))
    return Texts(
        "".join(gap + text for text in listed),
        laid.starts * 0 + starts if listed else laid.starts,
        laid.ends * 0 + [start + len(text) for start, text in zip(starts, listed, strict=True)],
    )


@given(st.lists(anything, max_size=6), st.sampled_from(["", "\t", "label\t"]))
def test_texts_are_a_list(listed, gap):
    texts = apart(listed, gap)
    assert list(texts) == listed
    assert to_text(texts.codes) == texts.whole


@given(anything)
def test_code_points_there_and_back(text):
    assert to_codes(text).tolist() == [ord(letter) for letter in text]
    assert to_text(to_codes(text)) == text


@given(st.lists(st.integers(0, 12), max_size=12))
def test_blocks_are_cut_where_they_are_full(lengths):
    listed = ["x" * length for length in lengths]
    expected, first, held = [], 0, 0
    for n, length in enumerate(lengths):
        held += length
        if held >= 10:
            expected.append(listed[first : n + 1])
            first, held = n + 1, 0
    expected += [listed[first:]] if first < len(listed) else []
    usual, room.CHARACTERS_AT_ONCE = room.CHARACTERS_AT_ONCE, 10
    try:
        assert [listed[block] for block in blocks(listed)] == expected
    finally:
        room.CHARACTERS_AT_ONCE = usual


def test_what_is_no_list_of_texts_is_refused():
    assert as_texts(("a", "b")) == ["a", "b"]
    for wrong, match in (
        ("abc", "write"),
        ([b"a"], "decode it first"),
        (["a", 1], r"texts\[1\] is a int"),
        (3, "int"),
    ):
        with pytest.raises(InputError, match=match):
            as_texts(wrong)


def test_columns_of_frames_and_of_arrow_are_texts():
    pandas, polars, pyarrow = (
        pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow")
    )
    listed = ["one", "", "two three"]
    columns = [pandas.Series(listed), polars.Series(listed), pyarrow.array(listed)]
    columns += [
        pyarrow.chunked_array([listed[:1], listed[1:]]),
        pyarrow.array(listed, pyarrow.large_string()),
    ]
    for column in columns:
        assert list(as_documents(column)) == listed
    with pytest.raises(InputError, match=r"texts\[1\] is a NoneType, not a text"):
        as_documents(pyarrow.array(["one", None]))
    with pytest.raises(InputError, match=r"texts is a Table, which has columns"):
        as_documents(pyarrow.table({"text": listed}))
