"""The lists of an index in few bits, as a compact model file has them.

A list is often the same as the one before it: features that were seen once, and in the same example, stand side by
side. Otherwise it is written as: length, times seen, total, all weights, all labels, all corrections, where those of
one kind have the same number of bits, which stands before them.

- Of a weight the first KEPT bits of the mantissa are kept, and it gets no larger. A list begins with its heaviest, and
  each of the others is written as the difference from the one before it, as whole numbers.
- A correction is kept as a sign and FINE bits, of which the largest of its list uses all.
- Of all else nothing is lost.

Lists are written in chunks of features, which threads can write and read at the same time.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.bits import WORD, Words, bits_of, read_bits, read_number, write_bits
from shortlist.arrays.kernels import Floats, kernel, step
from shortlist.arrays.validation import MOST_AMOUNT
from shortlist.categories.index.lists import EDGE, FEATURE, LEAST_WEIGHT, MOST_SEEN, MOST_SLOTS, SIZES, Index
from shortlist.concurrency.prefetch import by_threads
from shortlist.files.later import Later
from shortlist.files.packing import MOST_MORE, MOST_TIMES
from shortlist.files.store import State

CHUNK = 1 << 14  # features
KEPT, FINE = 12, 12
LENGTH, SEEN, LABEL, DROP, SCALE = 5, 6, 6, 5, 8  # bits of the number that says how many bits there are, or how large
HEAVIEST = 12 + KEPT  # bits
CUT = np.uint64(52 - KEPT)
UNORDERED = 31  # in place of a number of bits: weights that do not descend, each written as it is
LARGEST = 0x7FF << KEPT  # no number is so heavy
# A weight of a file is the first bits of a float64, one of an index is a float32: these are the least and the most that
# it can be, and by how much the exponents differ.
LEAST_HERE, MOST_HERE, APART = (1023 - 126) << KEPT, ((1023 + 128) << KEPT) - 1, (1023 - 127) << KEPT
SINGLE = 23 - KEPT  # bits of a float32 behind those that are kept
MOST_BITS = 1 + LENGTH + 31 + SEEN + 63 + 64 + HEAVIEST + DROP + LABEL + SCALE  # of what precedes the edges
SPARE = -(-MOST_BITS // WORD) + 1  # words behind the last list: what precedes the edges is read before it is checked
# What a correction is a multiple of, by the exponent of the largest of its list; where that is 0, all are.
SCALES = np.ldexp(1.0, np.arange(256) - 126 - FINE)
NAMES = {"length", "total", "seen", "edge_class", "edge_weight", "edge_tuned"}  # of the same in a plain file


def with_packed_lists(arrays: dict[str, Any], index: Index, n_features: int) -> dict[str, Any]:
    """The arrays of a plain file, but for those of the index, which are packed."""
    for array in arrays.values():
        if isinstance(array, Later):  # what cannot be saved is found out as it is made
            deque(array.pieces(), maxlen=0)
    lists = packed(index, n_features)
    kept = {name: array for name, array in arrays.items() if name not in NAMES}  # in this order, always
    return arrays if lists is None else kept | lists


def opened(state: State, n_features: int, n_labels: int) -> Index:
    """The index in a model file, plain or packed."""
    return (unpacked if "lists" in state.arrays else Index.from_arrays)(state, n_features, n_labels)


def packed(index: Index, n_features: int) -> dict[str, Any] | None:
    """The lists of the first so many features, or None where that would be refused when it is read.

    They are packed twice: to learn how many words they take, and when they are written, so that they are nowhere whole.
    """
    index = index.for_features(n_features)
    n_chunks, n_threads = -(-n_features // CHUNK), os.cpu_count() or 1

    def chunk(n: int) -> tuple[Words, int]:
        first, last = n * CHUNK, min((n + 1) * CHUNK, n_features)
        n_edges = int(index.features["length"][first:last].sum(dtype=np.int64))
        words = np.zeros(((last - first) * MOST_BITS + n_edges * (WORD + FINE)) // WORD + 2, dtype=np.uint64)
        return words[: _pack(index, first, last, words)], n_edges

    def measured(n: int) -> tuple[int, int]:
        words, n_edges = chunk(n)
        return words.size, n_edges

    def pieces() -> Iterator[Words]:
        for words, _ in by_threads(chunk, range(n_chunks), n_threads):
            yield words
        yield np.zeros(SPARE, dtype=np.uint64)

    counts = np.array(list(by_threads(measured, range(n_chunks), n_threads)), dtype=np.int64).reshape(-1, 2).T
    n_words = int(counts[0].sum()) + SPARE
    if index.n_edges * EDGE.itemsize > MOST_MORE + MOST_TIMES * n_words * WORD // 8:
        return None
    return {"lists": Later(np.dtype(np.uint64), n_words, pieces), "list_chunks": np.ascontiguousarray(counts)}


def unpacked(state: State, n_features: int, n_labels: int) -> Index:
    """The index again; refuses anything that would lead a kernel astray."""
    words, counts = state.array("lists", np.uint64), state.array("list_chunks", np.int64, ndim=2)
    n_chunks = -(-n_features // CHUNK)
    state.require(counts.shape == (2, n_chunks) and bool((counts >= 0).all()), "its lists are whole")
    state.require(int(counts.max(initial=0)) <= MOST_AMOUNT // max(1, n_chunks), "its lists are whole")
    state.require(n_features <= WORD * words.size, "its lists are whole")  # each takes a bit
    ends, edge_ends = np.cumsum(counts, axis=1)
    state.require(words.size == SPARE + (int(ends[-1]) if n_chunks else 0), "its lists are whole")
    n_edges = int(edge_ends[-1]) if n_chunks else 0
    state.require(n_edges * EDGE.itemsize <= MOST_MORE + MOST_TIMES * words.nbytes, "its lists are whole")
    state.require(n_edges <= MOST_SLOTS, "there are not too many edges")
    features, edges = np.zeros(n_features, dtype=FEATURE), np.empty(n_edges, dtype=EDGE)
    weights = edges.view(np.uint32)[:: EDGE.itemsize // 4]

    def chunk(n: int) -> bool:
        first, last = n * CHUNK, min((n + 1) * CHUNK, n_features)
        bits = WORD * int(ends[n] - counts[0, n]), WORD * int(ends[n])
        own = int(edge_ends[n] - counts[1, n]), int(edge_ends[n])
        return bool(_unpack(words, *bits, first, last, features, edges, weights, *own, n_labels, SCALES))

    state.require(all(list(by_threads(chunk, range(n_chunks), os.cpu_count() or 1))), "its lists can be read")
    return Index(features, edges, np.full(SIZES, -1, dtype=np.int64), np.array([n_edges, n_edges], dtype=np.int64))


@step
def _same(index: Index, f: int) -> bool:
    """Whether feature f has the same list as the one before it, and all else."""
    one, other = index.features[f - 1], index.features[f]
    if one["length"] != other["length"] or one["seen"] != other["seen"] or one["total"] != other["total"]:
        return False
    for e in range(one["length"]):
        edge, there = index.edges[one["start"] + e], index.edges[other["start"] + e]
        if edge["label"] != there["label"] or edge["weight"] != there["weight"] or edge["tuned"] != there["tuned"]:
            return False
    return True


@kernel
def _pack(index: Index, first: int, last: int, words: Words) -> int:
    """Write the lists of the features first..last−1; gives how many words that took. words: zeros, enough of them."""
    at, number = 0, np.empty(1)
    pattern = number.view(np.uint64)
    for f in range(first, last):
        if f > first and _same(index, f):
            at = write_bits(words, at, 1, np.uint64(1))
            continue
        feature = index.features[f]
        n, begin = int(feature["length"]), feature["start"]
        at = _write_sized(words, at + 1, LENGTH, np.uint64(n))
        at = _write_sized(words, at, SEEN, np.uint64(feature["seen"]))
        number[0] = feature["total"]
        at = write_bits(words, at, WORD, pattern[0])
        if n == 0:
            continue

        drops, ordered, labels, largest = np.uint64(0), True, np.uint64(0), 0.0
        heaviest = before = _rounded(index.edges[begin]["weight"], number, pattern)
        for e in range(begin, begin + n):
            weight = _rounded(index.edges[e]["weight"], number, pattern)
            if weight <= before:
                drops |= before - weight
            else:
                ordered = False
            before = weight
            labels |= np.uint64(index.edges[e]["label"])
            largest = max(largest, abs(np.float64(index.edges[e]["tuned"])))
        width = bits_of(drops) if ordered else UNORDERED
        label_width, exponent = bits_of(labels), max(0, math.frexp(largest)[1] + 126) if largest > 0.0 else 0
        at = write_bits(words, at, HEAVIEST, heaviest)
        at = write_bits(words, at, DROP, np.uint64(width))
        at = write_bits(words, at, LABEL, np.uint64(label_width))
        at = write_bits(words, at, SCALE, np.uint64(exponent))

        before = heaviest
        for e in range(begin + 1, begin + n if width else 0):
            weight = _rounded(index.edges[e]["weight"], number, pattern)
            at = write_bits(words, at, width if ordered else HEAVIEST, before - weight if ordered else weight)
            before = weight
        for e in range(begin, begin + n if label_width else 0):
            at = write_bits(words, at, label_width, np.uint64(index.edges[e]["label"]))
        for e in range(begin, begin + n if exponent else 0):
            tuned = np.float64(index.edges[e]["tuned"])
            fine = min(int(np.rint(abs(tuned) / SCALES[exponent])), (1 << FINE) - 1)
            at = write_bits(words, at, FINE + 1, np.uint64(2 * fine + (1 if tuned < 0.0 else 0)))
    return (at + WORD - 1) // WORD


@step
def _write_sized(words: Words, at: int, bits: int, number: np.uint64) -> int:
    """Write how many bits a number has, in so many bits, and then the number."""
    width = bits_of(number)
    at = write_bits(words, at, bits, np.uint64(width))
    return write_bits(words, at, width, number) if width else at


@step
def _rounded(weight: float, number: Floats, pattern: Words) -> np.uint64:
    """The first bits of a positive weight, a smaller number for a smaller weight; never 0.

    number, pattern: room for one number, and the same as bits.
    """
    number[0] = weight
    return max(pattern[0] >> CUT, np.uint64(1))


@kernel
def _unpack(
    words: Words, at: int, end: int, first: int, last: int, features: NDArray[Any], edges: NDArray[Any],
    weights: NDArray[np.uint32], n_edges: int, last_edge: int, n_labels: int, scales: Floats,
) -> bool:  # fmt: skip
    """Read the lists of the features first..last−1 from the bits at..end−1, into edges[n_edges:last_edge].

    Gives whether they can be read, and fill that room. words: SPARE of them behind the last bit; weights: those of the
    edges, as bits.
    """
    number = np.empty(1)
    pattern = number.view(np.uint64)
    for f in range(first, last):
        feature = features[f]
        feature["start"] = n_edges
        same, at = read_bits(words, at, 1), at + 1
        if same:
            if f == first or at > end or n_edges + features[f - 1]["length"] > last_edge:
                return False
            before = features[f - 1]
            feature["total"], feature["seen"] = before["total"], before["seen"]
            feature["length"], feature["capacity"] = before["length"], before["length"]
            for e in range(before["start"], before["start"] + before["length"]):
                edges[n_edges] = edges[e]
                n_edges += 1
            continue

        width = read_number(words, at, LENGTH)
        n, at = read_number(words, at + LENGTH, width), at + LENGTH + width
        width = read_number(words, at, SEEN)
        seen, at = read_number(words, at + SEEN, width), at + SEEN + width
        pattern[0], at = read_bits(words, at, WORD), at + WORD
        total = number[0]
        if at > end or n > last_edge - n_edges or seen > MOST_AMOUNT or not 0.0 <= total < np.inf:
            return False
        feature["total"], feature["seen"] = total, min(seen, MOST_SEEN)
        feature["length"], feature["capacity"] = n, n
        if n == 0:
            continue

        heaviest, at = read_number(words, at, HEAVIEST), at + HEAVIEST
        width, at = read_number(words, at, DROP), at + DROP
        label_width, at = read_number(words, at, LABEL), at + LABEL
        exponent, at = read_number(words, at, SCALE), at + SCALE
        ordered = width != UNORDERED
        width = width if ordered else HEAVIEST
        labels = at + (n - 1) * width
        corrections = labels + n * label_width
        at = corrections + (n * (FINE + 1) if exponent else 0)
        if at > end or label_width > 32 or exponent > 254:
            return False
        at_weights = labels - (n - 1) * width
        most, least = _read_weights(words, at_weights, width, ordered, heaviest, n, weights[n_edges:])
        room = np.int64(_rounded(2.0 * total, number, pattern))  # twice: it is a sum of many, and rounded as often
        if least <= 0 or most >= LARGEST or most > room:
            return False
        feature["total"] = max(total, LEAST_WEIGHT)
        largest = np.uint64(0)
        for k in range(n):
            label = read_bits(words, labels + k * label_width, label_width)
            largest = max(largest, label)
            edges[n_edges + k]["label"] = label
            edges[n_edges + k]["tuned"] = 0.0
        if largest >= n_labels:
            return False
        for k in range(n if exponent else 0):
            fine = read_number(words, corrections + k * (FINE + 1), FINE + 1)
            edges[n_edges + k]["tuned"] = (fine >> 1) * (1 - 2 * (fine & 1)) * scales[exponent]
        n_edges += n
    return at <= end and n_edges == last_edge


@step
def _read_weights(
    words: Words, at: int, width: int, ordered: bool, heaviest: int, n: int, weights: NDArray[np.uint32]
) -> tuple[int, int]:
    """Read the n weights of a list; gives the heaviest and the lightest, as whole numbers."""
    weight = most = least = heaviest
    weights[0] = _as_single(heaviest)
    for k in range(1, n):
        found = read_number(words, at + (k - 1) * width, width)
        weight = weight - found if ordered else found
        most, least = max(most, weight), min(least, weight)
        weights[k] = _as_single(weight)
    return most, least


@step
def _as_single(weight: int) -> int:
    """The bits of a float32, from the first bits of a float64."""
    return (max(LEAST_HERE, min(MOST_HERE, weight)) - APART) << SINGLE
