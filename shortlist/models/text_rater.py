"""Ratings learned from texts: a text part, and an encoder if there is one, before a learner of ratings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.given_labels import Label
from shortlist.arrays.kernels import Floats
from shortlist.arrays.validation import MOST_AMOUNT, as_whole
from shortlist.categories.index.retrieval import SHARE, unit
from shortlist.concurrency import learning, prefetch, reading
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State, build
from shortlist.inputs.examples import Examples
from shortlist.models.encoding import Encoder, VectorPart, digest_of, encoded, loaded, name_of
from shortlist.models.rater import GivenRatings, JudgedRatings, Rater
from shortlist.models.readable import VECTOR, summed
from shortlist.models.text_batches import texts_of
from shortlist.ranking import Explanation
from shortlist.ratings.learner import RatingLearner
from shortlist.ratings.scale import as_values
from shortlist.text.vectorizer import ALL_AUTO, TextVectorizer
from shortlist.texts import Document, Vectors, as_documents

if TYPE_CHECKING:
    from typing_extensions import Self

NO_WORD = -1  # in the place of a column: the vote is that of a bias, which has a name already


def default_rated_text() -> TextVectorizer:
    """How a TextRater reads texts if it is not told: each as a row of length 1, as the learners' steps presume."""
    return TextVectorizer(**ALL_AUTO, composed=True, tf="log", idf="smooth", norm="l2")


