"""How sure a ranking is, learned from honest examples: those that were ranked before they were learned."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.validation import MOST_AMOUNT, as_real, as_whole
from shortlist.concurrency import ModelLock, Noting
from shortlist.files.store import State
from shortlist.labels import LabelSets
from shortlist.models.confidence import calibration, conformal, thresholds
from shortlist.models.confidence.calibration import ENOUGH, Curves, fit_curves
from shortlist.models.confidence.conformal import LEVELS, level_for, limit, move_levels, safe_level, strangeness
from shortlist.models.confidence.runs import Runs
from shortlist.models.confidence.thresholds import Aim, Automation, Precision
from shortlist.models.confidence.window import LOOK, SIZE, WIDTH, Seen, Shares, Window, look, stretch_to_keep
from shortlist.ranking import Promise

# None of these: why no label is assigned to a text.


STRANGE = 0.01  # of the honest examples had as few features that were known
LOW = 0.05  # of the honest examples that would be decided have a best score as low, and are given back
ABOUT = 0.01  # of a score: a model that learned a little more scores the same text a little differently
HALF = 0.5  # of a text, where nothing is ever unknown


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
    """The value below which this share of the honest examples lies; −∞ where there are too few to say."""
    if values.size * share < 1.0:
        return -np.inf
    return float(np.sort(values)[int(values.size * share)])


REFITS = 8  # while a full window is replaced once
MANY, PARTS = 512, 4  # fewer examples than MANY are judged in so many parts
WAITING = 4 * LOOK  # examples: to observe so many takes hardly longer than to observe one, and has the same result


class Confidence:
    """Takes rankings and what was true of them; gives probabilities, lengths of lists, thresholds, reasons.

    >>> confidence.observe(ranking.ids, ranking.scores, truth)   # a ranking made before its example was learned
    >>> confidence.probabilities(ranking.scores)                 # n × k
    >>> confidence.lengths(ranking.scores, coverage=0.95)        # how many labels of each hold all true ones
    >>> confidence.assigned(ranking.scores, F1())                # which labels of each to assign

    It knows nothing of who ranked. Scores are n × k, best first, NaN where there is no label; k is at least TOGETHER
    where as many labels are known, as the first label's probability depends on their scores. The result is the same in
    whatever batches examples are observed. Until LOOK examples have been observed nothing is known: probabilities are
    NaN, lists hold everything, and nothing is assigned.
    """

    def __init__(self) -> None:
        self.window = Window()
        self.observed = 0  # examples, ever
        self.runs = Runs()
        self._waiting: list[Seen] = []  # noted, but not yet taken up
        self._since = 0  # the last drift
        self._fitted_on = 0  # examples
        self._fitted_at = 0  # of ``observed``
        self._curves = Curves.flat()
        self._ascending = np.zeros(0)  # strangeness
        self._levels = LEVELS.copy()
        self._known: dict[Any, Any] = {}  # what was worked out since the last example

    # Learning.

    def fit(self, ids: Ints, scores: Floats, truth: LabelSets, known: Shares | None = None) -> None:
        """Forget everything and take up honest rankings in no particular order: as ``observe``, but all at once."""
        self.fit_seen(look(ids, scores, truth, known))

    def fit_seen(self, seen: Seen) -> None:
        """``fit`` to rankings of which only what is to be kept is left."""
        self.__init__()  # type: ignore[misc]
        n = seen.true.size
        self.window.add(seen.take(slice(max(0, n - SIZE), n)))
        self.observed = self._since = n
        if n >= LOOK:
            self._refit()

    def observe(self, ids: Ints, scores: Floats, truth: LabelSets, known: Shares | None = None) -> None:
        """Take up rankings that were made before their examples were learned, oldest first, and their true labels.

        Depths behind the last of the k labels are not known: rank deeper here than lists shall be long. ``known`` is
        the share of the features of each that earlier examples had.
        """
        self.note(look(ids, scores, truth, known))
        self._settle()

    def note(self, seen: Seen) -> None:
        """``observe``, as soon as somebody asks (``settled``), or many wait."""
        self._waiting.append(seen)
        if sum(one.true.size for one in self._waiting) >= WAITING:
            self._settle()

    def settled(self, lock: ModelLock) -> Confidence:
        """The same, with all that was noted; whoever asks may read the model of this lock, others may ask meanwhile."""
        if self._waiting:
            with lock.making, Noting():
                self._settle()
        return self

    def _settle(self) -> None:
        if not self._waiting:
            return
        seen, first = Seen.stack(self._waiting), 0
        n = seen.true.size
        while first < n:
            last = min(n, first + LOOK - self.observed % LOOK)
            self._take_up(seen.take(slice(first, last)))
            first = last
        self._known = {}
        self._waiting = []  # last: who finds nothing waiting asks at once

    def _take_up(self, seen: Seen) -> None:
        """Add examples up to the next look, and look."""
        n = seen.true.size
        if self.fitted:
            best = calibration.probabilities(seen.scores_or_nan(), 1, self._curves)[:, 0]
            seen.expected[:] = np.where(np.isnan(best), 0.0, best)
            strange = strangeness(seen, self._curves)
            self._levels = move_levels(strange, self._ascending, self._since, self._levels)
        self.window.add(seen)
        self.observed += n
        self._since += n
        if self.observed % LOOK:
            return
        keep = stretch_to_keep(self.window.ring, self.window.rows()) if self.fitted else 0
        if keep:
            self.window.cut(keep)
            self._since = keep
        wait = min(max(LOOK, self._fitted_on), SIZE // REFITS)
        if keep or self.observed - self._fitted_at >= wait:
            self._refit()
        elif self.fitted:  # the curves were drawn without the new ones, which can so be judged by them
            new = self.window.rows(min(LOOK, self.observed - self._fitted_at))
            strange = np.sort(strangeness(self.window.ring.take(new), self._curves))
            self._ascending = np.insert(self._ascending, np.searchsorted(self._ascending, strange), strange)

    def _refit(self) -> None:
        rows = self.window.rows()
        self._curves = fit_curves(self.window.ring.take(rows[-ENOUGH:]), self._curves)
        judged = [strangeness(self.window.ring.take(own), by) for by, own in self._judges(rows)]
        self._ascending = np.sort(np.concatenate(judged))
        self._fitted_on, self._fitted_at = rows.size, self.observed

    def _judges(self, rows: Longs) -> Iterator[tuple[Curves, Longs]]:
        """Curves by which to judge the examples at ``rows``: all by those in use, if there are many.

        Few examples are judged by curves drawn from the others, or they would seem less strange than new ones.
        """
        if rows.size >= MANY:
            yield self._curves, rows
        else:
            part = np.arange(rows.size) % PARTS
            for own in range(min(PARTS, rows.size)):
                others = self.window.ring.take(rows[part != own])
                yield fit_curves(others, self._curves), rows[part == own]  # which are a good place to begin from

    @property
    def fitted(self) -> bool:
        """Whether enough has been observed to say anything."""
        return self._fitted_on > 0

    @property
    def ready(self) -> bool:
        """Whether it says anything: enough was observed, and the stream does not come sorted by label (runs.py)."""
        return self.fitted and not self.runs.now

    # Answering.

    def probabilities(self, scores: Floats) -> Floats:
        """The probability that each label of each ranking (n × k) is right; NaN where there is no label."""
        if not self.ready:
            return np.full(scores.shape, np.nan)
        return calibration.probabilities(scores, scores.shape[1], self._curves)

    def promised(self, scores: Floats, k: int) -> Promise | None:
        """What gives those of the first k labels of each, as of now, if asked; None as long as nothing is known."""
        return partial(calibration.probabilities, scores, k, self._curves) if self.ready else None

    def lengths(self, scores: Floats, coverage: float, chances: Floats | None = None) -> Longs:
        """How many labels of each ranking hold all true ones, in a share of ``coverage`` of all texts.

        ``chances`` are their probabilities, where they are known already.
        """
        chances = self.probabilities(scores) if chances is None else chances
        return conformal.lengths(chances, _retrieved(scores), self.limit(coverage))

    def limit(self, coverage: float) -> float:
        """How strange a label of a list may be: 1 − its least probability; infinite if no list is long enough."""
        alpha = 1.0 - as_real(coverage, "coverage", least=0, most=1)
        if not self.ready:
            return np.inf
        if ("level", alpha) not in self._known:
            self._known["level", alpha] = safe_level(self._ascending.size, level_for(alpha, self._levels))
        return float(limit(self._ascending, self._known["level", alpha]))

    def reachable(self) -> float:
        """The share of honest examples all of whose true labels lists can hold: the most that can be promised."""
        return float(np.isfinite(self._ascending).mean()) if self.ready else 0.0

    def are_too_few(self, coverage: float) -> bool:
        """Whether so few examples were ranked ahead that lists of no length could promise this."""
        return self.ready and safe_level(self._ascending.size, 1.0 - coverage) == 0.0 and coverage < 1.0

    def threshold(self, aim: Aim) -> float:
        """From which probability on labels are assigned for an aim; infinite where it cannot be met."""
        if not self.ready:
            return thresholds.NOTHING
        if aim not in self._known:
            self._known[aim] = thresholds.find_threshold(aim, self._examples(), self._past())
        return float(self._known[aim])

    def assigned(self, scores: Floats, aim: Aim, chances: Floats | None = None) -> NDArray[np.bool_]:
        """Which labels of each ranking to assign for an aim; ``chances`` as for ``lengths``."""
        chances = self.probabilities(scores) if chances is None else chances
        with np.errstate(invalid="ignore"):
            found: NDArray[np.bool_] = chances >= self.threshold(aim)
        if getattr(aim, "alone", False):
            found[:, 1:] = False
            with np.errstate(invalid="ignore"):
                found[:, :1] &= scores[:, :1] >= self._lowest(aim)
        return found

    def _lowest(self, aim: Aim) -> float:
        """The best score below which a text is unlike anything learned, and is not decided."""
        key = "lowest", aim
        if not self.ready:
            return -np.inf
        if key not in self._known:
            with np.errstate(invalid="ignore"):
                decided = self._past()[:, 0] >= self.threshold(aim)
            lowest = lowest_usual(self._examples().scores[decided, 0].astype(np.float64), LOW)
            self._known[key] = lowest - ABOUT * abs(lowest)
        return float(self._known[key])

    def reasons(self, scores: Floats, assigned: NDArray[np.bool_], aim: Aim) -> NDArray[np.uint8]:
        """Why each ranking (n × k) has nothing ``assigned`` (n × k) for an aim, if so: a Reason for each ranking."""
        found = np.full(len(scores), Reason.NOTHING_SURE_ENOUGH, dtype=np.uint8)
        best = scores[:, 0] if scores.shape[1] else np.full(len(scores), np.nan)
        found[best < self._lowest(aim)] = Reason.UNLIKE_ANYTHING_LEARNED
        found[np.isnan(best)] = Reason.NO_KNOWN_WORD
        found[assigned.any(axis=1)] = Reason.ASSIGNED
        return found

    def are_unlike(self, known: Shares) -> NDArray[np.bool_]:
        """Which texts are unlike anything learned, of whose features such a share is known."""
        if "least known" not in self._known:
            shares = self._examples().known
            least = lowest_usual(shares[shares >= 0.0].astype(np.float64), STRANGE)
            self._known["least known"] = least if least < 1.0 else HALF
        strange: NDArray[np.bool_] = known.astype(np.float64) < self._known["least known"]
        return strange

    def automation(self, precisions: list[float]) -> list[Automation]:
        """What deciding alone would have brought on the honest examples, for each precision."""
        seen, table = self._examples(), []
        for share in precisions:
            aim = Precision(share, alone=True)
            with np.errstate(invalid="ignore"):
                decided = (self._past()[:, 0] >= self.threshold(aim)) & (seen.scores[:, 0] >= self._lowest(aim))
            n = int(np.count_nonzero(decided))
            right = float(seen.hits[decided, 0].sum() / n) if n else np.nan
            table.append(Automation(share, self.threshold(aim), n / max(1, decided.size), right))
        return table

    def _examples(self) -> Seen:
        if "examples" not in self._known:
            self._known["examples"] = self.window.ring.take(self.window.rows())
        seen: Seen = self._known["examples"]
        return seen

    def _past(self) -> Floats:
        """The probabilities of the honest examples, as they would be now."""
        if "past" not in self._known:
            rows = self.window.rows()
            found = np.full((self.window.ring.true.size, WIDTH), np.nan)
            for by, own in self._judges(rows) if self.fitted else ():
                found[own] = calibration.probabilities(self.window.ring.take(own).scores_or_nan(), WIDTH, by)
            self._known["past"] = found[rows]
        past: Floats = self._known["past"]
        return past

    # Model files.

    def to_state(self) -> State:
        settings = {
            "observed": self.observed, "since": self._since, "fitted_on": self._fitted_on, "fitted_at": self._fitted_at,
            "runs": self.runs.to_settings(),
        }  # fmt: skip
        parts = {"window": self.window.to_state(), "curves": self._curves.to_state()}
        return State("Confidence", settings, {"ascending": self._ascending, "levels": self._levels}, parts)

    @classmethod
    def from_state(cls, state: State) -> Confidence:
        confidence = cls()
        names = ("observed", "since", "fitted_on", "fitted_at")
        counts = [as_whole(state.settings[name], name, most=MOST_AMOUNT) for name in names]
        confidence.observed, confidence._since, confidence._fitted_on, confidence._fitted_at = counts
        state.require(confidence._fitted_at <= confidence.observed, "it was fitted to what it had observed")
        confidence.runs = Runs.from_settings(state.settings["runs"])
        confidence.window = Window.from_state(state.parts["window"])
        confidence._curves = Curves.from_state(state.parts["curves"])
        ascending, levels = (np.array(state.array(name, np.float64)) for name in ("ascending", "levels"))
        ordered = bool((ascending >= 0.0).all() and (ascending[1:] >= ascending[:-1]).all())  # none is NaN
        since = confidence.observed - confidence._fitted_at
        known = confidence._fitted_on <= SIZE and 0 <= ascending.size - confidence._fitted_on <= since
        state.require(known, "each example it was fitted to counts")
        state.require(ordered, "how strange examples are is in order")
        within = levels.size == LEVELS.size and bool(((levels >= 0.0) & (levels <= 1.0)).all())
        state.require(within, "its levels lie between 0 and 1")
        confidence._ascending, confidence._levels = ascending, levels
        return confidence

    @classmethod
    def of_model(cls, state: State, n_labels: int) -> Confidence:
        """The confidence of a model file, whose labels are so many."""
        part = state.parts["confidence"]
        state.require(part.kind == "Confidence", "its confidence is a Confidence")
        confidence = cls.from_state(part)
        known = bool((confidence.window.ring.ids < n_labels).all())
        state.require(known, "the labels that its confidence has seen are its own")
        return confidence


def _retrieved(scores: Floats) -> Longs:
    """How many labels each ranking has."""
    return np.count_nonzero(~np.isnan(scores), axis=1).astype(np.int64)
