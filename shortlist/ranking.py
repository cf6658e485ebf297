"""A ranking, what every learner of categories answers, and an explanation, why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.labels import Label


class Ranking:
    """The best labels of one example, or of many, best first.

    A ranking of one iterates as (label, score) pairs; a ranking of many as rankings of one.

    Parameters
    ----------
    ids : array of shape (k,) or (n, k)
        The labels as numbers in order of first appearance, −1 where fewer than k labels were retrieved.
    scores : array of the same shape
        Their scores, NaN where there is no label.
    names : sequence
        The label of each number.

    Attributes
    ----------
    ids, scores : array
        As above.
    labels : array of the same shape
        The labels themselves, None where there is none.

    Examples
    --------
    >>> from shortlist import Categorizer
    >>> model = Categorizer().fit(["wheat exports rose", "crude oil prices"], [["grain"], ["energy"]])
    >>> ranking = model.rank(["oil", "wheat"], k=1)
    >>> ranking.labels.tolist()
    [['energy'], ['grain']]
    >>> [label for label, score in ranking[0]]
    ['energy']
    """

    def __init__(self, ids: NDArray[np.int32], scores: NDArray[np.float64], names: Sequence[Label]) -> None:
        self.ids = ids
        self.scores = scores
        self._names = names

    @classmethod
    def stack(cls, parts: Sequence[Ranking], k: int) -> Ranking:
        """Rankings of many from the same learner as one, with room for k labels each."""
        n = sum(len(part) for part in parts)
        ids, scores = np.empty((n, k), dtype=np.int32), np.empty((n, k))
        first = 0
        for part in parts:
            width, rows = min(k, part.ids.shape[1]), slice(first, first + len(part))
            ids[rows, :width], ids[rows, width:] = part.ids[:, :width], -1
            scores[rows, :width], scores[rows, width:] = part.scores[:, :width], np.nan
            first += len(part)
        return cls(ids, scores, parts[-1]._names if parts else ())

    @property
    def labels(self) -> NDArray[np.object_]:
        labels = np.empty(self.ids.shape, dtype=object)
        names = self._names
        labels.reshape(-1)[:] = [names[i] if i >= 0 else None for i in self.ids.reshape(-1).tolist()]
        return labels

    def __len__(self) -> int:
        """The number of labels of one; the number of rows of many."""
        return int((self.ids >= 0).sum()) if self.ids.ndim == 1 else self.ids.shape[0]

    def __getitem__(self, item: int) -> Any:
        if self.ids.ndim == 1:
            return list(self)[item]
        return Ranking(self.ids[item], self.scores[item], self._names)

    def __iter__(self) -> Iterator[Any]:
        if self.ids.ndim == 2:
            return (self[row] for row in range(self.ids.shape[0]))
        found = self.ids >= 0
        pairs = zip(self.ids[found].tolist(), self.scores[found].tolist(), strict=True)
        return ((self._names[i], score) for i, score in pairs)

    def __repr__(self) -> str:
        if self.ids.ndim == 2:
            return f"<Ranking of {self.ids.shape[0]} rows, {self.ids.shape[1]} labels each>"
        return "\n".join(f"{score:8.4f}  {label}" for label, score in self) or "<Ranking: nothing retrieved>"


@dataclass(frozen=True)
class Explanation:
    """Why a label has its score: the votes of the features, heaviest first. The votes sum to the score.

    Parameters
    ----------
    label : label
        What is explained.
    score : float
        Its score.
    votes : list of (feature, float)
        What each feature adds to the score.
    spans : list of lists of (int, int)
        For each vote, where its feature stands in the text: the first character and the one after the last. Empty where
        there is no text.

    Attributes
    ----------
    label, score, votes, spans
        As above.

    Examples
    --------
    >>> from shortlist import Categorizer
    >>> model = Categorizer().fit(["wheat exports rose", "crude oil prices"], [["grain"], ["energy"]])
    >>> explanation = model.explain("crude oil", "energy")
    >>> explanation.label, len(explanation) > 0
    ('energy', True)
    """

    label: Label
    score: float
    votes: list[tuple[Label, float]]  # a feature, by its name or its column
    spans: list[list[tuple[int, int]]] = field(default_factory=list, compare=False)

    def __iter__(self) -> Iterator[tuple[Label, float]]:
        return iter(self.votes)

    def __len__(self) -> int:
        return len(self.votes)

    def __repr__(self) -> str:
        lines = [f"{self.score:8.4f}  {self.label}"]
        return "\n".join(lines + [f"{vote:+8.4f}    {feature}" for feature, vote in self.votes])
