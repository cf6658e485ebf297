"""Ratings learned from rows of numbers (Rater: columns, their scales, a learner) or from texts
(TextRater: a text part, perhaps an encoder, a learner).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from shortlist.compiled.kernels import Floats
from shortlist.concurrency import learning, prefetch, reading, snapshot
from shortlist.data.ranking import Explanation
from shortlist.data.rows import MatrixLike, Rows
from shortlist.data.texts import Document, Vectors, as_documents
from shortlist.data.validation import MOST_AMOUNT, as_rows, as_whole, check_names, column_names
from shortlist.errors import InputError, counted
from shortlist.estimators import clone
from shortlist.files.store import State, build
from shortlist.inputs.examples import Examples, stacked
from shortlist.learners.index.scoring import SHARE, unit
from shortlist.learners.ratings.prank import PRank
from shortlist.learners.ratings.rating_learner import RatingLearner
from shortlist.learners.ratings.row_rater import check_size
from shortlist.learners.ratings.scale import as_values
from shortlist.measures import confusion, evaluate_ratings
from shortlist.models.encoding import Encoder, VectorPart, digest_of, encoded, loaded, name_of
from shortlist.models.explanations import in_words
from shortlist.models.model import Model, Report, ReportTable, finite_or_none
from shortlist.models.text_batches import default_text, texts_of
from shortlist.text.vectorizer import TextVectorizer

SPARSE = 0.1  # rows with a smaller share of non-zero values stay sparse

JudgedRatings: TypeAlias = tuple[NDArray[Any], NDArray[Any]]  # predicted and true ratings


@dataclass
class GivenRatings:
    """The answers of a rater: the rating of each example, and its distances from the rating
    below and the one above.
    """

    ratings: NDArray[Any]
    distances: Floats

    def __iter__(self) -> Iterator[tuple[Any, float, float]]:
        for rating, (below, above) in zip(
            self.ratings.tolist(), self.distances.tolist(), strict=True
        ):
            yield rating, below, above

    def lines(self) -> Iterator[str]:
        return (f"{rating}\t{below:.6g}\t{above:.6g}" for rating, below, above in self)

    def records(self) -> Iterator[dict[str, Any]]:
        for rating, below, above in self:
            distances = {
                "from_step_below": finite_or_none(below),
                "from_step_above": finite_or_none(above),
            }
            yield {"rating": rating} | distances


class Rater(ClassifierMixin, Model[JudgedRatings]):
    """Learns ratings from rows of numbers and rates new ones. Named columns must keep their names
    and order.

    ``fit`` scales each column to mean 0 and variance 1, since the learners are sensitive to scale;
    for PRank, whose thresholds move by one, then all by one factor, so that rows have length 1 on
    average. Rows with less than a tenth of non-zero values stay sparse: their columns are scaled to
    a mean square of 1.

    Parameters
    ----------
    learner : RatingLearner or str, default=None
        Any learner of ratings, or the short name of one, such as "widrow-hoff";
        ``PRank(random_state=0)`` if None. A named learner shuffles by the same seed.

    Attributes
    ----------
    learner_ : RatingLearner
        The learner, once something was learned.
    classes_ : ndarray
        The scale, lowest rating first.
    mean_, scale_ : ndarray of shape (n_features,)
        The mean that is taken from each column, and the scale that it is divided by.
    columns_ : list of str or None
        The names of the columns, where they have names.
    n_examples_ : int
        How many rows were learned from.

    References
    ----------
    Crammer and Singer, "Pranking with ranking", NIPS 2001 (paper 002).

    Examples
    --------
    >>> from shortlist import Rater
    >>> rater = Rater().fit([[1.0], [2.0], [3.0], [4.0]], ["bad", "bad", "good", "good"])
    >>> rater.predict([[1.5], [3.5]]).tolist()
    ['bad', 'good']
    """

    task = "ratings"
    default_measures = ("MAE", "exact", "within@1")
    detail_kind = ""
    learner_: RatingLearner

    def __init__(self, learner: RatingLearner | str | None = None) -> None:
        self.learner = learner

    # Learning.

    def fit(self, X: MatrixLike, ratings: ArrayLike, columns: Sequence[str] | None = None) -> Self:
        """Forget everything and learn these rows. ``columns`` names the columns of X; a data
        frame has names itself.
        """
        (matrix, names) = _checked(X, columns)
        learner = self.new_learner()
        n_examples, n_features = matrix.shape
        if matrix.nnz < SPARSE * n_examples * n_features:
            squares = np.bincount(matrix.indices, np.square(matrix.data), n_features).astype(
                np.float64, copy=False
            )
            mean = np.zeros(n_features)
            spread = np.sqrt(squares / n_examples)
        else:
            table = matrix.toarray()
            mean = table.mean(axis=0)
            spread = table.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        if isinstance(learner, PRank):  # the length of rows of so many columns of variance 1
            scale *= np.sqrt(max(1, int(np.count_nonzero(spread))))
        learner.fit(_scaled(matrix, mean, scale), ratings)
        self.set_learned(
            learner_=learner,
            mean_=mean,
            scale_=scale,
            columns_=names,
            n_examples_=n_examples,
            n_features_in_=n_features,
        )
        return self

    @learning
    def learn(
        self, X: MatrixLike, ratings: ArrayLike, columns: Sequence[str] | None = None
    ) -> Self:
        """Go on learning. The scales stay those of ``fit``; a Rater that has learned nothing
        begins with ``fit``.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, ratings, columns)
        clock_before = self.learner_.clock_
        try:
            self._learn(X, ratings, columns)
        finally:
            self.n_examples_ += self.learner_.clock_ - clock_before
        return self

    def _learn(self, X: Any, ratings: ArrayLike, columns: Sequence[str] | None) -> None:
        self.learner_.partial_fit(self._matrix(X, columns), ratings)

    def partial_fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """``learn`` under the name that scikit-learn has for it."""
        return self.learn(X, y)

    def fit_batches(self, batches: Iterable[Examples]) -> Self:
        """``fit`` from batches of examples and ratings, all of which are kept."""
        return self.fit(*self._gathered(batches, self.new_learner().scale))

    def learn_batches(self, batches: Iterable[Examples]) -> Self:
        """``learn`` of one batch after the other."""
        self.check_fitted()
        for batch in prefetch(batches):
            self.learn(*self._gathered([batch], self.classes_))
        return self

    def _given_in(self, batch: Examples) -> Any:
        """The rows or texts of a batch."""
        if batch.rows is None:
            raise InputError("ratings are learned from rows of numbers, and the data hold texts")
        return batch.rows

    def _gathered(
        self, batches: Iterable[Examples], scale: Any
    ) -> tuple[Any, NDArray[Any], Sequence[str] | None]:
        """All examples, their ratings in the type of the scale, and the names of the columns."""
        every = list(batches)
        if not every:
            raise InputError("there are no examples")
        ratings = [labels[0] for batch in every for labels in batch.labels or ()]
        parts = [self._given_in(batch) for batch in every]
        inputs = stacked(parts) if self.takes_texts else Rows.stack(parts)
        return inputs, as_values(ratings, scale), every[0].feature_names

    # Rating.

    @reading
    def predict(self, X: MatrixLike, columns: Sequence[str] | None = None) -> NDArray[Any]:
        """The rating of each row."""
        matrix = self._matrix(X, columns)  # first: it checks that the model has learned
        return self.learner_.predict(matrix)

    @reading
    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Minus the mean distance from the true rating, in steps of the scale, so that higher
        is better.
        """
        matrix = self._matrix(X, None)
        return self.learner_.score(matrix, y, sample_weight)

    @reading
    def neighbour_distances(self, X: MatrixLike, columns: Sequence[str] | None = None) -> Floats:
        """How far each row lies from the rating below and from the one above, n × 2."""
        matrix = self._matrix(X, columns)
        return self.learner_.neighbour_distances(matrix)

    @reading
    def explain(self, x: ArrayLike, columns: Sequence[str] | None = None) -> Explanation:
        """What each column adds to the score of one row, and the rating that the score falls on."""
        matrix = self._matrix(np.atleast_2d(np.asarray(x, dtype=np.float64)), columns)
        return self.learner_.explain(matrix, self.columns_)

    def answer_batches(self, batches: Iterable[Examples], k: int = 5) -> Iterator[GivenRatings]:
        for batch in batches:
            yield self._given(self._given_in(batch), batch.feature_names)

    @reading
    def _given(self, X: Any, columns: Sequence[str] | None = None) -> GivenRatings:
        matrix = self._matrix(X, columns)
        learner = self.learner_
        return GivenRatings(learner.predict(matrix), learner.neighbour_distances(matrix))

    # Measuring.

    def judge_batches(
        self, batches: Iterable[Examples], measures: Sequence[str]
    ) -> Iterator[JudgedRatings]:
        X, ratings, columns = self._gathered(batches, self.classes_)
        yield self.predict(X, columns), ratings

    def report_on(
        self, judged: Iterable[JudgedRatings], measures: Sequence[str], *, details: bool = False
    ) -> Report:
        ((ratings, true),) = judged
        scale = self.classes_.tolist()
        table = confusion(ratings, true, scale).tolist()
        rows = [[str(step), *row] for step, row in zip(scale, table, strict=True)]
        shown = ReportTable(
            "Rows are true ratings, columns those given", ["", *map(str, scale)], rows, "ratings"
        )
        measures_found = evaluate_ratings(ratings, true, measures, scale=scale)
        return Report(measures_found, [shown], {"scale": scale, "confusion": table})

    # What was learned.

    @property
    def classes_(self) -> NDArray[Any]:
        """The scale, lowest rating first."""
        self.check_fitted()
        return self.learner_.classes_

    def describe(self) -> dict[str, Any]:
        return {
            "learner": type(self.learner_).__name__,
            "examples": self.n_examples_,
            "ratings": len(self.classes_),
            "features": int(self.learner_.n_features_in_),
        }

    def _matrix(self, X: Any, columns: Sequence[str] | None) -> MatrixLike:
        """The examples as the learner takes them, checked."""
        self.check_fitted()
        matrix, names = _checked(X, columns)
        check_names(self.columns_, names)
        if matrix.shape[1] != self.mean_.size:
            raise InputError(
                f"the rows have {counted(matrix.shape[1], 'columns')}, and the model learned from "
                f"{self.mean_.size}"
            )
        return _scaled(matrix, self.mean_, self.scale_)

    # Model files.

    @snapshot
    def to_state(self) -> State:
        self.check_fitted()
        settings = {"columns": self.columns_, "n_examples": self.n_examples_}
        arrays = {"mean": self.mean_, "scale": self.scale_}
        return State("Rater", settings, arrays, {"learner": self.learner_.to_state()})

    def _take_learner(self, state: State) -> None:
        """Take the learner of a state, checked."""
        learner = build(state.parts["learner"])
        state.require(isinstance(learner, RatingLearner), "its learner is a learner of ratings")
        self.learner = clone(learner)
        self.learner_ = learner
        self.n_features_in_ = int(learner.n_features_in_)
        self.n_examples_ = as_whole(state.settings["n_examples"], "n_examples", most=MOST_AMOUNT)

    @classmethod
    def from_state(cls, state: State) -> Self:
        rater = cls()
        rater._take_learner(state)
        rater.mean_ = state.array("mean", np.float64)
        rater.scale_ = state.array("scale", np.float64)
        sizes = {rater.mean_.size, rater.scale_.size, rater.n_features_in_}
        state.require(len(sizes) == 1, "each column has a mean and a scale")
        finite = np.isfinite(rater.mean_).all() and np.isfinite(rater.scale_).all()
        state.require(bool(finite and (rater.scale_ > 0).all()), "scales are positive")
        rater.columns_ = columns = state.settings["columns"]
        named = columns is None or (
            isinstance(columns, list) and all(isinstance(name, str) for name in columns)
        )
        state.require(named, "its columns have names")
        return rater


class TextRater(Rater):
    """Learns ratings from texts, such as the stars of reviews, and rates new ones.

    Parameters
    ----------
    learner : RatingLearner or str, default=None
        As in Rater.
    text : TextVectorizer, default=None
        How texts become features; ``TextVectorizer(ngrams="auto", composed=True, tf="log",
        idf="smooth", norm="l2")`` if None.
    encoder : str or callable, default=None
        Makes vectors of texts, which are learned beside the words; as in Categorizer.

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

    part_names = ("learner", "text")
    takes_texts = True
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

    def new_text(self) -> TextVectorizer:
        if self.text is not None:
            return clone(self.text)
        # rows of length 1 suit the learners' step sizes
        return default_text().set_params(norm="l2")

    def fit(self, X: Sequence[Document], ratings: ArrayLike, columns: object = None) -> Self:  # type: ignore[override]
        """Forget everything and learn these texts."""
        texts = as_documents(X)
        text = self.new_text()
        learner = self.new_learner()
        if not texts:
            raise InputError("there are no texts to learn from")
        part = VectorPart(0, None)
        vectors = None
        if self.encoder is not None:
            vectors = encoded(loaded(self.encoder), texts)
            part = VectorPart(
                vectors.shape[1], self.encoder, name_of(self.encoder), digest_of(self.encoder)
            )
        learner.fit(_beside(vectors, text.fit_transform(texts)), ratings)
        n_columns = learner.n_features_in_
        self.set_learned(
            text_=text,
            learner_=learner,
            n_examples_=len(texts),
            n_features_in_=n_columns,
            _vector=part,
        )
        return self

    def _learn(self, X: Any, ratings: ArrayLike, columns: object) -> None:
        """Learn texts, and their new words."""
        texts, vectors = self._encoded(X)
        taken = self.text_.take(texts)
        clock_before = self.learner_.clock_
        try:
            self.learner_.partial_fit(
                _beside(vectors, self.text_.weighted(taken.rows).to_matrix()), ratings
            )
        finally:
            if self.learner_.clock_ == clock_before:
                self.text_.give_back(taken)

    def _given_in(self, batch: Examples) -> Sequence[Document]:
        return texts_of(batch)

    @reading
    def explain(self, x: Document, columns: object = None) -> Explanation:  # type: ignore[override]
        """What each word adds to the score of a text, and the rating that the score falls on."""
        row = self._matrix([x], None)
        return in_words(self.learner_.explain(row), self._vector.size, self.text_, x)

    def explain_text(self, text: Document, label: str | None = None) -> Explanation:
        if label is not None:
            raise InputError(
                "a rating is explained by what each word adds to its score; leave the label out"
            )
        return self.explain(text)

    def answer_text(self, text: Document, k: int = 5) -> GivenRatings:
        return self._given([text])

    def part_parameters(self) -> dict[str, Any]:
        return super().part_parameters() | {"text": self.text_.get_params()}

    def _matrix(self, X: Any, columns: Sequence[str] | None) -> Any:
        self.check_fitted()
        texts, vectors = self._encoded(X)
        n_words = int(self.learner_.n_features_in_) - self._vector.size
        return _beside(vectors, self.text_.rows(texts)._replace(n_features=n_words).to_matrix())

    def _encoded(self, texts: Sequence[Document]) -> tuple[Any, Vectors | None]:
        """The texts, and their vectors if it has learned with vectors."""
        return self._vector._replace(encoder=self.encoder).apart(texts)

    # Model files.

    @reading
    def to_state(self) -> State:
        self.check_fitted()
        parts = {"text": self.text_.to_state(), "learner": self.learner_.to_state()}
        settings = {"n_examples": self.n_examples_, "vector": self._vector.size}
        made_by = {"encoder": self._vector.learned_with, "encoder_digest": self._vector.digest}
        return State("TextRater", settings | made_by, parts=parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        text = build(state.parts["text"])
        state.require(isinstance(text, TextVectorizer), "its text part is a TextVectorizer")
        encoder = state.settings["encoder"]
        digest = state.settings["encoder_digest"]
        named = all(value is None or isinstance(value, str) for value in (encoder, digest))
        state.require(named, "its encoder has a name and a digest")
        n_vector = as_whole(state.settings["vector"], "vector", most=MOST_AMOUNT)
        rater = cls(None, clone(text), None if digest is None else encoder)
        rater._take_learner(state)
        all_there = rater.n_features_in_ == text.n_features_ + n_vector
        state.require(
            all_there, "each column of the learner is one of its text part or of its vectors"
        )
        rater.text_ = text
        rater._vector = VectorPart(n_vector, None, encoder, digest)
        return rater


def _beside(vectors: Vectors | None, words: Any) -> Any:
    """Vectors and words as rows of length 1; the words alone if there are no vectors."""
    if vectors is None:
        return words
    return scipy.sparse.hstack(
        [np.sqrt(SHARE) * unit(vectors), np.sqrt(1.0 - SHARE) * words], format="csr"
    )


def _checked(
    X: Any, columns: Sequence[str] | None
) -> tuple[scipy.sparse.csr_array, list[str] | None]:
    """The rows, and the names of their columns: as given, or those of a data frame."""
    names = column_names(X) if columns is None else columns
    return check_size(as_rows(X)).to_matrix(), None if names is None else list(names)


def _scaled(matrix: scipy.sparse.csr_array, mean: Floats, scale: Floats) -> MatrixLike:
    """The rows with each column less its mean and divided by its scale; sparse where no mean is
    to be taken.
    """
    if mean.any():
        centred: Floats = (matrix.toarray() - mean) / scale
        return centred
    parts = matrix.data / scale[matrix.indices], matrix.indices, matrix.indptr
    return scipy.sparse.csr_array(parts, shape=matrix.shape)
