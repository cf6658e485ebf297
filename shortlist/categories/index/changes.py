"""What a block of examples changes in the lists of an index, feature by feature (blocks.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, step
from shortlist.arrays.rows import Rows
from shortlist.categories.index.blocks import CHUNK, Block, Rules, Task
from shortlist.categories.index.contest import NOTHING
from shortlist.categories.index.lists import EDGES, END, Index, cut_tail, put_in_place, raised, see
from shortlist.categories.index.retrieval import fetch_list
from shortlist.categories.index.slots import move_to_less_room, move_to_more_room

SLOTS = 4  # that an example may want for a list that has to move, for each edge and each label of it
FEW_SLOTS = 16  # of a list are not worth moving it for
AHEAD = 16  # entries whose lists memory is asked for before their turn


@step
def mark_last(rows: Rows, block: Block, own: Ints, n: int) -> None:
    """Make e of the n own entries −1 − e where it is the last that has its feature."""
    for a in range(n - 1, -1, -1):
        e = own[a]
        f = rows.indices[block.shift[block.example[e]] + e]
        bit = np.uint8(1 << (f & 7))
        if not block.met[f >> 3] & bit:
            block.met[f >> 3] |= bit
            own[a] = -1 - e
    for a in range(n):
        if own[a] < 0:
            e = -1 - own[a]
            block.met[rows.indices[block.shift[block.example[e]] + e] >> 3] = 0


@step
def fetch_own(rows: Rows, index: Index, block: Block, own: Ints, a: int, n: int) -> None:
    """Ask memory for the lists of some own entries from a on: for many at once, as each takes a while."""
    for k in range(a, min(a + AHEAD, n)):
        e = max(own[k], -1 - own[k])
        fetch_list(index, rows.indices[block.shift[block.example[e]] + e])


@step
def correct(rows: Rows, index: Index, block: Block, own: Ints, n: int) -> None:
    """u_fc += η·e_c·x[f] on the edges that voted, of the features of the n own entries."""
    for a in range(n):
        if a % AHEAD == 0:
            fetch_own(rows, index, block, own, a + AHEAD, n)
        e = own[a]
        b = block.example[e]
        if not block.active[b]:
            continue
        j, begin = block.shift[b] + e, block.begin[b // CHUNK] + block.at[e]
        shift, start = block.eta[b] * rows.data[j], index.features[rows.indices[j]]["start"]
        for k in range(block.n_old[e]):
            index.edges[start + k]["tuned"] += shift * block.errors[begin + k]


@step
def count_and_correct(
    task: Task, first: int, index: Index, block: Block, own_entries: Ints, done: int, n: int, met: NDArray[np.bool_],
    rules: Rules, least: float, end: int,
) -> tuple[int, int]:  # fmt: skip
    """FSU and corrections on the lists of the features of n own entries: what tuning.count_and_correct does, for a
    block, order[first:].

    own_entries: as mark_last leaves them; met: bool[labels], false; done: how many of the entries are. Stops where
    there may be too few slots before ``end``, and gives how many are done then, and how many slots are wanted.
    """
    rows, labels, max_edges = task.rows, task.labels, rules.max_edges
    edges = index.edges
    for a in range(done, n):
        if a % AHEAD == 0:
            fetch_own(rows, index, block, own_entries, a + AHEAD, n)
        is_last = own_entries[a] < 0
        e = -1 - own_entries[a] if is_last else own_entries[a]
        b = block.example[e]
        i, eta, rival, j = task.order[first + b], block.eta[b], block.rival[b], block.shift[b] + e
        own, errors = labels.ids[labels.indptr[i] : labels.indptr[i + 1]], block.own[block.label[b] :]
        f, x, shift = rows.indices[j], rows.data[j], eta * rows.data[j]
        feature, begin, n_old = index.features[f], block.begin[b // CHUNK] + block.at[e], block.n_old[e]
        most = feature["length"] + own.size + 1
        if most > feature["capacity"] and index.used[END] + SLOTS * most > end:
            return a, SLOTS * most
        see(feature)
        keep = block.keep[b] if is_last else max(block.keep[b], n_old)
        if block.active[b]:
            start, total, has_rival, n_new = feature["start"], feature["total"], rival < 0, 0
            for k in range(n_old):
                error = block.errors[begin + k]
                if k < max_edges:
                    edges[start + k]["tuned"] += shift * error
                has_rival |= edges[start + k]["label"] == rival
                if error > 0.0:
                    met[edges[start + k]["label"]] = True
                    edges[start + k]["weight"] = raised(edges[start + k]["weight"], x, total)
            for k in range(own.size):
                if errors[k] > 0.0:
                    feature["total"] += x
                    n_new += not met[own[k]]
            too_light = rules.leakage and block.keep[b] == 0 and np.float32(x) / feature["total"] < least
            if n_new > 0 and (feature["length"] > n_old or not too_light):
                add_new(f, n_old, own, errors, x, shift, n_new, too_light, total, met, index)
            for k in range(own.size):
                met[own[k]] = False
            start, length = feature["start"], feature["length"]
            for k in range(n_old, length):
                has_rival |= edges[start + k]["label"] == rival
            if not has_rival and length < max_edges:
                append(f, rival, NOTHING * x, shift * block.rival_error[b], 1, index)
        if is_last:
            put_in_order(edges, feature["start"], feature["length"])
        cut_tail(feature, edges, index.used, keep, least, rules.leakage)
        if is_last and feature["capacity"] > FEW_SLOTS and 4 * feature["length"] <= 3 * feature["capacity"]:
            move_to_less_room(f, index)
    return n, 0


@step
def add_new(
    f: int, n_old: int, own: Ints, errors: Floats, x: float, shift: float, n_new: int, too_light: bool, total: float,
    met: NDArray[np.bool_], index: Index,
) -> None:  # fmt: skip
    """Count the labels that have an error above 0 and were not met among the first n_old edges of feature f.

    Their edges stand behind those, if an earlier example of the block has made them; otherwise they are made, unless
    they were too light to stay.
    """
    feature = index.features[f]
    for a in range(own.size):
        if errors[a] > 0.0 and not met[own[a]]:
            start, n, k = feature["start"], feature["length"], n_old
            while k < n and index.edges[start + k]["label"] != own[a]:
                k += 1
            if k < n:
                index.edges[start + k]["weight"] = raised(index.edges[start + k]["weight"], x, total)
                index.edges[start + k]["tuned"] += shift * errors[a]
            elif not too_light:
                append(f, own[a], x, shift * errors[a], n_new, index)
            n_new -= 1


@step
def append(f: int, c: int, weight: float, tuned: float, n_more: int, index: Index) -> None:
    """A new edge at the end of a list that is to have n_more edges, should it have to move."""
    feature = index.features[f]
    n = feature["length"]
    if n == feature["capacity"]:
        move_to_more_room(f, n + n_more, index)
    edge = index.edges[feature["start"] + n]
    edge["label"], edge["weight"], edge["tuned"] = c, weight, tuned
    feature["length"] = n + 1
    index.used[EDGES] += 1


@step
def put_in_order(edges: NDArray[Any], start: int, n: int) -> None:
    """Sort the n edges from start on, heaviest first; of equals the one that stood first stays first."""
    for k in range(start + 1, start + n):
        if edges[k - 1]["weight"] < edges[k]["weight"]:
            put_in_place(edges, start, k, edges[k]["label"], edges[k]["weight"], edges[k]["tuned"])
