"""What MMP and TopicPerceptron share: the stream, its losses, the hypothesis, and the steps of
their kernels.

Paper 001 ranks with the prototypes after the last example. As extensions it suggests their average
over time, which is here, and their vote and kernels, which are in
papers/comparators/extended_mmp.py.

Notation of paper 001: y the m relevant labels of an example, Y all labels known, E the pairs in the
wrong order. Labels with a score of their own are scratch.touched[:n], the relevant ones first; all
others, the crowd, share one score.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs, kernel
from shortlist.concurrency import runs
from shortlist.data.labels import LabelSets
from shortlist.data.rows import Rows, is_complete
from shortlist.data.validation import MOST_AMOUNT, as_choice, as_whole
from shortlist.files.store import State
from shortlist.learners.category_learner import Made
from shortlist.learners.prototypes.weights import (
    LISTED,
    SLOTS_USED,
    PrototypeLearner,
    Prototypes,
    mixed,
    no_prototypes,
)
from shortlist.learners.top_labels import DONE, WANTS_SLOTS, Scratch, keep_best, make_scratch

# entries of the counts
LABELS_KNOWN = 0
EXAMPLES_SEEN = 1
UNLIMITED_WEIGHTS = np.iinfo(np.int64).max
DROPPED_SHARE = 4  # full prototypes drop a quarter of their weights at once: dropping takes long
CURVE_STEP = 1.01  # from one point of the loss curve to the next


class TrainingStream(NamedTuple):
    """The input of a learner's kernel, and the losses that it writes."""

    read: Rows  # rows to score
    write: Rows  # rows to add to the prototypes: the same ones, but in the dual form
    square: Floats  # ‖x‖² of each row
    labels: LabelSets
    order: Longs
    is_known: NDArray[np.uint8]  # per label, whether it has arrived
    counts: Longs
    # float64[len(order), 3]: loss1, loss2, loss3 of each example, before it is learned
    losses: Floats
    cap: int  # differences that may be listed before the lightest must go
    average: bool  # whether moments are wanted
    # whether to stop before an example that changes the prototypes, for voters to be kept
    stops: bool = False


