"""Rankings, the answers of learners of categories, and explanations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.data.label_input import Label
from shortlist.data.passages import Passage, cut_fields, passage_votes

if TYPE_CHECKING:
    import pandas
    import polars


PLACES_AT_ONCE = 2**18  # places of rankings compared at once


def places_of(
    labels: NDArray[np.int32], rows: NDArray[np.int64], ids: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The place, from 0, of each label in its row of rankings (ids n × k); k if it is absent."""
    k = ids.shape[1]
    places = np.full(labels.size, k, dtype=np.int64)
    if k == 0:
        return places
    rows_at_once = PLACES_AT_ONCE // k + 1
    for first in range(0, labels.size, rows_at_once):
        block = slice(first, first + rows_at_once)
        same = ids[rows[block]] == labels[block, None]
        places[block] = np.where(same.any(axis=1), same.argmax(axis=1), k)
    return places


Promise = Callable[[], NDArray[np.float64]]  # computes probabilities when they are needed


class Ranking:
    """The best labels of one text or row, or of many, best first.

    A ranking of one iterates as (label, score) pairs; a ranking of many as rankings of one.

    Parameters
    ----------
    ids : ndarray of int32
        The labels as numbers in order of first appearance, −1 where there is none.
    scores : ndarray of float64
        Their scores.
    names : sequence
        The labels, by their numbers.
    probabilities : ndarray of float64 or callable, default=None
        The probability of each label, or a function that computes it; NaN throughout if None.

    Attributes
    ----------
    labels : ndarray of object
        k labels for one, n × k for many: None where fewer than k labels were retrieved.
    scores : ndarray of float64
        Their scores, in the same shape; NaN where there is no label.
    ids : ndarray of int32
        Their numbers.
    probabilities : ndarray of float64
        Their probabilities; NaN where unknown, as in all rankings of a learner without a model.

    References
    ----------
    Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004), section
    3.2.

    Examples
    --------
    >>> from shortlist import FeatureFocus
    >>> learner = FeatureFocus(rare=0).fit([[1.0, 1.0], [0.0, 1.0]], ["a", "b"])
    >>> ranking = learner.rank([[1.0, 0.0], [0.0, 1.0]], k=2)
    >>> ranking
    <Ranking of 2 rows, 2 labels each>
    >>> ranking.labels.tolist()
    [['a', None], ['b', 'a']]
    >>> list(ranking[0])
    [('a', 1.0)]
    """

    def __init__(
        self,
        ids: NDArray[np.int32],
        scores: NDArray[np.float64],
        names: Sequence[Label],
        probabilities: NDArray[np.float64] | Promise | None = None,
    ) -> None:
        self.ids = ids
        self.scores = scores
        self.label_names = names
        self._probabilities = probabilities

    @classmethod
    def stack(cls, parts: Sequence[Ranking], k: int) -> Ranking:
        """Rankings of many from the same learner as one, with room for k labels each."""
        n = sum(len(part) for part in parts)
        ids = np.full((n, k), -1, dtype=np.int32)
        scores = np.full((n, k), np.nan)
        probabilities = None
        if any(part._probabilities is not None for part in parts):
            probabilities = np.full((n, k), np.nan)
        first = 0
        for part in parts:
            rows = slice(first, first + len(part))
            width = min(k, part.ids.shape[1])
            ids[rows, :width] = part.ids[:, :width]
            scores[rows, :width] = part.scores[:, :width]
            if probabilities is not None:
                probabilities[rows, :width] = part.probabilities[:, :width]
            first += len(part)
        return cls(ids, scores, parts[-1].label_names if parts else (), probabilities)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        probabilities = self._probabilities
        if probabilities is None:
            return np.full(self.scores.shape, np.nan)
        if callable(probabilities):
            probabilities = self._probabilities = probabilities()
        return probabilities

    def with_probabilities(self, probabilities: NDArray[np.float64] | Promise | None) -> Ranking:
        """The same labels and scores with other probabilities, or a function that computes them."""
        return Ranking(self.ids, self.scores, self.label_names, probabilities)

    def first(self, k: int) -> Ranking:
        """Of a ranking of many, the first k labels of each."""
        return self._part((slice(None), slice(k)))

    def _part(self, which: Any) -> Ranking:
        """A part of this ranking; its probabilities are computed when needed."""
        ids = self.ids[which]
        scores = self.scores[which]
        if self._probabilities is None:
            return Ranking(ids, scores, self.label_names)
        return Ranking(ids, scores, self.label_names, lambda: self.probabilities[which])

    def only(self, marks: NDArray[np.bool_]) -> list[Ranking]:
        """For each row of a ranking of many, a ranking of the labels that are marked."""
        p = self.probabilities
        rows = enumerate(marks & (self.ids >= 0))
        return [
            Ranking(self.ids[i, which], self.scores[i, which], self.label_names, p[i, which])
            for i, which in rows
        ]

    @property
    def labels(self) -> NDArray[np.object_]:
        labels = np.empty(self.ids.shape, dtype=object)
        names = self.label_names
        labels.reshape(-1)[:] = [
            names[i] if i >= 0 else None for i in self.ids.reshape(-1).tolist()
        ]
        return labels

    def __len__(self) -> int:
        """The number of labels of one; the number of rows of many."""
        return int((self.ids >= 0).sum()) if self.ids.ndim == 1 else self.ids.shape[0]

    def __getitem__(self, item: int) -> Any:
        if self.ids.ndim == 1:
            return list(self)[item]
        return self._part(item)

    def __iter__(self) -> Iterator[Any]:
        if self.ids.ndim == 2:
            return (self[row] for row in range(self.ids.shape[0]))
        is_label = self.ids >= 0
        pairs = zip(self.ids[is_label].tolist(), self.scores[is_label].tolist(), strict=True)
        return ((self.label_names[i], score) for i, score in pairs)

    def __repr__(self) -> str:
        if self.ids.ndim == 2:
            n, k = self.ids.shape
            return f"<Ranking of {n} row{'s' * (n != 1)}, {k} label{'s' * (k != 1)} each>"
        return (
            "\n".join(f"{score:8.4f}  {label}" for label, score in self)
            or "<Ranking: nothing retrieved>"
        )

    def to_frame(self) -> pandas.DataFrame | polars.DataFrame:
        """A data frame with a row for each retrieved label: of pandas if it is installed, otherwise
        of polars.

        Its columns are ``row`` (of a ranking of many), ``place`` from 1, ``label``, ``score``, and
        ``probability`` if known.
        """
        ids = np.atleast_2d(self.ids)
        rows, places = np.nonzero(ids >= 0)
        probabilities = np.atleast_2d(self.probabilities)[rows, places]
        columns: dict[str, list[Any]] = {}
        if self.ids.ndim == 2:
            columns["row"] = rows.tolist()
        columns["place"] = (places + 1).tolist()
        columns["label"] = [self.label_names[i] for i in ids[rows, places].tolist()]
        columns["score"] = np.atleast_2d(self.scores)[rows, places].tolist()
        if not np.isnan(probabilities).all():
            columns["probability"] = probabilities.tolist()
        try:
            import pandas
        except ImportError:
            import polars

            return polars.DataFrame(columns)
        return pandas.DataFrame(columns)


