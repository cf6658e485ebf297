"""The voted and the dual forms of MMP and of the Perceptrons, which paper 001 names as next steps
(section 5).

A vote (Freund and Schapire, 1999) is one of prototypes: those of each time between two changes have
as many votes as they lived through examples. A stream can see millions of changes, so only the
longest-lived prototypes are kept to vote; with as many places as there were changes this is the
published rule. One vote is a ranking: a label's score is the share of the other labels that it
stands above, a tie counting one half.

With a kernel the prototypes are sums over support vectors, in blocks and within a budget (dual.py):
the features are the support vectors, and their weights the coefficients α.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import scipy.stats
from numpy.typing import NDArray

from papers.comparators import dual
from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.labels import LabelSets
from shortlist.data.rows import Rows
from shortlist.data.validation import as_whole
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.learners.port import BIAS
from shortlist.learners.prototypes.mmp import MMP
from shortlist.learners.prototypes.prototype_learner import (
    EXAMPLES_SEEN,
    LABELS_KNOWN,
    OnlinePrototypes,
    TrainingStream,
)
from shortlist.learners.prototypes.topic_perceptron import TopicPerceptron
from shortlist.learners.prototypes.weights import Prototypes, all_scores, pack
from shortlist.learners.top_labels import CHANGES, Scratch, make_scratch

Run = Callable[[TrainingStream, int, Scratch], tuple[int, int, int]]


class Voted(OnlinePrototypes):
    """Online prototypes of which the longest-lived can vote."""

    hypotheses = ("last", "averaged", "voted")
    voters: int

    def begin(self) -> None:
        as_whole(self.voters, "voters", least=1)
        super().begin()
        self._lives = np.zeros(0, dtype=np.int64)
        self._voters: list[Prototypes] = []
        # the examples that had been seen before the last one that changed the prototypes
        self._changed = 0

    def _run_voting(
        self, run: Run, stream: TrainingStream, position: int, scratch: Scratch
    ) -> tuple[int, int, int]:
        """``_run`` with the kernel of MMP or of the Perceptrons, which is stopped before each
        change.
        """
        if self.hypothesis != "voted":
            return run(stream, position, scratch)
        while True:
            done, why, slots = run(stream._replace(stops=True), position, scratch)
            if why != CHANGES:
                return done, why, slots
            if self._life() > (0 if len(self._voters) < self.voters else int(self._lives.min())):
                self._retire()
            position, why, slots = run(
                stream._replace(order=stream.order[: done + 1]), done, scratch
            )
            if position == done:
                return done, why, slots
            self._changed = int(self._counts[EXAMPLES_SEEN]) - 1

    def _life(self) -> int:
        """How many examples the present prototypes have lived through."""
        return int(self._counts[EXAMPLES_SEEN]) - self._changed

    def _retire(self) -> None:
        """The prototypes are about to change: they take the place of the shortest-lived voter."""
        if len(self._voters) == self.voters:
            out = int(np.argmin(self._lives))
            del self._voters[out]
            self._lives = np.delete(self._lives, out)
        now = self.prototypes_
        self._voters.append(
            pack(*now.entries(), now.background.copy(), now.background_moment.copy())
        )
        self._lives = np.append(self._lives, self._life())
        self._changed = int(self._counts[EXAMPLES_SEEN])

    def all_scores(self, rows: Rows) -> Floats:
        if self.hypothesis != "voted":
            return super().all_scores(rows)
        n_labels = len(self.label_index_)
        total = np.zeros((rows.n_rows, n_labels))
        one = np.empty((rows.n_rows, n_labels))
        lives = [*self._lives.tolist(), self._life()]
        for life, voter in zip(lives, [*self._voters, self.prototypes_], strict=True):
            all_scores(rows, voter, make_scratch(n_labels), one)
            if rows.n_rows:
                total += life * (scipy.stats.rankdata(one, axis=1) - 1)
        return total / max(sum(lives) * (n_labels - 1), 1)

    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        if self.hypothesis != "voted":
            return super().best_labels(rows, ids, scores)
        self.rank_by_scores(rows, ids, scores)

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        return (
            super().votes(row, label) if self.hypothesis != "voted" else self._one_vote(row, label)
        )

    def _one_vote(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        """A vote of rankings, or of support vectors, is not a sum over columns: one vote stands
        for the whole.
        """
        return np.array([BIAS], dtype=np.int32), self.all_scores(row)[0, [label]]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        arrays = super().to_arrays() | {"lives": self._lives, "changed": np.array([self._changed])}
        for v, voter in enumerate(self._voters):
            arrays |= voter.to_arrays(self._width(), f"voter {v} ")
        return arrays

    def from_arrays(self, state: State) -> None:
        super().from_arrays(state)
        self._lives, changed = state.array("lives", np.int64), state.array("changed", np.int64)
        state.require(self._lives.size <= self.voters, "there are no more voters than places")
        state.require(
            changed.size == 1 and 0 <= changed[0] <= self._counts[EXAMPLES_SEEN],
            "changes have been seen",
        )
        self._changed = int(changed[0])
        lived = bool(((self._lives >= 0) & (self._lives <= self._counts[EXAMPLES_SEEN])).all())
        state.require(lived, "no voter has lived longer than there were examples")
        n, n_labels = self._width(), len(self.label_index_)
        self._voters = [
            Prototypes.from_arrays(state, n, n_labels, f"voter {v} ")
            for v in range(self._lives.size)
        ]


class VotedPerceptron(Voted, TopicPerceptron):
    """A Perceptron for each label, of which the longest-lived can vote.

    Parameters
    ----------
    passes, max_weights, random_state, n_jobs
        As those of TopicPerceptron.
    hypothesis : {"last", "averaged", "voted"}, default="voted"
        Which prototypes rank: the "last" ones, their mean over time ("averaged"), or a vote
        ("voted").
    voters : int, default=20
        How many prototype sets, the longest-lived, are kept to vote.
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"topic-perceptron-voted": {}}

    def __init__(
        self,
        passes: int = 1,
        hypothesis: str = "voted",
        voters: int = 20,
        max_weights: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(passes, hypothesis, max_weights, random_state, n_jobs)
        self.voters = voters

    def _run(self, stream: TrainingStream, position: int, scratch: Scratch) -> tuple[int, int, int]:
        return self._run_voting(super()._run, stream, position, scratch)


class ExtendedMMP(Voted, MMP):
    """MMP whose prototypes can vote, and that takes kernels.

    Parameters
    ----------
    loss, passes, margin, step, C, max_weights, random_state, n_jobs
        As those of MMP.
    hypothesis : {"last", "averaged", "voted"}, default="last"
        Which prototypes rank: the "last" ones, their mean over time ("averaged"), or a vote
        ("voted").
    voters : int, default=20
        How many prototype sets, the longest-lived, are kept to vote.
    kernel : {"polynomial", "rbf"}, callable or None, default=None
        "polynomial" for (gamma·x·x' + coef0)^degree, "rbf" for exp(−gamma·‖x − x'‖²), or a function
        that takes two matrices and gives the kernel's value for each pair of their rows.
    degree : int, default=2
        Of the polynomial kernel.
    gamma, coef0 : float, default=1.0
        Of the kernels.
    budget : int or None, default=None
        The most support vectors that are kept with a kernel, those that move the prototypes least
        making room; None keeps all.
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"mmp-extended": {}}

    def __init__(
        self,
        loss: int | str = 1,
        passes: int = 1,
        hypothesis: str = "last",
        voters: int = 20,
        margin: float = 0.0,
        step: str = "paper",
        C: float = 1.0,
        kernel: str | dual.Function | None = None,
        degree: int = 2,
        gamma: float = 1.0,
        coef0: float = 1.0,
        budget: int | None = None,
        max_weights: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            loss, passes, hypothesis, margin, step, C, max_weights, random_state, n_jobs
        )
        self.voters = voters
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.budget = budget

    def begin(self) -> None:
        if self.budget is not None:
            as_whole(self.budget, "budget", least=1)
        self._supports = (
            None if self.kernel is None else dual.Supports(scipy.sparse.csr_array((0, 0)))
        )
        if self.kernel is not None:
            self._kernel_function()  # checks its parameters
        super().begin()

    def _run(self, stream: TrainingStream, position: int, scratch: Scratch) -> tuple[int, int, int]:
        return self._run_voting(super()._run, stream, position, scratch)

    def _kernel_function(self) -> dual.Function:
        return dual.kernel_function(self.kernel, self.degree, self.gamma, self.coef0)

    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        supports = self._supports
        if supports is None:
            return super().update(rows, labels, order, first_pass)
        known = self._known()
        if first_pass:
            supports.origin[:] = -1
        width = max(rows.n_features, supports.rows.shape[1])
        supports.rows.resize((len(supports), width))
        rows = rows._replace(n_features=width)
        for turn in dual.turns(
            supports,
            self._kernel_function(),
            rows,
            order,
            int(self._counts[EXAMPLES_SEEN]),
            self.budget,
        ):
            self.prototypes_ = self.prototypes_.for_features(len(supports))
            own = labels.chosen(turn.members)
            self._learn_stream(
                turn.read, turn.write, turn.square, own, np.arange(turn.members.size), known
            )
            everyone = [
                one.for_features(len(supports)) for one in (self.prototypes_, *self._voters)
            ]
            used = np.any([used_features(one, len(supports)) for one in everyone], axis=0)
            norms = feature_norms(self.prototypes_, len(supports), int(self._counts[LABELS_KNOWN]))
            kept = supports.drop(used, norms, turn.most)
            self.prototypes_, *self._voters = [of_features(one, kept) for one in everyone]

    def all_scores(self, rows: Rows) -> Floats:
        if self._supports is not None:
            X, S = rows.to_matrix(), self._supports.rows.copy()
            width = max(X.shape[1], S.shape[1])
            X.resize((X.shape[0], width))
            S.resize((S.shape[0], width))
            rows = dual.full_rows(dual.gram(self._kernel_function(), X, S))
        return super().all_scores(rows)

    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        if self._supports is None:
            return super().best_labels(rows, ids, scores)
        self.rank_by_scores(rows, ids, scores, width=len(self._supports))

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        return super().votes(row, label) if self._supports is None else self._one_vote(row, label)

    def _width(self) -> int:
        return super()._width() if self._supports is None else len(self._supports)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        if callable(self.kernel):
            raise InputError(
                "a model whose kernel is a Python function cannot be saved; use a kernel with a "
                "name"
            )
        return super().to_arrays() | ({} if self._supports is None else self._supports.to_arrays())

    def from_arrays(self, state: State) -> None:
        if self._supports is not None:
            self._supports = dual.Supports.from_arrays(state, self.n_features_in_)
        super().from_arrays(state)


# Prototypes whose features are support vectors, of which some are dropped.


def of_features(prototypes: Prototypes, features: Longs) -> Prototypes:
    """The prototypes of these features only, renumbered in their order."""
    feature, labels, weights, moments = prototypes.entries()
    number = np.full(prototypes.background.size, -1)
    number[features] = np.arange(features.size)
    kept = number[feature] >= 0
    parts = number[feature][kept], labels[kept], weights[kept], moments[kept]
    return pack(*parts, prototypes.background[features], prototypes.background_moment[features])


def used_features(prototypes: Prototypes, n_features: int) -> NDArray[np.bool_]:
    """Which of the first features have weights."""
    weighted = (
        (prototypes.length > 0) | (prototypes.background != 0) | (prototypes.background_moment != 0)
    )
    return weighted[:n_features]


def feature_norms(prototypes: Prototypes, n_features: int, n_labels: int) -> Floats:
    """√Σ_c w_c[f]² of the first features."""
    feature, _, weights, _ = prototypes.entries()
    shared = prototypes.background[feature]
    square = n_labels * prototypes.background**2
    square += np.bincount(feature, (shared + weights) ** 2 - shared**2, minlength=square.size)
    return np.sqrt(np.maximum(square[:n_features], 0.0))
