"""Why a text gets a label, which labels may be wrong, and what speaks for a label in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from shortlist.concurrency import reading
from shortlist.data.batch import TextBatch
from shortlist.data.label_input import Label, LabelsLike
from shortlist.data.ranking import Explanation
from shortlist.data.texts import Document, WithVectors, as_documents
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.models import encoding
from shortlist.models.auditing import Audit, Watch, audit, shown
from shortlist.models.explanations import CANDIDATES_A_NAME, in_words, worth_naming
from shortlist.models.grouping import TextGroup, groups_of
from shortlist.models.strikes import struck_words
from shortlist.models.striking import DECIDED_AT, taken
from shortlist.models.text_parts import TextParts, n_vector_columns


class ExplainsTexts(TextParts):
    """Base class of the Categorizer: its reasons."""

    @reading
    def explain(
        self, text: Document, label: Label, *, vector: ArrayLike | None = None
    ) -> Explanation:
        """The votes of the words of a text, and of its vector, for a label. They sum to the label's
        score.
        """
        self.check_fitted()
        texts = encoding.one_with_vector(text, vector)
        rows = self.rows_of(texts)
        struck = self.struck_in(texts)
        if struck is None:
            explanation = self.learner_.explain_row(rows, label)
        else:
            explanation = struck.explained(rows, label)
        explanation = in_words(explanation, n_vector_columns(self.learner_), self.text_, text)
        if vector is None and n_vector_columns(self.learner_):
            n_read = self.vector_part().characters_cut_at("\n".join(explanation.texts))
            explanation = replace(explanation, encoded=n_read)
        if not self.strikes_:
            return explanation
        return replace(explanation, struck=struck_words(self.strikes_, label, text, self.text_))

    def explain_text(self, text: Document, label: str | None = None) -> Explanation:
        if label is not None:
            named = (known for known in self.classes_.tolist() if str(known) == label)
            return self.explain(text, next(named, label))
        best = list(self.rank(text, 1))
        if not best:
            raise InputError(
                "nothing is retrieved for this text: the model knows none of its words"
            )
        return self.explain(text, best[0][0])

    def audit(
        self,
        texts: Sequence[Document],
        Y: LabelsLike,
        n: int = 100,
        random_state: int = 0,
        watch: Watch = lambda done, parts: None,
        numbers: Sequence[int] | None = None,
    ) -> Audit:
        """The examples that models with these settings contradict: their labels may be wrong
        (auditing.py).

        The models learn other parts of these examples; what this model has learned is not used. The
        ``n`` examples with the largest contradictions are explained. ``watch`` is called with the
        numbers of finished parts and of parts; ``numbers`` are those of the examples, from 0 by
        default.
        """
        batch = TextBatch.of(texts, Y)
        documents = batch.texts
        labels = batch.labels

        def train(which: list[int]) -> Any:
            return clone(self).fit([documents[i] for i in which], labels.take(which))

        return audit(documents, labels, train, n, random_state, watch, numbers)

    def group_unnamed(
        self,
        texts: Sequence[Document],
        *,
        precision: float = DECIDED_AT,
        none_of_these: Sequence[int] = (),
        vectors: ArrayLike | None = None,
    ) -> list[TextGroup]:
        """Groups of texts that may share a label that nobody has named, those with most that is
        new first (grouping.py).

        They are found among the texts that the model does not decide at a precision.
        ``none_of_these`` are the numbers of texts that people judged to have none of the labels;
        they are grouped, too.
        """
        self.check_fitted()
        documents = encoding.with_vectors(as_documents(texts), vectors)
        if n_vector_columns(self.learner_) and not isinstance(documents, WithVectors):
            made: Any = self.vector_part().apart(documents)[1]
            documents = WithVectors(documents, made)  # encoded once
        judged = set(none_of_these)
        others = [number for number in range(len(documents)) if number not in judged]
        is_decided = set()
        if others:
            answers: Any = self.assign(taken(documents, others), precision=precision)
            is_decided = {number for number, labels in zip(others, answers, strict=True) if labels}
        numbers = [number for number in range(len(documents)) if number not in is_decided]
        undecided = taken(documents, numbers)
        plain = undecided
        of_texts = None
        if isinstance(undecided, WithVectors):
            plain = undecided.texts
            of_texts = undecided.vectors
        groups = groups_of(list(map(shown, plain)), self.text_, self.strikes_, of_texts)
        return [
            replace(group, numbers=[numbers[place] for place in group.numbers]) for group in groups
        ]

    @reading
    def strongest(self, label: Label, n: int = 10) -> list[tuple[Any, float]]:
        """The n strongest features of a label, as a person would name them (explanations.py), and
        their weights.
        """
        self.check_index()
        learner: Any = self.learner_
        votes = learner.strongest_votes(label, n * CANDIDATES_A_NAME)
        names = self.feature_names([column for column, _, _ in votes])
        strengths = [strength for _, _, strength in votes]
        return [(names[i], votes[i][1]) for i in worth_naming(names, strengths)[:n]]
