"""Labels vote for labels, where examples have many of them.

Words vote for each label by itself, and no sum of such votes can say that two labels go together, or that one of them
is written down in place of the other. So once words have voted (tuning.py), the MATES best labels of an example vote
for one another. With z_l = s_l cut to 0 … 1, each label c among them has the score

    s′_c = s_c + Σ_l z_l·v_lc,

itself included, so that v_cc says how far its own score can be trusted. The votes v are 0 at first, and learned by the
rule by which words are: a true label shall score at least 1, a wrong one at most 0, and with e_c of s′_c

    v_lc += η·e_c·z_l,    η = min(step, 1.5) / 30.

An example that was learned scores higher than a new one, and what its labels say would be trusted too much. So v is
learned from rankings made on the way, each before its example was learned (ahead.py). Further passes of ``fit`` go
through the same rankings again, with steps that fall to nothing. What words learn does not depend on v.

Only the first MOST labels, in the order in which they appeared, have votes: labels that are frequent appear early, and
a square of that size is small. It is held as a matrix, to be reached quickly, and saved as a list of what is not 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, part
from shortlist.categories.best import keep_best, put_in
from shortlist.categories.index.ahead import NOBODY, Ahead
from shortlist.files.store import State
from shortlist.labels import LabelSets

MATES = 20  # labels of an example that vote for one another
MOST = 1024  # labels that have votes
# Steps are shorter than those of words, as a row of labels is longer than 1, up to √MATES; beyond that they overshoot.
SLOWER, MOST_STEP = 30.0, 1.5
PAIR = 1 << 16  # in a file a pair of labels is one number: this times the one that votes, and the other one
KEPT = 1 << 16  # rankings that further passes go through, the last ones

Votes = NDArray[np.float32]
NO_VOTES: Votes = np.zeros((0, 0), dtype=np.float32)
NO_ORDER: Longs = np.zeros(0, dtype=np.int64)


class Rankings(NamedTuple):
    """Rankings of examples, each made before its example was learned, and what was true."""

    ids: Ints  # int32[examples, MATES], −1 where there is no label
    scores: Floats  # float64[examples, MATES]
    labels: LabelSets

    @classmethod
    def stack(cls, parts: list[Rankings]) -> Rankings:
        """All of them, one part after the other."""
        ids, scores = np.concatenate([part.ids for part in parts]), np.concatenate([part.scores for part in parts])
        return cls(ids, scores, LabelSets.stack([part.labels for part in parts]))


def last_of(parts: list[Rankings]) -> list[Rankings]:
    """The last KEPT of these rankings."""
    n = 0
    for at in range(len(parts) - 1, -1, -1):
        ids, scores, labels = parts[at]
        first = max(0, len(ids) - (KEPT - n))
        n += len(ids)
        if first:
            shorter = Rankings(ids[first:], scores[first:], labels.chosen(np.arange(first, len(ids))))
            return [shorter, *parts[at + 1 :]]
    return parts


def grown_votes(votes: Votes, n_labels: int) -> Votes:
    """Room for the votes of so many labels, of MOST at most; twice as much as there was, if it is too little."""
    wanted = min(n_labels, MOST)
    if wanted <= len(votes):
        return votes
    size = min(MOST, 1 << (wanted - 1).bit_length())
    larger = np.zeros((size, size), dtype=np.float32)
    larger[: len(votes), : len(votes)] = votes
    return larger


def merged_votes(mine: Votes, theirs: Votes, numbers: Ints, share: float, n_labels: int) -> Votes:
    """Votes of two learners, of which the other one's count so much; its label i has the number numbers[i] here."""
    merged = grown_votes(mine * np.float32(1.0 - share), n_labels)
    one, other = np.nonzero(theirs)
    of, to = numbers[one], numbers[other]
    kept = (of < MOST) & (to < MOST)
    np.add.at(merged, (of[kept], to[kept]), np.float32(share) * theirs[one[kept], other[kept]])
    return merged


def with_twin(votes: Votes, label: int, twin: int) -> Votes:
    """Votes in which a new label has those of another, and is voted for as that is."""
    if votes.size == 0 or label >= MOST or twin >= MOST:
        return votes
    larger = grown_votes(votes, twin + 1).copy()
    larger[twin], larger[:, twin] = larger[label], larger[:, label]
    larger[twin, twin] = larger[label, label]
    return larger


def votes_to_arrays(votes: Votes) -> dict[str, Any]:
    """The arrays of a model file; none, if there are no votes."""
    one, other = np.nonzero(votes)
    if one.size == 0:
        return {}
    return {"company": (one * PAIR + other).astype(np.int32), "company_votes": votes[one, other]}


def votes_from_arrays(state: State, n_labels: int) -> Votes:
    """The votes of a model file, which may be older than any."""
    if "company" not in state.arrays:
        return NO_VOTES
    pairs, given = state.array("company", np.int32), state.array("company_votes", np.float32)
    state.require(pairs.size == given.size, "each vote of a label is for a label")
    one, other = pairs // PAIR, pairs % PAIR
    known = bool(((pairs >= 0) & (np.maximum(one, other) < min(n_labels, MOST))).all())
    state.require(known, "labels that vote for labels are its own")
    state.require(bool(np.isfinite(given).all()), "votes of labels are finite")
    votes = grown_votes(NO_VOTES, n_labels)
    votes[one, other] = given
    return votes


