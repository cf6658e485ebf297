"""Measures of labels assigned rather than ranked: F1 over examples and labels, and a table of
single labels.

The first |y| labels of a ranking are assigned. Memory is needed only for labels that are true or
assigned somewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist.data.label_input import Label, LabelsLike
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.measures.positions import Positions, place_labels
from shortlist.measures.registry import Values, registered

# Micro- and macro-averaged F1


def _ratio(sums: Values, count: float) -> float:
    return 2 * sums[0] / sums[1]


def _mean_of_ratios(sums: Values, count: float) -> float:
    correct, assigned_and_true = np.split(sums, 2)
    occurs = assigned_and_true > 0
    if not occurs.any():
        return np.nan
    return float(np.mean(2 * correct[occurs] / assigned_and_true[occurs]))


MICRO = "2·Σ correct / (Σ assigned + Σ true), sums over examples and labels"
MACRO = "mean over labels of 2·correct / (assigned + true), sums over examples"


@registered("micro-F1", "higher", MICRO, families=["categories"], total=_ratio)
def micro_f1(positions: Positions) -> Values:
    """Micro-averaged F1 where each example is assigned as many labels as it truly has."""
    assigned = _assigned(positions)
    correct = positions.total(positions.rank <= assigned[positions.row])
    return np.column_stack([correct, assigned + positions.size])


@registered(
    "F1@k",
    "higher",
    "2·|{r∈y : rank(r) ≤ k}| / (min(k, retrieved) + |y|)",
    families=["categories"],
    paper="Annif",
)
def f1_of_first(positions: Positions, k: int) -> Values:
    """F1 where each example is assigned the first k labels, averaged over examples: F1 score (doc
    avg) and F1@5 of Annif.
    """
    correct = positions.total(positions.rank <= k)
    return 2 * correct / (np.minimum(positions.length, k) + positions.size)


@registered("micro-F1@k", "higher", MICRO, families=["categories"], paper="Annif", total=_ratio)
def micro_f1_of_first(positions: Positions, k: int) -> Values:
    """Micro-averaged F1 where each example is assigned the first k labels: F1 score (microavg) of
    Annif.
    """
    correct = positions.total(positions.rank <= k)
    return np.column_stack([correct, np.minimum(positions.length, k) + positions.size])


@registered("macro-F1", "higher", MACRO, families=["categories"], total=_mean_of_ratios)
def macro_f1(positions: Positions) -> scipy.sparse.csr_array:
    """Macro-averaged F1 where each example is assigned as many labels as it truly has; over the
    labels that are true or assigned at least once.
    """
    assigned = _assigned(positions)
    row, item = positions.first(assigned)
    labels, true_column, assigned_column = _columns(positions, item)
    correct = positions.rank <= assigned[positions.row]
    shape = (positions.n, labels.size)

    def ones(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> scipy.sparse.csr_array:
        return scipy.sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=shape)

    hits = ones(positions.row[correct], true_column[correct])
    assigned_and_true = ones(row, assigned_column) + ones(positions.row, true_column)
    return scipy.sparse.hstack([hits, assigned_and_true], format="csr")


def _assigned(positions: Positions) -> NDArray[np.int64]:
    """How many labels each example is assigned: as many as it truly has, if as many are ranked."""
    return np.minimum(positions.size, positions.length)


def _columns(
    positions: Positions, assigned: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """The labels that are true or assigned somewhere, ascending, and which of them each true
    and assigned label is.
    """
    labels, column = np.unique(np.concatenate([positions.item, assigned]), return_inverse=True)
    return labels, column[: positions.item.size], column[positions.item.size :]


# Label by label


@dataclass(frozen=True)
class LabelTable:
    """Precision, recall and F1 of every label that is true or assigned at least once; 0 where
    undefined.

    ``labels`` holds label numbers, ascending, and ``names`` the labels (None for those never
    learned); ``true``, ``assigned`` and ``correct`` count examples.
    """

    labels: NDArray[np.int64]
    names: list[Label | None]
    true: NDArray[np.int64]
    assigned: NDArray[np.int64]
    correct: NDArray[np.int64]

    @property
    def precision(self) -> Values:
        return self.correct / np.maximum(self.assigned, 1)

    @property
    def recall(self) -> Values:
        return self.correct / np.maximum(self.true, 1)

    @property
    def f1(self) -> Values:
        return 2 * self.correct / (self.true + self.assigned)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary for each label, ready for JSON, most frequent label first."""
        order = np.argsort(-self.true, kind="stable")
        columns = {
            "true": self.true,
            "assigned": self.assigned,
            "correct": self.correct,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }
        return [
            {"label": self.names[i]} | {key: column[i].item() for key, column in columns.items()}
            for i in order.tolist()
        ]


