"""How well probabilities, shortlists and assignments fare on examples that were not learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.given_labels import Label
from shortlist.arrays.kernels import Longs
from shortlist.concepts import LabelVocabulary
from shortlist.labels import LabelSets
from shortlist.measures import hierarchical_f1
from shortlist.models.base import Table
from shortlist.models.confidence import F1, Aim, Confidence, Precision
from shortlist.models.confidence.calibration import calibration_error, reliability
from shortlist.ranking import Ranking, places_of

# How near the best labels are to the true ones, by the hierarchy of a vocabulary.


TITLE = "By the hierarchy of the vocabulary, broader labels included"


def near_misses(
    rankings: Iterable[Ranking], truth: Iterable[Sequence[Label]], vocabulary: LabelVocabulary
) -> dict[str, dict[str, float]]:
    """hP, hR and hF of the best label, and of as many as are true. A ranking that is shorter gives what it has."""
    best = [[str(label) for label, _ in one] for ranking in rankings for one in ranking]
    own = [[str(label) for label in labels] for labels in truth]

    def measured(given: Iterator[Iterable[str]]) -> dict[str, float]:
        return dict(zip(("hP", "hR", "hF"), hierarchical_f1(given, own, vocabulary.broader), strict=True))

    as_many = (islice(labels, len(true)) for labels, true in zip(best, own, strict=True))
    return {"the best": measured(labels[:1] for labels in best), "as many as are true": measured(as_many)}


def as_table(found: dict[str, dict[str, float]]) -> Table:
    return Table(TITLE, ["labels given", "hP", "hR", "hF"], [[name, *row.values()] for name, row in found.items()])


PRECISIONS, COVERAGES = (0.90, 0.95, 0.99), (0.90, 0.95)
SHARES = np.arange(1, 21) / 20
BEST = 10  # labels of each text that the second calibration error looks at

BAR = 20  # characters of a bar from 0 to 1
DRAWN = "█ right, │ as it says"

Mask = NDArray[np.bool_]
Chooses = Callable[[Ranking, Aim], Mask]


class Decisions:
    """What a model that has a confidence decides on rankings of examples, beside the truth."""

    def __init__(self, confidence: Confidence, chosen: Chooses, ranking: Ranking, truth: LabelSets) -> None:
        self.confidence, self.chosen, self.truth = confidence, chosen, truth
        self.chances = confidence.probabilities(ranking.scores)
        self.ranking = Ranking(ranking.ids, ranking.scores, ranking._names, self.chances)
        self.hits = hits_of(ranking, truth)
        self.n_true: Longs = np.diff(truth.indptr)

    def details(self) -> dict[str, Any]:
        """All of it, for machines."""
        best, right = self.chances[:, 0], self.hits[:, 0]
        first = self.chances[:, :BEST].ravel(), self.hits[:, :BEST].ravel()
        return {
            "calibration error": _known(calibration_error(best, right)),
            f"calibration error of the {BEST} best labels": _known(calibration_error(*first)),
            "reliability": [own._asdict() for own in reliability(best, right)],
            "shortlists": [self._shortlists(coverage) for coverage in COVERAGES],
            "automation": [self._alone(precision) for precision in PRECISIONS],
            "automation by share": self._by_share(),
            "assignments": {"micro-F1": _known(self._f1())},
        }

    def tables(self, found: dict[str, Any]) -> list[Table]:
        """The same for people."""
        errors = [[name, found[name]] for name in found if name.startswith("calibration")]
        f1 = [[f"{name} of the labels it assigns", value] for name, value in found["assignments"].items()]
        lists = [
            [row["coverage"], row["covered"], row["mean size"], "yes" if row["possible"] else "no"]
            for row in found["shortlists"]
        ]
        alone = [list(row.values()) for row in found["automation"]]
        bins = [[row["probability"], row["right"], row["n"], drawn(**row)] for row in found["reliability"]]
        return [
            Table("How sure it is", ["measure", "value"], errors + f1),
            Table("Right as often as it says? (the best label)", ["probability", "right", "texts", DRAWN], bins),
            Table("Shortlists of all true labels", ["coverage asked for", "covered", "mean size", "possible"], lists),
            Table("Deciding alone", ["precision asked for", "from probability", "share of texts", "right"], alone),
        ]

    def _shortlists(self, coverage: float) -> dict[str, Any]:
        lengths = self.confidence.lengths(self.ranking.scores, coverage, self.chances)
        listed = np.arange(self.hits.shape[1]) < lengths[:, None]
        covered = (self.hits & listed).sum(axis=1) == self.n_true
        found = {"coverage": coverage, "covered": float(covered.mean()), "mean size": float(lengths.mean())}
        return found | {"possible": bool(np.isfinite(self.confidence.limit(coverage)))}

    def _alone(self, precision: float) -> dict[str, float | None]:
        aim = Precision(precision, alone=True)
        threshold, decided = self.confidence.threshold(aim), self.chosen(self.ranking, aim)[:, 0]
        right = float(self.hits[decided, 0].mean()) if decided.any() else np.nan
        row = {"threshold": threshold, "share": float(decided.mean()), "right": right}
        return {"precision": precision} | {name: _known(value) for name, value in row.items()}

    def _by_share(self) -> list[dict[str, float]]:
        """What deciding alone would bring for each share of the texts, those with the likeliest best labels."""
        order = np.argsort(-np.nan_to_num(self.chances[:, 0]), kind="stable")
        right = np.cumsum(self.hits[order, 0])
        found = []
        for share in SHARES:
            n = int(np.ceil(share * order.size))
            if n and self.chances[order[n - 1], 0] > 0:
                threshold = float(self.chances[order[n - 1], 0])
                found.append({"threshold": threshold, "share": n / order.size, "right": float(right[n - 1] / n)})
        return found

    def _f1(self) -> float:
        """F1 of what is assigned for it: 2·correct / (assigned + true), over all labels together."""
        assigned = self.chosen(self.ranking, F1())
        both = int(assigned.sum() + self.n_true.sum())
        return 2.0 * int((assigned & self.hits).sum()) / both if both else np.nan


def hits_of(ranking: Ranking, truth: LabelSets) -> Mask:
    """Which labels of rankings (n × k) are true."""
    found, rows = np.zeros(ranking.ids.shape, dtype=np.bool_), np.repeat(np.arange(truth.n_rows), np.diff(truth.indptr))
    place = places_of(truth.ids, rows, ranking.ids)
    there = place < ranking.ids.shape[1]
    found[rows[there], place[there]] = True
    return found


def drawn(probability: float, right: float, n: int) -> str:
    """A bin of a reliability diagram: a bar as long as the share that is right, and a stroke where it should end."""
    bar = "█" * round(BAR * right) + " " * (BAR - round(BAR * right))
    at = min(BAR - 1, int(BAR * probability))
    return bar[:at] + "│" + bar[at + 1 :]


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
