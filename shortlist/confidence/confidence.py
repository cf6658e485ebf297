"""How certain a ranking is, learned from calibration examples: texts that were ranked before they
were learned.

The last SIZE calibration examples are kept, so memory has a bound, and everything here follows from
them. The formulas are in calibration.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs
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
from shortlist.confidence.calibration_examples import NEVER, SIZE, CalibrationExamples, Shares
from shortlist.confidence.drift import LOOK, stretch_to_keep
from shortlist.confidence.sorted_streams import Runs
from shortlist.confidence.spot_checks import TARGETS, Examined, SpotChecks
from shortlist.data.ranking import Promise
from shortlist.data.validation import MOST_AMOUNT, as_real, as_whole
from shortlist.files.store import State

# Why no label is assigned to a text.


# a text is out of scope if its share of known features is below this quantile of the examples'
STRANGE_TEXTS = 0.01
# a text is not decided if its best score is below this quantile of the examples that are decided
LOW_SCORES = 0.05
# tolerance of a score: a model that learned a little more scores the same text a little differently
SCORE_TOLERANCE = 0.01
LEAST_KNOWN = (
    0.5  # share of known features required where the calibration examples had no unknown ones
)


class Reason(IntEnum):
    """Why a text has no label; ASSIGNED where it has one."""

    ASSIGNED = 0
    NO_KNOWN_WORD = 1
    UNLIKE_ANYTHING_LEARNED = 2
    NOTHING_SURE_ENOUGH = 3
    NO_KNOWN_FEATURE = 4  # of a row of features, which has no words
    PAUSED_BY_SPOT_CHECKS = 5  # the precision is not held any more

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


def strangeness(seen: CalibrationExamples, curves: Curves) -> Floats:
    """How strange each example is, between 0 and 1; infinite if a true label was not retrieved."""
    n = seen.n_examples
    depth = seen.depth
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
# fewer examples than MANY_EXAMPLES are cross-fitted in CROSS_FITTED_PARTS parts
MANY_EXAMPLES = 512
CROSS_FITTED_PARTS = 4
# examples: to observe so many takes hardly longer than to observe one, and has the same result
MOST_WAITING = 4 * LOOK
# so many spot checks are enough to calibrate without other examples
ENOUGH_CHECKS = 512
ENOUGH_AFTER_REFUTATION = 2 * LOOK
# that this precision is not held refutes the examples that promised it; larger ones rest on few
REFUTED_PRECISION = 0.95


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
    depend on the batches in which examples are observed: curves and thresholds change with every
    LOOK-th example. Until LOOK examples have been observed, probabilities are NaN, lists hold
    everything, and nothing is assigned.

    Once it has observed spot checks (spot_checks.py), they alone are observed from streams.
    """

    def __init__(self) -> None:
        self.window = CalibrationExamples.room(0)  # the last SIZE examples, oldest first
        self.observed = 0  # examples, ever
        self.runs = Runs()
        self.checks = SpotChecks()
        self._n_new = 0  # examples of the window since the last look, which change nothing yet
        self._waiting: list[CalibrationExamples] = []  # noted, but not yet in the window
        self._since = 0  # examples since the last drift
        self._fitted_on = 0  # examples
        self._fitted_at = 0  # value of ``observed`` at the last fit
        self._curves = Curves.flat()
        self._ascending = np.zeros(0)  # strangeness of the examples
        self._levels = LEVELS.copy()
        self._cache: dict[Any, Any] = {}  # results since the last example

    # Learning.

    def fit(self, seen: CalibrationExamples) -> None:
        """Forget everything and observe calibration examples in no particular order, all at
        once.
        """
        self.__init__()  # type: ignore[misc]
        self.window = seen.last(SIZE)
        self.observed = self._since = seen.n_examples
        if self.observed >= LOOK:
            self._refit()

    def note(self, seen: CalibrationExamples) -> None:
        """Observe calibration examples, oldest first: when a result is needed (``settled``), or
        many wait.
        """
        self._waiting.append(seen)
        if sum(noted.n_examples for noted in self._waiting) >= MOST_WAITING:
            self._settle()

    def check(self, seen: CalibrationExamples, one_label_each: bool) -> None:
        """Observe spot checks, oldest first, at once.

        ``one_label_each`` says whether each example learned so far had one label.
        """
        self._settle()
        seen.checked[:] = 1
        self._take_up_in_looks(seen, one_label_each)

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
        self._take_up_in_looks(CalibrationExamples.stack(self._waiting))
        self._waiting = []  # last: a thread that finds it empty reads at once

    def _take_up_in_looks(
        self, seen: CalibrationExamples, one_label_each: bool | None = None
    ) -> None:
        first = 0
        n = seen.n_examples
        while first < n:
            last = min(n, first + LOOK - self.observed % LOOK)
            part = seen.take(slice(first, last))
            if one_label_each is not None:
                self._note_checks(part, one_label_each)
            self._take_up(part)
            first = last

    def _note_checks(self, seen: CalibrationExamples, one_label_each: bool) -> None:
        """Note for each target which spot checks would be decided, and how rightly."""
        n = seen.n_examples
        is_decided = np.zeros((n, TARGETS.size), dtype=np.bool_)
        right = np.zeros((n, TARGETS.size))
        if self.ready:
            scores = seen.scores_or_nan()
            chances = self.probabilities(scores)
            is_usual = ~self.are_unlike(seen.known)
            for place, target in enumerate(TARGETS.tolist()):
                aim = Precision(target, alone=one_label_each)
                is_assigned = self._assignable(scores, aim, chances) & is_usual[:, None]
                n_assigned = np.count_nonzero(is_assigned, axis=1)
                is_decided[:, place] = n_assigned > 0
                n_right = (is_assigned & (seen.hits > 0)).sum(axis=1)
                right[:, place] = n_right / np.maximum(1, n_assigned)
        for row in range(n):
            self.checks.note(is_decided[row], right[row])

    def _take_up(self, seen: CalibrationExamples) -> None:
        """Add examples up to the next look; at the look, detect drift and refit."""
        if self.fitted:
            best = calibration.probabilities(seen.scores_or_nan(), 1, self._curves)[:, 0]
            seen.expected[:] = np.where(np.isnan(best), 0.0, best)
            strange = strangeness(seen, self._curves)
            self._levels = calibration.move_levels(
                strange, self._ascending, self._since, self._levels
            )
        self.window = CalibrationExamples.stack([self.window, seen]).last(SIZE)
        self.observed += seen.n_examples
        self._since += seen.n_examples
        self._n_new += seen.n_examples
        if self.observed % LOOK:
            return
        self._n_new = 0
        self._cache = {}
        keep = stretch_to_keep(self.window) if self.fitted else 0
        if keep:
            self.window = self.window.last(keep)
            self._since = keep
        self._keep_only_checks()
        wait = min(max(LOOK, self._fitted_on), SIZE // REFITS)
        if keep or self.observed - self._fitted_at >= wait:
            self._refit()
        elif self.fitted:  # the curves were fitted without the new examples and can judge them
            new = self.window.last(min(LOOK, self.observed - self._fitted_at))
            strange = np.sort(strangeness(new, self._curves))
            self._ascending = np.insert(
                self._ascending, np.searchsorted(self._ascending, strange), strange
            )

    def _keep_only_checks(self) -> None:
        """Forget examples that are no spot checks, once there are enough of these, or fewer if they
        have refuted the others.
        """
        is_check = self.window.checked > 0
        is_refuted = self.checks.is_paused_for(REFUTED_PRECISION)
        enough = ENOUGH_AFTER_REFUTATION if is_refuted else ENOUGH_CHECKS
        if np.count_nonzero(is_check) >= enough and not is_check.all():
            self.window = self.window.take(is_check)
            self._refit()

    def _refit(self) -> None:
        self._curves = fit_curves(self.window.last(ENOUGH), self._curves)
        examples = self._examples()
        judged = [strangeness(examples.take(is_judged), by) for by, is_judged in self._judges()]
        self._ascending = np.sort(np.concatenate(judged))
        self._fitted_on = self.window.n_examples
        self._fitted_at = self.observed

    def _judges(self) -> Iterator[tuple[Curves, NDArray[np.bool_]]]:
        """Curves, and which examples of the window to judge by them: if there are many, all by the
        current curves.

        Few examples are cross-fitted: each part by curves of the others. Otherwise they would seem
        less strange than new ones.
        """
        examples = self._examples()
        n = examples.n_examples
        if n >= MANY_EXAMPLES:
            yield self._curves, np.ones(n, dtype=np.bool_)
        for part in range(CROSS_FITTED_PARTS if n < MANY_EXAMPLES else 0):
            is_in_part = np.arange(n) % CROSS_FITTED_PARTS == part
            yield fit_curves(examples.take(~is_in_part), self._curves), is_in_part

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
        moved = calibration.level_for(alpha, self._levels)
        level = self._once(
            ("level", moved), lambda: calibration.safe_level(self._ascending.size, moved)
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
        met, or where spot checks have paused it.
        """
        if not self.ready or self.is_paused(aim):
            return calibration.NOTHING
        return self._threshold(aim)

    def _threshold(self, aim: Aim) -> float:
        return float(
            self._once(aim, lambda: calibration.find_threshold(aim, self._examples(), self._past()))
        )

    def is_paused(self, aim: Aim) -> bool:
        """Whether spot checks say that a precision is not held any more."""
        return isinstance(aim, Precision) and self.checks.is_paused_for(aim.share)

    def examined(self, precision: float) -> Examined:
        """What spot checks say of the decisions for a precision."""
        return self.checks.examined(precision)

    def assigned(
        self, scores: Floats, aim: Aim, chances: Floats | None = None
    ) -> NDArray[np.bool_]:
        """Which labels of each ranking to assign for an aim; ``chances`` as for ``lengths``."""
        chances = self.probabilities(scores) if chances is None else chances
        if not self.ready or self.is_paused(aim):
            return np.zeros(chances.shape, dtype=np.bool_)
        return self._assignable(scores, aim, chances)

    def _assignable(self, scores: Floats, aim: Aim, chances: Floats) -> NDArray[np.bool_]:
        """Which labels to assign for an aim, paused or not."""
        with np.errstate(invalid="ignore"):
            is_assigned: NDArray[np.bool_] = chances >= self._threshold(aim)
        if getattr(aim, "alone", False):
            is_assigned[:, 1:] = False
            with np.errstate(invalid="ignore"):
                is_assigned[:, :1] &= scores[:, :1] >= self.lowest(aim)
        return is_assigned

    def lowest(self, aim: Aim) -> float:
        """The best score below which a text is unlike anything learned, and is not decided."""
        if not self.ready:
            return -np.inf

        def lowest() -> float:
            with np.errstate(invalid="ignore"):
                decided = self._past()[:, 0] >= self._threshold(aim)
            scores = self._examples().scores[decided, 0].astype(np.float64)
            usual = lowest_usual(scores, LOW_SCORES)
            return usual - SCORE_TOLERANCE * abs(usual)

        return float(self._once(("lowest", aim), lowest))

    def are_unlike(self, known_shares: Shares) -> NDArray[np.bool_]:
        """Which texts are out of scope: too small a share of their features is known."""

        def least_known() -> float:
            shares = self._examples().known
            least = lowest_usual(shares[shares >= 0.0].astype(np.float64), STRANGE_TEXTS)
            return least if least < 1.0 else LEAST_KNOWN

        strange: NDArray[np.bool_] = known_shares.astype(np.float64) < self._once(
            "least known", least_known
        )
        return strange

    def automation(self, precisions: Sequence[float]) -> list[Automation]:
        """The result of deciding alone on the calibration examples, for each precision."""
        seen = self._examples()
        table = []
        for share in precisions:
            aim = Precision(share, alone=True)
            decided = self.assigned(seen.scores_or_nan(), aim, self._past())[:, 0]
            n = int(np.count_nonzero(decided))
            right = float(seen.hits[decided, 0].sum() / n) if n else np.nan
            table.append(Automation(share, self.threshold(aim), n / max(1, decided.size), right))
        return table

    def _examples(self) -> CalibrationExamples:
        """The examples of the window up to the last look."""
        return self.window.take(slice(self.window.n_examples - self._n_new))

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """A result that is computed once until the next look."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _past(self) -> Floats:
        """The probabilities of the calibration examples by the current curves."""

        def computed() -> Floats:
            examples = self._examples()
            chances = np.full((examples.n_examples, WIDTH), np.nan)
            for by, judged in self._judges() if self.fitted else ():
                scores = examples.take(judged).scores_or_nan()
                chances[judged] = calibration.probabilities(scores, WIDTH, by)
            return chances

        past: Floats = self._once("past", computed)
        return past

    # Model files.

    def to_state(self) -> State:
        settings = {
            "observed": self.observed,
            "since": self._since,
            "fitted_on": self._fitted_on,
            "fitted_at": self._fitted_at,
            "new": self._n_new,
            "runs": self.runs.to_settings(),
        }
        parts = {
            "window": self.window.to_state(),
            "curves": self._curves.to_state(),
            "checks": self.checks.to_state(),
        }
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
        confidence.window = CalibrationExamples.from_state(state.parts["window"])
        confidence._curves = Curves.from_state(state.parts["curves"])
        if "checks" in state.parts:  # files of earlier versions have none
            confidence.checks = SpotChecks.from_state(state.parts["checks"])
            confidence._n_new = as_whole(state.settings["new"], "new", most=LOOK)
            state.require(
                confidence._n_new <= confidence.window.n_examples,
                "its new examples are in the window",
            )
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
        confidence._ascending = ascending
        confidence._levels = levels
        return confidence
