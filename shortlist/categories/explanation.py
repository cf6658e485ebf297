"""Why a label has its score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Explanation:
    """Why a label has its score: the votes of the features, heaviest first. The votes sum to the score."""

    label: Any
    score: float
    votes: list[tuple[Any, float]]

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        return iter(self.votes)

    def __len__(self) -> int:
        return len(self.votes)

    def __repr__(self) -> str:
        lines = [f"{self.score:8.4f}  {self.label}"]
        return "\n".join(lines + [f"{vote:+8.4f}    {feature}" for feature, vote in self.votes])
