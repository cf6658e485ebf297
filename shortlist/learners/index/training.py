"""The learning loop of TunedIndex: features vote for labels, and errors correct the votes.

Each edge of the index has, beside the proportion w_fc that Feature-Focus counts (paper 004), a
weight u_fc, and each label a bias b_c, all 0 at first. A label that some feature votes for has the
score

    s_c = b_c + Σ_f x[f]·(r_f·w_fc + u_fc),    r_f = min(1, times seen / rare).

An example x with the labels Y gives each label an error e_c.

Several labels, each for itself: a true label should score at least 1, a wrong one at most 0
(Widrow-Hoff, paper 002),

    e_c = max(0, 1 − s_c) for c in Y,    e_c = −max(0, s_c) for the others.

One label each, a contest: the score of the true label y should exceed all others by the margin.
With l_c = margin + s_c − s_y, the smallest change of the weights that achieves this (the multiclass
passive-aggressive step of Crammer et al. 2006 with all constraints at once) is, for a row of length
1,

    e_y = θ,    e_c = −(l_c − θ) where l_c > θ,    with θ = Σ_{l_c > θ} (l_c − θ),
    all divided by max(1, θ).

The step is the same for both:

    u_fc += η·x[f]·e_c on the edges of the example's features,    b_c += 0.04·η·e_c.

The first time an example is seen, η = step, and the true labels with an error are counted: w′_fc +=
x[f], w′_f += x[f], with a new edge where there was none. In a contest the best wrong label gets
edges too, of next to no weight, since a feature can vote against a label only through an edge. A
list has at most ``max_edges`` edges: the lightest one makes room for a new one.

Seen again, in a further pass of ``fit``, an example only corrects: η is at most half the step, and
falls evenly to 0. In a contest it is multiplied by 1 − (s_c − s_y), down to 0, while a wrong label
c still scores higher: an example that is misranked after it was learned is likely to be
mislabelled.

In a stream, each example of a contest, new or replayed (replay_buffer.py), takes the step times a
factor: the largest of 1/4, 25 / (25 + n) and 2m − 1, for a label with n examples so far that missed
the share m of the last six or so; for a feature that was seen k times at least 50 / (50 + k). The
full step is right for what is new, and wrong for what is known.

Labels that were not judged (data/rows.py) count as not retrieved: nothing about them changes. In a
contest, labels that no example had yet, which may have the vector of their name for weights
(scoring.py), need only be 0.5 behind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs, loop, part
from shortlist.data.labels import SINGLE, LabelSets
from shortlist.data.rows import Rows, is_complete
from shortlist.learners.index.edges import (
    EDGES,
    Index,
    cut_tail,
    move_to_more_room,
    put_in_place,
    raised,
    room_for,
    see,
)
from shortlist.learners.index.replay_buffer import AGAIN, Ring, keep, longest_lag, row_of
from shortlist.learners.index.scoring import (
    Ahead,
    Vectors,
    Weights,
    add_vector_votes,
    add_votes,
    correct_vector,
    fetch_lists,
    has_vector,
    rank_ahead,
)
from shortlist.learners.top_labels import DONE, Scratch

MARGIN = 2.0
BEHIND = 0.5  # the margin of a label that no example had yet
FURTHER = 0.5  # of the step, where an example is seen again
BIAS_RATE = 0.04  # a bias learns like a feature that every row has with the value 0.2
DOUBT = 1.0  # by how much the step shrinks if the true label is behind by 1
UNCOUNTED = 1e-9  # the weight, for x = 1, of an edge that was never counted
# entries of counts
EXAMPLES = 0
LABELS = 1
# columns of progress
SEEN = 0
MISSED = 1
LEAST_RATE_FACTOR = 0.25  # the share of the step that a well-known label keeps
# examples after which the factor has halved
KNOWN_AFTER = 25.0
KNOWN_FEATURE_AFTER = 50.0
RECENT = 6.0  # over so many examples of a label the misses are averaged


class Learned(NamedTuple):
    """What the loop changes: the index of words, the weights of vectors, the biases."""

    words: Index
    weights: Weights  # float32[columns of a vector, labels or more]
    bias: Floats
    met: NDArray[np.bool_]  # the labels that some example had; empty for all
    progress: Floats  # float64[labels or more, 2]: examples of each label; how many are missed


class TuningRules(NamedTuple):
    """The parameters of a TunedIndex that the loop needs."""

    max_edges: int
    min_weight: float
    rare: int
    cap: int
    step: float
    in_stream: bool


@loop
def learn(
    rows: Rows,
    vectors: Vectors,
    labels: LabelSets,
    order: Longs,
    position: int,
    first_pass: bool,
    learned: Learned,
    counts: Floats,
    to_come: Floats,
    rules: TuningRules,
    ahead: Ahead,
    ring: Ring,
    scratch: Scratch,
) -> tuple[int, int, int]:
    """Learn the examples order[position:]. Stops before an example for which the index has too
    little room.

    Returns how many of ``order`` are done, why it stopped, and how many free slots are wanted.
    counts: examples and labels so far; to_come: how many examples further passes have yet to see,
    and had at first. ahead: receives the rankings of some examples before they are learned. ring:
    the last examples of a stream.
    """
    again: bool = np.bool_(False)  # type: ignore[assignment] # a constant would be compiled once more
    for t in range(position, order.size):
        i = order[t]
        share = 1.0
        if first_pass:
            why, slots = room_for(rows, labels, i, learned.words, rules.cap)
            if why != DONE:
                return t, why, slots
            count_example(counts, labels, i)
        else:
            share = FURTHER * to_come[0] / to_come[1]
            to_come[0] -= 1.0
        contest = are_single(counts)
        least = least_share(rules.min_weight, counts)
        learn_one(
            rows,
            vectors[i],
            labels,
            i,
            first_pass,
            share,
            contest,
            least,
            learned,
            rules,
            ahead,
            scratch,
        )
        if contest and ring.span.size > 0:
            lag = longest_lag(ring)
            for _ in range(AGAIN):
                if lag > 0:
                    a = row_of(ring, lag)
                    learn_one(
                        ring.rows,
                        ring.vectors[a // 2],
                        ring.labels,
                        a,
                        again,
                        1.0,
                        contest,
                        least,
                        learned,
                        rules,
                        ahead,
                        scratch,
                    )
                lag //= 2
            keep(ring, rows, vectors, labels, i)
    return order.size, DONE, 0


@part
def count_example(counts: Floats, labels: LabelSets, i: int) -> None:
    """Count example i and its labels. One judged in part counts with at least the mean number
    of labels.
    """
    n = float(labels.indptr[i + 1] - labels.indptr[i])
    if not is_complete(labels.partial, i):
        n = max(n, counts[LABELS] / counts[EXAMPLES] if counts[EXAMPLES] > 0.0 else 1.0)
    counts[EXAMPLES] += 1.0
    counts[LABELS] += n


@part
def are_single(counts: Floats) -> bool:
    """Whether examples so far have at most SINGLE labels on average."""
    return counts[LABELS] <= SINGLE * counts[EXAMPLES]


@loop
def least_share(min_weight: float, counts: Floats) -> float:
    """The least share w_fc of an edge: min_weight counts examples, and shares count labels."""
    return 0.0 if are_single(counts) else min_weight * counts[EXAMPLES] / counts[LABELS]


@part
def learn_one(
    rows: Rows,
    vector: Vectors,
    labels: LabelSets,
    i: int,
    first: bool,
    share: float,
    contest: bool,
    least: float,
    learned: Learned,
    rules: TuningRules,
    ahead: Ahead,
    scratch: Scratch,
) -> None:
    """Score example i, find the errors, and correct; count it, too, if this is the ``first``
    time.
    """
    index, weights, bias, met, progress = learned
    true_labels = labels.ids[labels.indptr[i] : labels.indptr[i + 1]]
    scores = scratch.scores
    for c in true_labels[: met.size]:  # none where met is empty
        met[c] = True
    fetch_lists(rows, i, index)
    n = add_votes(rows, i, index, rules.max_edges, rules.rare, scores, scratch.touched)
    with_vector = has_vector(vector)
    if with_vector:
        n = add_vector_votes(
            vector, weights, bias, met, MARGIN - BEHIND if contest else 0.0, scores, scratch.touched
        )
    n = only_judged(labels, i, scratch, n)
    if first:
        rank_ahead(rows, i, index, bias, scratch, n, ahead)
    for c in true_labels:
        scratch.touched[n] = c
        n += scores[c] == 0.0  # a true label that was not retrieved has the score b_c
    retrieved = scratch.touched[:n]
    rival = -1
    eta = rules.step * share
    rate_factor = 1.0
    if contest and true_labels.size > 0:
        rival, behind = contend(bias, scratch, true_labels, retrieved)
        eta *= 1.0 if first else 1.0 - DOUBT * behind
        if first:
            note_progress(progress, true_labels, behind > 0.0)
        if rules.in_stream:
            rate_factor = rate_factor_of(progress, true_labels)
    else:
        each_for_itself(bias, scratch, true_labels, retrieved)
    errors = scores  # which are not needed any more
    wrong = has_error(retrieved, errors)
    if first and wrong:
        count_and_correct(rows, labels, i, index, scratch, rival, least, rules, eta, rate_factor)
    elif first:
        for f in rows.indices[rows.indptr[i] : rows.indptr[i + 1]]:
            see(index.features[f])
    elif wrong and eta > 0.0:
        correct(rows, i, index, errors, eta, rate_factor)
    if with_vector and wrong:
        correct_vector(vector, weights, scratch, n, eta * rate_factor)
    for c in retrieved:
        bias[c] += BIAS_RATE * eta * rate_factor * errors[c]
        errors[c] = 0.0


# Errors


@part
def each_for_itself(bias: Floats, scratch: Scratch, true_labels: Ints, retrieved: Ints) -> None:
    """Replace the scores of the labels found, the true ones included, by their errors e_c.

    The loop over all of them has no branch, since it could not be predicted.
    """
    scores = scratch.scores
    true_scores = scratch.kept
    for b in range(true_labels.size):
        true_scores[b] = scores[true_labels[b]] + bias[true_labels[b]]
    for c in retrieved:
        scores[c] = 0.0 - np.float32(max(0.0, scores[c] + bias[c]))
    for b in range(true_labels.size):
        scores[true_labels[b]] = np.float32(max(0.0, 1.0 - true_scores[b]))


@part
def contend(
    bias: Floats, scratch: Scratch, true_labels: Ints, retrieved: Ints
) -> tuple[int, float]:
    """Replace the scores by the errors e_c of a contest. Of several true labels the one with the
    lowest score is y.

    Returns the best wrong label if it has an error, otherwise −1, and by how much it leads (0 … 1).
    """
    scores = scratch.scores
    near = scratch.rising
    mark = scratch.mark
    scratch.clock[0] += 1
    y = -1
    low = 0.0
    for c in true_labels:
        if y < 0 or scores[c] + bias[c] < low:
            y = c
            low = scores[c] + bias[c]
        mark[c] = scratch.clock[0]
    is_retrieved = scores[y] != 0.0
    rival = -1
    high = 0.0
    n = 0
    total = 0.0
    for c in retrieved:
        score = scores[c] + bias[c]
        scores[c] = 0.0
        if mark[c] != scratch.clock[0]:
            if rival < 0 or score > high:
                rival = c
                high = score
            short = MARGIN + score - low
            if short > 0.0:
                near[n] = c
                scores[c] = short
                n += 1
                total += short
    theta = total / (1.0 + n)
    n_before = -1
    while n != n_before:  # labels that are not short of θ drop out, until none does
        n_before = n
        n = 0
        total = 0.0
        for a in range(n_before):
            c = near[a]
            short = scores[c]
            near[n] = c
            if short > theta:
                n += 1
                total += short
            else:
                scores[c] = 0.0
        theta = total / (1.0 + n)
    scale = 1.0 / max(1.0, theta)
    for c in near[:n]:
        scores[c] = np.float32(-scale * (scores[c] - theta))
    if n == 0 and (rival < 0 or not is_retrieved):
        # no other label was retrieved, or y itself was not
        theta = min(1.0, max(0.0, MARGIN - low))
    scores[y] = np.float32(scale * theta)
    behind = min(1.0, max(0.0, high - low)) if rival >= 0 else 0.0
    return rival if rival >= 0 and scores[rival] < 0.0 else -1, behind


@part
def has_error(retrieved: Ints, errors: Floats) -> bool:
    """Whether any of the labels found has an error."""
    a = 0
    while a < retrieved.size and errors[retrieved[a]] == 0.0:
        a += 1
    return a < retrieved.size


@part
def only_judged(labels: LabelSets, i: int, scratch: Scratch, n: int) -> int:
    """Keep of the n retrieved labels those that were judged, in their order; returns how many."""
    if is_complete(labels.partial, i):
        return n
    scratch.clock[0] += 1
    for b in range(labels.indptr[i], labels.indptr[i + 1]):
        scratch.mark[labels.ids[b]] = scratch.clock[0]
    for b in range(labels.partial.indptr[i], labels.partial.indptr[i + 1]):
        scratch.mark[labels.partial.ids[b]] = scratch.clock[0]
    n_judged = 0
    for a in range(n):
        c = scratch.touched[a]
        if scratch.mark[c] == scratch.clock[0]:
            scratch.touched[n_judged] = c
            n_judged += 1
        else:
            scratch.scores[c] = 0.0
    return n_judged


# Corrections


@part
def correct(
    rows: Rows, i: int, index: Index, errors: Floats, eta: float, rate_factor: float
) -> None:
    """u_fc += η·x[f]·e_c on all edges; where c has no error this adds 0, which is faster than a
    branch.
    """
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        feature = index.features[rows.indices[j]]
        shift = eta * rows.data[j] * rate_factor_of_feature(rate_factor, feature["seen"])
        first = feature["start"]
        for edge in index.edges[first : first + feature["length"]]:
            edge["tuned"] += shift * errors[edge["label"]]


@part
def count_and_correct(
    rows: Rows,
    labels: LabelSets,
    i: int,
    index: Index,
    scratch: Scratch,
    rival: int,
    least: float,
    rules: TuningRules,
    eta: float,
    rate_factor: float,
) -> None:
    """Correct, and count the true labels that have an error, in one pass over each list.

    Edges whose weight grows move up afterwards, in their order, so that lists stay sorted.
    """
    edges = index.edges
    errors = scratch.scores
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f = rows.indices[j]
        x = rows.data[j]
        feature = index.features[f]
        shift = eta * x * rate_factor_of_feature(rate_factor, feature["seen"])
        see(feature)
        scratch.clock[0] += 1
        first = feature["start"]
        n = feature["length"]
        voting_edges = edges[first : first + n]
        has_rival = rival < 0
        n_rising = 0
        for at in range(n):
            c = voting_edges[at]["label"]
            error = errors[c]
            voting_edges[at]["tuned"] += shift * error
            has_rival |= c == rival
            scratch.rising[np.uint64(n_rising)] = at  # overwritten by the next one, unless c rises
            n_rising += error > 0.0
        for at in scratch.rising[:n_rising]:
            c = voting_edges[at]["label"]
            scratch.mark[c] = scratch.clock[0]
            weight = raised(voting_edges[at]["weight"], x, feature["total"])
            tuned = np.float64(voting_edges[at]["tuned"])
            # types as below: it is compiled once
            put_in_place(voting_edges, 0, np.int64(at), np.int64(c), weight, tuned)
        for c in labels.ids[labels.indptr[i] : labels.indptr[i + 1]]:
            if errors[c] > 0.0:
                feature["total"] += x
                if scratch.mark[c] != scratch.clock[0]:
                    add_edge(f, np.int64(c), x, shift * errors[c], index, rules)
        if not has_rival and feature["length"] < rules.max_edges:
            add_edge(f, rival, UNCOUNTED * x, shift * errors[rival], index, rules)
        cut_tail(feature, edges, index.used, 0, least, True)


@part
def add_edge(
    f: int, c: int | np.int64, weight: float, tuned: float, index: Index, rules: TuningRules
) -> None:
    """Add an edge; in a full list it replaces the lightest one."""
    feature = index.features[f]
    edges = index.edges
    n = feature["length"]
    if n >= rules.max_edges:
        n -= 1
    elif index.used[EDGES] >= rules.cap:
        return
    else:
        if n == feature["capacity"]:
            move_to_more_room(f, n + 1, index)
        feature["length"] = n + 1
        index.used[EDGES] += 1
    put_in_place(edges, feature["start"], feature["start"] + n, c, weight, tuned)


# The learning-rate factor of a stream: the share of the step that an example takes.


@part
def note_progress(progress: Floats, true_labels: Ints, missed: bool) -> None:
    """Count an example of these labels, and whether another label was ranked above them."""
    for c in true_labels:
        progress[c, SEEN] += 1.0
        progress[c, MISSED] *= 1.0 - 1.0 / RECENT
        if missed:
            progress[c, MISSED] += 1.0 / RECENT


@part
def rate_factor_of(progress: Floats, true_labels: Ints) -> float:
    """The largest factor of an example's labels. It is 1 for a label without examples, and again
    for one whose last examples were all missed.
    """
    rate_factor = LEAST_RATE_FACTOR
    for c in true_labels:
        by_count = KNOWN_AFTER / (KNOWN_AFTER + progress[c, SEEN])
        rate_factor = max(rate_factor, by_count, 2.0 * progress[c, MISSED] - 1.0)
    return rate_factor


@part
def rate_factor_of_feature(rate_factor: float, seen: int) -> float:
    """The factor of a feature that was seen so often: that of the labels, or more if it is rare."""
    return max(rate_factor, KNOWN_FEATURE_AFTER / (KNOWN_FEATURE_AFTER + seen))
