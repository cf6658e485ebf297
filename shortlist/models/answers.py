"""What a model of categories answers: rankings, and labels assigned, as lines for people and records for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from shortlist.arrays.kernels import Floats
from shortlist.models.confidence import Reason
from shortlist.ranking import Ranking


class JudgedRanking(NamedTuple):
    """Rankings of some examples, and the labels that they have."""

    ranking: Ranking
    labels: Sequence[list[Any]]


class RankedLabels:
    """The best labels of some examples, as answers."""

    def __init__(self, ranking: Iterable[Ranking], ids: Sequence[str] | None) -> None:
        self.ranking, self.ids = ranking, ids

    def lines(self) -> Iterator[str]:
        """Label, score, label, score, … of each example, separated by tabs."""
        for one in self.ranking:
            yield "\t".join(f"{_on_one_line(label)}\t{score:.6g}" for label, score in one)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.ranking):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": [label for label, _ in one], "scores": [score for _, score in one]}
            chances = one.probabilities[one.ids >= 0].tolist()
            known = chances and chances[0] == chances[0]
            yield named | found | ({"probabilities": chances} if known else {})


class Assigned(list[Any]):
    """The labels assigned to an example, best first; empty where it abstains, and ``reason`` says why."""

    def __init__(self, ranking: Ranking, reason: Reason) -> None:
        super().__init__(label for label, _ in ranking)
        self.reason = reason
        self.probabilities: Floats = ranking.probabilities


class AssignedLabels(RankedLabels):
    """Labels assigned to some examples, as answers."""

    def __init__(self, assigned: list[Assigned], ids: Sequence[str] | None) -> None:
        self.assigned, self.ids = assigned, ids

    def lines(self) -> Iterator[str]:
        """The labels of each example and their probabilities, separated by tabs; nothing where it abstains."""
        for one in self.assigned:
            pairs = zip(one, one.probabilities.tolist(), strict=True)
            yield "\t".join(f"{' '.join(str(label).split())}\t{p:.4f}" for label, p in pairs)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.assigned):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": list(one), "probabilities": one.probabilities.tolist()}
            yield named | found | ({} if one else {"reason": str(one.reason)})


def _on_one_line(label: Any) -> str:
    """A label that can stand between tabs."""
    return str(label).replace("\t", " ").replace("\n", " ").replace("\r", " ")
