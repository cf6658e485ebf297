"""The learner that counts, then tunes; how it does so stands in tuning.py."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from shortlist.arrays.given_labels import LabelsLike
from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.rows import Rows, RowStore
from shortlist.arrays.validation import as_real, as_whole
from shortlist.categories.index import company
from shortlist.categories.index.ahead import NOBODY, Ahead, room_for_rankings
from shortlist.categories.index.blocks import Rules, Task
from shortlist.categories.index.company import Rankings, Votes
from shortlist.categories.index.corrections import has_met, tuned_by
from shortlist.categories.index.course import LABELS, MANY, MISSED, START, are_many, are_single, joined
from shortlist.categories.index.limits import are_counts
from shortlist.categories.index.lists import Index
from shortlist.categories.index.passes import FEW, passes_of_contest, usual_passes
from shortlist.categories.index.pruning import cut_lists
from shortlist.categories.index.sharing import NOBODY_ASKS
from shortlist.categories.index.streaming import StreamingIndex
from shortlist.categories.index.teams import MOST_EXAMPLES, Team, block_size
from shortlist.categories.index.tuning import learn, least_share, width
from shortlist.categories.portions import Watch, at_once
from shortlist.files.store import State
from shortlist.labels import SINGLE, LabelSets

FEW_OF_A_LABEL = 30  # examples on average: fewer are a contest from the first, with a wide lead


class TunedIndex(StreamingIndex):
    """Feature-Focus with corrected votes: as accurate as a linear classifier for each label, in few quick passes.

    Parameters
    ----------
    min_weight : float, default=0.01
        Edges lighter than this share of their feature's weight, divided by the labels that an example has on average,
        are dropped; where examples have four labels or more on average, those lighter than half of that.
    max_edges : int, default=50
        How many of a feature's heaviest edges vote; five times as many where examples have four labels or more.
    passes : int or None, default=None
        How often ``fit`` goes through the examples: the first time it counts and tunes, then it tunes. None: twice,
        three times where examples have four labels or more, and through fewer than 4,000 rows up to ten times. Where
        they have one label each, always ten times through so few, and up to six times through more, if a label has
        fewer than 150 examples on average or they are no more than 7,302. Of a stream of them, ``partial_fit`` goes
        through some of the last ones again, for 16,384 examples (recent.py); if a number is given, through each once.
    step : float, default=0.3
        How much of what a label misses is made up for at a time; 0 only counts.
    leakage, rare, values, max_total_edges, random_state
        As FeatureFocus has them.
    shards : int, default=1
        Deprecated, as ``fit`` learns blocks on several cores.
    n_jobs : int, default=None
        Threads for ranking, and for ``fit`` where it learns blocks; results do not depend on it. −1 for all processors.
    block : int or None, default=None
        How many examples ``fit`` learns at a time. A block can be learned by several threads, but an example does not
        see what the others of its block have taught, and one thread takes 1.4 to 1.7 times as long as one by one. None:
        one by one below 65,536 examples, otherwise as many as harm nothing (teams.py).

    Attributes
    ----------
    classes_ : ndarray
        All labels, in order of first appearance.
    label_counts_ : ndarray
        In how many examples each label was seen.
    n_examples_, n_features_in_ : int
        How many examples were learned, and how many columns the widest had.
    feature_names_in_ : ndarray of str
        The names of the columns, where they have names.
    n_edges_ : int
        How many edges the index holds.

    References
    ----------
    The index is that of Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004);
    docs/tuned-index.md tells what is tuned.

    Examples
    --------
    >>> from shortlist import TunedIndex
    >>> learner = TunedIndex().fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    """

    takes_partial = True
    ranks_ahead = True
    _missed = NOBODY_ASKS
    _ahead: Ahead = NOBODY

    def __init__(
        self,
        min_weight: float = 0.01,
        max_edges: int = 50,
        passes: int | None = None,
        step: float = 0.3,
        leakage: bool = True,
        rare: int = 10,
        values: str = "l2",
        max_total_edges: int | None = None,
        shards: int = 1,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        block: int | None = None,
    ) -> None:
        self.min_weight = min_weight
        self.max_edges = max_edges
        self.passes = passes
        self.step = step
        self.leakage = leakage
        self.rare = rare
        self.values = values
        self.max_total_edges = max_total_edges
        self.shards = shards
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.block = block

    def _begin(self) -> None:
        super()._begin()
        as_real(self.step, "step", least=0)
        if self.block is not None:
            as_whole(self.block, "block", least=1, most=MOST_EXAMPLES)
        self._planned = usual_passes(self.passes, None)
        self._biases = np.zeros(0)
        self._stats = START.copy()
        self._company = company.NO_VOTES
        self._pass = 0

    def passes_through(self, n_rows: int, n_labels: int = 0) -> int:
        """How often ``fit`` goes through that many rows, which have so many labels together."""
        least = 3 if n_labels >= MANY * max(1, n_rows) else 2
        if n_labels <= SINGLE * n_rows:
            least = passes_of_contest(n_rows, len(getattr(self, "_labels", ())))
        self._planned = usual_passes(self.passes, n_rows, least)
        return self._planned

    _few = _small = False  # whether ``fit`` has few examples of each label; few in all

    def _take_up(self, rows: Rows | RowStore, Y: LabelsLike, shuffled: bool = False) -> LabelSets:
        labels = super()._take_up(rows, Y, shuffled)
        self._small = bool(shuffled and self.passes is None and labels.single and rows.n_rows < FEW // 2)
        self._few = self._small and rows.n_rows < FEW_OF_A_LABEL * len(self._labels)
        return labels

    def _learn(self, rows: Rows | RowStore, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self._pass = 0 if first_pass else self._pass + 1
        further = max(1, self._planned - 1)
        n = float(order.size)
        self._to_come = np.array([n * (further + 1 - self._pass), n * further])
        self._biases = grown(self._biases, len(self._labels))
        try:
            super()._learn(rows, labels, order, first_pass)
        finally:
            for own in ("_ahead", "_piece", "_mates"):
                self.__dict__.pop(own, None)
        if not first_pass and self._rankings:
            self._rankings = [Rankings.stack(self._rankings)]
            left = further + 1 - self._pass
            self._learn_votes(self._rankings[0], left / further, (left - 1) / further)

    def _learn_some(
        self, rows: Rows, labels: LabelSets, order: Longs, done: int, first_pass: bool, cap: int
    ) -> tuple[int, int, int]:
        rules = Rules(
            self.max_edges, super()._least_share(), self.rare, bool(self.leakage), cap, float(self.step), self._few,
            self._small,
        )  # fmt: skip
        bias = self._biases[: len(self._labels)]
        if done == 0 and self._piece is not order:  # what was stopped in its first block goes on with its rankings
            self._piece, self._mates = order, self._rank_mates(rows, labels, order) if first_pass else NOBODY
        mates = self._mates
        if self._block > 1:
            task = Task(rows, labels, order, first_pass, bias, self._stats, self._to_come, mates)
            self._team = self._team or Team(self._block, self._jobs(), len(self._labels))
            found = self._team.learn(task, done, self._index, rules)
        else:
            found = learn(
                rows, labels, order, done, first_pass, self._index, bias, self._stats, self._to_come, *rules,
                self._missed, self._ahead, mates, self._recent_with_room(rows),
            )  # fmt: skip
        self._learn_company(mates, labels, order[done : found[0]])
        return found

    # Labels that vote for labels, where they are many (company.py).

    _rankings: list[Rankings] | None = None  # of the first pass of ``fit``, for further ones
    _piece: Longs | None = None  # what is being learned, and the rankings of it
    _mates = NOBODY

    def _of_labels(self) -> Votes:
        return self._company if are_many(self._stats) else company.NO_VOTES

    def _rank_mates(self, rows: Rows, labels: LabelSets, order: Longs) -> Ahead:
        """Room for rankings of new examples, if labels may come to learn from them."""
        if not self.ranks_ahead or self.shards > 1:
            return NOBODY
        if not are_many(self._stats) and (labels.ids.size < MANY or np.diff(labels.indptr).max() < MANY):
            return NOBODY
        complete = labels.partial.complete
        which = order[complete[order]] if complete.size else order
        return room_for_rankings(rows.n_rows, which, company.MATES, unit_length=self.values == "l2")

    def _learn_company(self, mates: Ahead, labels: LabelSets, order: Longs) -> None:
        """What these examples teach labels about one another, by the rankings that they had before."""
        if mates.place.size == 0:
            return
        order = order[mates.place[order] >= 0]
        order = order[mates.ids[mates.place[order], 0] >= 0]  # labels were many, and some were retrieved
        place = mates.place[order]
        rankings = Rankings(mates.ids[place], mates.scores[place], labels.chosen(order))
        self._company = company.grown_votes(self._company, len(self._labels))
        self._learn_votes(rankings, 1.0, 1.0, order, self._ahead)
        if self._rankings is not None:
            self._rankings = company.last_of([*self._rankings, rankings])

    def _learn_votes(
        self, rankings: Rankings, begin: float, end: float, order: Longs = company.NO_ORDER, ahead: Ahead = NOBODY
    ) -> None:
        begin, end = (company.step_of_labels(float(self.step)) * share for share in (begin, end))
        company.learn(rankings, self._company, len(self._labels), begin, end, order, ahead)

    def _rank_ahead(self, n_rows: int, which: Longs, k: int, whole: bool = False) -> Ahead:
        """Of the n_rows rows to be learned next, rank those at ``which``, each just before its turn, as ``rank`` would.

        Gives where the rankings will stand. Of a ``whole`` row features that no example had are part, too.
        """
        k = min(k, max(len(self._labels), 1))
        self._ahead = room_for_rankings(n_rows, which, k, unit_length=self.values == "l2" and not whole)
        return self._ahead

    # ``fit`` can learn examples in blocks. ``partial_fit`` learns each for itself: what a stream teaches must not
    # depend on how it was cut into batches.

    _team: Team | None = None

    def block_for(self, n_rows: int) -> int:
        wanted = block_size(n_rows) if self.block is None else self.block
        return wanted if self.shards == 1 else 1

    def _learn_passes(self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch = at_once) -> Iterator[int]:
        if self.shards > 1:
            warnings.warn(
                "shards of TunedIndex is deprecated and will go with 0.2: blocks of examples use n_jobs cores, and any "
                "number of them learns the same", FutureWarning, stacklevel=2,
            )  # fmt: skip
        self._block, self._rankings = self.block_for(rows.n_rows), []
        try:
            yield from super()._learn_passes(rows, Y, watch)
        finally:
            if self._team:
                self._team.end(self._index)
            del self._block, self._rankings
            self.__dict__.pop("_team", None)

    def _width(self) -> int:
        return int(width(self.max_edges, self._stats))

    def _least_share(self) -> float:
        return least_share(super()._least_share(), self._stats)

    def _drop_light(self, index: Index) -> None:
        keep = self.max_edges if are_single(self._stats) else 0
        cut_lists(index, keep, self._least_share(), bool(self.leakage))

    def _bias(self) -> Floats:
        return grown(self._biases, len(self._labels))[: len(self._labels)]

    # Putting together: counts add. The corrections of a feature are averaged over those who have met it, or those of a
    # rare feature would shrink with each learner that has not; biases over all.

    def _merge(self, other: Any, numbers: Ints) -> None:
        n = max(self._index.features.size, other._index.features.size)
        seen, seen_there = (grown(index.features["seen"].astype(float), n)[:n] for index in (self._index, other._index))
        theirs = copy.copy(other)
        theirs._index = tuned_by(other._index, seen_there / np.maximum(1, seen + seen_there))
        self._index = tuned_by(self._index, seen / np.maximum(1, seen + seen_there))
        super()._merge(theirs, numbers)
        share = other.n_examples_ / max(1, self.n_examples_ + other.n_examples_)
        self._biases = (1.0 - share) * grown(self._biases, len(self._labels))
        np.add.at(self._biases, numbers, share * other._bias())
        self._stats = joined([self._stats, other._stats], [1.0 - share, share])
        self._company = company.merged_votes(self._company, other._company, numbers, share, len(self._labels))
        self._join_recent(other, numbers)

    def _shard(self, n: int) -> Any:
        shard = super()._shard(n)
        shard._biases, shard._stats = self._biases.copy(), self._stats.copy()
        shard.ranks_ahead = False  # what labels say of labels is not mixed
        return shard

    def _mix(self, shards: list[Any]) -> None:
        self._biases = np.mean([grown(shard._biases, len(self._labels)) for shard in shards], axis=0)
        learned = [shard._stats - self._stats for shard in shards]
        self._stats = self._stats + joined(learned, [1.0 / len(shards)] * len(shards))
        self._pass = shards[0]._pass
        began = self._index.for_features(max(shard._index.features.size for shard in shards))
        met = np.array([has_met(shard._index, began) for shard in shards], dtype=np.float64)
        met[0, met.sum(axis=0) == 0] = 1.0  # nobody has: all shards still have what there was
        for shard, factor in zip(shards, met / met.sum(axis=0), strict=True):
            shard._index = tuned_by(shard._index, factor)
        self._index = tuned_by(self._index, np.zeros(began.features.size))
        super()._mix(shards)

    def _to_arrays(self) -> dict[str, Any]:
        own = {"edge_tuned": self._index.column("tuned", np.float32), "bias": self._bias()}
        own |= {"course": self._stats, "pass": np.array([self._pass])}
        return super()._to_arrays() | own | company.votes_to_arrays(self._company)

    def _from_arrays(self, state: State) -> None:
        super()._from_arrays(state)
        if "edge_tuned" in state.arrays or "lists" not in state.arrays:  # packed lists have them
            tuned = state.array("edge_tuned", np.float32)
            state.require(tuned.size == self._index.edges.size, "each edge has a correction")
            state.require(bool(np.isfinite(tuned).all()), "corrections are finite")
            self._index.edges["tuned"] = tuned
        self._biases = np.array(state.array("bias", np.float64))
        state.require(self._biases.size == len(self._labels), "each label has a bias")
        state.require(bool(np.isfinite(self._biases).all()), "biases are finite")
        stats = state.array("course", np.float64)
        known = {MISSED: [1.0, 1.0, 0.0], MISSED + 1: [1.0, 0.0]}  # from before contests, from before paces
        self._stats = np.append(stats, known.get(stats.size, []))
        state.require(are_counts(self._stats, START.size), "it has its counts")
        self._planned = self.passes_through(self.n_examples_, int(self._stats[LABELS]))
        self._company = company.votes_from_arrays(state, len(self._labels))
        passed = state.array("pass", np.int64)
        state.require(passed.size == 1 and bool((passed >= 0).all()), "it says which pass it is in")
        self._pass = int(passed[0])
