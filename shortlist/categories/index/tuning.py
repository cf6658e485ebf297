"""Count, then tune: a Feature-Focus index whose votes are corrected, label by label, where they miss.

Beyond the papers, but made of them. Each edge has, beside the proportion w_fc that Feature-Focus counts (paper 004), a
correction u_fc, and each label a bias b_c, all 0 at first. A label that is retrieved has the score

    s_c = b_c + Σ_f (r_f·w_fc + u_fc)·x[f],

and one that is not has none (0). A true label shall score at least 1, a wrong one at most 0; by how much each label of
an example misses that is what the example teaches, by the rule of Widrow and Hoff (paper 002):

    e_c = max(0, 1 − s_c) for a true label, −max(0, s_c) for a wrong one,
    u_fc += η·e_c·x[f] on the edges that voted and on new ones,    b_c += κ·η·e_c where c was retrieved.

The step is bolder where the index is sure of itself and wrong, as after a change of what labels mean. With the surprise
z = min(1, best wrong score)² of an example and its mean z̄ over some thousand examples that were new,

    η = g·step·(1 + 2.3·z·max(0, 1 − 5·z̄)) / max(1, 5·z̄):

where a wrong label that scores 1 is rare, it teaches three times as much; where it is common, it is noise, and every
example teaches less. The pace g is 1 at first, and at most 4. How a new example finds the corrections so far is told by

    a = Σ_c e_c·Σ_f u_fc·x[f]:

above 0 they point where the example wants to go, and are too short; below 0 they have gone too far. So a new example
multiplies g by 1 + a / (1000·ā), where ā is the mean of |a|, and a / ā counts as 5 at most. Long texts whose labels can
be foreseen want larger steps than short ones whose labels cannot.

The first time an example is seen, its true labels with e_c > 0 are counted too, as FSU counts (feature_focus.py):
w′_fc += x[f], w′_f += x[f]. An example with many labels spreads its weight over many edges, so an edge may have a share
as small as ``min_weight`` divided by the mean number of labels so far. Where that number is 4 or more, half as much is
enough, and five times ``max_edges`` edges of a list vote: with many labels a word has something to say about many.
The index is as bounded as Feature-Focus has it. Further passes of ``fit`` only correct, with steps that fall evenly
from g/2 of that, or from all of it where g > 2, to nothing.

Each label is corrected for itself, never against another one. So a label that is true but that nobody has written down,
of which real label sets are full, costs a small step on its own score and nothing else. Where examples have one label
each there are no such labels, and they contend (contest.py): there only e_c and η are others.

Where an example was judged in part, the labels that nobody judged are as if they were not retrieved: they have no
error, contend with no one, and neither their weights nor their corrections change.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel, part
from shortlist.arrays.rows import Rows
from shortlist.categories.index.ahead import Ahead, rank_ahead
from shortlist.categories.index.contest import FASTER, LEAD, NOTHING, WIDE_LEAD, contend, rivals, trust
from shortlist.categories.index.course import (
    EXAMPLES,
    LABELS,
    MISSED,
    PACE,
    SURPRISE,
    are_contending,
    are_many,
    are_single,
    note_labels,
    note_missed,
    note_surprise,
    set_pace,
)
from shortlist.categories.index.lists import EDGES, Index, cut_tail, put_in_place, raised, see
from shortlist.categories.index.misses import each_for_itself, has_error, is_missed, only_judged
from shortlist.categories.index.others import add_votes_to_learn
from shortlist.categories.index.pruning import room_for
from shortlist.categories.index.recent import (
    AGAIN,
    MOST_EXAMPLES,
    Recent,
    ago,
    has_changed,
    let_all_go,
    longest_lag,
    take_up,
)
from shortlist.categories.index.retrieval import fetch_lists
from shortlist.categories.index.sharing import Missed
from shortlist.categories.index.slots import move_to_more_room
from shortlist.categories.pauses import DONE
from shortlist.categories.scratch import Scratch, make_scratch
from shortlist.labels import LabelSets

FURTHER = 0.5  # of the step, where further passes begin; times g, but no more than the step itself
BOLD, DOUBT = 2.3, 5.0  # how much bolder; from which z̄ on not at all (1/5)
WIDER, LIGHTER = 5, 0.5  # where labels are many: so many times as many edges vote, of so much of the share
ALL_LABELS = 1 << 32  # no list has more edges
KAPPA = 0.04  # κ: a label's bias learns as a feature would that is in every row with the value 0.2


@kernel
def learn(
    rows: Rows, labels: LabelSets, order: Longs, position: int, first_pass: bool, index: Index, bias: Floats,
    stats: Floats, to_come: Floats, max_edges: int, min_weight: float, rare: int, leakage: bool, cap: int, step: float,
    few: bool, small: bool, missed: Missed, ahead: Ahead, mates: Ahead, recent: Recent,
) -> tuple[int, int, int]:  # fmt: skip
    """Learn the examples order[position:]. Stops early, before an example, where the index has too little room for it.

    Returns how many of ``order`` are done, why it stopped, and how many free slots are wanted.
    to_come: how many examples further passes have still to correct, and how many they had when they began.
    few: whether labels have few examples each, and all of them are gone through several times; small: whether there are
    few in all.
    missed: int8[order], receives whether a wrong label was first before an example was learned; empty if nobody asks.
    ahead, mates: receive rankings of some examples, as they were before each was learned; mates where labels are many.
    recent: the last examples of a stream, to be gone through again.
    """
    return learn_each(
        rows, labels, order, position, first_pass, index, bias, stats, to_come, max_edges, min_weight, rare, leakage,
        cap, step, few, small, missed, ahead, mates, recent, make_scratch(bias.size),
    )  # fmt: skip


@part
def learn_each(
    rows: Rows, labels: LabelSets, order: Longs, position: int, first_pass: bool, index: Index, bias: Floats,
    stats: Floats, to_come: Floats, max_edges: int, min_weight: float, rare: int, leakage: bool, cap: int, step: float,
    few: bool, small: bool, missed: Missed, ahead: Ahead, mates: Ahead, recent: Recent, scratch: Scratch,
) -> tuple[int, int, int]:  # fmt: skip
    """``learn``, with what it keeps for each label."""
    for t in range(position, order.size):
        i, voting, many = order[t], width(max_edges, stats), are_many(stats)
        if first_pass:
            why, slots = room_for(rows, labels, i, index, cap)
            if why != DONE:
                return t, why, slots
            note_labels(stats, labels, i)
        fetch_lists(rows, i, index)
        again = small and not first_pass and are_contending(stats, few)
        n = add_votes_to_learn(rows, labels, i, index, voting, rare, again, scratch)
        n = only_judged(labels, i, scratch, n)
        rank_ahead(rows, i, index, bias, scratch, n, ahead)
        if many:
            rank_ahead(rows, i, index, bias, scratch, n, mates)
        if missed.size > 0:
            missed[t] = is_missed(labels, i, bias, scratch, n)
        rival, kept, eta, behind, first, z = find_errors(
            labels, i, first_pass, bias, stats, scratch, n, voting, step, few
        )
        own = labels.ids[labels.indptr[i] : labels.indptr[i + 1]]
        teaches = has_error(own, scratch.touched[:n], scratch.change)
        if first_pass:
            least, a = least_share(min_weight, stats), 0.0
            if teaches:
                a = count_and_correct(rows, labels, i, index, scratch, voting, rival, kept, least, leakage, cap, eta)
            else:
                only_see(rows, i, index, kept, least, leakage)
            set_pace(stats, labels, i, a)
        else:
            eta *= of_further_pass(stats, to_come) * trust(kept > 0 and not few, z)
            if teaches and eta > 0.0:
                correct(rows, i, index, scratch, voting, eta)
        add_to_biases(bias, scratch, own, n, eta)
        if recent.span.size > 0:
            go_on(rows, labels, i, index, bias, stats, scratch, max_edges, rare, step, recent, behind, first)
    return order.size, DONE, 0


@part
def add_to_biases(bias: Floats, scratch: Scratch, own: Ints, n: int, eta: float) -> None:
    """b_c += κ·η·e_c of the n retrieved labels; then nothing is left of the errors and scores of the example."""
    for c in scratch.touched[:n]:
        bias[c] += KAPPA * eta * scratch.change[c]
        scratch.scores[c] = scratch.change[c] = 0.0
    for c in own:
        scratch.change[c] = 0.0


@part
def go_on(
    rows: Rows, labels: LabelSets, i: int, index: Index, bias: Floats, stats: Floats, scratch: Scratch, max_edges: int,
    rare: int, step: float, recent: Recent, missed: float, first: int,
) -> None:  # fmt: skip
    """Example i of a stream was learned, and ``missed`` before: go through some of the last ones again, and keep it.

    first: the label that was first then.
    """
    if stats[EXAMPLES] > MOST_EXAMPLES or not are_single(stats) or has_changed(recent, missed, stats[MISSED]):
        let_all_go(recent)
        return
    lag = longest_lag(recent)
    for _ in range(AGAIN):
        if lag > 0:
            go_through_again(
                recent.rows, recent.labels, ago(recent, lag), index, bias, stats, scratch, max_edges, rare, step
            )
        lag //= 2
    take_up(recent, rows, labels, i, first)


@part
def go_through_again(
    rows: Rows, labels: LabelSets, i: int, index: Index, bias: Floats, stats: Floats, scratch: Scratch, max_edges: int,
    rare: int, step: float,
) -> None:  # fmt: skip
    """Correct example i, which has one label, as the first one of a further pass."""
    fetch_lists(rows, i, index)
    n = add_votes_to_learn(rows, labels, i, index, max_edges, rare, are_contending(stats, False), scratch)
    _, kept, eta, _, _, z = find_errors(labels, i, False, bias, stats, scratch, n, max_edges, step, False)
    eta *= min(1.0, FURTHER * stats[PACE]) * trust(kept > 0, z)
    own = labels.ids[labels.indptr[i] : labels.indptr[i + 1]]
    if eta > 0.0 and has_error(own, scratch.touched[:n], scratch.change):
        correct(rows, i, index, scratch, max_edges, eta)
    add_to_biases(bias, scratch, own, n, eta)


@part
def of_further_pass(stats: Floats, to_come: Floats) -> float:
    """By how much a step of a further pass is shorter; one example less is to come."""
    share = min(1.0, FURTHER * stats[PACE]) * to_come[0] / to_come[1]
    to_come[0] -= 1.0
    return share


@part
def boldness(z: float, mean: float) -> float:
    """η / step for an example of surprise z, where z̄ is the mean."""
    return (1.0 + BOLD * z * max(0.0, 1.0 - DOUBT * mean)) / max(1.0, DOUBT * mean)


@part
def least_share(min_weight: float, stats: Floats) -> float:
    """The least share that an edge may have: min_weight, divided by the mean number of labels if that is above 1."""
    if stats[LABELS] <= stats[EXAMPLES]:
        return min_weight
    return (LIGHTER if are_many(stats) else 1.0) * min_weight * stats[EXAMPLES] / stats[LABELS]


@part
def width(max_edges: int, stats: Floats) -> int:
    """How many edges of a list vote: max_edges, or five times as many where examples have many labels."""
    return WIDER * min(max_edges, ALL_LABELS) if are_many(stats) else max_edges


@part
def find_errors(
    labels: LabelSets, i: int, first_pass: bool, bias: Floats, stats: Floats, scratch: Scratch, n: int,
    max_edges: int, step: float, few: bool,
) -> tuple[int, int, float, float, int, float]:  # fmt: skip
    """e_c of the n retrieved labels of example i, and of its own. The stats go on where the example is new.

    Gives the wrong label that is to have new edges (−1 for none), how many edges stay however light, η, whether the
    true label was missed (1 or 0; −1 where nobody asks), which label was first (−1 for none), and the surprise z.
    """
    own, touched = labels.ids[labels.indptr[i] : labels.indptr[i + 1]], scratch.touched[:n]
    for c in own:
        scratch.change[c] = 1.0
    missed, first = -1.0, -1
    if own.size > 0 and are_single(stats):
        r, low, s, high = rivals(scratch.scores, scratch.change, bias, own, touched)
        missed, first = (0.0, r) if low > high else (1.0, s)
        if first_pass:
            note_missed(stats, missed)
        if are_contending(stats, few):
            lead = WIDE_LEAD if few else LEAD
            contend(scratch.scores, scratch.change, bias, own, touched, r, low, s, lead)
            z = min(1.0, max(0.0, high - low)) ** 2
            if first_pass:
                note_surprise(stats, z)
            return s if s >= 0 and scratch.change[s] < 0.0 else -1, max_edges, step * FASTER, missed, first, z
    z = each_for_itself(bias, scratch, own, touched)
    if first_pass:
        note_surprise(stats, z)
    return -1, 0, step * stats[PACE] * boldness(z, stats[SURPRISE]), missed, first, z


@part
def correct(rows: Rows, i: int, index: Index, scratch: Scratch, max_edges: int, eta: float) -> None:
    """u_fc += η·e_c·x[f] on the edges that voted, by 0 where c has no error: which have one nobody can foresee."""
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        feature, shift = index.features[rows.indices[j]], eta * rows.data[j]
        first = feature["start"]
        for edge in index.edges[first : first + min(feature["length"], max_edges)]:
            edge["tuned"] += shift * scratch.change[edge["label"]]


@part
def only_see(rows: Rows, i: int, index: Index, keep: int, least: float, leakage: bool) -> None:
    """What is left of count_and_correct where no label has an error: features are seen, and their lists are cut."""
    for f in rows.indices[rows.indptr[i] : rows.indptr[i + 1]]:
        see(index.features[f])
        cut_tail(index.features[f], index.edges, index.used, keep, least, leakage)


@part
def count_and_correct(
    rows: Rows, labels: LabelSets, i: int, index: Index, scratch: Scratch,
    max_edges: int, rival: int, keep: int, least: float, leakage: bool, cap: int, eta: float,
) -> float:  # fmt: skip
    """FSU for all true labels with an error at once, in one walk along each list that corrects its edges as well.

    Edges that rise move up after the walk, the first of them first, so a sorted list stays sorted; new edges come last,
    before the cut. The walk has no branch but one that can be foreseen.
    Gives a, how far the errors agree with the corrections that there were.
    """
    edges, agreement = index.edges, 0.0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f, x, shift = rows.indices[j], rows.data[j], eta * rows.data[j]
        feature = index.features[f]
        see(feature)
        scratch.clock[0] += 1
        first, n = feature["start"], feature["length"]
        own, has_rival, n_rising = edges[first : first + n], False, 0
        for at in range(n):
            c = own[at]["label"]
            change = scratch.change[c]
            if at < max_edges:
                agreement += x * change * own[at]["tuned"]
                own[at]["tuned"] += shift * change
            has_rival |= c == rival
            scratch.rising[np.uint64(n_rising)] = at  # to be overwritten by the next one, unless c rises
            n_rising += change > 0.0
        for at in scratch.rising[:n_rising]:
            c = own[at]["label"]
            scratch.mark[c] = scratch.clock[0]
            put_in_place(own, 0, at, c, raised(own[at]["weight"], x, feature["total"]), own[at]["tuned"])
        for b in range(labels.indptr[i], labels.indptr[i + 1]):
            c = labels.ids[b]
            if scratch.change[c] > 0.0:
                feature["total"] += x
                if scratch.mark[c] != scratch.clock[0] and index.used[EDGES] < cap:
                    if n == feature["capacity"]:
                        move_to_more_room(f, n + count_new(labels, b, labels.indptr[i + 1], scratch), index)
                        first = feature["start"]
                    put_in_place(edges, first, first + n, c, x, shift * scratch.change[c])
                    n += 1
                    feature["length"] = n
                    index.used[EDGES] += 1
        if rival >= 0 and not has_rival and n < max_edges and index.used[EDGES] < cap:
            if n == feature["capacity"]:
                move_to_more_room(f, n + 1, index)
                first = feature["start"]
            put_in_place(edges, first, first + n, rival, NOTHING * x, shift * scratch.change[rival])
            feature["length"] = n + 1
            index.used[EDGES] += 1
        cut_tail(feature, edges, index.used, keep, least, leakage)
    return agreement


@part
def count_new(labels: LabelSets, first: int, last: int, scratch: Scratch) -> int:
    """How many of the labels first..last−1 of an example a feature is to have new edges to, once its list is marked."""
    n = 0
    for b in range(first, last):
        c = labels.ids[b]
        n += scratch.change[c] > 0.0 and scratch.mark[c] != scratch.clock[0]
    return n
