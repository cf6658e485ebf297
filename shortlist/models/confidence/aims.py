"""What labels are assigned for."""

from __future__ import annotations

from dataclasses import dataclass

from shortlist.arrays.validation import as_choice, as_real

AVERAGES = ("micro", "macro", "example")


@dataclass(frozen=True)
class F1:
    """The largest F1 over all labels together, its mean over labels ("macro"), or over examples ("example")."""

    average: str = "micro"

    def __post_init__(self) -> None:
        as_choice(self.average, "average", AVERAGES)


@dataclass(frozen=True)
class Precision:
    """As many labels as possible of which this share is right; ``alone``: of the best label of each text only."""

    share: float
    alone: bool = False

    def __post_init__(self) -> None:
        as_real(self.share, "precision", least=0, most=1)


@dataclass(frozen=True)
class Costs:
    """The least cost, where a wrong label costs so much, and one that is missing so much."""

    wrong: float = 1.0
    missing: float = 1.0

    def __post_init__(self) -> None:
        as_real(self.wrong, "the cost of a wrong label", least=0)
        as_real(self.missing, "the cost of a missing label", least=0)


Aim = F1 | Precision | Costs
