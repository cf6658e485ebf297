"""Spot checks: whether decisions hold what they promise, on texts that the model did not choose.

A spot check is a text that was drawn by chance, whatever the model thinks of it, and judged by
somebody who did not see the model's answer. For each of TARGETS it is noted whether the model would
have decided the text alone, and how much of that decision was right: X between 0 and 1.

The bound. Let m_i be the chance of being right of the i-th decision, given all before it, and m the
mean of m_1 … m_n. For each λ

    E_λ(m) = exp(λ ΣX − n·log(1 − m + m·e^λ))

is at most a martingale that begins with 1, since exp(λX) ≤ 1 − X + X·e^λ, and log(1 − m + m·e^λ)
is concave in m. So is the mean of E_λ over BETS. By Ville's inequality it reaches 1/α with a chance
of at most α, at whatever moment one looks. The least m for which it stays below 1/α is a lower
bound of the mean that holds at every look (Howard et al. 2021; Waudby-Smith and Ramdas 2024). The
m_i may change and may depend on each other.

The pause. For λ < 0 and the target in place of m, the factors exp(λX)/(1 − m + m·e^λ) bet against
the target. R ← (R + 1)·factor sums the bets that began at every check (Shiryaev and Roberts): while
the target is held, R reaches ALARM once in ALARM decisions at the most, on average (Shin, Ramdas
and Rinaldo 2024). Then deciding pauses, and the bound begins anew. It goes on once bets of the same
kind, that fewer than twice as many decisions are wrong as the target allows, have won RESUME.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.validation import MOST_AMOUNT, as_real
from shortlist.files.store import State

# precisions that are examined; a decision for another one relies on the next lower of them
TARGETS = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995])
ERROR_OF_BOUND = 0.05  # α
BETS = np.geomspace(0.1, 8.0, 16)  # λ
BETS_AGAINST = -np.geomspace(0.5, 4.0, 4)
ALARM = 1000.0
RESUME = 500.0
BISECTIONS = 40


def prices(means: Floats, bets: Floats) -> Floats:
    """What each bet expects to win on one outcome, if the mean is one of these: means × bets."""
    return 1.0 + means[:, None] * np.expm1(bets)


PRICES_AGAINST = prices(TARGETS, BETS_AGAINST)
PRICES_OF_RESUMING = prices(2.0 * TARGETS - 1.0, BETS)  # twice as many may be wrong

# Which share of texts to draw, relative to the usual share.
USUAL_SHARE = 0.05
FEW_CHECKS = 100
MANY_CHECKS = 1000
MORE_WHILE_FEW = 4.0
LESS_WHEN_MANY = 0.4


class Examined(NamedTuple):
    """What spot checks say of the decisions for a precision, since the bound began."""

    target: float  # the examined precision
    n_checked: int  # spot checks
    n_decided: int  # of them, texts that the model would have decided
    right: float  # the share of these decisions that was right; NaN where there are none
    at_least: float  # a lower bound of it, which holds at every look
    paused: bool

    def __str__(self) -> str:
        if self.n_checked == 0:
            return "no spot checks yet"
        if self.n_decided == 0:
            return f"{self.n_checked} checked, none of them would have been decided"
        words = f"{self.right:.1%} right, at least {self.at_least:.1%}, {self.n_checked} checked"
        return f"{words}; paused" if self.paused else words


class SpotChecks:
    """Counts and bets of each target."""

    def __init__(self) -> None:
        n_targets = TARGETS.size
        self.n_checks = 0  # ever
        self.is_paused = np.zeros(n_targets, dtype=np.bool_)
        # since the bound began, for each target
        self.checked = np.zeros(n_targets, dtype=np.int64)
        self.decided = np.zeros(n_targets, dtype=np.int64)
        self.right = np.zeros(n_targets)
        # winnings of bets: against the target, and, while paused, for it
        self.against = np.zeros((n_targets, BETS_AGAINST.size))
        self.resuming = np.zeros((n_targets, BETS.size))

    def note(self, is_decided: NDArray[np.bool_], right: Floats) -> None:
        """Take up one check: for each target, whether it would be decided, and how much of that is
        right.
        """
        self.n_checks += 1
        self.checked += 1
        self.decided += is_decided
        self.right += np.where(is_decided, right, 0.0)
        is_resuming = is_decided & self.is_paused
        is_active = is_decided & ~self.is_paused
        outcomes = right[:, None]
        against = (self.against + 1.0) * np.exp(BETS_AGAINST * outcomes) / PRICES_AGAINST
        resuming = (self.resuming + 1.0) * np.exp(BETS * outcomes) / PRICES_OF_RESUMING
        self.against[is_active] = against[is_active]
        self.resuming[is_resuming] = resuming[is_resuming]
        is_broken = self.against.mean(axis=1) >= ALARM
        is_restored = self.resuming.mean(axis=1) >= RESUME
        self.is_paused[is_broken] = True
        self.is_paused[is_restored] = False
        for counts in (self.checked, self.decided, self.right, self.against, self.resuming):
            counts[is_broken | is_restored] = 0  # the bound begins anew

    def examined(self, precision: float) -> Examined:
        """What the checks say of decisions for a precision."""
        place = place_of_target(precision)
        n_decided = int(self.decided[place])
        right = float(self.right[place])
        return Examined(
            float(TARGETS[place]),
            int(self.checked[place]),
            n_decided,
            right / n_decided if n_decided else np.nan,
            least_mean(right, n_decided),
            bool(self.is_paused[place]),
        )

    def is_paused_for(self, precision: float) -> bool:
        return bool(self.is_paused[place_of_target(precision)])

    # Model files.

    def to_state(self) -> State:
        arrays = {
            "paused": self.is_paused.astype(np.int64),
            "checked": self.checked,
            "decided": self.decided,
            "right": self.right,
            "against": self.against.ravel(),
            "resuming": self.resuming.ravel(),
        }
        return State("SpotChecks", {"checks": self.n_checks}, arrays)

    @classmethod
    def from_state(cls, state: State) -> SpotChecks:
        checks = cls()
        n_checks = state.settings["checks"]
        state.require(
            type(n_checks) is int and 0 <= n_checks <= MOST_AMOUNT, "spot checks are counted"
        )
        checks.n_checks = n_checks

        def whole_numbers(name: str) -> Longs:
            numbers = np.array(state.array(name, np.int64))
            state.require(
                numbers.size == TARGETS.size and bool((numbers >= 0).all()),
                "spot checks are counted for each target",
            )
            return numbers

        def amounts(name: str, like: Floats) -> Floats:
            numbers = np.array(state.array(name, np.float64))
            state.require(
                numbers.size == like.size
                and bool((numbers >= 0.0).all() and np.isfinite(numbers).all()),
                "the bets of spot checks are amounts",
            )
            return numbers.reshape(like.shape)

        checks.is_paused = whole_numbers("paused").astype(np.bool_)
        checks.checked = whole_numbers("checked")
        checks.decided = whole_numbers("decided")
        checks.right = amounts("right", checks.right)
        checks.against = amounts("against", checks.against)
        checks.resuming = amounts("resuming", checks.resuming)
        return checks


def least_mean(right: float, n: int) -> float:
    """The lower bound of the mean of n outcomes whose sum is ``right``."""
    if n == 0:
        return 0.0
    low = 0.0
    high = right / n
    for _ in range(BISECTIONS):
        mean = (low + high) / 2.0
        logarithms = BETS * right - n * np.log1p(mean * np.expm1(BETS))
        largest = logarithms.max()
        won = largest + np.log(np.exp(logarithms - largest).mean())
        if won >= -np.log(ERROR_OF_BOUND):
            low = mean
        else:
            high = mean
    return float(low)


def place_of_target(precision: float) -> int:
    """The place of the largest target that is not above a precision; of the least one if all
    are.
    """
    precision = as_real(precision, "precision", least=0, most=1)
    return max(0, int(np.searchsorted(TARGETS, precision + 1e-9)) - 1)


# Drawing.


def share_to_draw(checks: Examined, usual: float = USUAL_SHARE) -> float:
    """The share of texts to draw: more while there are few checks or deciding is paused, less once
    there are many.
    """
    if checks.paused or checks.n_checked < FEW_CHECKS:
        return min(1.0, MORE_WHILE_FEW * usual)
    if checks.n_checked < MANY_CHECKS:
        return usual
    return LESS_WHEN_MANY * usual


def draw_of(key: str) -> float:
    """A number from 0 to 1 that the key of a text draws, the same at every time."""
    digest = blake2b(key.encode(), digest_size=8, person=b"spot check").digest()
    return int.from_bytes(digest, "big") / 2.0**64


def drawn_for_check(key: str, share: float = USUAL_SHARE) -> bool:
    """Whether the text with this key is drawn for a spot check, so that nobody chooses it.

    Parameters
    ----------
    key : str
        What names the text, such as the number of a ticket.
    share : float, default=0.05
        The share of texts to draw. A larger one draws the same texts, and more.

    Examples
    --------
    >>> from shortlist import drawn_for_check
    >>> [n for n in range(60) if drawn_for_check(f"ticket {n}")]
    [36, 45, 54]
    """
    return draw_of(key) < as_real(share, "share", least=0, most=1)
