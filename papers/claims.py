"""What the papers say of their tables and figures, each decided by our numbers.

A claim holds, does not hold, or is undecided: a difference within the noise of the trials is
neither. No claim is decided by its author: a test finds those that are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from papers.cells import Cell
from papers.contrasts import Contrast

CLOSE = 0.01  # of a published number: what its last digit does not tell
WORTH_A_WORD = 0.005  # a change of R1 on one split; splits spread by 0.004 to 0.013


@dataclass(frozen=True)
class Claim:
    """What the paper's table or figure says, and whether it was found here; if not, why, as far
    as is known.
    """

    place: str  # "table 6", "figure 12", "section 6.4.4"
    says: str
    holds: bool | None  # None: within the noise
    why: str = ""  # told only where it does not hold
    contrast: Contrast | None = None

    def __post_init__(self) -> None:
        if self.holds is not None:
            object.__setattr__(self, "holds", bool(self.holds))  # NumPy's are not Python's

    @classmethod
    def close(
        cls, place: str, what: str, cells: Mapping[str, Cell | str | None], why: str = ""
    ) -> Claim:
        """That numbers by name come as close to the published ones as two spreads of ours, or 1 %
        of them.

        A number of one trial has no spread and is not judged.
        """
        judged = 0
        far = []
        for name, cell in cells.items():
            if not isinstance(cell, Cell):
                continue
            if cell.ours is None or cell.spread is None or cell.published is None:
                continue
            judged += 1
            if abs(cell.ours - cell.published) > max(2 * cell.spread, CLOSE * abs(cell.published)):
                far.append(f"{name} {cell.ours:.3g} against {cell.published:.3g}")
        count = f"{judged} of them"
        if not judged:
            count = "not judged by one trial"
        if far:
            count = f"of {judged}, further off: {', '.join(far)}"
        says = f"{what} within two spreads or 1 % of the published ones ({count})"
        return cls(place, says, None if not judged else not far, why)

    @classmethod
    def ahead(
        cls,
        place: str,
        says: str,
        first: Cell,
        second: Cell,
        why: str = "",
        *,
        worth: float = WORTH_A_WORD,
    ) -> Claim:
        """That the first method's numbers are higher than the second's on the same trials: further
        than the confidence interval reaches, or, of one trial, than what is ``worth`` a word.
        """
        contrast, low, high = compared(first, second, worth)
        told = f"{says} ({first.ours:.3f} against {second.ours:.3f})"
        holds = None
        if low > 0:
            holds = True
        elif high < 0:
            holds = False
        return cls(place, told, holds, why, contrast)

    @classmethod
    def no_better(
        cls,
        place: str,
        says: str,
        first: Cell,
        second: Cell,
        why: str = "",
        *,
        worth: float = WORTH_A_WORD,
    ) -> Claim:
        """That the first method's numbers are not higher than the second's by more than is worth a
        word: what the confidence interval, or a single trial, does not contradict.
        """
        contrast, low, _ = compared(first, second, 0.0)
        told = f"{says} ({first.ours:.3f} against {second.ours:.3f})"
        return cls(place, told, low <= worth, why, contrast)


def compared(first: Cell, second: Cell, worth: float) -> tuple[Contrast | None, float, float]:
    """The contrast of two cells over the trials that both have, and the interval of the difference;
    of one trial, the difference and ``worth`` on both sides.
    """
    assert first.ours is not None
    assert second.ours is not None
    n = min(len(first.values), len(second.values))
    if n > 1:
        contrast = Contrast.of(first.values[:n], second.values[:n])
        return contrast, contrast.low, contrast.high
    difference = first.ours - second.ours
    return None, difference - worth, difference + worth
