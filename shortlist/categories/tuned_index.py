"""Count, then tune: a Feature-Focus index whose weights are corrected where ranking by counts alone is wrong.

Beyond the papers, but made of them. Each edge has, beside the proportion w_fc that FF counts (paper 004), a correction
u_fc, at first 0; feature f votes for class c with (r_f·w_fc + u_fc)·x[f]. An example is first counted as FF does it.
Then each of its classes that does not lead the best wrong class c′ by ``lead`` is moved, by the passive-aggressive step
(Crammer et al. 2006) on the edges that are there:

    τ = min(step, (lead − s_c + s_c′) / 2‖x‖²) / √n,    u_fc += τ·x[f],    u_fc′ −= τ·x[f],

where n of its classes do not lead: c′ is moved n times. So the index stays as sparse and as bounded as FF left it.
Further passes of ``fit`` only tune, each with half the step.

Where label sets are incomplete, a "wrong" class is often a true one that nobody wrote down, and corrections do harm.
So the stream itself chooses (progressive validation): every few examples, before they are learned, are ranked by the
counts alone, with several values of ``rare``, and by the corrected index. Once the counts are ahead by more than
chance, corrections are given up for good; from then on the best ``rare`` so far is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.categories.feature_focus import DONE, WANTS_SLOTS, FeatureFocus, holds
from shortlist.categories.feature_focus import learn as count_examples
from shortlist.categories.index import END, Index, retrieve
from shortlist.door import Rows, RowStore, as_real, as_whole
from shortlist.kernels import Floats, Ints, Longs, kernel
from shortlist.labels import LabelSets
from shortlist.store import State

USUAL = 10  # the value of ``rare`` to begin with
RARES = (5, 10, 20, 40)  # tried against each other where ``rare`` is None
COUNTED, TUNED, SPLIT, TRIALS = 4, 5, 6, 7  # entries of hits, behind those of RARES; SPLIT: where the two disagreed
EXAMPLES, DUE, TUNING, RARE = 0, 1, 2, 3  # entries of course: examples so far; the next trial; what is in use
EVERY, CHECK, MEMORY = 4, 1000, 20_000  # one example in 4 is a trial; decide every 1,000; what is older fades


class TunedIndex(FeatureFocus):
    """Feature-Focus with corrected weights: as accurate as a support vector machine where labels can be trusted.

    Parameters
    ----------
    margin, min_weight, max_edges, leakage, values, first, max_total_edges, random_state, n_jobs : as FeatureFocus has
        them; the defaults are wider.
    passes : how often ``fit`` goes through the rows: the first time it counts and tunes, then it tunes.
    lead : by how much a true class shall lead the best wrong one.
    step : the largest correction at a time; 0 for none; None: 1, but given up where the stream shows that it does harm.
    rare : features seen fewer than this many times vote with less weight, in proportion; None: 10, and where
        corrections were given up the best of 5, 10, 20 and 40 so far.
    """

    def __init__(
        self,
        min_weight: float = 0.005,
        max_edges: int = 50,
        margin: float = 1.0,
        passes: int = 4,
        lead: float = 2.0,
        step: float | None = None,
        rare: int | None = None,
        leakage: bool = True,
        values: str = "l2",
        first: int = 50,
        max_total_edges: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            min_weight=min_weight, max_edges=max_edges, margin=margin, passes=passes, leakage=leakage, values=values,
            first=first, max_total_edges=max_total_edges, random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        self.lead = lead
        self.step = step
        self.rare = rare  # type: ignore[assignment]

    def _begin(self) -> None:
        super()._begin()
        as_real(self.lead, "lead", least=0)
        if self.step is not None:
            as_real(self.step, "step", least=0)
        self._hits = np.zeros(TRIALS + 1)
        self._course = np.array([0, 0, self.step != 0, self._rare_given()], dtype=np.int64)
        self._pass = 0

    def _rare_given(self) -> int:
        return USUAL if self.rare is None else as_whole(self.rare, "rare")

    def _learn(self, rows: Rows | RowStore, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self._pass = 0 if first_pass else self._pass + 1
        step = (1.0 if self.step is None else float(self.step)) * 0.5**self._pass
        if not (first_pass or self.tuning_):
            return
        cap = self._cap()
        scores, touched = self._ready(rows, labels, order, cap)
        for some_rows, some_labels, some in self.pieces(rows, labels, order):
            if first_pass:
                self._count_and_tune(some_rows, some_labels, some, scores, touched, step, cap)
            else:
                tune(
                    some_rows, some_labels, some, self._index, scores, touched, self.max_edges, self.rare_,
                    float(self.lead), step,
                )  # fmt: skip

    def _count_and_tune(
        self, rows: Rows, labels: LabelSets, order: Longs, scores: Floats, touched: Ints, step: float, cap: int
    ) -> None:
        choosing = self.step is None, self.rare is None
        done, why = 0, WANTS_SLOTS
        while why != DONE:
            done, why, slots = count_and_tune(
                rows, labels, order, done, self._index, scores, touched, self.max_edges, float(self.min_weight),
                float(self.margin), self.first, bool(self.leakage), cap, float(self.lead), step, choosing,
                self._hits, self._course,
            )  # fmt: skip
            self._make_room(why, slots, cap)

    @property
    def tuning_(self) -> bool:
        """Whether corrections are being made: False once the stream has shown that they do harm."""
        return bool(self._course[TUNING])

    @property
    def rare_(self) -> int:
        """The value of ``rare`` in use."""
        return int(self._course[RARE])

    def _merge(self, other: Any, numbers: Ints) -> None:
        """As FF merges; corrections, which are sums of steps, add up too, unless either side has given them up."""
        super()._merge(other, numbers)
        self._hits += other._hits
        self._course[EXAMPLES] += other._course[EXAMPLES]
        if not (self.tuning_ and other.tuning_):
            give_up(self._index, self._course)

    def _to_arrays(self) -> dict[str, Any]:
        own = {"edge_tuned": self._index.column("tuned"), "hits": self._hits, "course": self._course}
        return super()._to_arrays() | own

    def _from_arrays(self, state: State) -> None:
        super()._from_arrays(state)
        tuned = state.array("edge_tuned", np.float32)
        self._hits, self._course = np.array(state.array("hits", np.float64)), np.array(state.array("course", np.int64))
        state.require(tuned.size == self._index.edges.size, "each edge has a correction")
        state.require(bool(np.isfinite(tuned).all() and np.isfinite(self._hits).all()), "corrections are finite")
        state.require(self._hits.size == TRIALS + 1 and self._course.size == RARE + 1, "it has all counts of trials")
        state.require(bool((self._course >= 0).all()), "counts are at least 0")
        self._index.edges["tuned"] = tuned


@kernel
def count_and_tune(
    rows: Rows, labels: LabelSets, order: Longs, position: int, index: Index, scores: Floats, touched: Ints,
    max_edges: int, min_weight: float, margin: float, first: int, leakage: bool, cap: int, lead: float, step: float,
    choosing: tuple[bool, bool], hits: Floats, course: Longs,
) -> tuple[int, int, int]:  # fmt: skip
    """Learn the rows order[position:] for the first time. Stops early where the index has too little room.

    hits: float64[TRIALS + 1]; course: int64[RARE + 1]. The rest, and what is returned, as in feature_focus.learn.
    """
    for t in range(position, order.size):
        one = order[t : t + 1]
        if course[DUE] == course[EXAMPLES] and (choosing[0] or choosing[1]):
            course[DUE] += EVERY
            try_out(rows, labels, one[0], index, scores, touched, max_edges, hits, course)
        _, why, slots = count_examples(
            rows, labels, one, 0, True, index, scores, touched,
            max_edges, min_weight, margin, first, course[RARE], leakage, cap,
        )  # fmt: skip
        if why != DONE:
            return t, why, slots
        if course[TUNING]:
            tune(rows, labels, one, index, scores, touched, max_edges, course[RARE], lead, step)
        course[EXAMPLES] += 1
        if course[EXAMPLES] % CHECK == 0:
            choose(choosing, index, hits, course)
    return order.size, DONE, 0


@kernel
def tune(
    rows: Rows, labels: LabelSets, order: Longs, index: Index, scores: Floats, touched: Ints,
    max_edges: int, rare: int, lead: float, step: float,
) -> None:  # fmt: skip
    """Correct the votes for each class of an example that does not lead, and for the wrong class it should lead."""
    for i in order:
        n = retrieve(rows, i, index, max_edges, rare, True, scores, touched)
        wrong = best_wrong(labels, i, scores, touched, n)
        highest = scores[wrong] if wrong >= 0 else 0.0
        square = 0.0
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            square += rows.data[j] * rows.data[j]
        behind = 0  # n, how many classes do not lead
        for b in range(labels.indptr[i], labels.indptr[i + 1]):
            behind += lead - scores[labels.ids[b]] + highest > 0.0
        for b in range(labels.indptr[i], labels.indptr[i + 1]):
            c = labels.ids[b]
            loss = lead - scores[c] + highest
            if loss > 0.0 and square > 0.0:
                tau = min(step, loss / (2.0 * square)) / np.sqrt(behind)
                move(rows, i, index, max_edges, c, wrong, tau)
        for a in range(n):
            scores[touched[a]] = 0.0


@kernel
def best_wrong(labels: LabelSets, i: int, scores: Floats, touched: Ints, n: int) -> int:
    """The class with the highest score above 0 of those that example i does not have; −1 if there is none."""
    wrong, highest = -1, 0.0
    for a in range(n):
        c = touched[a]
        if scores[c] > highest and not holds(labels, i, c):
            wrong, highest = c, scores[c]
    return wrong


@kernel
def move(rows: Rows, i: int, index: Index, max_edges: int, c: int, wrong: int, tau: float) -> None:
    """u_fc += τ·x[f] and u_fc′ −= τ·x[f] on the edges that vote."""
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        feature, shift = index.features[rows.indices[j]], np.float32(tau * rows.data[j])
        for e in range(feature["start"], feature["start"] + min(feature["length"], max_edges)):
            if index.edges[e]["label"] == c:
                index.edges[e]["tuned"] += shift
            elif index.edges[e]["label"] == wrong:
                index.edges[e]["tuned"] -= shift


# Progressive validation


@kernel
def try_out(
    rows: Rows, labels: LabelSets, i: int, index: Index, scores: Floats, touched: Ints, max_edges: int,
    hits: Floats, course: Longs,
) -> None:  # fmt: skip
    """Rank example i, not yet learned: with and without corrections, or with each value of ``rare``."""
    if hits[TRIALS] == MEMORY // EVERY:
        hits *= 0.5  # what came first counts less and less
    hits[TRIALS] += 1.0
    if course[TUNING]:
        counted = leads(rows, labels, i, index, scores, touched, max_edges, course[RARE], False)
        tuned = leads(rows, labels, i, index, scores, touched, max_edges, course[RARE], True)
        hits[COUNTED] += counted
        hits[TUNED] += tuned
        hits[SPLIT] += counted != tuned
    else:
        for r in range(len(RARES)):
            hits[r] += leads(rows, labels, i, index, scores, touched, max_edges, RARES[r], False)


@kernel
def leads(
    rows: Rows, labels: LabelSets, i: int, index: Index, scores: Floats, touched: Ints, max_edges: int,
    rare: int, corrected: bool,
) -> bool:  # fmt: skip
    """Whether a class of example i is ranked first."""
    n = retrieve(rows, i, index, max_edges, rare, corrected, scores, touched)
    best, highest = -1, 0.0
    for a in range(n):
        c = touched[a]
        if scores[c] > highest:
            best, highest = c, scores[c]
        scores[c] = 0.0
    return holds(labels, i, best)


@kernel
def choose(choosing: tuple[bool, bool], index: Index, hits: Floats, course: Longs) -> None:
    """Give up corrections if the counts are ahead by two standard deviations; after that, take the best ``rare``."""
    if course[TUNING]:
        if choosing[0] and hits[COUNTED] - hits[TUNED] > 2.0 * np.sqrt(hits[SPLIT]):
            give_up(index, course)
            hits[:] = 0.0
    elif choosing[1] and hits[TRIALS] > 0.0:
        course[RARE] = RARES[np.argmax(hits[: len(RARES)])]


@kernel
def give_up(index: Index, course: Longs) -> None:
    course[TUNING] = 0
    for e in range(index.used[END]):
        index.edges[e]["tuned"] = 0.0
