"""Ranking with an index (paper 004, section 3.2, RankedRetrieval)."""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, fetch, part
from shortlist.arrays.rows import Rows
from shortlist.categories.answering import BIAS, MATE
from shortlist.categories.index.company import (
    MATES,
    NO_VOTES,
    Mates,
    Votes,
    keep_best_of_all,
    let_mates_vote,
    room_for_mates,
    votes_for,
)
from shortlist.categories.index.lists import Index
from shortlist.categories.scratch import room_for_touched

LINES, EDGES_IN_LINE = 4, 5  # lines of the cache that are fetched of each list ahead of its turn, and edges in one
FEW_LABELS = 64  # so few are soon all listed
NO_VOTE = -0.0
NO_VOTE_BITS = np.iinfo(np.int64).min  # the same
LEAST = np.finfo(np.float64).tiny  # smaller ones count as 0 where a library has told the processor to round so


def rank(
    rows: Rows, index: Index, bias: Floats, max_edges: int, rare: int, ids: Ints, scores: Floats,
    of_labels: Votes = NO_VOTES,
) -> None:  # fmt: skip
    """The best labels of each row, into ids and scores (n × k).

    bias: what each label has before any vote; of_labels: the votes of labels for labels (company.py).
    """
    own, touched = np.zeros(bias.size), room_for_touched(bias.size)
    _rank(rows, index, bias, max_edges, rare, of_labels, own, touched, room_for_mates(), ids, scores)


def all_scores(
    rows: Rows, index: Index, bias: Floats, max_edges: int, rare: int, of_labels: Votes = NO_VOTES
) -> Floats:
    """The scores of all labels, n × labels. One that is not retrieved has 0, or the lowest score if that is less."""
    all_of_them = np.zeros((rows.n_rows, bias.size))
    touched, mates = room_for_touched(bias.size), room_for_mates()
    for i, scores in enumerate(all_of_them):
        retrieved = touched[: retrieve(rows, i, index, max_edges, rare, scores, touched)]
        scores[retrieved] += bias[retrieved]
        let_mates_vote(retrieved, scores, of_labels, mates)
        own = scores[retrieved]
        scores[:] = min(0.0, own.min(initial=0.0))
        scores[retrieved] = own
    return all_of_them


@part
def share_of(feature: np.void, x: float, rare: int) -> float:
    """r_f · x[f] / w′_f; times w′_fc it is the vote of f for c. r_f = min(1, #_f / rare), or 1 where rare is 0."""
    rating = 1.0 if feature["seen"] >= rare else feature["seen"] / rare
    return x * rating / feature["total"]


@part
def fetch_list(index: Index, f: int) -> None:
    """Ask memory for the list of feature f, which will be read soon."""
    first = index.features[f]["start"]
    for line in range(LINES):
        fetch(index.edges, first + line * EDGES_IN_LINE)


@part
def fetch_lists(rows: Rows, i: int, index: Index) -> None:
    """Ask memory for the lists of the features of row i."""
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        if rows.indices[j] < index.features.size:
            fetch_list(index, rows.indices[j])


@part
def retrieve(rows: Rows, i: int, index: Index, max_edges: int, rare: int, scores: Floats, touched: Ints) -> int:
    """Add the votes of row i to scores, and list the scored labels in touched, as ``add_votes`` does."""
    fetch_lists(rows, i, index)
    return add_votes(rows, i, index, max_edges, rare, scores, touched)


@part
def add_votes(rows: Rows, i: int, index: Index, max_edges: int, rare: int, scores: Floats, touched: Ints) -> int:
    """Add the votes of row i to scores (float64[labels], zero before); list the scored labels in touched.

    Each label c receives (r_f · w_fc + u_fc) · x[f] from each active feature f that has it among its max_edges heaviest
    edges. The correction u_fc is 0 but for a learner that tunes. A label whose votes cancel, or vanish in rounding, is
    retrieved with the least score. The loop has no branch: a processor cannot foresee which label is new. Once all
    labels are listed, as few soon are, none is new.
    """
    if scores.size > FEW_LABELS and count_votes(rows, i, index, max_edges) >= scores.size:
        return add_many_votes(rows, i, index, max_edges, rare, scores, touched)
    n = 0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        if rows.indices[j] >= index.features.size or index.features[rows.indices[j]]["length"] == 0:
            continue
        feature, x = index.features[rows.indices[j]], rows.data[j]
        share, first = share_of(feature, x, rare), feature["start"]
        own = index.edges[first : first + min(feature["length"], max_edges)]
        if n == scores.size:
            for edge in own:
                scores[edge["label"]] += share * edge["weight"] + x * edge["tuned"]
            continue
        for edge in own:
            c = edge["label"]
            before = scores[c]
            touched[np.uint64(n)] = c  # to be overwritten by the next one, unless c is new
            n += before == 0.0
            score = before + (share * edge["weight"] + x * edge["tuned"])
            scores[c] = score if score != 0.0 else LEAST
    if n == scores.size:
        for c in range(n):
            scores[c] = scores[c] if scores[c] != 0.0 else LEAST
    return n