def votes_for(votes: Votes, ids: Ints, scores: Floats, label: int) -> tuple[Ints, Floats]:
    """The best labels of a row that vote for a label, and their votes, in the order in which they are added."""
    ids, scores = ids[ids >= 0], scores[ids >= 0]
    if label >= len(votes) or label not in ids:
        return np.zeros(0, dtype=np.int32), np.zeros(0)
    voting = ids < len(votes)
    own = np.clip(scores[voting], 0.0, 1.0) * votes[ids[voting], label].astype(np.float64)
    return ids[voting][own != 0], own[own != 0]


class Mates(NamedTuple):
    """Room for the best labels of a row, for their scores, and for what becomes of these."""

    ids: Ints
    scores: Floats
    sums: Floats


def room_for_mates() -> Mates:
    return Mates(np.empty(MATES, dtype=np.int32), np.empty(MATES), np.empty(MATES))


@part
def heard(score: float) -> float:
    """z of a score."""
    return min(1.0, max(0.0, score))


@part
def add_mates_votes(ids: Ints, scores: Floats, votes: Votes, sums: Floats) -> int:
    """sums[q] = s′ of the q-th of some labels, best first; gives how many there are."""
    n = 0
    while n < min(ids.size, MATES) and ids[n] >= 0:
        sums[n] = scores[n]
        n += 1
    for p in range(n):
        z = heard(scores[p])
        if z > 0.0 and ids[p] < votes.shape[0]:
            own = votes[ids[p]]
            for q in range(n):
                if ids[q] < votes.shape[0]:
                    sums[q] += z * own[ids[q]]
    return n


@part
def let_mates_vote(found: Ints, scores: Floats, votes: Votes, mates: Mates) -> None:
    """Change the scores of the best of the labels found to s′."""
    if votes.size > 0:
        mates.ids[:] = -1
        keep_best(found, scores, mates.ids, mates.scores)
        for q in range(add_mates_votes(mates.ids, mates.scores, votes, mates.sums)):
            scores[mates.ids[q]] = mates.sums[q]


@part
def keep_best_of_all(found: Ints, scores: Floats, votes: Votes, mates: Mates, ids: Ints, best: Floats) -> None:
    """The best of the labels found, best first, once the best by words have voted for one another."""
    let_mates_vote(found, scores, votes, mates)
    n = min(MATES, found.size)
    if votes.size == 0 or ids.size > n:
        keep_best(found, scores, ids, best)
        return
    least = mates.scores[n - 1]  # no other label scores more
    put_in_order(mates.ids[:n], mates.sums[:n])
    if n < found.size and mates.sums[ids.size - 1] <= least:
        keep_best(found, scores, ids, best)
        return
    for q in range(ids.size):
        ids[q], best[q] = mates.ids[q], mates.sums[q]


def step_of_labels(step: float) -> float:
    """η, where words have that step."""
    return min(step, MOST_STEP) / SLOWER


def learn(
    rankings: Rankings, votes: Votes, n_labels: int, begin: float, end: float, order: Longs = NO_ORDER,
    ahead: Ahead = NOBODY,
) -> None:  # fmt: skip
    """Learn from rankings, with steps that fall evenly from begin to end.

    order: the rows of the examples in ``ahead``, whose rankings by words are finished here, each before its turn.
    """
    _learn(*rankings, votes, begin, end, np.zeros(n_labels, dtype=np.bool_), np.zeros(MATES), order, ahead)


@part
def _learn(
    ids: Ints, scores: Floats, labels: LabelSets, votes: Votes, begin: float, end: float,
    is_true: NDArray[np.bool_], sums: Floats, order: Longs, ahead: Ahead,
) -> None:  # fmt: skip
    """is_true: for each label, false between examples; sums: float64[MATES]."""
    n_examples = ids.shape[0]
    for i in range(n_examples):
        if ahead.place.size > 0 and ahead.place[order[i]] >= 0:
            finish(ahead.ids[ahead.place[order[i]]], ahead.scores[ahead.place[order[i]]], votes, sums)
        n = add_mates_votes(ids[i], scores[i], votes, sums)
        step = begin + (end - begin) * i / n_examples
        own = labels.ids[labels.indptr[i] : labels.indptr[i + 1]]
        for c in own:
            is_true[c] = True
        for q in range(n):  # by how much of z each label is to move
            error = max(0.0, 1.0 - sums[q]) if is_true[ids[i, q]] else -max(0.0, sums[q])
            sums[q] = step * error
        for p in range(n):
            if ids[i, p] < votes.shape[0]:
                z, of_one = heard(scores[i, p]), votes[ids[i, p]]
                for q in range(n):
                    if ids[i, q] < votes.shape[0]:
                        of_one[ids[i, q]] += sums[q] * z
        for c in own:
            is_true[c] = False


@part
def finish(ids: Ints, scores: Floats, votes: Votes, sums: Floats) -> None:
    """Let labels vote in a ranking by words. That of a whole row is not the one that is learned from."""
    for q in range(add_mates_votes(ids, scores, votes, sums)):
        scores[q] = sums[q]
    put_in_order(ids, scores)


@part
def put_in_order(ids: Ints, scores: Floats) -> None:
    """Best first, ties to the lower number; −1 stays behind all others."""
    for a in range(1, ids.size):
        if ids[a] < 0:
            break
        put_in(ids, scores, a, ids[a], scores[a])