def per_label(
    ranking: Ranking, truth: LabelSets | LabelsLike, *, n_labels: int | None = None
) -> LabelTable:
    """Precision, recall, F1 and support of each label, where each example is assigned as many
    labels as it truly has.

    Parameters
    ----------
    ranking : Ranking
        A ranking of many examples.
    truth : LabelSets or iterable of label lists
        The label numbers of each example, or the labels themselves.
    n_labels : int, optional
        The number of labels that could have been ranked, by default all that the ranking has names
        for.

    Returns
    -------
    LabelTable

    Examples
    --------
    >>> from shortlist import Categorizer, per_label
    >>> texts, labels = ["wheat exports rose", "crude oil prices"], [["grain"], ["energy"]]
    >>> ranking = Categorizer().fit(texts, labels).rank(["wheat", "oil"], k=1)
    >>> table = per_label(ranking, [["grain"], ["grain"]])
    >>> table.names, table.recall.tolist()
    (['energy', 'grain'], [0.0, 0.5])
    """
    positions = place_labels(ranking, truth, n_labels)
    assigned = _assigned(positions)
    _, item = positions.first(assigned)
    labels, true_column, assigned_column = _columns(positions, item)
    names = ranking.label_names
    correct = positions.rank <= assigned[positions.row]
    return LabelTable(
        labels=labels.astype(np.int64),
        names=[names[label] if label < len(names) else None for label in labels.tolist()],
        true=np.bincount(true_column, minlength=labels.size),
        assigned=np.bincount(assigned_column, minlength=labels.size),
        correct=np.bincount(true_column[correct], minlength=labels.size),
    )


# Measures of labels in a hierarchy: a near miss counts for what it shares with the truth.


Broader = Mapping[Label, Iterable[Label]]


class HierarchicalF1(NamedTuple):
    """hP, hR and hF; 0 where nothing is assigned, or nothing true."""

    precision: float
    recall: float
    f1: float


def hierarchical_f1(
    assigned: Iterable[Iterable[Label]], truth: Iterable[Iterable[Label]], broader: Broader
) -> HierarchicalF1:
    """Precision, recall and F1 of assigned labels, all broader labels included.

    Parameters
    ----------
    assigned, truth : iterables of label lists
        The assigned and the true labels of each example.
    broader : mapping of a label to the labels directly above it
        A label may have several, or none. Cycles are allowed.

    Returns
    -------
    HierarchicalF1

    Examples
    --------
    >>> from shortlist.measures import hierarchical_f1
    >>> broader = {"rye": ["grain"], "oats": ["grain"]}
    >>> hierarchical_f1([["rye"], ["oats"]], [["oats"], ["oats"]], broader).f1
    0.75
    """
    above: dict[Hashable, frozenset[Label]] = {}

    def with_broader(labels: Iterable[Label]) -> set[Label]:
        labels = set(labels)
        for label in labels - above.keys():
            above[label] = upwards(label, broader)
        return labels.union(*(above[label] for label in labels))

    n_shared = 0
    n_assigned = 0
    n_true = 0
    for assigned_labels, true_labels in zip(assigned, truth, strict=True):
        all_assigned = with_broader(assigned_labels)
        all_true = with_broader(true_labels)
        n_shared += len(all_assigned & all_true)
        n_assigned += len(all_assigned)
        n_true += len(all_true)
    return HierarchicalF1(
        n_shared / max(n_assigned, 1),
        n_shared / max(n_true, 1),
        2 * n_shared / max(n_assigned + n_true, 1),
    )


def upwards(label: Label, broader: Broader) -> frozenset[Label]:
    """A label and all labels above it."""
    reached = {label}
    waiting = [label]
    while waiting:
        new = [above for above in broader.get(waiting.pop(), ()) if above not in reached]
        reached.update(new)
        waiting += new
    return frozenset(reached)
