"""Whole numbers in few bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shortlist.arrays import narrow
from shortlist.arrays.narrow import narrowed, widened


@given(arrays(np.int64, st.integers(0, 200)))
def test_numbers_come_back_as_they_were(numbers):
    assert widened(narrowed(numbers), numbers.size).tolist() == numbers.tolist()


@pytest.mark.parametrize("size", [1, 63, 64, 65, 128, 1000])
@pytest.mark.parametrize("width", [1, 7, 31, 63, 64])
def test_numbers_of_every_width(size, width):
    numbers = np.random.default_rng(0).integers(0, 2**64, size, dtype=np.uint64) >> np.uint64(64 - width)
    numbers = numbers.view(np.int64)
    data = narrowed(numbers)
    assert data.size <= -(-size // 64) * (1 + 8 * width)  # a width, and so many words
    assert widened(data, size).tolist() == numbers.tolist()


def test_zeros_take_a_byte_for_64():
    assert narrowed(np.zeros(1000, dtype=np.int64)).size == 16


def test_other_bytes_are_refused():
    data = narrowed(np.arange(100))
    for other in (data[:-1], np.append(data, np.uint8(0)), np.append(np.uint8(65), data[1:]), data[:1], data[:0]):
        assert widened(other, 100) is None
    assert widened(data, 129) is None


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 128, 1000])
def test_numbers_that_are_written_some_at_a_time(size, monkeypatch):
    numbers = np.random.default_rng(size).integers(0, 2 ** np.arange(1, 63).repeat(17)[:size], size)
    at_once = narrowed(numbers)
    monkeypatch.setattr(narrow, "SOME", 64)
    assert np.array_equal(narrowed(numbers), at_once)
    few = (numbers % 2**32).astype(np.uint32)
    assert np.array_equal(narrowed(few), narrowed(few.astype(np.int64)))
