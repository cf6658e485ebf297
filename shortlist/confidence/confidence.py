"""How certain a ranking is, learned from calibration examples: texts that were ranked before they
were learned.

The last SIZE calibration examples are kept, so memory has a bound, and everything here follows from
them. Of each ranking the first WIDTH labels are kept; of the true labels behind them, how many
there are and how deep the deepest is. The formulas are in calibration.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.concurrency import ModelLock, uninterrupted
from shortlist.confidence import calibration
from shortlist.confidence.calibration import (
    ENOUGH,
    LEVELS,
    WIDTH,
    Aim,
    Curves,
    Precision,
    fit_curves,
)
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Promise, places_of
from shortlist.data.validation import MOST_AMOUNT, as_real, as_whole
from shortlist.errors import InputError
from shortlist.files.store import State

SIZE = 8192  # calibration examples: an error rate of 5 % is known to a quarter of a point
# of a full window, its copies to work on and to save, and the arrays made from it
MOST_BYTES = 8_000_000
NEVER = np.iinfo(np.int32).max  # the depth of a true label that was not retrieved

Shares = NDArray[np.float32]


class Seen(NamedTuple):
    """Calibration examples, one row each; a place without a label has the id −1 and the score 0."""

    ids: Ints  # × WIDTH
    scores: NDArray[np.float32]  # × WIDTH
    hits: NDArray[np.uint8]  # × WIDTH: whether the label is true
    beyond: Ints  # true labels behind the first WIDTH
    true: Ints  # how many true labels there are
    # at which place the deepest true label stands, from 1; 0 where there is none, NEVER where it
    # does not
    depth: Ints
    deepest: NDArray[np.float32]  # its score
    # the probability that the best label had when it was ranked; −1 where there was none yet
    expected: Floats
    known: Shares  # the share of its features that earlier examples had; −1 where it is not known

    @classmethod
    def room(cls, n: int) -> Seen:
        table, row = (n, WIDTH), (n,)
        return cls(
            np.full(table, -1, dtype=np.int32),
            np.zeros(table, dtype=np.float32),
            np.zeros(table, dtype=np.uint8),
            np.zeros(row, dtype=np.int32),
            np.zeros(row, dtype=np.int32),
            np.zeros(row, dtype=np.int32),
            np.zeros(row, dtype=np.float32),
            np.full(row, -1.0),
            np.full(row, -1.0, dtype=np.float32),
        )

    @classmethod
    def stack(cls, parts: Sequence[Seen]) -> Seen:
        """The examples of all parts, one part after the other."""
        return cls(*(np.concatenate(own) for own in zip(*parts, strict=True)))

    @property
    def n_examples(self) -> int:
        return self.true.size

    def take(self, rows: Longs | NDArray[np.bool_] | slice) -> Seen:
        return Seen._make(array[rows] for array in self)

    def last(self, n: int) -> Seen:
        """The last n examples, or all if there are fewer."""
        return self.take(slice(max(0, self.n_examples - n), None))

    def scores_or_nan(self) -> Floats:
        """The scores, NaN where there is no label."""
        return np.where(self.ids >= 0, self.scores.astype(np.float64), np.nan)

    def moved(self, by: float) -> Seen:
        """The same examples with scores higher by ``by``, where there is a label."""
        ranked, deep = self.ids >= 0, (self.depth > 0) & (self.depth < NEVER)
        scores, deepest = (
            clipped(scores.astype(np.float64) + np.where(has_label, by, 0.0)).astype(np.float32)
            for has_label, scores in ((ranked, self.scores), (deep, self.deepest))
        )
        return self._replace(scores=scores, deepest=deepest)

    # Model files. There the examples are a ring, of which the last ``length`` before the place
    # ``next`` count.

    def to_state(self) -> State:
        counts = {"next": self.n_examples % SIZE, "length": self.n_examples}
        return State("Window", counts, self._asdict())

    @classmethod
    def from_state(cls, state: State) -> Seen:
        empty = cls.room(0)._asdict()
        seen = cls(
            **{
                name: np.array(state.array(name, array.dtype, array.ndim))
                for name, array in empty.items()
            }
        )
        used = seen.n_examples
        alike = all(
            getattr(seen, name).shape == (used, *array.shape[1:]) for name, array in empty.items()
        )
        state.require(
            alike and used <= SIZE,
            "the calibration examples have rows of one kind, and not too many",
        )
        next_one, length = (state.settings[name] for name in ("next", "length"))
        whole = type(next_one) is int and type(length) is int
        state.require(
            whole and 0 <= next_one < SIZE and 0 <= length <= used, "its examples are counted"
        )
        state.require(
            next_one == used or used == SIZE, "the next calibration example follows the last"
        )
        finite = np.isfinite(seen.scores).all() and np.isfinite(seen.deepest).all()
        state.require(
            bool((seen.ids >= -1).all() and finite), "its rankings have labels and finite scores"
        )
        state.require(bool((seen.depth >= 0).all()), "places count from 1")
        for shares in (seen.expected, seen.known):
            within = (shares == -1.0) | ((shares >= 0.0) & (shares <= 1.0))
            state.require(bool(within.all()), "probabilities and shares lie between 0 and 1")
        return seen.take(np.arange(next_one - length, next_one))


def clipped(scores: Floats) -> Floats:
    """Scores within the range of float32."""
    largest = float(np.finfo(np.float32).max)
    within: Floats = np.clip(scores, -largest, largest)
    return within


def look(ids: Ints, scores: Floats, truth: LabelSets, known: Shares | None = None) -> Seen:
    """Calibration examples: rankings (n × k) that were made before their examples were learned,
    with the true labels.

    Rank deeper here than lists shall be long: depths behind the last of the k labels are not known.
    ``known`` is the share of the features of each that earlier examples had, if it is known.
    """
    if not (ids.ndim == 2 and ids.shape == scores.shape and truth.n_rows == ids.shape[0]):
        raise InputError(
            "each ranking needs its scores and its true labels: ids and scores n × k, n label sets"
        )
    found = ids >= 0
    if found[:, 1:][~found[:, :-1]].any() or not np.isfinite(scores[found]).all():
        raise InputError("a ranking must have its labels first, each with a finite score")
    n, k = ids.shape
    seen, width = Seen.room(n), min(k, WIDTH)
    finite = clipped(np.where(found, scores, 0.0))
    seen.ids[:, :width], seen.scores[:, :width] = ids[:, :width], finite[:, :width]
    seen.true[:] = np.diff(truth.indptr)
    row = np.repeat(np.arange(n), seen.true)  # of each true label
    place = places_of(truth.ids, row, ids)
    near = place < width
    seen.hits[row[near], place[near]] = 1
    seen.beyond[:] = np.bincount(row[~near], minlength=n)
    np.maximum.at(seen.depth, row, np.where(place < k, place + 1, NEVER).astype(np.int32))
    deep = np.flatnonzero((seen.depth > 0) & (seen.depth < NEVER))
    seen.deepest[deep] = finite[deep, seen.depth[deep] - 1]
    if known is not None:
        seen.known[:] = known
    return seen


# Drift: if the expected hits of the last examples are far from the hits that came, older examples
# mislead.


LOOK = 32  # examples from one look to the next, and the shortest stretch looked at
LONGEST = 1024
ALARM = 4.5


def stretch_to_keep(seen: Seen) -> int:
    """How many of the last examples contradict those before them; 0 where none do. The oldest
    example comes first.
    """
    n = seen.n_examples
    last = seen.last(max(0, min(LONGEST, n - LOOK))).take(slice(None, None, -1))  # the newest first
    p = last.expected
    # examples before the first curves have no expectation
    p = p[: np.argmax(p < 0.0)] if (p < 0.0).any() else p
    surplus, spread = np.cumsum(last.hits[: p.size, 0] - p), np.cumsum(p * (1.0 - p))
    s = LOOK << np.arange(LONGEST.bit_length())
    s = s[s <= p.size]
    if s.size == 0:
        return 0
    z = np.abs(surplus[s - 1]) / np.sqrt(1.0 + (1.0 + s / (n - s)) * spread[s - 1])
    return int(s[z.argmax()]) if z.max() > ALARM else 0


# Whether a stream comes sorted by label: then calibration examples say nothing of other texts.
#
# In a file that is sorted by label the next example has the label of the last one, so that even a
# model that knows one label is right. Of the last WINDOW examples, the share that have a label in
# common with the example before is compared with the share that two random examples would have, Σ
# p², by how often each label came so far. Where it is more than halfway from there to 1 the stream
# is in a run: its rankings are not counted, and nothing is promised until it ends.


WINDOW = 64  # examples
EVERY = (1 << WINDOW) - 1  # a bit for each of them
LEAST = 16  # examples before a run is detected
HALFWAY = 0.5
# two random examples have a label in common so often that a run cannot be detected
TOO_COMMON = 0.9


class Runs(NamedTuple):
    """Counts, along a stream, how often an example has a label of the one before it."""

    same: int = 0  # a bit for each of the last examples: whether it had a label of the one before
    last: frozenset[int] = frozenset()  # the labels of the last example
    squares: int = 0  # Σ count² over labels
    seen: int = 0  # examples
    several: bool = False  # whether there was more than one label

    def after(
        self, labels: LabelSets, order: Longs, counts: Longs
    ) -> tuple[NDArray[np.bool_], Runs]:
        """For each example of ``order``, whether it is in a run; and the Runs then. ``counts``
        includes all of them.
        """
        ids, ends = labels.ids.tolist(), labels.indptr.tolist()
        sets = [ids[ends[i] : ends[i + 1]] for i in order.tolist()]
        counted = {label: int(counts[label]) for label in set(chain.from_iterable(sets))}
        for label in chain.from_iterable(sets):  # the counts before these examples
            counted[label] -= 1
        found = []
        bits, last, squares, seen, several = self
        for own in sets:
            same = not last.isdisjoint(own)
            bits = (bits << 1 | same) & EVERY
            for label in own:
                squares += 2 * counted[label] + 1
                counted[label] += 1
            several = several or (bool(last) and not same)
            last = frozenset(own) or last
            seen += 1
            found.append(in_run(bits, squares, seen, several))
        return np.array(found, dtype=np.bool_), Runs(bits, last, squares, seen, several)

    @property
    def now(self) -> bool:
        """Whether the stream is in a run."""
        return in_run(self.same, self.squares, self.seen, self.several)

    def to_settings(self) -> dict[str, Any]:
        return {
            "now": self.now,
            "same": f"{self.same:x}",
            "noted": min(self.seen, WINDOW),
            "last": sorted(self.last),
            "squares": self.squares,
            "seen": self.seen,
            "several": self.several,
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Runs:
        same, last = (
            int(str(settings["same"]), 16) & EVERY,
            {as_whole(label, "last") for label in settings["last"]},
        )
        squares = as_whole(settings["squares"], "squares", most=MOST_AMOUNT**2)
        seen = as_whole(settings["seen"], "seen", most=MOST_AMOUNT)
        return cls(same, frozenset(last), squares, seen, bool(settings["several"]))


def in_run(same: int, squares: int, seen: int, several: bool) -> bool:
    """Whether a stream is in a run, by the counts of ``Runs``."""
    if seen < LEAST or not several:
        return seen >= LEAST  # one label so far
    expected, share = squares / seen**2, same.bit_count() / min(seen, WINDOW)
    return expected < TOO_COMMON and share > expected + HALFWAY * (1.0 - expected)


# Why no label is assigned to a text.


# a text is out of scope if its share of known features is below this quantile of the examples'
STRANGE = 0.01
# a text is not decided if its best score is below this quantile of the examples that are decided
LOW = 0.05
# tolerance of a score: a model that learned a little more scores the same text a little differently
ABOUT = 0.01
HALF = 0.5  # share of known features required where the calibration examples had no unknown ones


class Reason(IntEnum):
    """Why a text has no label; ASSIGNED where it has one."""

    ASSIGNED = 0
    NO_KNOWN_WORD = 1
    UNLIKE_ANYTHING_LEARNED = 2
    NOTHING_SURE_ENOUGH = 3
    NO_KNOWN_FEATURE = 4  # of a row of features, which has no words

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


def lowest_usual(values: Floats, share: float) -> float:
    """The value below which this share of the calibration examples lies; −∞ where there are too
    few.
    """
    if values.size * share < 1.0:
        return -np.inf
    return float(np.sort(values)[int(values.size * share)])


class Automation(NamedTuple):
    """What deciding alone above a threshold brings: the share of texts decided, and how many of
    them rightly.
    """

    precision: float  # the precision that was asked for
    threshold: float
    share: float
    right: float  # NaN where nothing is decided


def strangeness(seen: Seen, curves: Curves) -> Floats:
    """How strange each example is, between 0 and 1; infinite if a true label was not retrieved."""
    n, depth = seen.n_examples, seen.depth
    scores = seen.scores_or_nan()
    falling = np.hstack([np.ones((n, 1)), calibration.probabilities(scores, WIDTH, curves)])
    least = falling[np.arange(n), np.minimum(depth, WIDTH)]
    deep = np.flatnonzero((depth > WIDTH) & (depth < NEVER))
    deepest = seen.deepest[deep, None].astype(np.float64)
    chances = calibration.deep_probabilities(
        deepest, scores[deep, :1], depth[deep, None] - 1, curves
    )
    least[deep] = np.minimum(least[deep], chances[:, 0])
    return np.where(depth == NEVER, np.inf, 1.0 - least)


REFITS = 8  # while a full window is replaced once
MANY, PARTS = 512, 4  # fewer examples than MANY are cross-fitted in PARTS parts
# examples: to observe so many takes hardly longer than to observe one, and has the same result
WAITING = 4 * LOOK


class Confidence:
    """Observes rankings and their true labels; gives probabilities, lengths of lists, and
    thresholds.

    >>> # rankings made before their examples were learned
    >>> confidence.note(look(ranking.ids, ranking.scores, truth))
    >>> confidence.probabilities(ranking.scores)                    # n × k
    >>> # how many labels of each hold all true ones
    >>> confidence.lengths(ranking.scores, coverage=0.95)
    >>> confidence.assigned(ranking.scores, F1())                   # which labels of each to assign

    Scores are n × k, best first, NaN where there is no label; k is at least TOGETHER if as many
    labels exist, since the first label's probability depends on their scores. The result does not
    depend on the batches in which examples are observed. Until LOOK examples have been observed,
    probabilities are NaN, lists hold everything, and nothing is assigned.
    """

    def __init__(self) -> None:
        self.window = Seen.room(0)  # the last SIZE examples, oldest first
        self.observed = 0  # examples, ever
        self.runs = Runs()
        self._waiting: list[Seen] = []  # noted, but not yet in the window
        self._since = 0  # examples since the last drift
        self._fitted_on = 0  # examples
        self._fitted_at = 0  # value of ``observed`` at the last fit
        self._curves = Curves.flat()
        self._ascending = np.zeros(0)  # strangeness of the examples
        self._levels = LEVELS.copy()
        self._cache: dict[Any, Any] = {}  # results since the last example

    # Learning.

    def fit(self, seen: Seen) -> None:
        """Forget everything and observe calibration examples in no particular order, all at
        once.
        """
        self.__init__()  # type: ignore[misc]
        self.window = seen.last(SIZE)
        self.observed = self._since = seen.n_examples
        if self.observed >= LOOK:
            self._refit()

    def note(self, seen: Seen) -> None:
        """Observe calibration examples, oldest first: when a result is needed (``settled``), or
        many wait.
        """
        self._waiting.append(seen)
        if sum(one.n_examples for one in self._waiting) >= WAITING:
            self._settle()

    def settled(self, lock: ModelLock) -> Confidence:
        """This confidence after observing everything noted. The caller reads the model of this
        lock; others may too.
        """
        if self._waiting:
            with lock.making, uninterrupted():
                self._settle()
        return self

    def _settle(self) -> None:
        if not self._waiting:
            return
        seen, first = Seen.stack(self._waiting), 0
        n = seen.n_examples
        while first < n:
            last = min(n, first + LOOK - self.observed % LOOK)
            self._take_up(seen.take(slice(first, last)))
            first = last
        self._cache = {}
        self._waiting = []  # last: a thread that finds it empty reads at once

    def _take_up(self, seen: Seen) -> None:
        """Add examples up to the next look; at the look, detect drift and refit."""
        if self.fitted:
            best = calibration.probabilities(seen.scores_or_nan(), 1, self._curves)[:, 0]
            seen.expected[:] = np.where(np.isnan(best), 0.0, best)
            strange = strangeness(seen, self._curves)
            self._levels = calibration.move_levels(
                strange, self._ascending, self._since, self._levels
            )
        self.window = Seen.stack([self.window, seen]).last(SIZE)
        self.observed += seen.n_examples
        self._since += seen.n_examples
        if self.observed % LOOK:
            return
        keep = stretch_to_keep(self.window) if self.fitted else 0
        if keep:
            self.window, self._since = self.window.last(keep), keep
        wait = min(max(LOOK, self._fitted_on), SIZE // REFITS)
        if keep or self.observed - self._fitted_at >= wait:
            self._refit()
        elif self.fitted:  # the curves were fitted without the new examples and can judge them
            new = self.window.last(min(LOOK, self.observed - self._fitted_at))
            strange = np.sort(strangeness(new, self._curves))
            self._ascending = np.insert(
                self._ascending, np.searchsorted(self._ascending, strange), strange
            )

    def _refit(self) -> None:
        self._curves = fit_curves(self.window.last(ENOUGH), self._curves)
        judged = [strangeness(self.window.take(own), by) for by, own in self._judges()]
        self._ascending = np.sort(np.concatenate(judged))
        self._fitted_on, self._fitted_at = self.window.n_examples, self.observed

    def _judges(self) -> Iterator[tuple[Curves, NDArray[np.bool_]]]:
        """Curves, and which examples of the window to judge by them: if there are many, all by the
        current curves.

        Few examples are cross-fitted: each part by curves of the others. Otherwise they would seem
        less strange than new ones.
        """
        n = self.window.n_examples
        if n >= MANY:
            yield self._curves, np.ones(n, dtype=np.bool_)
        for part in range(PARTS if n < MANY else 0):
            own = np.arange(n) % PARTS == part
            yield fit_curves(self.window.take(~own), self._curves), own

    @property
    def fitted(self) -> bool:
        """Whether enough has been observed to fit curves."""
        return self._fitted_on > 0

    @property
    def ready(self) -> bool:
        """Whether results are available: enough was observed, and the stream does not come
        sorted by label.
        """
        return self.fitted and not self.runs.now

    # Answering.

    def probabilities(self, scores: Floats) -> Floats:
        """The probability that each label of each ranking (n × k) is right; NaN where there is
        no label.
        """
        if not self.ready:
            return np.full(scores.shape, np.nan)
        return calibration.probabilities(scores, scores.shape[1], self._curves)

    def promised(self, scores: Floats, k: int) -> Promise | None:
        """A function that gives the probabilities of the first k labels as of now; None if not
        ``ready``.
        """
        return partial(calibration.probabilities, scores, k, self._curves) if self.ready else None

    def lengths(self, scores: Floats, coverage: float, chances: Floats | None = None) -> Longs:
        """How many labels of each ranking hold all true ones, in a share of ``coverage`` of all
        texts.

        ``chances`` are their probabilities, if already computed.
        """
        chances = self.probabilities(scores) if chances is None else chances
        retrieved = np.count_nonzero(~np.isnan(scores), axis=1).astype(np.int64)
        return calibration.list_lengths(chances, retrieved, self.limit(coverage))

    def limit(self, coverage: float) -> float:
        """How strange a label of a list may be: 1 − its least probability; infinite if no list
        is long enough.
        """
        alpha = 1.0 - as_real(coverage, "coverage", least=0, most=1)
        if not self.ready:
            return np.inf
        level = self._once(
            ("level", alpha),
            lambda: calibration.safe_level(
                self._ascending.size, calibration.level_for(alpha, self._levels)
            ),
        )
        return float(calibration.limit(self._ascending, level))

    def reachable(self) -> float:
        """The largest coverage that can be promised: the share of examples all of whose true
        labels were retrieved.
        """
        return float(np.isfinite(self._ascending).mean()) if self.ready else 0.0

    def can_promise(self, coverage: float) -> bool:
        """Whether there are enough calibration examples for this coverage, and enough of their
        labels retrieved.
        """
        return (
            calibration.safe_level(self._ascending.size, 1.0 - coverage) > 0.0
            and self.reachable() >= coverage
        )

    def threshold(self, aim: Aim) -> float:
        """From which probability on labels are assigned for an aim; infinite where it cannot be
        met.
        """
        if not self.ready:
            return calibration.NOTHING
        return float(
            self._once(aim, lambda: calibration.find_threshold(aim, self.window, self._past()))
        )

    def assigned(
        self, scores: Floats, aim: Aim, chances: Floats | None = None
    ) -> NDArray[np.bool_]:
        """Which labels of each ranking to assign for an aim; ``chances`` as for ``lengths``."""
        chances = self.probabilities(scores) if chances is None else chances
        with np.errstate(invalid="ignore"):
            found: NDArray[np.bool_] = chances >= self.threshold(aim)
        if getattr(aim, "alone", False):
            found[:, 1:] = False
            with np.errstate(invalid="ignore"):
                found[:, :1] &= scores[:, :1] >= self.lowest(aim)
        return found

    def lowest(self, aim: Aim) -> float:
        """The best score below which a text is unlike anything learned, and is not decided."""
        if not self.ready:
            return -np.inf

        def lowest() -> float:
            with np.errstate(invalid="ignore"):
                decided = self._past()[:, 0] >= self.threshold(aim)
            found = lowest_usual(self.window.scores[decided, 0].astype(np.float64), LOW)
            return found - ABOUT * abs(found)

        return float(self._once(("lowest", aim), lowest))

    def are_unlike(self, known: Shares) -> NDArray[np.bool_]:
        """Which texts are out of scope: too small a share of their features is ``known``."""

        def least_known() -> float:
            shares = self.window.known
            least = lowest_usual(shares[shares >= 0.0].astype(np.float64), STRANGE)
            return least if least < 1.0 else HALF

        strange: NDArray[np.bool_] = known.astype(np.float64) < self._once(
            "least known", least_known
        )
        return strange

    def automation(self, precisions: Sequence[float]) -> list[Automation]:
        """The result of deciding alone on the calibration examples, for each precision."""
        seen, table = self.window, []
        for share in precisions:
            aim = Precision(share, alone=True)
            decided = self.assigned(seen.scores_or_nan(), aim, self._past())[:, 0]
            n = int(np.count_nonzero(decided))
            right = float(seen.hits[decided, 0].sum() / n) if n else np.nan
            table.append(Automation(share, self.threshold(aim), n / max(1, decided.size), right))
        return table

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """A result that is computed once until another example is observed."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _past(self) -> Floats:
        """The probabilities of the calibration examples by the current curves."""

        def computed() -> Floats:
            found = np.full((self.window.n_examples, WIDTH), np.nan)
            for by, own in self._judges() if self.fitted else ():
                found[own] = calibration.probabilities(
                    self.window.take(own).scores_or_nan(), WIDTH, by
                )
            return found

        past: Floats = self._once("past", computed)
        return past

    # Model files.

    def to_state(self) -> State:
        settings = {
            "observed": self.observed,
            "since": self._since,
            "fitted_on": self._fitted_on,
            "fitted_at": self._fitted_at,
            "runs": self.runs.to_settings(),
        }
        parts = {"window": self.window.to_state(), "curves": self._curves.to_state()}
        return State(
            "Confidence", settings, {"ascending": self._ascending, "levels": self._levels}, parts
        )

    @classmethod
    def from_state(cls, state: State) -> Confidence:
        confidence = cls()
        names = ("observed", "since", "fitted_on", "fitted_at")
        counts = [as_whole(state.settings[name], name, most=MOST_AMOUNT) for name in names]
        confidence.observed, confidence._since, confidence._fitted_on, confidence._fitted_at = (
            counts
        )
        state.require(
            confidence._fitted_at <= confidence.observed, "it was fitted to what it had observed"
        )
        confidence.runs = Runs.from_settings(state.settings["runs"])
        confidence.window = Seen.from_state(state.parts["window"])
        confidence._curves = Curves.from_state(state.parts["curves"])
        ascending, levels = (
            np.array(state.array(name, np.float64)) for name in ("ascending", "levels")
        )
        # none is NaN
        ordered = bool((ascending >= 0.0).all() and (ascending[1:] >= ascending[:-1]).all())
        since = confidence.observed - confidence._fitted_at
        known = (
            confidence._fitted_on <= SIZE and 0 <= ascending.size - confidence._fitted_on <= since
        )
        state.require(known, "it has a strangeness for each example it was fitted to")
        state.require(ordered, "the strangeness of its examples ascends")
        within = levels.size == LEVELS.size and bool(((levels >= 0.0) & (levels <= 1.0)).all())
        state.require(within, "its levels lie between 0 and 1")
        confidence._ascending, confidence._levels = ascending, levels
        return confidence