class StruckWord(NamedTuple):
    """A word that does not count, who struck it out, and its places in the text."""

    word: str
    person: str
    spans: list[tuple[int, int]]


@dataclass(frozen=True)
class Explanation:
    """The votes of the features for a label, heaviest first. They sum to its score.

    Parameters
    ----------
    label : str, int or float
        The explained label.
    score : float
        Its score.
    votes : list of (feature, vote)
        The features and their votes, heaviest first.
    spans : list of lists of (int, int), default=[]
        For each vote the places of its feature in the text: pairs of the first character and the
        one after the last. Empty if there is no text.
    texts : sequence of str, default=()
        The explained text, or its fields; places count their characters as if they were joined by
        line feeds.
    struck : sequence of StruckWord, default=()
        The words of the text that do not count for the label (word, person, spans).
    encoded : int, default=None
        If an encoder made a vector of the text and cut off the rest, of how many characters.

    Attributes
    ----------
    label, score, votes, spans, texts, struck, encoded
        As given.
    passages : list of Passage
        The sentences of the text (start, end, vote), in order; paragraphs where sentences are long.
        Their votes sum to the votes of all words in the text.

    References
    ----------
    Madani, Connor and Greiner, "Learning when concepts abound", JMLR 10, 2009 (paper 004), section
    3.2: scores are sums of votes.

    Examples
    --------
    >>> from shortlist import FeatureFocus
    >>> learner = FeatureFocus(values="raw", rare=0).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> learner.explain([2.0, 1.0], "a").votes
    [(0, 2.0)]
    """

    label: Label
    score: float
    votes: list[tuple[Label, float]]  # a feature, by its name or its column
    spans: list[list[tuple[int, int]]] = field(default_factory=list, compare=False)
    texts: Sequence[str] = field(default=(), compare=False)
    struck: Sequence[StruckWord] = field(default=(), compare=False)
    encoded: int | None = field(default=None, compare=False)

    @property
    def passages(self) -> list[Passage]:
        places = cut_fields(self.texts)
        if not places:
            return []
        sums = passage_votes(places, (vote for _, vote in self.votes), self.spans)
        pairs = zip(places, sums, strict=True)
        return [Passage(start, end, float(total)) for (start, end), total in pairs]

    def characters(self, passage: Passage) -> str:
        """The text of a passage."""
        return "\n".join(self.texts)[passage.start : passage.end]

    def __iter__(self) -> Iterator[tuple[Label, float]]:
        return iter(self.votes)

    def __len__(self) -> int:
        return len(self.votes)

    def __repr__(self) -> str:
        lines = [f"{self.score:8.4f}  {self.label}"]
        lines += [f"{vote:+8.4f}    {feature}" for feature, vote in self.votes]
        lines += [f"       0    {word}  (struck out)" for word, _, _ in self.struck]
        return "\n".join(lines)
