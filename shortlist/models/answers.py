"""Answers of a model of categories: as lines for people, and as records for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from shortlist.compiled.kernels import Floats
from shortlist.confidence.calibrated import Reason
from shortlist.data.ranking import Ranking

ON_ONE_LINE = str.maketrans("\t\n\r", "   ")  # so that a label can stand between tabs


class JudgedRanking(NamedTuple):
    """Rankings of some examples, and their true labels."""

    ranking: Ranking
    labels: Sequence[list[Any]]


class RankedLabels:
    """The best labels of some examples, whose ids are known or None."""

    def __init__(self, ranking: Iterable[Ranking], ids: Sequence[str] | None) -> None:
        self.ranking = ranking
        self.ids = ids

    def lines(self) -> Iterator[str]:
        """Label, score, label, score, … of each example, separated by tabs."""
        for labels in self.ranking:
            cells = [f"{str(label).translate(ON_ONE_LINE)}\t{score:.6g}" for label, score in labels]
            yield "\t".join(cells)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, labels in enumerate(self.ranking):
            record = with_id(self.ids, n)
            record["labels"] = [label for label, _ in labels]
            record["scores"] = [score for _, score in labels]
            probabilities = labels.probabilities[labels.ids >= 0].tolist()
            is_calibrated = probabilities and probabilities[0] == probabilities[0]
            if is_calibrated:
                record["probabilities"] = probabilities
            yield record


class Assigned(list[Any]):
    """The labels assigned to an example, best first; empty where it abstains, and ``reason`` says
    why.
    """

    def __init__(self, ranking: Ranking, reason: Reason) -> None:
        super().__init__(label for label, _ in ranking)
        self.reason = reason
        self.probabilities: Floats = ranking.probabilities


class AssignedLabels(RankedLabels):
    """Labels assigned to some examples."""

    def __init__(self, assigned: list[Assigned], ids: Sequence[str] | None) -> None:
        self.assigned = assigned
        self.ids = ids

    def lines(self) -> Iterator[str]:
        """The labels of each example and their probabilities, separated by tabs; nothing where it
        abstains.
        """
        for labels in self.assigned:
            pairs = zip(labels, labels.probabilities.tolist(), strict=True)
            cells = [f"{' '.join(str(label).split())}\t{chance:.4f}" for label, chance in pairs]
            yield "\t".join(cells)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, labels in enumerate(self.assigned):
            record = with_id(self.ids, n)
            record["labels"] = list(labels)
            record["probabilities"] = labels.probabilities.tolist()
            if not labels:
                record["reason"] = str(labels.reason)
            yield record


def with_id(ids: Sequence[str] | None, n: int) -> dict[str, Any]:
    """A record that begins with the id of example n, if it has one."""
    return {} if ids is None else {"id": ids[n]}
