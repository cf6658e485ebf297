"""The report of an evaluation of rankings of labels: measures, and more where a model is
calibrated or has a hierarchy of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Longs
from shortlist.confidence.calibrated import Automation
from shortlist.confidence.calibration import F1, Aim, Precision, calibration_error, reliability
from shortlist.confidence.confidence import Confidence
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking, places_of
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.measures import hierarchical_f1, per_label
from shortlist.models.answers import JudgedRanking
from shortlist.models.model import Report, ReportTable, finite_or_none

PRECISIONS = (0.90, 0.95, 0.99)
COVERAGES = (0.90, 0.95)
DECIDED_SHARES = np.arange(1, 21) / 20

Mask = NDArray[np.bool_]
Chooses = Callable[[Ranking, Aim], Mask]  # which labels of rankings to assign for an aim


def add_labels(
    report: Report,
    ranking: Ranking,
    truth: LabelSets,
    n_labels: int,
    vocabulary: LabelVocabulary | None,
) -> None:
    """Add precision and recall of each label."""
    columns = ["label", "true", "assigned", "precision", "recall", "f1"]
    records: list[dict[str, Any]] = []
    for row in per_label(ranking, truth, n_labels=n_labels).to_dicts():
        record = dict(row)
        if vocabulary is not None:
            record["name"] = vocabulary.name(row["label"])
        records.append(record)
    if vocabulary is not None:
        columns.insert(1, "name")
    rows = [[record[column] for column in columns] for record in records]
    title = "Each text is given as many labels as it has"
    report.tables = [ReportTable(title, columns, rows, "labels")]
    report.details = {"labels": records}


def add_hierarchy(
    report: Report, judged: Sequence[JudgedRanking], vocabulary: LabelVocabulary
) -> None:
    """Add measures that count broader labels, too."""
    measures = hierarchical_measures(judged, vocabulary)
    rows = [[name, *row.values()] for name, row in measures.items()]
    title = "By the hierarchy of the vocabulary, broader labels included"
    report.tables.append(ReportTable(title, ["labels given", "hP", "hR", "hF"], rows))
    report.details["hierarchy"] = measures


def hierarchical_measures(
    judged: Sequence[JudgedRanking], vocabulary: LabelVocabulary
) -> dict[str, dict[str, float]]:
    """hP, hR and hF of the best label, and of as many as are true.

    A ranking that is shorter gives what it has.
    """
    best: list[list[str]] = []
    truth: list[list[str]] = []
    for ranking, labels_of_examples in judged:
        best += [[str(label) for label, _ in row] for row in ranking]
        truth += [[str(label) for label in labels] for labels in labels_of_examples]

    def measured(labels: Iterator[Iterable[str]]) -> dict[str, float]:
        measures = hierarchical_f1(labels, truth, vocabulary.broader)
        return dict(zip(("hP", "hR", "hF"), measures, strict=True))

    as_many = (islice(labels, len(true)) for labels, true in zip(best, truth, strict=True))
    return {
        "the best": measured(labels[:1] for labels in best),
        "as many as are true": measured(as_many),
    }


class Decisions:
    """The decisions of a calibrated model for rankings of examples, compared with the true
    labels.
    """

    def __init__(
        self, confidence: Confidence, chosen: Chooses, ranking: Ranking, truth: LabelSets
    ) -> None:
        self.confidence = confidence
        self.chosen = chosen
        self.probabilities = confidence.probabilities(ranking.scores)
        self.ranking = ranking.with_probabilities(self.probabilities)
        self.hits = hits_of(ranking, truth)
        self.n_true: Longs = np.diff(truth.indptr)

    def add_to(self, report: Report) -> None:
        """Add all measures to a report, their tables first."""
        details = self.details()
        report.details["confidence"] = details
        report.tables = self.tables(details) + report.tables

    def details(self) -> dict[str, Any]:
        """All measures, for machines."""
        best = self.probabilities[:, 0]
        hits = self.hits[:, 0]
        return {
            "calibration error": finite_or_none(calibration_error(best, hits)),
            "reliability": [bin_of_texts._asdict() for bin_of_texts in reliability(best, hits)],
            "shortlists": [self._shortlists(coverage) for coverage in COVERAGES],
            "automation": [self._automation(precision) for precision in PRECISIONS],
            "automation by share": self._automation_by_share(),
            "assignments": {"micro-F1": finite_or_none(self._f1())},
        }

    def tables(self, details: dict[str, Any]) -> list[ReportTable]:
        """The same for people."""
        certainty = [["calibration error", details["calibration error"]]]
        for name, value in details["assignments"].items():
            certainty.append([f"{name} of the labels it assigns", value])
        shortlists = []
        for row in details["shortlists"]:
            possible = "yes" if row["possible"] else "no"
            shortlists.append([row["coverage"], row["covered"], row["mean size"], possible])
        return [
            ReportTable("How sure it is", ["measure", "value"], certainty),
            ReportTable(
                "Right as often as it says? (the best label)",
                ["probability", "right", "texts"],
                [list(row.values()) for row in details["reliability"]],
            ),
            ReportTable(
                "Shortlists of all true labels",
                ["coverage asked for", "covered", "mean size", "possible"],
                shortlists,
            ),
            ReportTable(
                "Deciding alone",
                ["precision asked for", "from probability", "share of texts", "right"],
                [list(row.values()) for row in details["automation"]],
            ),
        ]

    def _shortlists(self, coverage: float) -> dict[str, Any]:
        lengths = self.confidence.lengths(self.ranking.scores, coverage, self.probabilities)
        is_listed = np.arange(self.hits.shape[1]) < lengths[:, None]
        is_covered = (self.hits & is_listed).sum(axis=1) == self.n_true
        return {
            "coverage": coverage,
            "covered": float(is_covered.mean()),
            "mean size": float(lengths.mean()),
            "possible": bool(np.isfinite(self.confidence.limit(coverage))),
        }

    def _automation(self, precision: float) -> dict[str, float | None]:
        aim = Precision(precision, alone=True)
        is_decided = self.chosen(self.ranking, aim)[:, 0]
        right = np.nan
        if is_decided.any():
            right = float(self.hits[is_decided, 0].mean())
        threshold = self.confidence.threshold(aim)
        result = Automation(precision, threshold, float(is_decided.mean()), right)
        return {name: finite_or_none(value) for name, value in result._asdict().items()}

    def _automation_by_share(self) -> list[dict[str, float]]:
        """The result of deciding each share of the texts, those with the most probable best
        labels.
        """
        best = self.probabilities[:, 0]
        order = np.argsort(-np.nan_to_num(best), kind="stable")
        hits = np.cumsum(self.hits[order, 0])
        results = []
        for share in DECIDED_SHARES:
            n_decided = int(np.ceil(share * order.size))
            if n_decided and best[order[n_decided - 1]] > 0:
                results.append(
                    {
                        "threshold": float(best[order[n_decided - 1]]),
                        "share": n_decided / order.size,
                        "right": float(hits[n_decided - 1] / n_decided),
                    }
                )
        return results

    def _f1(self) -> float:
        """F1 of the labels assigned for F1: 2·correct / (assigned + true), over all labels."""
        is_assigned = self.chosen(self.ranking, F1())
        total = int(is_assigned.sum() + self.n_true.sum())
        if not total:
            return np.nan
        return 2.0 * int((is_assigned & self.hits).sum()) / total


def hits_of(ranking: Ranking, truth: LabelSets) -> Mask:
    """Which labels of rankings (n × k) are true."""
    hits = np.zeros(ranking.ids.shape, dtype=np.bool_)
    rows = np.repeat(np.arange(truth.n_rows), np.diff(truth.indptr))
    places = places_of(truth.ids, rows, ranking.ids)
    is_ranked = places < ranking.ids.shape[1]
    hits[rows[is_ranked], places[is_ranked]] = True
    return hits
