"""Count, then tune, a block of examples at a time, so that several threads can work on it (tuning.py has the rule).

1. ``score`` finds the errors of a chunk of its examples, by the index as it stood when the block began, and writes down
   for each edge that voted the error of its label. Examples do not wait for one another.
2. ``settle`` adds to the stats what the examples have found, in their order, and ``add_biases`` does so to the biases.
3. ``count_and_correct`` (changes.py) goes through the entries of some parts of the features (parts.py), in the order of
   the examples, and changes the lists of these features, and of no others. During a block a list keeps its order, and
   new edges stand behind it: so what was written down finds its edge. With the last example that has the feature, the
   list is put in order and cut.

What an example changes is what it would change alone, but it does not see what the others of its block have changed; a
block of one is learned as ``tuning.learn`` learns it, to the last bit. Which thread does what changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, fetch, step, take
from shortlist.arrays.rows import Rows
from shortlist.categories.index.ahead import Ahead, rank_ahead
from shortlist.categories.index.contest import trust
from shortlist.categories.index.course import (
    AGREEMENT,
    PACE,
    are_contending,
    are_many,
    note_labels,
    note_missed,
    note_surprise,
    set_pace,
)
from shortlist.categories.index.lists import Index
from shortlist.categories.index.misses import only_judged
from shortlist.categories.index.others import add_votes_to_learn
from shortlist.categories.index.parts import PARTS, part_of, sort_by_portion
from shortlist.categories.index.retrieval import fetch_lists
from shortlist.categories.index.tuning import FURTHER, KAPPA, find_errors, width
from shortlist.categories.scratch import Scratch
from shortlist.labels import LabelSets

CHUNK = 8  # examples that one thread takes at a time to score: so few that nobody waits long for the last ones
ENTRY = 16  # what an entry of a row costs, in edges
# Entries of Block.common: the next chunk to be scored, the errors that are written down; apart, for the cache's sake.
NEXT, ERRORS, COMMON = 0, 8, 16


class Rules(NamedTuple):
    """How a TunedIndex is set."""

    max_edges: int
    min_weight: float
    rare: int
    leakage: bool
    cap: int
    step: float
    few: bool  # what is to be learned: few examples of each label
    small: bool  # few in all


@step
def having(rules: Rules, voting: int) -> Rules:
    """The rules, where so many edges vote."""
    return Rules(voting, rules.min_weight, rules.rare, rules.leakage, rules.cap, rules.step, rules.few, rules.small)


@step
def widened(rules: Rules, stats: Floats) -> Rules:
    """The rules for a block that begins with these stats: how many edges vote is the same for all its examples."""
    return having(rules, width(rules.max_edges, stats))


class Task(NamedTuple):
    """What is learned, and what it changes beside the index."""

    rows: Rows
    labels: LabelSets
    order: Longs
    first_pass: bool
    bias: Floats
    stats: Floats
    to_come: Floats
    mates: Ahead  # receives rankings of some examples, where labels are many


class Block(NamedTuple):
    """What the examples of a block have to say."""

    common: Longs  # what threads count together
    entry: Longs  # int64[examples + 1], where the entries of each example begin among those of the block
    shift: Longs  # int64[examples], how far the entries of each example are from their places in the rows
    label: Longs  # int64[examples + 1], where the labels of each example begin
    example: Ints  # int32[entries], which example has each entry
    portion: Longs  # int64[PARTS], in which portion the features of each part are
    sorted: Ints  # int32[entries], the entries of each chunk in the order of portions
    starts: Ints  # int32[chunks, PARTS + 2], where those of each portion begin
    begin: Longs  # int64[chunks], where the errors of each chunk begin
    at: Ints  # int32[entries], where those of each entry begin behind that
    n_old: Ints  # int32[entries], how many they are: one for each edge that the list had when the block began
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
    bias_label: Ints  # the labels whose biases the examples of a chunk change, from where its errors begin
    bias_error: NDArray[np.float32]  # e_c of them
    bias_end: Longs  # int64[examples], where those of each example end
    met: NDArray[np.uint8]  # a bit for each feature, 0 but while somebody looks which features he has met


def make_block(n_examples: int, n_entries: int, n_labels: int, n_errors: int, n_features: int) -> Block:
    """Room for blocks of at most so many."""
    n_chunks = -(-n_examples // CHUNK)
    return Block(
        common=np.zeros(COMMON, dtype=np.int64),
        entry=np.zeros(n_examples + 1, dtype=np.int64),
        shift=np.zeros(n_examples, dtype=np.int64),
        label=np.zeros(n_examples + 1, dtype=np.int64),
        example=np.zeros(n_entries, dtype=np.int32),
        portion=np.zeros(PARTS, dtype=np.int64),
        sorted=np.zeros(n_entries, dtype=np.int32),
        starts=np.zeros((n_chunks, PARTS + 2), dtype=np.int32),
        begin=np.zeros(n_chunks, dtype=np.int64),
        at=np.zeros(n_entries, dtype=np.int32),
        n_old=np.zeros(n_entries, dtype=np.int32),
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
        bias_error=np.zeros(n_errors, dtype=np.float32),
        bias_end=np.zeros(n_examples, dtype=np.int64),
        met=np.zeros((n_features + 7) // 8, dtype=np.uint8),
    )


def make_stats() -> Floats:
    """Room for the stats as one example would leave them, which whoever scores needs beside a scratch."""
    return np.zeros(AGREEMENT + 1)


@step
def lay_out(task: Task, first: int, last: int, block: Block) -> None:
    """Begin with the block order[first:last]."""
    rows, labels, order = task.rows, task.labels, task.order
    block.common[NEXT] = block.common[ERRORS] = 0
    for t in range(first, last):
        i, b = order[t], t - first
        block.entry[b + 1] = block.entry[b] + rows.indptr[i + 1] - rows.indptr[i]
        block.shift[b] = rows.indptr[i] - block.entry[b]
        block.label[b + 1] = block.label[b] + labels.indptr[i + 1] - labels.indptr[i]


@step
def score(
    task: Task, first: int, last: int, index: Index, scratch: Scratch, stats: Floats, load: Longs, block: Block,
    rules: Rules,
) -> None:  # fmt: skip
    """The errors of the block order[first:last], chunk by chunk, as long as there is one that no thread has taken."""
    for part in range(PARTS):
        load[part] = 0
    n_chunks = (last - first + CHUNK - 1) // CHUNK
    chunk = take(block.common, NEXT, 1)
    while chunk < n_chunks:
        n_errors = look_up(task, first, last, chunk, index, load, block, rules)
        block.begin[chunk] = take(block.common, ERRORS, n_errors)
        if block.begin[chunk] + n_errors <= block.errors.size:
            score_chunk(task, first, last, chunk, index, scratch, stats, block, rules)
        chunk = take(block.common, NEXT, 1)


@step
def look_up(
    task: Task, first: int, last: int, chunk: int, index: Index, load: Longs, block: Block, rules: Rules
) -> int:
    """How long the lists of a chunk are, with that how much work each part is, and which entries are in each portion.

    Gives how many errors there are.
    """
    rows, order = task.rows, task.order
    begin, end = chunk * CHUNK, min((chunk + 1) * CHUNK, last - first)
    n, e = 0, block.entry[begin]
    for b in range(begin, end):
        i, ahead = order[first + b], order[first + min(b + 1, end - 1)]
        for j in range(rows.indptr[ahead], rows.indptr[ahead + 1]):
            fetch(index.features, rows.indices[j])
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            f = rows.indices[j]
            length = index.features[f]["length"]
            n_old = length if task.first_pass else min(length, rules.max_edges)
            block.at[e], block.n_old[e], block.example[e] = n, n_old, b
            load[part_of(f)] += length + ENTRY
            n += n_old
            e += 1
    sort_by_portion(
        rows, block.shift, block.example, block.entry[begin], e, block.portion, block.starts[chunk], block.sorted
    )
    return n


@step
def score_chunk(
    task: Task, first: int, last: int, chunk: int, index: Index, scratch: Scratch, stats: Floats, block: Block,
    rules: Rules,
) -> None:  # fmt: skip
    rows, labels, order, first_pass = task.rows, task.labels, task.order, task.first_pass
    many = are_many(task.stats)
    begin = chunk * CHUNK
    n_biases = block.begin[chunk]
    for b in range(begin, min(begin + CHUNK, last - first)):
        i = order[first + b]
        fetch_lists(rows, order[min(first + b + 1, last - 1)], index)
        for k in range(stats.size):
            stats[k] = task.stats[k]
        if first_pass:
            note_labels(stats, labels, i)
        again = rules.small and not first_pass and are_contending(stats, rules.few)
        n = add_votes_to_learn(rows, labels, i, index, rules.max_edges, rules.rare, again, scratch)
        n = only_judged(labels, i, scratch, n)
        if many:
            rank_ahead(rows, i, index, task.bias, scratch, n, task.mates)
        rival, keep, eta, block.missed[b], _, block.surprise[b] = find_errors(
            labels, i, first_pass, task.bias, stats, scratch, n, rules.max_edges, rules.step, rules.few
        )
        if not first_pass:
            share = min(1.0, FURTHER * stats[PACE]) * (task.to_come[0] - b) / task.to_come[1]
            eta *= share * trust(keep > 0 and not rules.few, block.surprise[b])
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
            errors = block.errors[block.begin[chunk] :]
            write_errors(rows, i, index, scratch, block, errors, block.entry[b])
            if first_pass:
                block.agreement[b] = agreement_of(rows, i, index, block, errors, block.entry[b], rules.max_edges)
        for c in scratch.touched[:n]:
            change = scratch.change[c]
            scratch.scores[c] = scratch.change[c] = 0.0
            block.bias_label[n_biases], block.bias_error[n_biases] = c, change
            n_biases += change != 0.0
        block.bias_end[b] = n_biases
        for k in range(labels.indptr[i], labels.indptr[i + 1]):
            scratch.change[labels.ids[k]] = 0.0


@step
def write_errors(
    rows: Rows, i: int, index: Index, scratch: Scratch, block: Block, errors: NDArray[np.float32], e: int
) -> None:
    """Write down the error of each edge of example i, whose entries begin with e; errors: those of its chunk."""
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        start, at = index.features[rows.indices[j]]["start"], block.at[e]
        for k in range(block.n_old[e]):
            errors[at + k] = scratch.change[index.edges[start + k]["label"]]
        e += 1


@step
def agreement_of(
    rows: Rows, i: int, index: Index, block: Block, errors: NDArray[np.float32], e: int, max_edges: int
) -> float:
    """How far the errors of an example agree with the corrections that there are."""
    agreement = 0.0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        start, at, x = index.features[rows.indices[j]]["start"], block.at[e], rows.data[j]
        for k in range(min(block.n_old[e], max_edges)):
            agreement += x * errors[at + k] * index.edges[start + k]["tuned"]
        e += 1
    return agreement


@step
def settle(task: Task, first: int, last: int, block: Block) -> None:
    """Add to the stats what the examples of the block order[first:last] have found, in their order."""
    stats = task.stats
    for b in range(last - first):
        if task.first_pass:
            note_labels(stats, task.labels, task.order[first + b])
            if block.missed[b] >= 0.0:
                note_missed(stats, block.missed[b])
            note_surprise(stats, block.surprise[b])
            set_pace(stats, task.labels, task.order[first + b], block.agreement[b])
        else:
            task.to_come[0] -= 1.0


@step
def add_biases(task: Task, n_examples: int, block: Block) -> None:
    """b_c += κ·η·e_c for the labels that the examples have retrieved, in their order."""
    a = 0
    for b in range(n_examples):
        if b % CHUNK == 0:
            a = block.begin[b // CHUNK]
        while a < block.bias_end[b]:
            task.bias[block.bias_label[a]] += KAPPA * block.eta[b] * block.bias_error[a]
            a += 1