class TextRater(Rater):
    """Learns ratings from texts, such as the stars of reviews, and rates new ones.

    Parameters
    ----------
    learner : RatingLearner or str, default=None
        As Rater has it.
    text : TextVectorizer, default=None
        How texts become features; ``TextVectorizer(ngrams="auto", composed=True, tf="log", idf="smooth",
        norm="l2")`` if None.
    encoder : str or callable, default=None
        What makes vectors of texts, which are learned beside the words; as Categorizer has it.

    Attributes
    ----------
    learner_ : RatingLearner
        The learner, once something was learned.
    text_ : TextVectorizer
        The text part, once something was learned.
    classes_ : ndarray
        The scale, lowest rating first.
    n_examples_ : int
        How many texts were learned from.

    References
    ----------
    Crammer and Singer, "Pranking with ranking", NIPS 2001 (paper 002).

    Examples
    --------
    >>> from shortlist import TextRater
    >>> rater = TextRater().fit(["dull and far too long", "a joy from the start"] * 5, [1, 5] * 5)
    >>> rater.predict(["far too long", "from the start a joy"]).tolist()
    [1, 5]
    """

    _parts = ("learner", "text")
    _answers_rows_of = "texts"
    _of_texts = True
    text_: TextVectorizer
    _vector = VectorPart(0, None)  # of the encoder that it was learned with

    def __init__(
        self,
        learner: RatingLearner | str | None = None,
        text: TextVectorizer | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        super().__init__(learner)
        self.text = text
        self.encoder = encoder

    def _new_text(self) -> TextVectorizer:
        """The text part as it is set, before it has learned anything."""
        text: TextVectorizer = default_rated_text() if self.text is None else clone(self.text)
        return text

    # Learning.

    def fit(self, X: Sequence[Document], ratings: ArrayLike, columns: object = None) -> Self:  # type: ignore[override]
        """Forget everything and learn these texts."""
        texts, text, learner = as_documents(X), self._new_text(), self._new_learner()
        if not texts:
            raise InputError("there are no texts to learn from")
        part, own = VectorPart(0, None), None
        if self.encoder is not None:
            own = encoded(loaded(self.encoder), texts)
            part = VectorPart(own.shape[1], self.encoder, name_of(self.encoder), digest_of(self.encoder))
        learner.fit(_beside(own, text.fit_transform(texts)), ratings)
        n_columns = learner.n_features_in_
        self._have(text_=text, learner_=learner, n_examples_=len(texts), n_features_in_=n_columns, _vector=part)
        return self

    @learning
    def learn(self, X: Sequence[Document], ratings: ArrayLike, columns: object = None) -> Self:  # type: ignore[override]
        """Go on learning; new words are learned as they come."""
        if not self.__sklearn_is_fitted__():
            return self.fit(X, ratings)
        texts, own = self._encoded(X)
        taken = self.text_.take(texts)
        before = self.learner_._clock
        try:
            self.learner_.partial_fit(_beside(own, self.text_.weighted(taken.rows).to_matrix()), ratings)
        finally:
            n_learned = self.learner_._clock - before
            self.n_examples_ += n_learned
            if n_learned == 0:
                self.text_.give_back(taken)
        return self

    def fit_batches(self, batches: Iterable[Examples]) -> Self:
        texts, ratings = _gathered(batches, self._new_learner().scale)
        return self.fit(texts, ratings)

    def learn_batches(self, batches: Iterable[Examples]) -> Self:
        self._check_fitted()
        for batch in prefetch(batches):
            self.learn(texts_of(batch), as_values(_ratings(batch), self.classes_))
        return self

    # Rating.

    @reading
    def explain(self, x: Document, columns: object = None) -> Explanation:  # type: ignore[override]
        """What each word adds to the score of a text, and the rating that the score falls on."""
        row = self._scaled([x], None)
        found, n = self.learner_.explain(row), self._vector.size
        given = [(VECTOR if n and voter == 0 else voter, vote) for voter, vote in summed(found.votes, n)]
        columns = [NO_WORD if isinstance(voter, str) else int(voter) - n for voter, _ in given]
        names = iter(self.text_.names([column for column in columns if column != NO_WORD], x))
        votes: list[tuple[Label, float]] = [
            (voter if column == NO_WORD else next(names), vote)
            for column, (voter, vote) in zip(columns, given, strict=True)
        ]
        spans = self.text_.spans(x)
        return Explanation(found.label, found.score, votes, [spans.get(column, []) for column in columns])

    def _explain_example(self, examples: Examples, n: int = 0) -> Explanation:
        return self.explain(texts_of(examples)[n])

    def _explain_text(self, text: Document, label: str | None = None) -> Explanation:
        if label is not None:
            raise InputError("a rating is explained by what each word adds to its score; leave the label out")
        return self.explain(text)

    def _answer(self, batches: Iterable[Examples], k: int = 5) -> Iterator[GivenRatings]:
        for batch in batches:
            yield self._given(texts_of(batch))

    def _answer_text(self, text: Document, k: int = 5) -> GivenRatings:
        return self._given([text])

    def _judge(self, batches: Iterable[Examples], measures: Sequence[str]) -> Iterator[JudgedRatings]:
        texts, ratings = _gathered(batches, self.classes_)
        yield JudgedRatings(self.rate(texts), ratings)

    def describe(self) -> dict[str, Any]:
        return {
            "learner": type(self.learner_).__name__,
            "examples": self.n_examples_,
            "ratings": len(self.classes_),
            "features": int(self.learner_.n_features_in_),
        }

    @property
    def fields_(self) -> list[str] | None:
        return self.text_._settings.fields

    @property
    def _fields_beside_(self) -> list[str]:
        return [] if self.fields_ is None else list(dict.fromkeys(field for field, _, _ in self.text_.values()))

    def _parameters(self) -> dict[str, Any]:
        return super()._parameters() | {"text": self.text_.get_params()}

    def _scaled(self, X: Any, columns: Sequence[str] | None) -> Floats:
        """The rows of texts."""
        self._check_fitted()
        texts, own = self._encoded(X)
        n_words = int(self.learner_.n_features_in_) - self._vector.size
        rows: Any = _beside(own, self.text_.rows(texts)._replace(n_features=n_words).to_matrix())
        return rows

    def _encoded(self, texts: Sequence[Document]) -> tuple[Any, Vectors | None]:
        """Texts, and their vectors, if it was learned with them."""
        return self._vector._replace(encoder=self.encoder).apart(texts)

    # Model files.

    @reading
    def to_state(self) -> State:
        self._check_fitted()
        parts = {"text": self.text_.to_state(), "learner": self.learner_.to_state()}
        settings = {"n_examples": self.n_examples_, "vector": self._vector.size}
        made_by = {"encoder": self._vector.learned_with, "encoder_digest": self._vector.digest}
        return State("TextRater", settings | made_by, parts=parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        text, learner = build(state.parts["text"]), build(state.parts["learner"])
        state.require(isinstance(text, TextVectorizer), "its text part is a TextVectorizer")
        state.require(isinstance(learner, RatingLearner), "its learner is a learner of ratings")
        encoder, digest = state.settings["encoder"], state.settings["encoder_digest"]
        named = all(one is None or isinstance(one, str) for one in (encoder, digest))
        state.require(named, "its encoder has a name and a digest")
        n_vector = as_whole(state.settings["vector"], "vector", most=MOST_AMOUNT)
        all_there = int(learner.n_features_in_) == text.n_features_ + n_vector
        state.require(all_there, "each column of the learner is one of its text part or of its vectors")
        rater = cls(clone(learner), clone(text), None if digest is None else encoder)
        rater._vector = VectorPart(n_vector, None, encoder, digest)
        rater.text_, rater.learner_, rater.n_features_in_ = text, learner, int(learner.n_features_in_)
        rater.n_examples_ = as_whole(state.settings["n_examples"], "n_examples", most=MOST_AMOUNT)
        return rater


def _beside(own: Vectors | None, words: Any) -> Any:
    """Vectors and words as one row of length 1, as the learners' steps presume: words alone where there are none."""
    if own is None:
        return words
    return scipy.sparse.hstack([np.sqrt(SHARE) * unit(own), np.sqrt(1.0 - SHARE) * words], format="csr")


def _gathered(batches: Iterable[Examples], scale: Any) -> tuple[list[Document], NDArray[Any]]:
    """All texts, and their ratings as the scale has them."""
    texts: list[Document] = []
    ratings: list[str] = []
    for batch in batches:
        texts += texts_of(batch)
        ratings += _ratings(batch)
    if not texts:
        raise InputError("there are no examples")
    return texts, np.asarray(as_values(ratings, scale))


def _ratings(batch: Examples) -> list[str]:
    return [own[0] for own in batch.labels or ()]
