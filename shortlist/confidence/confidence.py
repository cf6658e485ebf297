"""How certain a ranking is, learned from calibration examples: texts that were ranked before they
were learned.

The last SIZE calibration examples are kept, so memory has a bound, and everything here follows from
them. The formulas are in calibration.py.
"""

from __future__ import annotations

import numpy as np

from shortlist.compiled.kernels import Floats
from shortlist.concurrency import ModelLock, uninterrupted
from shortlist.confidence import calibration
from shortlist.confidence.calibrated import Calibrated
from shortlist.confidence.calibration import (
    ENOUGH,
    LEVELS,
    WIDTH,
    Curves,
    Precision,
    fit_curves,
)
from shortlist.confidence.calibration_examples import NEVER, SIZE, CalibrationExamples
from shortlist.confidence.drift import LOOK, stretch_to_keep
from shortlist.confidence.sorted_streams import Runs
from shortlist.confidence.spot_checks import TARGETS, SpotChecks
from shortlist.data.validation import MOST_AMOUNT, as_whole
from shortlist.files.store import State


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
# examples: to observe so many takes hardly longer than to observe one, and has the same result
MOST_WAITING = 4 * LOOK
# so many spot checks are enough to calibrate without other examples
ENOUGH_CHECKS = 512
ENOUGH_AFTER_REFUTATION = 2 * LOOK
# that this precision is not held refutes the examples that promised it; larger ones rest on few
REFUTED_PRECISION = 0.95


class Confidence(Calibrated):
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
        super().__init__()
        self.observed = 0  # examples, ever
        self._waiting: list[CalibrationExamples] = []  # noted, but not yet in the window
        self._since = 0  # examples since the last drift
        self._fitted_at = 0  # value of ``observed`` at the last fit

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
                is_assigned = self.assignable(scores, aim, chances) & is_usual[:, None]
                n_assigned = np.count_nonzero(is_assigned, axis=1)
                is_decided[:, place] = n_assigned > 0
                n_right = (is_assigned & (seen.hits > 0)).sum(axis=1)
                right[:, place] = n_right / np.maximum(1, n_assigned)
        for row in range(n):
            self.checks.note(is_decided[row], right[row])

    def _take_up(self, seen: CalibrationExamples) -> None:
        """Add examples up to the next look; at the look, detect drift and refit."""
        if self.fitted:
            best = calibration.probabilities(seen.scores_or_nan(), 1, self.curves)[:, 0]
            seen.expected[:] = np.where(np.isnan(best), 0.0, best)
            strange = strangeness(seen, self.curves)
            self.levels = calibration.move_levels(strange, self.ascending, self._since, self.levels)
        self.window = CalibrationExamples.stack([self.window, seen]).last(SIZE)
        self.observed += seen.n_examples
        self._since += seen.n_examples
        self.n_new += seen.n_examples
        if self.observed % LOOK:
            return
        self.n_new = 0
        self.cached = {}
        keep = stretch_to_keep(self.window) if self.fitted else 0
        if keep:
            self.window = self.window.last(keep)
            self._since = keep
        self._keep_only_checks()
        wait = min(max(LOOK, self.fitted_on), SIZE // REFITS)
        if keep or self.observed - self._fitted_at >= wait:
            self._refit()
        elif self.fitted:  # the curves were fitted without the new examples and can judge them
            new = self.window.last(min(LOOK, self.observed - self._fitted_at))
            strange = np.sort(strangeness(new, self.curves))
            self.ascending = np.insert(
                self.ascending, np.searchsorted(self.ascending, strange), strange
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
        self.curves = fit_curves(self.window.last(ENOUGH), self.curves)
        examples = self.examples()
        judged = [strangeness(examples.take(is_judged), by) for by, is_judged in self.judges()]
        self.ascending = np.sort(np.concatenate(judged))
        self.fitted_on = self.window.n_examples
        self._fitted_at = self.observed

    # Model files.

    def to_state(self) -> State:
        settings = {
            "observed": self.observed,
            "since": self._since,
            "fitted_on": self.fitted_on,
            "fitted_at": self._fitted_at,
            "new": self.n_new,
            "runs": self.runs.to_settings(),
        }
        parts = {
            "window": self.window.to_state(),
            "curves": self.curves.to_state(),
            "checks": self.checks.to_state(),
        }
        return State(
            "Confidence", settings, {"ascending": self.ascending, "levels": self.levels}, parts
        )

    @classmethod
    def from_state(cls, state: State) -> Confidence:
        confidence = cls()
        names = ("observed", "since", "fitted_on", "fitted_at")
        counts = [as_whole(state.settings[name], name, most=MOST_AMOUNT) for name in names]
        confidence.observed, confidence._since, confidence.fitted_on, confidence._fitted_at = counts
        state.require(
            confidence._fitted_at <= confidence.observed, "it was fitted to what it had observed"
        )
        confidence.runs = Runs.from_settings(state.settings["runs"])
        confidence.window = CalibrationExamples.from_state(state.parts["window"])
        confidence.curves = Curves.from_state(state.parts["curves"])
        if "checks" in state.parts:  # files of earlier versions have none
            confidence.checks = SpotChecks.from_state(state.parts["checks"])
            confidence.n_new = as_whole(state.settings["new"], "new", most=LOOK)
            state.require(
                confidence.n_new <= confidence.window.n_examples,
                "its new examples are in the window",
            )
        ascending, levels = (
            np.array(state.array(name, np.float64)) for name in ("ascending", "levels")
        )
        # none is NaN
        ordered = bool((ascending >= 0.0).all() and (ascending[1:] >= ascending[:-1]).all())
        since = confidence.observed - confidence._fitted_at
        known = confidence.fitted_on <= SIZE and 0 <= ascending.size - confidence.fitted_on <= since
        state.require(known, "it has a strangeness for each example it was fitted to")
        state.require(ordered, "the strangeness of its examples ascends")
        within = levels.size == LEVELS.size and bool(((levels >= 0.0) & (levels <= 1.0)).all())
        state.require(within, "its levels lie between 0 and 1")
        confidence.ascending = ascending
        confidence.levels = levels
        return confidence
