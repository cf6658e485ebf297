"""How a model of texts strikes words out, and what that would change."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.concurrency import reading
from shortlist.confidence.observers import DEPTH
from shortlist.data.label_input import Label
from shortlist.data.ranking import Ranking
from shortlist.data.texts import Document, WithVectors, as_documents
from shortlist.models.label_changes import Change
from shortlist.models.strikes import Strike, with_strike, words_for_any_label
from shortlist.text.phrases import Phrases

DECIDED_AT = 0.95  # target precision of the decisions that a preview compares


class ChangedAnswer(NamedTuple):
    """A text whose best label or decision changes; a label is None where none is retrieved."""

    number: int  # of the text, from 0
    best: Label | None
    best_then: Label | None
    decided: list[Any]
    decided_then: list[Any]


class StrikesWords:
    """The strikes that a model of texts offers."""

    def strike(self, word: str, label: Label | None = None, *, person: str = "") -> Self:
        """Let a word or phrase no longer count for a label, or for any.

        For any label it is read as if no text had it. For one label, the votes of the word and of
        its parts are left out of the label's score, whatever is learned later. ``explain`` tells
        what is struck out, and by whom.
        """
        return self._changed("strike", word, label, person)

    def unstrike(self, word: str, label: Label | None = None) -> Self:
        """Let a word that was struck out count again, with what it has learned."""
        return self._changed("unstrike", word, label, "")

    def _changed(self, what: str, word: str, label: Label | None, person: str) -> Self:
        labels = () if label is None else (label,)
        change = Change(what, labels, word=word, person=person)
        changed: Self = self.change_labels(change)  # type: ignore[attr-defined]
        return changed

    @reading
    def preview_strike(
        self: Any,
        texts: Sequence[Document],
        word: str,
        label: Label | None = None,
        *,
        precision: float = DECIDED_AT,
    ) -> list[ChangedAnswer]:
        """The texts whose best label, or the labels assigned at a precision, would change.

        Exactly: each text with the word is ranked as it is, and as it would be.
        """
        self.check_change(Change("strike", () if label is None else (label,), word=word))
        documents = as_documents(texts)
        phrases = Phrases.of([word], self.text_, "word")
        plain = documents.texts if isinstance(documents, WithVectors) else documents
        numbers = [n for n, text in enumerate(plain) if phrases.occurs(text)]
        if not numbers:
            return []
        affected = taken(documents, numbers)
        changed = self._struck(Strike(word, label))
        before = self._ranked(affected)
        after = changed._ranked(affected)
        if label is not None:  # most rankings are the same, and are decided alike
            moved = np.flatnonzero(differing(before, after)).tolist()
            numbers = [numbers[place] for place in moved]
            affected = taken(affected, moved)
            before = before[moved]
            after = after[moved]
        answers = zip(
            numbers,
            self._answers(affected, before, precision),
            changed._answers(affected, after, precision),
            strict=True,
        )
        return [
            ChangedAnswer(number, old_best, new_best, old, new)
            for number, (old_best, old), (new_best, new) in answers
            if (old_best, old) != (new_best, new)
        ]

    def _ranked(self: Any, texts: Sequence[Document]) -> Ranking:
        """The labels that a decision looks at."""
        depth = 1 if self.has_one_label_each else DEPTH
        ranking: Ranking = self.rank_under_rules(
            self.rows_of(texts), depth, None, self.struck_in(texts)
        )
        return ranking

    def _answers(
        self: Any, texts: Sequence[Document], ranking: Ranking, precision: float
    ) -> list[tuple[Label | None, list[Any]]]:
        """The best label of each text, and those assigned."""
        aim = self.aim(precision)
        rows: Any = np.flatnonzero(self.chosen(ranking, aim).any(axis=1)).tolist()
        decided: list[list[Any]] = [[] for _ in range(len(ranking))]
        if rows:  # most texts that wait for a person are not decided
            for row, labels in zip(
                rows, self.decide(taken(texts, rows), ranking[rows], aim), strict=True
            ):
                decided[row] = list(labels)
        best = ranking.labels[:, 0].tolist()
        return list(zip(best, decided, strict=True))

    def _struck(self: Any, strike: Strike) -> Any:
        """A model with one more strike, which shares everything else with this one."""
        changed = copy.copy(self)
        changed.policy_ = self.policy_._replace(strikes=with_strike(self.strikes_, strike))
        changed.text_ = copy.copy(self.text_)
        changed.text_.columns_ = copy.copy(self.text_.columns_)
        changed.text_.strike(words_for_any_label(changed.strikes_))
        return changed


def differing(one: Ranking, other: Ranking) -> NDArray[np.bool_]:
    """Which rows of two rankings are not the same."""
    is_same = one.ids == other.ids
    for first, second in (
        (one.scores, other.scores),
        (one.probabilities, other.probabilities),
    ):
        is_same &= (first == second) | (np.isnan(first) & np.isnan(second))
    differs: NDArray[np.bool_] = ~is_same.all(axis=1)
    return differs


def taken(documents: Sequence[Any], numbers: list[int]) -> Sequence[Any]:
    """The documents of these numbers."""
    if hasattr(documents, "take"):
        some: Sequence[Any] = documents.take(numbers)
        return some
    return [documents[number] for number in numbers]
