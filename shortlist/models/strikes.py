"""Words that do not count, for one label or for any, since a person has struck them out.

A word that is struck out for any label is read as if no text had it: it neither votes nor is it
learned (text_columns.py). For one label, the votes of its features are left out of the label's
score. These are the word, pairs of words with it, and parts of it; a feature that also stands
elsewhere in the text still votes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.concurrency import spread
from shortlist.data.label_input import Label, shown
from shortlist.data.ranking import Explanation, Ranking, StruckWord
from shortlist.data.rows import Rows
from shortlist.data.texts import Document, as_documents, blocks
from shortlist.errors import InputError
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import BIAS, Allowed
from shortlist.models.text_features import TextFeatures
from shortlist.text.phrases import Phrases, columns_touched
from shortlist.text.vectorizer import TextVectorizer


class Strike(NamedTuple):
    """A word or phrase that does not count for a label, or for any if that is None."""

    word: str
    label: Label | None = None
    person: str = ""  # who struck it out

    def is_same(self, other: Strike) -> bool:
        return self[:2] == other[:2]

    def __str__(self) -> str:
        goal = "any label" if self.label is None else str(self.label)
        person = f", struck out by {self.person}" if self.person else ""
        return f"{self.word!r} does not count for {goal}{person}"


def with_strike(strikes: tuple[Strike, ...], strike: Strike) -> tuple[Strike, ...]:
    """The strikes and one more."""
    if any(map(strike.is_same, strikes)):
        raise InputError(f"{shown(strike.word)} is struck out already")
    return (*strikes, strike)


def without_strike(strikes: tuple[Strike, ...], strike: Strike) -> tuple[Strike, ...]:
    """The strikes but one."""
    others = tuple(other for other in strikes if not strike.is_same(other))
    if len(others) == len(strikes):
        raise InputError(f"{shown(strike.word)} is not struck out")
    return others


def is_strike(value: object) -> bool:
    """Whether a value of a model file is a strike."""
    if not isinstance(value, list) or len(value) != len(Strike._fields):
        return False
    word, label, person = value
    is_label = label is None or isinstance(label, (str, int, float))
    return isinstance(word, str) and bool(word.strip()) and is_label and isinstance(person, str)


def struck_words(
    strikes: Sequence[Strike], label: Label, text: Document, vectorizer: TextVectorizer
) -> list[StruckWord]:
    """The words of a text that are struck out for a label."""
    found = []
    for strike in strikes:
        if strike.label is None or strike.label == label:
            spans = Phrases.of([strike.word], vectorizer, "words").spans(text)
            if spans:
                found.append(StruckWord(strike.word, strike.person, spans))
    return found


def words_for_any_label(strikes: Sequence[Strike]) -> list[str]:
    return [strike.word for strike in strikes if strike.label is None]


class StruckVotes:
    """The votes that are left out of the scores of some texts."""

    def __init__(self, learner: CategoryLearner, n_vector: int) -> None:
        self._learner = learner
        self._n_vector = n_vector
        # label number -> numbers of texts and columns that do not vote for it
        self._struck: dict[int, list[tuple[Longs, Longs]]] = {}

    @classmethod
    def of(
        cls,
        learner: CategoryLearner,
        features: TextFeatures,
        texts: Sequence[Document],
        strikes: Sequence[Strike],
    ) -> StruckVotes:
        """Those of texts by the strikes of single labels."""
        votes = cls(learner, features.vectors.size)
        plain, _ = features.apart(texts)
        documents = as_documents(plain)
        columns = features.text.columns_
        of_labels: list[tuple[int, Phrases]] = []
        for strike in strikes:
            label: Any = strike.label
            number = learner.label_index_.number.get(label)
            if number is not None:  # fit may have forgotten the label
                of_labels.append((number, Phrases.of([strike.word], features.text, "words")))

        def struck_in(block: slice) -> list[tuple[int, Longs, Longs]]:
            found = columns.features(documents[block])
            struck = []
            for number, phrases in of_labels:
                rows, in_columns = columns_touched(columns, found, phrases, always=True)
                struck.append((number, rows + block.start, in_columns + votes._n_vector))
            return struck

        for of_block in spread(struck_in, blocks(documents), learner.n_threads()):
            for number, rows, in_columns in of_block:
                if rows.size:
                    votes._struck.setdefault(number, []).append((rows, in_columns))
        return votes

    @property
    def n_labels(self) -> int:
        """How many labels lose votes, at most in one text."""
        return len(self._struck)

    def applied(self, rows: Rows, ranking: Ranking, k: int, allowed: Allowed | None) -> Ranking:
        """The k best labels, from a ranking that is deeper by ``n_labels``."""
        k = min(k, ranking.ids.shape[1])
        ids = ranking.ids
        scores = ranking.scores
        for number, parts in self._struck.items():
            struck_rows = np.concatenate([part for part, _ in parts])
            struck_columns = np.concatenate([part for _, part in parts])
            affected = np.unique(struck_rows)
            new_ids = np.full((rows.n_rows, 1), -1, dtype=np.int32)
            new_scores = np.full((rows.n_rows, 1), np.nan)
            if allowed is None or allowed.labels[number]:
                places = np.searchsorted(affected, struck_rows)
                of_rows = rows.take(affected)
                found = self._scores(number, of_rows, places, struck_columns, allowed)
                new_ids[affected] = np.where(np.isnan(found), -1, number)
                new_scores[affected] = found
            is_old = np.zeros(rows.n_rows, dtype=np.bool_)
            is_old[affected] = True
            is_old = is_old[:, None] & (ids == number)
            ids = np.hstack([np.where(is_old, -1, ids), new_ids])
            scores = np.hstack([np.where(is_old, np.nan, scores), new_scores])
        # NaN comes last; of equal scores, the label that came first
        best = np.lexsort((ids, np.where(ids >= 0, -scores, np.inf)), axis=1)[:, :k]
        ids = np.take_along_axis(ids, best, axis=1)
        scores = np.take_along_axis(scores, best, axis=1)
        return Ranking(ids, scores, ranking.label_names)

    def _scores(
        self, number: int, rows: Rows, places: Longs, columns: Longs, allowed: Allowed | None
    ) -> Floats:
        """The scores of a label for rows, n × 1; NaN where it is not retrieved."""
        factors = None if allowed is None else allowed.factors
        prepared = self._learner.prepare(rows)
        struck = is_struck(prepared, places, columns)
        if self._n_vector == 0:  # prepared rows can lose columns, and others keep their values
            only = np.zeros(len(self._learner.label_index_), dtype=np.bool_)
            only[number] = True
            ids = np.full((rows.n_rows, 1), -1, dtype=np.int32)
            scores = np.full((rows.n_rows, 1), np.nan)
            left = prepared.only(~struck)
            self._learner.best_allowed_labels(left, Allowed(only, factors), ids, scores)
            return scores
        scores = np.full((rows.n_rows, 1), np.nan)
        for row in range(rows.n_rows):
            of_row = columns[places == row].tolist()
            left_columns, votes = self.votes(prepared.take([row]), number, of_row)
            if left_columns and left_columns != [BIAS]:
                score = added_up(votes)
                if factors is not None and score > 0.0:
                    score *= factors[number]
                scores[row] = score
        return scores

    def votes(
        self, prepared: Rows, number: int, struck: Collection[int]
    ) -> tuple[list[int], list[float]]:
        """The columns that vote for a label in a row, and their votes, without those struck out."""
        columns, votes = self._learner.votes(prepared, number)
        pairs = zip(columns.tolist(), votes.tolist(), strict=True)
        left = [pair for pair in pairs if pair[0] not in struck]
        return [column for column, _ in left], [vote for _, vote in left]

    def explained(self, row: Rows, label: Label) -> Explanation:
        """The explanation of the only row."""
        number = self._learner.label_index_.find(label)
        prepared = self._learner.prepare(row)
        struck = [column for _, part in self._struck.get(number, []) for column in part.tolist()]
        columns, votes = self.votes(prepared, number, struck)
        heaviest = np.argsort(-np.abs(votes), kind="stable").tolist()
        pairs: list[Any] = [(columns[place], votes[place]) for place in heaviest]
        return Explanation(label, added_up(votes), pairs)


def is_struck(rows: Rows, struck_rows: Longs, struck_columns: Longs) -> NDArray[np.bool_]:
    """Which entries of rows are among those struck out."""
    is_candidate = np.zeros(rows.n_features + 1, dtype=np.bool_)
    is_candidate[struck_columns] = True
    which = np.flatnonzero(is_candidate[rows.indices])
    row = np.searchsorted(rows.indptr, which, side="right") - 1
    width = np.int64(rows.n_features + 1)
    marks = np.zeros(rows.indices.size, dtype=np.bool_)
    keys = row * width + rows.indices[which]
    marks[which] = np.isin(keys, struck_rows * width + struck_columns)
    return marks


def added_up(votes: Sequence[float]) -> float:
    """The sum, one vote after the other, as the kernels add: the same to the last bit."""
    score = 0.0
    for vote in votes:
        score += vote
    return score
