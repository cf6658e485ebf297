"""Count, then tune, a block of examples at a time, so that several threads can work on it (tuning.py has the rule).

1. ``prepare`` walks the features of a block and notes how long their lists are.
2. ``score`` finds the errors of some examples of the block, by the index as it stood when the block began, and writes
   down for each edge that voted the error of its label. Examples do not wait for one another.
3. ``settle`` adds up, in the order of the examples, what they change beside the lists: the stats and the biases.
4. ``count_and_correct`` (changes.py) walks the block's examples in order and changes the lists of the features that it
   owns, and of no others. During a block a list keeps its order, and new edges stand behind it: so what was written
   down finds its edge. With the last example that has the feature, the list is put in order and cut.

What an example changes is what it would change alone, but it does not see what the others of its block have changed; a
block of one is learned as ``tuning.learn`` learns it, to the last bit. Which thread does what changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, fetch, step
from shortlist.arrays.rows import Rows
from shortlist.categories.index.lists import Index
from shortlist.categories.index.retrieval import add_votes, fetch_lists
from shortlist.categories.index.tuning import (
    AGREEMENT,
    FURTHER,
    KAPPA,
    PACE,
    find_errors,
    note_labels,
    note_missed,
    note_surprise,
    only_judged,
    set_pace,
    width,
)
from shortlist.categories.scratch import Scratch
from shortlist.labels import LabelSets

PARTS = 64  # of the features, of which each has one owner
TOGETHER = 4  # bits: so many features that stand side by side belong to the same part, as they share lines of the cache
AHEAD = 8  # labels whose sums memory is asked for before their turn
CHUNK = 32  # examples whose biases are added up before they are added to the others
ENTRY = 16  # what an entry of a row costs, in edges
SLOTS = 8  # that an example may want, for each edge and each label of it


class Rules(NamedTuple):
    """How a TunedIndex is set."""

    max_edges: int
    min_weight: float
    rare: int
    leakage: bool
    cap: int
    step: float
    few: bool  # what is to be learned: few examples of each label


@step
def widened(rules: Rules, stats: Floats) -> Rules:
    """The rules for a block that begins with these stats: how many edges vote is the same for all its examples."""
    voting = width(rules.max_edges, stats)
    return Rules(voting, rules.min_weight, rules.rare, rules.leakage, rules.cap, rules.step, rules.few)


class Task(NamedTuple):
    """What is learned, and what it changes beside the index."""

    rows: Rows
    labels: LabelSets
    order: Longs
    first_pass: bool
    bias: Floats
    stats: Floats
    to_come: Floats


class Block(NamedTuple):
    """What the examples of a block have to say."""

    entry: Longs  # int64[examples + 1], where the entries of each example begin among those of the block
    at: Longs  # int64[entries + 1], where the errors of each entry begin
    label: Longs  # int64[examples + 1], where the labels of each example begin
    errors: NDArray[np.float32]  # e_c of the edges of each entry
    own: Floats  # e_c of the labels of each example
    active: NDArray[np.bool_]  # whether the example has any
    eta: Floats
    keep: Longs
    rival: Longs
    rival_error: Floats
    missed: Floats  # −1 where that is not noted
    surprise: Floats
    agreement: Floats
    bias_label: Ints  # the labels whose biases a chunk changes, from at[entry[its first example]] on
    bias: Floats
    n_biases: Longs  # int64[chunks]
    load: Longs  # int64[PARTS], how much work each part is
    final: Ints  # int32[features], the last entry of the block that has it


def make_block(n_examples: int, n_entries: int, n_labels: int, n_errors: int, n_features: int) -> Block:
    """Room for blocks of at most so many."""
    return Block(
        entry=np.zeros(n_examples + 1, dtype=np.int64),
        at=np.zeros(n_entries + 1, dtype=np.int64),
        label=np.zeros(n_examples + 1, dtype=np.int64),
        errors=np.zeros(n_errors, dtype=np.float32),
        own=np.zeros(n_labels),
        active=np.zeros(n_examples, dtype=np.bool_),
        eta=np.zeros(n_examples),
        keep=np.zeros(n_examples, dtype=np.int64),
        rival=np.zeros(n_examples, dtype=np.int64),
        rival_error=np.zeros(n_examples),
        missed=np.zeros(n_examples),
        surprise=np.zeros(n_examples),
        agreement=np.zeros(n_examples),
        bias_label=np.zeros(n_errors, dtype=np.int32),
        bias=np.zeros(n_errors),
        n_biases=np.zeros(-(-n_examples // CHUNK), dtype=np.int64),
        load=np.zeros(PARTS, dtype=np.int64),
        final=np.zeros(n_features, dtype=np.int32),
    )


class Sums(NamedTuple):
    """What whoever scores needs beside a scratch: by how much a chunk changes each bias."""

    bias: Floats  # 0 between two chunks
    stats: Floats  # as one example would leave them


def make_sums(n_labels: int) -> Sums:
    return Sums(np.zeros(n_labels), np.zeros(AGREEMENT + 1))


@step
def part_of(f: int) -> int:
    return (f >> TOGETHER) % PARTS


@step
def prepare(task: Task, first: int, last: int, index: Index, block: Block, rules: Rules) -> tuple[int, int, int]:
    """Lay out the block order[first:last]. Gives how many errors it has, slots it may want, and edges it may add."""
    rows, labels, order = task.rows, task.labels, task.order
    entries = errors = slots = new_edges = n_labels = 0
    for part in range(PARTS):
        block.load[part] = 0
    for t in range(first, last):
        i = order[t]
        own = labels.indptr[i + 1] - labels.indptr[i]
        n_labels += own
        block.label[t - first + 1] = n_labels
        ahead = order[min(t + 1, last - 1)]
        for j in range(rows.indptr[ahead], rows.indptr[ahead + 1]):
            fetch(index.features, rows.indices[j])
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            f = rows.indices[j]
            length = int(index.features[f]["length"])
            errors += length if task.first_pass else min(length, rules.max_edges)
            entries += 1
            block.at[entries] = errors
            block.final[f] = entries - 1
            block.load[part_of(f)] += length + ENTRY
            slots += SLOTS * (length + own + 1)
        new_edges += (rows.indptr[i + 1] - rows.indptr[i]) * (own + 1)
        block.entry[t - first + 1] = entries
    return errors, slots, new_edges


@step
def score(
    task: Task, first: int, last: int, first_chunk: int, last_chunk: int, index: Index, scratch: Scratch, sums: Sums,
    block: Block, rules: Rules,
) -> None:  # fmt: skip
    """The errors of the examples of some chunks of the block order[first:last]."""
    for chunk in range(first_chunk, min(last_chunk, (last - first + CHUNK - 1) // CHUNK)):
        score_chunk(task, first, last, chunk, index, scratch, sums, block, rules)


@step
def score_chunk(
    task: Task, first: int, last: int, chunk: int, index: Index, scratch: Scratch, sums: Sums, block: Block,
    rules: Rules,
) -> None:  # fmt: skip
    rows, labels, order, first_pass = task.rows, task.labels, task.order, task.first_pass
    stats = sums.stats
    begin = chunk * CHUNK
    first_bias = last_bias = block.at[block.entry[begin]]
    for b in range(begin, min(begin + CHUNK, last - first)):
        i = order[first + b]
        fetch_lists(rows, order[min(first + b + 1, last - 1)], index)
        for k in range(stats.size):
            stats[k] = task.stats[k]
        if first_pass:
            note_labels(stats, labels, i)
        n = add_votes(rows, i, index, rules.max_edges, rules.rare, scratch.scores, scratch.touched)
        n = only_judged(labels, i, scratch, n)
        rival, keep, eta, block.missed[b], block.surprise[b] = find_errors(
            labels, i, first_pass, task.bias, stats, scratch, n, rules.max_edges, rules.step, rules.few
        )
        if not first_pass:
            eta *= min(1.0, FURTHER * stats[PACE]) * (task.to_come[0] - b) / task.to_come[1]
        block.keep[b] = keep
        block.rival[b] = rival
        block.rival_error[b] = scratch.change[rival] if rival >= 0 else 0.0
        block.eta[b] = eta
        active, a = False, 0
        while a < n and not active:
            active = scratch.change[scratch.touched[a]] != 0.0
            a += 1
        for k in range(labels.indptr[i], labels.indptr[i + 1]):
            error = scratch.change[labels.ids[k]]
            active |= error != 0.0
            block.own[block.label[b] + k - labels.indptr[i]] = error
        block.active[b] = active
        block.agreement[b] = 0.0
        if active:
            block.agreement[b] = write_errors(rows, i, index, scratch, block, block.entry[b], rules.max_edges)
        for a in range(n):
            c = scratch.touched[a]
            fetch(sums.bias, scratch.touched[a + AHEAD if a + AHEAD < n else a])
            change = scratch.change[c]
            scratch.scores[c] = scratch.change[c] = 0.0
            if change != 0.0:
                block.bias_label[last_bias] = c
                last_bias += sums.bias[c] == 0.0
                sums.bias[c] += KAPPA * eta * change
        for k in range(labels.indptr[i], labels.indptr[i + 1]):
            scratch.change[labels.ids[k]] = 0.0
    for a in range(first_bias, last_bias):
        c = block.bias_label[a]
        block.bias[a], sums.bias[c] = sums.bias[c], 0.0
    block.n_biases[chunk] = last_bias - first_bias


@step
def write_errors(rows: Rows, i: int, index: Index, scratch: Scratch, block: Block, entry: int, max_edges: int) -> float:
    """Write down the error of each edge of example i, whose entries begin there.

    Gives a, how far the errors agree with the corrections that there are.
    """
    agreement = 0.0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        first, errors = index.features[rows.indices[j]]["start"], block.errors[block.at[entry] : block.at[entry + 1]]
        own, x = index.edges[first : first + errors.size], rows.data[j]
        voted = min(errors.size, max_edges)
        for k in range(voted):
            errors[k] = scratch.change[own[k]["label"]]
            agreement += x * errors[k] * own[k]["tuned"]
        for k in range(voted, errors.size):
            errors[k] = scratch.change[own[k]["label"]]
        entry += 1
    return agreement


@step
def settle(task: Task, first: int, last: int, block: Block) -> None:
    """Add to stats and biases what the examples of the block order[first:last] have found, in their order."""
    stats = task.stats
    for b in range(last - first):
        if task.first_pass:
            note_labels(stats, task.labels, task.order[first + b])
            if block.missed[b] >= 0.0:
                note_missed(stats, block.missed[b])
            note_surprise(stats, block.surprise[b])
            set_pace(stats, block.agreement[b])
        else:
            task.to_come[0] -= 1.0
    for chunk in range((last - first + CHUNK - 1) // CHUNK):
        begin = block.at[block.entry[chunk * CHUNK]]
        for a in range(begin, begin + block.n_biases[chunk]):
            task.bias[block.bias_label[a]] += block.bias[a]
