"""What calibration examples tell of other rankings: probabilities, lengths of lists, thresholds.

The formulas are in calibration.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.confidence import calibration
from shortlist.confidence.calibration import (
    LEVELS,
    WIDTH,
    Aim,
    Curves,
    Precision,
    fit_curves,
)
from shortlist.confidence.calibration_examples import CalibrationExamples, Shares
from shortlist.confidence.sorted_streams import Runs
from shortlist.confidence.spot_checks import Examined, SpotChecks
from shortlist.data.ranking import Promise
from shortlist.data.validation import as_real

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


# fewer examples than MANY_EXAMPLES are cross-fitted in CROSS_FITTED_PARTS parts
MANY_EXAMPLES = 512
CROSS_FITTED_PARTS = 4


class Calibrated:
    """Base class of ``Confidence``: answers from the examples of its window up to the last look."""

    def __init__(self) -> None:
        self.window = CalibrationExamples.room(0)  # the last examples, oldest first
        self.n_new = 0  # examples of the window since the last look, which change nothing yet
        self.runs = Runs()
        self.checks = SpotChecks()
        self.fitted_on = 0  # examples
        self.curves = Curves.flat()
        self.ascending = np.zeros(0)  # strangeness of the examples
        self.levels = LEVELS.copy()
        self.cached: dict[Any, Any] = {}  # results since the last look

    @property
    def fitted(self) -> bool:
        """Whether enough has been observed to fit curves."""
        return self.fitted_on > 0

    @property
    def ready(self) -> bool:
        """Whether results are available: enough was observed, and the stream does not come
        sorted by label, or spot checks tell what other texts are like.
        """
        return self.fitted and not self.is_in_run

    @property
    def is_in_run(self) -> bool:
        """Whether the last examples came sorted by label, and no spot checks make up for it."""
        return self.runs.now and self.checks.n_checks == 0

    def probabilities(self, scores: Floats) -> Floats:
        """The probability that each label of each ranking (n × k) is right; NaN where there is
        no label.
        """
        if not self.ready:
            return np.full(scores.shape, np.nan)
        return calibration.probabilities(scores, scores.shape[1], self.curves)

    def promised(self, scores: Floats, k: int) -> Promise | None:
        """A function that gives the probabilities of the first k labels as of now; None if not
        ``ready``.
        """
        return partial(calibration.probabilities, scores, k, self.curves) if self.ready else None

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
        moved = calibration.level_for(alpha, self.levels)
        level = self.once(
            ("level", moved), lambda: calibration.safe_level(self.ascending.size, moved)
        )
        return float(calibration.limit(self.ascending, level))

    def reachable(self) -> float:
        """The largest coverage that can be promised: the share of examples all of whose true
        labels were retrieved.
        """
        return float(np.isfinite(self.ascending).mean()) if self.ready else 0.0

    def can_promise(self, coverage: float) -> bool:
        """Whether there are enough calibration examples for this coverage, and enough of their
        labels retrieved.
        """
        return (
            calibration.safe_level(self.ascending.size, 1.0 - coverage) > 0.0
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
            self.once(aim, lambda: calibration.find_threshold(aim, self.examples(), self.past()))
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
        return self.assignable(scores, aim, chances)

    def assignable(self, scores: Floats, aim: Aim, chances: Floats) -> NDArray[np.bool_]:
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
                decided = self.past()[:, 0] >= self._threshold(aim)
            scores = self.examples().scores[decided, 0].astype(np.float64)
            usual = lowest_usual(scores, LOW_SCORES)
            return usual - SCORE_TOLERANCE * abs(usual)

        return float(self.once(("lowest", aim), lowest))

    def are_unlike(self, known_shares: Shares) -> NDArray[np.bool_]:
        """Which texts are out of scope: too small a share of their features is known."""

        def least_known() -> float:
            shares = self.examples().known
            least = lowest_usual(shares[shares >= 0.0].astype(np.float64), STRANGE_TEXTS)
            return least if least < 1.0 else LEAST_KNOWN

        strange: NDArray[np.bool_] = known_shares.astype(np.float64) < self.once(
            "least known", least_known
        )
        return strange

    def automation(self, precisions: Sequence[float]) -> list[Automation]:
        """The result of deciding alone on the calibration examples, for each precision."""
        seen = self.examples()
        table = []
        for share in precisions:
            aim = Precision(share, alone=True)
            decided = self.assigned(seen.scores_or_nan(), aim, self.past())[:, 0]
            n = int(np.count_nonzero(decided))
            right = float(seen.hits[decided, 0].sum() / n) if n else np.nan
            table.append(Automation(share, self.threshold(aim), n / max(1, decided.size), right))
        return table

    def examples(self) -> CalibrationExamples:
        """The examples of the window up to the last look."""
        return self.window.take(slice(self.window.n_examples - self.n_new))

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """A result that is computed once until the next look."""
        if key not in self.cached:
            self.cached[key] = make()
        return self.cached[key]

    def past(self) -> Floats:
        """The probabilities of the calibration examples by the current curves."""

        def computed() -> Floats:
            examples = self.examples()
            chances = np.full((examples.n_examples, WIDTH), np.nan)
            for by, judged in self.judges() if self.fitted else ():
                scores = examples.take(judged).scores_or_nan()
                chances[judged] = calibration.probabilities(scores, WIDTH, by)
            return chances

        past: Floats = self.once("past", computed)
        return past

    def judges(self) -> Iterator[tuple[Curves, NDArray[np.bool_]]]:
        """Curves, and which examples of the window to judge by them: if there are many, all by the
        current curves.

        Few examples are cross-fitted: each part by curves of the others. Otherwise they would seem
        less strange than new ones.
        """
        examples = self.examples()
        n = examples.n_examples
        if n >= MANY_EXAMPLES:
            yield self.curves, np.ones(n, dtype=np.bool_)
        for part in range(CROSS_FITTED_PARTS if n < MANY_EXAMPLES else 0):
            is_in_part = np.arange(n) % CROSS_FITTED_PARTS == part
            yield fit_curves(examples.take(~is_in_part), self.curves), is_in_part