@part
def count_votes(rows: Rows, i: int, index: Index, max_edges: int) -> int:
    """How many votes row i has for all labels together."""
    n = 0
    for f in rows.indices[rows.indptr[i] : rows.indptr[i + 1]]:
        if f < index.features.size:
            n += min(index.features[f]["length"], max_edges)
    return n


@part
def add_many_votes(rows: Rows, i: int, index: Index, max_edges: int, rare: int, scores: Floats, touched: Ints) -> int:
    """As ``add_votes``, where there are more votes than labels: it is quicker to look afterwards for whom they are.

    Who has none is told from whom votes have cancelled by its sign: no sum of votes is −0.
    """
    scores[:] = NO_VOTE
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        if rows.indices[j] >= index.features.size or index.features[rows.indices[j]]["length"] == 0:
            continue
        feature, x = index.features[rows.indices[j]], rows.data[j]
        share, first = share_of(feature, x, rare), feature["start"]
        for edge in index.edges[first : first + min(feature["length"], max_edges)]:
            scores[edge["label"]] += share * edge["weight"] + x * edge["tuned"]
    n, bits = 0, scores.view(np.int64)
    for c in range(scores.size):
        touched[np.uint64(n)] = c  # to be overwritten by the next one, unless c has a vote
        has_vote = bits[c] != NO_VOTE_BITS
        n += has_vote
        scores[c] = scores[c] if scores[c] != 0.0 else (LEAST if has_vote else 0.0)
    return n


@part
def _rank(
    rows: Rows, index: Index, bias: Floats, max_edges: int, rare: int, of_labels: Votes, scores: Floats, touched: Ints,
    mates: Mates, ids: Ints, best: Floats,
) -> None:  # fmt: skip
    """Retrieve for each row and keep the k best labels (ids int32[n,k], best float64[n,k]); ties to the lower id."""
    for i in range(rows.indptr.size - 1):
        found = touched[: retrieve(rows, i, index, max_edges, rare, scores, touched)]
        for c in found:
            scores[c] += bias[c]
        keep_best_of_all(found, scores, of_labels, mates, ids[i], best[i])
        for c in found:
            scores[c] = 0.0


def votes(
    row: Rows, index: Index, bias: Floats, label: int, max_edges: int, rare: int, of_labels: Votes = NO_VOTES
) -> tuple[Ints, Floats]:
    """The features of one row that vote for a label, then the labels, and their votes, in the order of adding."""
    columns, out = np.append(row.indices, np.int32(BIAS)), np.zeros(row.indices.size + 1)
    _votes(row, index, label, max_edges, rare, out)
    if out.any():  # a label without a vote is not retrieved, whatever its bias
        out[-1] = bias[label]
    columns, out = columns[out != 0], out[out != 0]
    if of_labels.size == 0:
        return columns, out
    ids, best = np.full((1, MATES), -1, dtype=np.int32), np.full((1, MATES), np.nan)
    rank(row, index, bias, max_edges, rare, ids, best)
    mates, theirs = votes_for(of_labels, ids[0], best[0], label)
    return np.append(columns, MATE - mates), np.append(out, theirs)


@part
def _votes(row: Rows, index: Index, label: int, max_edges: int, rare: int, out: Floats) -> None:
    """out[j] = the vote of the j-th active feature for the label."""
    for j in range(row.indices.size):
        if row.indices[j] >= index.features.size or index.features[row.indices[j]]["length"] == 0:
            continue
        feature = index.features[row.indices[j]]
        share, first = share_of(feature, row.data[j], rare), feature["start"]
        for e in range(first, first + min(feature["length"], max_edges)):
            if index.edges[e]["label"] == label:
                out[j] = share * index.edges[e]["weight"] + row.data[j] * index.edges[e]["tuned"]