class OnlinePrototypes(PrototypeLearner):
    """Base class: learns prototypes from a stream. A learner adds its kernel, in ``_run``."""

    takes_partial = True
    hypotheses: ClassVar[tuple[str, ...]] = ("last", "averaged")
    hypothesis: str
    max_weights: int | None

    @abstractmethod
    def _run(self, stream: TrainingStream, position: int, scratch: Scratch) -> tuple[int, int, int]:
        """Learn order[position:] until done, or until Python must act first (best.py)."""

    def begin(self) -> None:
        as_choice(self.hypothesis, "hypothesis", self.hypotheses)
        if self.max_weights is not None:
            as_whole(self.max_weights, "max_weights", least=1, most=MOST_AMOUNT)
        self.prototypes_ = no_prototypes()
        self._average = Made()
        self._counts = np.zeros(2, dtype=np.int64)
        self._total_losses = np.zeros(3)
        self._loss_curve = np.zeros((0, 4))

    def labels_expected(self) -> None:
        self._counts[LABELS_KNOWN] = len(self.label_index_)

    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        of_row = np.repeat(np.arange(rows.n_rows), rows.lengths())
        squares = rows.data[rows.indptr[0] : rows.indptr[-1]] ** 2
        square = np.bincount(of_row, squares, rows.n_rows).astype(np.float64)
        self.prototypes_ = self.prototypes_.for_features(rows.n_features)
        self._learn_stream(rows, rows, square, labels, order, self._known())

    def _known(self) -> NDArray[np.uint8]:
        """Per label, whether it had arrived before these examples."""
        marks = np.zeros(len(self.label_index_), dtype=np.uint8)
        marks[: self._counts[LABELS_KNOWN]] = 1
        return marks

    def _learn_stream(
        self,
        read: Rows,
        write: Rows,
        square: Floats,
        labels: LabelSets,
        order: Longs,
        is_known: NDArray[np.uint8],
    ) -> None:
        seen = int(self._counts[EXAMPLES_SEEN])
        losses = np.zeros((order.size, 3))
        cap = UNLIMITED_WEIGHTS if self.max_weights is None else self.max_weights
        stream = TrainingStream(
            read,
            write,
            square,
            labels,
            order,
            is_known,
            self._counts,
            losses,
            cap,
            average=self.hypothesis == "averaged",
        )
        scratch = make_scratch(len(self.label_index_))
        for run in runs(order.size):
            part = stream._replace(order=order[: run.stop])
            n_done = run.start
            why = WANTS_SLOTS
            while why != DONE:
                n_done, why, slots = self._run(part, n_done, scratch)
                if why == WANTS_SLOTS:
                    self.prototypes_ = self.prototypes_.with_room(slots)
                if self.prototypes_.used[LISTED] > cap:
                    self.prototypes_ = self.prototypes_.without_lightest(cap - cap // DROPPED_SHARE)
        self._note_losses(losses, seen)
        self._average = Made()

    # The parts of a pass, by iterative parameter mixing (weights.py).

    def shard(self, n: int) -> OnlinePrototypes:
        shard = copy.copy(self)
        shard.prototypes_ = self.prototypes_.copied()
        shard._counts = self._counts.copy()
        shard._total_losses = np.zeros(3)
        if self.max_weights is not None:
            # so that together they keep within it
            shard.max_weights = max(1, self.max_weights // n)
        return shard

    def mix_shards(self, shards: list[OnlinePrototypes]) -> None:
        seen = int(self._counts[EXAMPLES_SEEN])
        parts = [shard.prototypes_ for shard in shards]
        self.prototypes_ = mixed(parts, self.prototypes_, seen, len(self.label_index_))
        if self.max_weights is not None and self.prototypes_.used[LISTED] > self.max_weights:
            self.prototypes_ = self.prototypes_.without_lightest(self.max_weights)
        self._counts[LABELS_KNOWN] = len(self.label_index_)
        self._counts[EXAMPLES_SEEN] += sum(
            int(shard._counts[EXAMPLES_SEEN]) - seen for shard in shards
        )
        self._total_losses = sum((shard._total_losses for shard in shards), self._total_losses)
        self._loss_curve = np.vstack(
            [self._loss_curve, [self._counts[EXAMPLES_SEEN], *self._total_losses]]
        )
        self._average = Made()

    def _hypothesis(self) -> Prototypes:
        if self.hypothesis != "averaged":
            return self.prototypes_
        return self._average.of(lambda: self.prototypes_.averaged(int(self._counts[EXAMPLES_SEEN])))

    # The losses.

    def _note_losses(self, losses: Floats, seen: int) -> None:
        """Add points to the curve: each of the first 100 examples, then one for each 1 % more."""
        # in any parts the same, to the bit
        totals = np.cumsum(np.vstack([self._total_losses, losses]), axis=0)[1:]
        point = int(self._loss_curve[-1, 0]) if self._loss_curve.size else 0
        points = []
        while point <= seen + len(losses):
            if point > seen:
                points.append([point, *totals[point - seen - 1]])
            point = max(point + 1, int(point * CURVE_STEP))
        if points:
            self._loss_curve = np.vstack([self._loss_curve, points])
        if len(totals):
            self._total_losses = totals[-1]

    @property
    def cumulative_loss_(self) -> dict[str, NDArray[Any]]:
        """The curves of figures 4 and 5: Σ_{i≤t} loss_i / t against t, the number of examples
        ``seen``.

        Each example's losses were taken before it was learned, among the labels known by then. The
        curve has a point for each of the first 100 examples, from then on one in each 1 %, and one
        for all examples.
        """
        seen = int(self._counts[EXAMPLES_SEEN])
        curve = self._loss_curve
        if seen and (not curve.size or curve[-1, 0] < seen):
            curve = np.vstack([curve, [seen, *self._total_losses]])
        t = curve[:, 0]
        named = {f"loss{n}": curve[:, n] / t for n in (1, 2, 3)}
        return {"seen": t.astype(np.int64), **named}

    # Model files.

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return self.prototypes_.to_arrays(self._width()) | {
            "counts": self._counts,
            "loss_curve": self._loss_curve,
            "total_losses": self._total_losses,
        }

    def from_arrays(self, state: State) -> None:
        self._counts = state.array("counts", np.int64).copy()
        possible = (self._counts >= 0) & (self._counts <= MOST_AMOUNT)
        state.require(possible.size == 2 and bool(possible.all()), "there are two counts")
        state.require(
            int(self._counts[LABELS_KNOWN]) == len(self.label_index_), "all labels are known"
        )
        self._total_losses = state.array("total_losses", np.float64)
        self._loss_curve = state.array("loss_curve", np.float64, ndim=2)
        state.require(
            self._total_losses.size == 3 and self._loss_curve.shape[1] == 4,
            "there are three losses",
        )
        finite = np.isfinite(self._total_losses).all() and np.isfinite(self._loss_curve).all()
        times = np.concatenate(
            [[1.0], self._loss_curve[:, 0], [max(1, self._counts[EXAMPLES_SEEN])]]
        )
        state.require(
            bool(finite and (np.diff(times) >= 0).all()),
            "its losses are those of examples seen, in order",
        )
        self.prototypes_ = Prototypes.from_arrays(state, self._width(), len(self.label_index_))

    def _width(self) -> int:
        """What the prototypes' weights belong to: so many columns."""
        return self.n_features_in_


# The error set


@kernel
def mark_relevant(stream: TrainingStream, i: int, scratch: Scratch) -> int:
    """Make the labels of example i known, and mark them as the first ones touched; gives how
    many there are.
    """
    scratch.clock[0] += 1
    n = 0
    for b in range(stream.labels.indptr[i], stream.labels.indptr[i + 1]):
        c = stream.labels.ids[b]
        if stream.is_known[c] == 0:
            stream.is_known[c] = 1
            stream.counts[LABELS_KNOWN] += 1
        scratch.mark[c] = scratch.clock[0]
        scratch.touched[n] = c
        n += 1
    return n


@kernel
def against(
    stream: TrainingStream, i: int, scratch: Scratch, m: int, n: int, shared: float
) -> tuple[int, int]:
    """The labels that the m relevant ones of example i are compared with: touched[m:n'], and so
    many of the crowd.

    Returns n' and that number. Of a partial judgement, these are the labels judged wrong.
    """
    if is_complete(stream.labels.partial, i):
        return n, stream.counts[LABELS_KNOWN] - n
    partial = stream.labels.partial
    last = m
    for b in range(partial.indptr[i], partial.indptr[i + 1]):
        c = partial.ids[b]
        if stream.is_known[c] == 1:
            if scratch.mark[c] != scratch.clock[0]:
                scratch.scores[c] = shared
            scratch.touched[last] = c
            last += 1
    return last, 0


@kernel
def lowest_allowed(scratch: Scratch, m: int, margin: float) -> Floats:
    """s_r − margin of the m relevant labels, ascending: a score from which another label errs
    against r.
    """
    highest_first = np.empty(m)
    ids = np.empty(m, dtype=np.int32)
    keep_best(scratch.touched[:m], scratch.scores, ids, highest_first)
    lows = np.empty(m)
    for a in range(m):
        lows[m - 1 - a] = highest_first[a] - margin
    return lows


@kernel
def below(lows: Floats, s: float) -> int:
    """How many of the ascending lows are at most s: the relevant labels against which a label
    of score s errs.
    """
    low = 0
    high = lows.size
    while low < high:
        middle = (low + high) // 2
        if lows[middle] <= s:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def wrong_pairs(lows: Floats, scratch: Scratch, m: int, n: int, crowd: int, shared: float) -> int:
    """|E|: over the labels that are not relevant, touched[m:n] and the crowd with its shared
    score.
    """
    pairs = crowd * below(lows, shared)
    for a in range(m, n):
        pairs += below(lows, scratch.scores[scratch.touched[a]])
    return pairs


@kernel
def note_losses(
    stream: TrainingStream, t: int, scratch: Scratch, m: int, n: int, crowd: int, shared: float
) -> None:
    """loss1 = [E not empty], loss2 = |E| and loss3 = |E| / (|y|·|Y−y|) of example t; 0 if y is
    empty or all of Y.
    """
    n_irrelevant = n - m + crowd
    if m > 0 and n_irrelevant > 0:
        pairs = wrong_pairs(lowest_allowed(scratch, m, 0.0), scratch, m, n, crowd, shared)
        stream.losses[t, 0] = 1.0 if pairs > 0 else 0.0
        stream.losses[t, 1] = pairs
        stream.losses[t, 2] = pairs / (m * n_irrelevant)


# Writing


@kernel
def clear_changes(scratch: Scratch, n: int) -> None:
    for a in range(n):
        scratch.change[scratch.touched[a]] = 0.0


@kernel
def write(
    rows: Rows,
    i: int,
    prototypes: Prototypes,
    scratch: Scratch,
    n: int,
    shared_step: float,
    time: float,
) -> int:
    """Add scratch.change[c]·x to w_c of the n labels touched, and shared_step·x to that of every
    other label.

    Clears the changes. If the pools have too few free slots, it writes nothing and returns the
    number needed; otherwise
    0. ``time`` is the weight of the change in the moments; with 0, if no average is wanted, these
       are not touched.
    """
    n_changed = 0  # labels that do not move as the background does
    for a in range(n):
        c = scratch.touched[a]
        scratch.change[c] -= shared_step
        if scratch.change[c] != 0.0:
            scratch.touched[n_changed] = c
            n_changed += 1
    slots = 0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f = rows.indices[j]
        if prototypes.length[f] + n_changed > prototypes.capacity[f]:
            slots += 2 * (prototypes.length[f] + n_changed)
    if prototypes.used[SLOTS_USED] + slots > prototypes.label.size:
        clear_changes(scratch, n_changed)
        return slots
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f = rows.indices[j]
        x = rows.data[j]
        prototypes.background[f] += shared_step * x
        if time > 0.0:
            prototypes.background_moment[f] += time * shared_step * x
        scratch.clock[0] += 1
        missing = n_changed
        first = prototypes.start[f]
        for e in range(first, first + prototypes.length[f]):
            change = scratch.change[prototypes.label[e]]
            if change != 0.0:
                prototypes.weight[e] += change * x
                if time > 0.0:
                    prototypes.moment[e] += time * change * x
                scratch.mark[prototypes.label[e]] = scratch.clock[0]
                missing -= 1
        if missing > 0:
            # the list moves to the end of the pools
            if prototypes.length[f] + missing > prototypes.capacity[f]:
                first = prototypes.start[f]
                new = prototypes.used[SLOTS_USED]
                for e in range(prototypes.length[f]):
                    prototypes.label[new + e] = prototypes.label[first + e]
                    prototypes.weight[new + e] = prototypes.weight[first + e]
                    if prototypes.moment[first + e] != 0.0:
                        prototypes.moment[new + e] = prototypes.moment[first + e]
                prototypes.start[f] = new
                prototypes.capacity[f] = 2 * (prototypes.length[f] + missing)
                prototypes.used[SLOTS_USED] += prototypes.capacity[f]
            e = prototypes.start[f] + prototypes.length[f]
            for a in range(n_changed):
                c = scratch.touched[a]
                if scratch.mark[c] != scratch.clock[0]:
                    prototypes.label[e] = c
                    prototypes.weight[e] = scratch.change[c] * x
                    if time > 0.0:
                        prototypes.moment[e] = time * scratch.change[c] * x
                    e += 1
            prototypes.length[f] += missing
            prototypes.used[LISTED] += missing
    clear_changes(scratch, n_changed)
    return 0
