"""Where a ranking of labels is most wrong: the examples, and the labels that are taken for each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs
from shortlist.inputs import Examples
from shortlist.labels import LabelSets
from shortlist.models.auditing import shown
from shortlist.models.base import Table
from shortlist.ranking import Ranking

LONGEST = 80  # characters of a text in a table


def brief(batch: Examples, i: int) -> str:
    """What identifies an example to a person: its text, cut short, or its name."""
    if batch.texts is None:
        return "" if batch.ids is None else batch.ids[i]
    text = " ".join(shown(batch.texts[i]).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def worst_errors(
    ranking: Ranking, truth: LabelSets, names: Sequence[str], labels: Sequence[Any], n: int,
    called: Callable[[Any], str] = str,
) -> Table:  # fmt: skip
    """The examples whose first label is wrong by the widest margin over the best true one."""
    best, own = ranking.scores[:, 0], score_of_truth(ranking, truth)
    margin = np.where(np.isnan(best) | is_right(ranking, truth) | (np.diff(truth.indptr) == 0), -np.inf, best - own)
    worst = np.argsort(-margin, kind="stable")[:n]
    first = ranking.labels[:, 0]
    rows = [
        [int(i) + 1, ", ".join(map(called, labels[i])), called(first[i]), float(margin[i]), names[i]]
        for i in worst
        if margin[i] > -np.inf
    ]
    return Table("The worst errors", ["example", "true", "ranked first", "by a margin of", "text"], rows, "errors")


def score_of_truth(ranking: Ranking, truth: LabelSets) -> NDArray[np.float64]:
    """The score of the best true label of each example, 0 where none was retrieved."""
    found = np.zeros(len(ranking))
    for i in range(len(ranking)):
        hits = np.isin(ranking.ids[i], truth.ids[truth.indptr[i] : truth.indptr[i + 1]]) & (ranking.ids[i] >= 0)
        found[i] = ranking.scores[i, np.argmax(hits)] if hits.any() else 0.0
    return found


def is_right(ranking: Ranking, truth: LabelSets) -> NDArray[np.bool_]:
    """Whether the first label of each example is true."""
    row = np.repeat(np.arange(len(ranking)), np.diff(truth.indptr))
    right: NDArray[np.bool_] = np.bincount(row[truth.ids == ranking.ids[row, 0]], minlength=len(ranking)) > 0
    return right


def most_confused(ranking: Ranking, truth: LabelSets, n: int) -> tuple[Longs, Longs]:
    """The n labels with most errors, most frequent first; how often a true one (row) had each ranked first (column).

    An example whose first label is true counts once; any other counts for each of its true labels.
    """
    row = np.repeat(np.arange(len(ranking)), np.diff(truth.indptr))
    true, first = truth.ids.astype(np.int64), ranking.ids[row, 0].astype(np.int64)
    kept = (first >= 0) & ~(is_right(ranking, truth)[row] & (true != first))  # others of its labels are no errors
    true, first = true[kept], first[kept]
    wide = 1 + max(true.max(initial=0), first.max(initial=0))
    wrong = np.bincount(true[true != first], minlength=wide) + np.bincount(first[true != first], minlength=wide)
    chosen = np.flatnonzero(wrong)[np.argsort(-wrong[np.flatnonzero(wrong)], kind="stable")][:n]
    chosen = chosen[np.argsort(-np.bincount(true, minlength=wide)[chosen], kind="stable")]
    place = np.full(wide, -1)
    place[chosen] = np.arange(chosen.size)
    inside = (place[true] >= 0) & (place[first] >= 0)
    cells = place[true[inside]] * chosen.size + place[first[inside]]
    return chosen, np.bincount(cells, minlength=chosen.size**2).reshape(chosen.size, chosen.size)
