"""What MMP and TopicPerceptron share: the stream, its losses, and which prototypes rank in the end.

Paper 001 ranks with the prototypes as they are after the last example. It names more robust choices as extensions:
their average over time, and the vote (Freund and Schapire, 1999), in which the prototypes of each time between two
changes have as many votes as they lived through examples. A stream can see millions of changes, so only the
longest-lived prototypes are kept to vote; with as many places as there were changes this is the published rule.
With kernels see ../dual.py.
One vote is a ranking: a label's score is the share of the other labels that it stands above, a tie counting one half.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist import dual
from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import MOST_AMOUNT, as_choice, as_whole
from shortlist.categories.best import DONE, RETIRES, WANTS_SLOTS, Scratch, make_scratch
from shortlist.categories.learner import BIAS, Made
from shortlist.categories.merging import PartedLearner
from shortlist.categories.prototypes.steps import KNOWN, LIVED, SEEN, Stream, squares
from shortlist.categories.prototypes.weights import (
    LISTED,
    PrototypeLearner,
    Prototypes,
    all_scores,
    mixed,
    no_prototypes,
)
from shortlist.concurrency.interrupts import runs
from shortlist.concurrency.locks import lock_of, reading
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.labels import LabelSets

HYPOTHESES = ("last", "averaged", "voted")
UNLIMITED = np.iinfo(np.int64).max
SPARE = 4  # full prototypes drop a quarter of their weights, so that many examples share the cost of dropping
FINE = 1.01  # from one point of the loss curve to the next


class OnlinePrototypes(PartedLearner, PrototypeLearner):
    """Base class: learns prototypes from a stream. A learner adds its kernel, in ``_run``."""

    takes_partial = True
    hypothesis: str
    voters: int
    _average: Made[Prototypes]
    max_weights: int | None
    kernel: Any = None  # a learner that takes kernels has these as parameters
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0
    budget: int | None = None

    @abstractmethod
    def _run(self, stream: Stream, position: int, scratch: Scratch) -> tuple[int, int, int]:
        """Learn order[position:] until done, or until something must be done first."""

    def _begin(self) -> None:
        as_choice(self.hypothesis, "hypothesis", HYPOTHESES)
        as_whole(self.voters, "voters", least=1)
        if self.max_weights is not None:
            as_whole(self.max_weights, "max_weights", least=1, most=MOST_AMOUNT)
        if self.budget is not None:
            as_whole(self.budget, "budget", least=1)
        self._supports = None if self.kernel is None else dual.Supports(scipy.sparse.csr_array((0, 0)))
        if self.kernel is not None:
            self._kernel_function()  # checks its parameters
        self._prototypes = no_prototypes()
        self._average = Made()
        self._counts = np.zeros(3, dtype=np.int64)
        self._total_losses = np.zeros(3)
        self._loss_curve = np.zeros((0, 4))
        self._lives = np.zeros(0, dtype=np.int64)
        self._voters: list[Prototypes] = []

    def _expect(self) -> None:
        self._counts[KNOWN] = len(self._labels)

    def _learn(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        known = np.zeros(len(self._labels), dtype=np.uint8)
        known[: self._counts[KNOWN]] = 1
        if self._supports is not None:
            return self._learn_dual(self._supports, rows, labels, order, known, first_pass)
        square = np.zeros(rows.n_rows)
        squares(rows, square)
        self._prototypes = self._prototypes.for_features(rows.n_features)
        self._learn_stream(rows, rows, square, labels, order, known)

    def _learn_dual(
        self, supports: dual.Supports, rows: Rows, labels: LabelSets, order: Longs, known: Any, first_pass: bool
    ) -> None:
        """In the dual form the features are the support vectors, and their weights the coefficients α."""
        if first_pass:
            supports.origin[:] = -1
        width = max(rows.n_features, supports.rows.shape[1])
        supports.rows.resize((len(supports), width))
        rows = rows._replace(n_features=width)
        for turn in dual.turns(supports, self._kernel_function(), rows, order, int(self._counts[SEEN]), self.budget):
            self._prototypes = self._prototypes.for_features(len(supports))
            own = labels.chosen(turn.members)
            self._learn_stream(turn.read, turn.write, turn.square, own, np.arange(turn.members.size), known)
            everyone = [one.for_features(len(supports)) for one in (self._prototypes, *self._voters)]
            used = np.any([one.used_features(len(supports)) for one in everyone], axis=0)
            norms = self._prototypes.feature_norms(len(supports), int(self._counts[KNOWN]))
            kept = supports.drop(used, norms, turn.most)
            self._prototypes, *self._voters = [one.of_features(kept) for one in everyone]

    def _kernel_function(self) -> dual.Function:
        return dual.kernel_function(self.kernel, self.degree, self.gamma, self.coef0)

    def _as_read(self, rows: Rows) -> Rows:
        """What the prototypes' weights belong to: the columns, or the support vectors."""
        if self._supports is None:
            return rows
        X, S = rows.to_matrix(), self._supports.rows.copy()
        width = max(X.shape[1], S.shape[1])
        X.resize((X.shape[0], width))
        S.resize((S.shape[0], width))
        return dual.full_rows(dual.gram(self._kernel_function(), X, S))

    def _learn_stream(
        self, read: Rows, write: Rows, square: Floats, labels: LabelSets, order: Longs, known: NDArray[np.uint8]
    ) -> None:
        seen, losses = int(self._counts[SEEN]), np.zeros((order.size, 3))
        cap = UNLIMITED if self.max_weights is None else self.max_weights
        average = self.hypothesis == "averaged"
        stream = Stream(read, write, square, labels, order, known, self._counts, losses, cap, UNLIMITED, average)
        scratch = make_scratch(len(self._labels))
        for run in runs(order.size):
            done, why = run.start, WANTS_SLOTS
            while why != DONE:
                if self.hypothesis == "voted":
                    stream = stream._replace(shortest=self._shortest_life())
                done, why, slots = self._run(stream._replace(order=order[: run.stop]), done, scratch)
                if why == WANTS_SLOTS:
                    self._prototypes = self._prototypes.with_room(slots)
                elif why == RETIRES:
                    self._retire()
                if self._prototypes.used[LISTED] > cap:
                    self._prototypes = self._prototypes.without_lightest(cap - cap // SPARE)
        self._note_losses(losses, seen)
        self._average = Made()

    # Shards, by iterative parameter mixing (mixing.py).

    def _shard(self, n: int) -> OnlinePrototypes:
        shard = copy.copy(self)
        shard._prototypes = self._prototypes.copied()
        shard._counts, shard._total_losses = self._counts.copy(), np.zeros(3)
        if self.max_weights is not None:
            shard.max_weights = max(1, self.max_weights // n)  # so that together they keep within it
        return shard

    def _mix(self, shards: list[OnlinePrototypes]) -> None:
        began, seen = self._prototypes, int(self._counts[SEEN])
        self._prototypes = mixed([shard._prototypes for shard in shards], began, seen, len(self._labels))
        if self.max_weights is not None and self._prototypes.used[LISTED] > self.max_weights:
            self._prototypes = self._prototypes.without_lightest(self.max_weights)
        self._counts[KNOWN] = len(self._labels)
        self._counts[SEEN] += sum(int(shard._counts[SEEN]) - seen for shard in shards)
        self._counts[LIVED] = 0
        self._total_losses = sum((shard._total_losses for shard in shards), self._total_losses)
        self._loss_curve = np.vstack([self._loss_curve, [self._counts[SEEN], *self._total_losses]])
        self._average = Made()

    # The three hypotheses.

    def _shortest_life(self) -> int:
        return 0 if len(self._voters) < self.voters else int(self._lives.min())

    def _retire(self) -> None:
        """The prototypes are about to change: they take the place of the shortest-lived voter."""
        if len(self._voters) == self.voters:
            out = int(np.argmin(self._lives))
            del self._voters[out]
            self._lives = np.delete(self._lives, out)
        self._voters.append(self._prototypes.packed())
        self._lives = np.append(self._lives, self._counts[LIVED])
        self._counts[LIVED] = 0

    def _hypothesis(self) -> Prototypes:
        if self.hypothesis != "averaged":
            return self._prototypes
        with lock_of(self).making:
            if self._average.value is None:
                self._average.value = self._prototypes.averaged(int(self._counts[SEEN]))
            return self._average.value

    def _scores(self, rows: Rows) -> Floats:
        rows = self._as_read(rows)
        if self.hypothesis != "voted":
            return super()._scores(rows)
        n_labels = len(self._labels)
        total = np.zeros((rows.n_rows, n_labels))
        one = np.empty((rows.n_rows, n_labels))
        lives = [*self._lives.tolist(), int(self._counts[LIVED])]
        for life, voter in zip(lives, [*self._voters, self._prototypes], strict=True):
            all_scores(rows, voter, make_scratch(n_labels), one)
            if rows.n_rows:
                total += life * (scipy.stats.rankdata(one, axis=1) - 1)
        return total / max(sum(lives) * (n_labels - 1), 1)

    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        if self.hypothesis != "voted" and self._supports is None:
            return super()._rank(rows, ids, scores)
        self._rank_by_scores(rows, ids, scores, width=0 if self._supports is None else len(self._supports))

    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        if self.hypothesis != "voted" and self._supports is None:
            return super()._votes(row, label)
        # A vote of rankings, or of support vectors, is not a sum over columns: one vote stands for the whole.
        return np.array([BIAS], dtype=np.int32), self._scores(row)[0, [label]]

    # The losses.

    def _note_losses(self, losses: Floats, seen: int) -> None:
        """Keep points of the curve so far apart that it stays short: all of the first 100, then one in each 1 %."""
        totals = np.cumsum(np.vstack([self._total_losses, losses]), axis=0)[1:]  # in any parts the same, to the bit
        last = int(self._loss_curve[-1, 0]) if self._loss_curve.size else 0
        points = []
        while (last := max(last + 1, int(last * FINE))) <= seen + len(losses):
            points.append(last)
        new = np.array([point for point in points if point > seen], dtype=np.int64)
        self._loss_curve = np.vstack([self._loss_curve, np.column_stack([new, totals[new - seen - 1]])])
        self._total_losses = totals[-1] if len(totals) else self._total_losses

    @property
    @reading
    def cumulative_loss_(self) -> dict[str, NDArray[Any]]:
        """The curves of figures 4 and 5: Σ_{i≤t} loss_i / t against t, the number of examples ``seen``.

        Each example's losses were taken before it was learned, among the labels known by then. The curve has a point
        for each of the first 100 examples, from then on one in each 1 %, and one for all examples.
        """
        seen = int(self._counts[SEEN])
        curve = self._loss_curve
        if seen and (not curve.size or curve[-1, 0] < seen):
            curve = np.vstack([curve, [seen, *self._total_losses]])
        t = curve[:, 0]
        named = {f"loss{n}": curve[:, n] / t for n in (1, 2, 3)}
        return {"seen": t.astype(np.int64), **named}

    # Model files.

    def _to_arrays(self) -> dict[str, NDArray[Any]]:
        if callable(self.kernel):
            raise InputError("a model whose kernel is a Python function cannot be saved; use a kernel with a name")
        n = self.n_features_in_ if self._supports is None else len(self._supports)
        arrays = self._prototypes.to_arrays(n) | ({} if self._supports is None else self._supports.to_arrays())
        for v, voter in enumerate(self._voters):
            arrays |= voter.to_arrays(n, f"voter {v} ")
        return arrays | {
            "counts": self._counts, "lives": self._lives,
            "loss_curve": self._loss_curve, "total_losses": self._total_losses,
        }  # fmt: skip

    def _from_arrays(self, state: State) -> None:
        n, n_labels = self.n_features_in_, len(self._labels)
        if self._supports is not None:
            self._supports = dual.Supports.from_arrays(state, n)
            n = len(self._supports)
        self._counts = state.array("counts", np.int64).copy()
        counted = self._counts.size == 3 and bool(((self._counts >= 0) & (self._counts <= MOST_AMOUNT)).all())
        state.require(counted, "there are three counts")
        state.require(int(self._counts[KNOWN]) == n_labels, "all labels are known")
        self._lives = state.array("lives", np.int64)
        state.require(self._lives.size <= self.voters, "there are no more voters than places")
        lives = np.append(self._lives, self._counts[LIVED])
        lived = bool(((lives >= 0) & (lives <= self._counts[SEEN])).all())
        state.require(lived, "no voter has lived longer than there were examples")
        self._total_losses = state.array("total_losses", np.float64)
        self._loss_curve = state.array("loss_curve", np.float64, ndim=2)
        state.require(self._total_losses.size == 3 and self._loss_curve.shape[1] == 4, "there are three losses")
        finite = np.isfinite(self._total_losses).all() and np.isfinite(self._loss_curve).all()
        times = np.concatenate([[1.0], self._loss_curve[:, 0], [max(1, self._counts[SEEN])]])
        state.require(bool(finite and (np.diff(times) >= 0).all()), "its losses are those of examples seen, in order")
        self._prototypes = Prototypes.from_arrays(state, n, n_labels)
        self._voters = [Prototypes.from_arrays(state, n, n_labels, f"voter {v} ") for v in range(self._lives.size)]
