"""TextVectorizer: texts to sparse rows, with a vocabulary that grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist.concurrency import (
    by_threads,
    not_interrupted,
    spread,
    stop_here,
    uninterrupted,
)
from shortlist.data.rows import Rows, give_back
from shortlist.data.texts import Document, as_documents, blocks
from shortlist.data.validation import MOST_AMOUNT
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.files.store import State
from shortlist.text.counts import CountedRows, Weighting, needs_counts
from shortlist.text.feature_names import Vocabulary
from shortlist.text.named_columns import NamedColumns
from shortlist.text.phrases import Phrases
from shortlist.text.text_columns import TextColumns
from shortlist.text.text_settings import TextSettings

if TYPE_CHECKING:
    from sklearn.utils import Tags

MANY_ENTRIES = 1 << 20  # from which on freed memory is returned to the system


class Taken(NamedTuple):
    """The rows of counts of texts, and what is needed to undo learning them."""

    rows: Rows
    old_settings: TextSettings
    old_n_features: int
    new_n_documents: int
    new_n_features: int


class TextLearning(NamedColumns):
    """The part of a vectorizer that learns from texts, forgets, and makes rows and model files."""

    hashed: int | None
    idf: str | None
    norm: str | None
    min_df: int
    struck_: Phrases | None = None  # words that are read as if no text had them
    _weighting: Weighting

    @property
    def requires_fit(self) -> bool:
        """Whether there is anything to learn before texts can become rows."""
        return self.hashed is None or needs_counts(self.idf, self.norm, self.min_df)

    def settled(self, texts: Sequence[Document], recurring: bool = False) -> Self:
        """Return an unfitted copy with the settings that it would choose for these texts."""
        settings = TextSettings.of(self).suiting(texts, recurring)
        return clone(self) if settings.undecided else type(self)(**settings.saved())

    def settle(self, texts: Sequence[Document], recurring: bool = False) -> None:
        """Choose the settings that are "auto"; ``recurring``: labels come up again and again."""
        self._begin_once()
        self.columns_.settings = self.settings_.suiting(texts, recurring)

    @not_interrupted
    def merge(self, other: Self) -> Self:
        """Learn exactly what another vectorizer of the same parameters has learned, as if its
        texts had come next.
        """
        other.check_fitted()
        self._begin_once()
        if self.settings_ != other.settings_:
            raise InputError(
                "only a TextVectorizer with the same parameters can be merged into this one"
            )
        numbers = self.vocabulary_.merge(other.vocabulary_)
        if self.settings_.hashed is not None:
            numbers = np.arange(self.n_features_, dtype=np.int32)
        self._weighting.merge(other._weighting, numbers, self.n_features_)
        return self

    @not_interrupted
    def forget_rare(self) -> NDArray[np.bool_]:
        """Forget the features of fewer than ``min_df`` documents; return which columns are kept."""
        if self.settings_.min_df == 1 or self.settings_.hashed is not None:
            return np.ones(self.n_features_, dtype=np.bool_)
        marks = self._weighting.counts(self.n_features_) >= self.settings_.min_df
        self.forget_columns(marks)
        return marks

    def fit_counts(self, batches: Iterable[Sequence[Document]], n_jobs: int = 1) -> CountedRows:
        """Learn from these batches of texts alone; return their rows, which are weighted when they
        are used.

        The texts are not kept. The number of threads, ``n_jobs``, changes nothing.
        """
        state_before = dict(self.__dict__)

        def pieces() -> Iterator[Sequence[Document]]:
            for batch in map(as_documents, batches):
                self.settle(batch)
                yield from (batch[block] for block in blocks(batch))

        try:
            self._begin()
            columns = self.columns_
            rows = CountedRows(self.weighted)
            # Threads cut texts into features; one thread numbers and counts these.
            for features in by_threads(columns.features, pieces(), n_jobs):
                with uninterrupted():
                    counts = columns.learn(features)
                    self._weighting.learn(counts)
                    rows.add(counts)
            rows.n_words = self.n_features_
            marks = self.forget_rare()
            if not marks.all():
                rows.keep_columns(marks)
            if rows.n_entries > MANY_ENTRIES:
                give_back()
        except BaseException:
            self.__dict__ = state_before
            raise
        return rows

    @not_interrupted
    def learn_rows(self, texts: Sequence[Document]) -> Rows:
        """Learn from these texts and return their rows, weighted by the counts after all of
        them.
        """
        return self.weighted(self.take(texts).rows)

    @not_interrupted
    def take(self, texts: Iterable[Document], *, recurring: bool = False, n_jobs: int = 1) -> Taken:
        """Learn from these texts, all or none, and return what ``give_back`` needs to undo it.

        ``recurring``: their labels come up again and again; used where the first texts choose
        settings.
        """
        self._begin_once()
        documents = as_documents(texts)
        columns = self.columns_
        settings = columns.settings
        n_features = len(columns)
        counts = []
        try:
            self.settle(documents, recurring)
            for features in spread(
                lambda block: columns.features(documents[block]), blocks(documents), n_jobs
            ):
                counts.append(columns.learn(features))
                stop_here()
        except BaseException:
            columns.settings = settings
            columns.vocabulary = columns.vocabulary.first(n_features)
            raise
        rows = Rows.stack(counts or [columns.counts(columns.features([]))])
        self._weighting.learn(rows)
        return Taken(rows, settings, n_features, self._weighting.m, len(columns))

    @not_interrupted
    def give_back(self, taken: Taken, n_kept: int = 0) -> None:
        """Undo ``take`` for all its texts but the first few, unless others have been taken up
        since.
        """
        if (taken.new_n_documents, taken.new_n_features) != (self._weighting.m, self.n_features_):
            return
        kept_columns, columns = np.split(taken.rows.indices, taken.rows.indptr[[n_kept]])
        self._weighting.unlearn(taken.rows.n_rows - n_kept, columns)
        if self.settings_.hashed is None:  # features are numbered by first appearance
            n_features = max(taken.old_n_features, int(kept_columns.max(initial=-1)) + 1)
            self.columns_.vocabulary = self.vocabulary_.first(n_features)
        if n_kept == 0:
            self.columns_.settings = taken.old_settings

    def weighted(self, rows: Rows) -> Rows:
        """Return weighted rows from rows of counts, which may be overwritten."""
        return self._weighting.weigh(rows, self.settings_.character_weight, self.vocabulary_.quoted)

    @not_interrupted
    def forget_columns(self, marks: NDArray[np.bool_]) -> None:
        """Forget the columns that are not marked; the others are renumbered in their order."""
        self.columns_.keep(marks)
        self._weighting.keep(marks)

    def rows(self, texts: Sequence[Document], n_jobs: int = 1) -> Rows:
        """Return the rows of these texts, without learning; the same for any number of threads."""
        if not self.is_fitted and self.requires_fit:
            self.check_fitted()
        self._begin_once()
        documents = as_documents(texts)
        columns = self.columns_

        def rows_of(block: slice) -> Rows:
            return self.weighted(columns.counts(columns.features(documents[block])))

        parts = list(spread(rows_of, blocks(documents), n_jobs))
        return Rows.stack(parts or [rows_of(slice(0, 0))])

    def document_shares(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the share of the learned texts that had each of these words.

        Without counts of documents 1 for known words; hashed columns know no words.
        """
        self.check_fitted()
        if self.settings_.hashed is not None:
            return np.zeros(len(words))
        number = {name: n for n, name in enumerate(self.vocabulary_.names())}
        columns = np.array([number.get(word, -1) for word in words], dtype=np.int64)
        shares = np.ones(self.n_features_)
        if self._weighting.needs_counts:
            shares = self._weighting.counts(self.n_features_) / max(self._weighting.m, 1)
        return np.where(columns >= 0, np.append(shares, 0.0)[columns], 0.0)

    def strike(self, words: Sequence[str]) -> None:
        """Read texts from now on as if these words and phrases, and no others, were not in them."""
        self.struck_ = Phrases.of(words, self, "words") if words else None
        if self.is_fitted:
            self.columns_.struck = self.struck_

    def _begin_once(self) -> None:
        if not self.is_fitted:
            self._begin()

    def _begin(self) -> None:
        """Check the parameters, and forget everything."""
        settings = TextSettings.of(self)
        self._weighting = Weighting(
            settings.tf, settings.idf, settings.norm, settings.slope, settings.min_df
        )
        self.columns_ = TextColumns(settings, self.struck_)

    # Model files.

    def to_state(self) -> State:
        """What a model file keeps."""
        self.check_fitted()
        settings = {**self.settings_.saved(), "documents": self._weighting.m}
        arrays: dict[str, Any] = dict(self.vocabulary_.arrays())
        if self._weighting.needs_counts:
            # others may go on counting
            arrays["document_counts"] = self._weighting.counts(self.n_features_).copy()
        return State("TextVectorizer", settings, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The vectorizer that a state describes, or ModelFileError."""
        settings = dict(state.settings)
        m = settings.pop("documents")
        vectorizer = cls(**settings)
        vectorizer._begin()
        vocabulary = Vocabulary.from_state(state)
        vectorizer.columns_.vocabulary = vocabulary
        is_hashed = vectorizer.hashed is not None
        state.require(not is_hashed or not len(vocabulary), "hashed columns have no vocabulary")
        u = np.empty(0, dtype=np.int64)
        if vectorizer._weighting.needs_counts:
            u = np.array(state.array("document_counts", np.int64))
            state.require(u.size == vectorizer.n_features_, "every column has a count of documents")
        state.require(isinstance(m, int) and 0 <= m <= MOST_AMOUNT, "documents is a count")
        possible = u.min(initial=0) >= 0 and u.max(initial=0) <= m
        state.require(possible, "no feature is in more documents than there are")
        vectorizer._weighting.restore(m, u)
        return vectorizer


class TextVectorizer(TextLearning):
    """Texts to rows of weighted features, with a vocabulary that grows as texts arrive.

    With the defaults, the counts are those of scikit-learn's ``CountVectorizer``; columns are in
    order of first appearance.

    Learning online: ``partial_fit`` and ``learn_rows`` first take up all their texts (new features,
    m, u and pivot), and ``learn_rows`` then weighs the rows with the counts as they are after the
    whole batch. Given one text at a time, the rows are those that a learner on a stream can know:
    weighted by what came so far, the text itself included. Rows given earlier stay as they were. A
    ``fit`` that fails, or learning that is stopped, leaves all as it was.

    Parameters
    ----------
    lowercase : bool, default True
        Whether to lower-case words.
    composed : bool, default False
        Whether letters and the marks on them are put together first (Unicode's normal form C):
        "naïve" is one word then, however it is written.
    min_length : int, default 2
        The fewest letters that a word has.
    fold_digits : bool, default False
        Whether every word of digits, however short, counts as the one feature ``<digit>``.
    stop_words : {None, "english"} or list of str, default None
        Words to leave out; "english" is scikit-learn's list. They are lower-cased and folded as the
        words of texts are. N-grams reach across a word left out.
    ngrams : int or "auto", default 1
        The longest run of words that is a feature; all lengths from 1 on are. "auto": where the
        first texts learned are short (under 400 letters on average), pairs too, and five-letter
        prefixes or, where labels come up again and again (``settle``: each text has one, or the
        first thousand have at most half as many), words of one letter, four-letter prefixes and
        runs of three characters that weigh 0.7; otherwise single words. Texts that are written
        without spaces get runs of characters. ``min_length``, ``prefix``, ``characters`` and
        ``character_weight`` are left to it, too, unless they are set; each of them may be "auto"
        itself, whatever n-grams there are.
    prefix : int or None, default None
        If a number, prefixes of that many letters are features too (``expor*``).
    characters : tuple of two int or None, default None
        If two numbers, as (3, 4), all runs of that many characters inside words, punctuation
        included, and over their edges, are features too (``" wh"``): those of scikit-learn's
        ``analyzer="char_wb"``.
    character_weight : float, default 1.0
        What the values of runs of characters are multiplied by before a row is scaled. In hashed
        columns, which they share with words, it is 1.
    min_df : int, default 1
        The fewest documents that a feature must have been seen in. Until then its column stays
        empty; ``fit`` leaves no such columns behind.
    hashed : int or None, default None
        If a number, there are always that many columns, and a hash of the feature chooses its
        column: nothing grows, whatever arrives. Different features may share a column. Without idf,
        pivoted norm or min_df there is nothing to learn, and no need to ``fit``.
    tf : {"count", "log", "boolean"}, default "count"
        d, 1 + log d, or 1, for a feature that a document has d times.
    idf : {None, "plain", "smooth"}, default None
        "plain" is log(m/u), "smooth" is log((1+m)/(1+u)) + 1 (as scikit-learn), for a feature that
        u of the m documents learned from have. What weighs 0 is not stored.
    norm : {None, "l2", "pivoted"}, default None
        "l2" scales each row to Euclidean length 1; "pivoted" divides it by tf(avg) · [(1 − slope) +
        slope · m_i/pivot], where avg is the mean count of its m_i features and pivot the mean of
        m_i over the documents learned from.
    slope : float, default 0.3
        Of the pivoted norm. ``tf="log", idf="plain", norm="pivoted"`` is the weighting of Singhal
        et al.

    fields : list of str or None, default None
        The fields of texts that have several (``{"title": …, "body": …}``), the longest first.
        Words are features wherever they stand, and once more as words of their field (``title:
        wheat``), but those of the longest. None: as the first texts have them.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The features, numbered by column.
    n_features_ : int
        The number of columns.

    References
    ----------
    Singhal, A., Buckley, C. and Mitra, M. (1996). Pivoted document length normalization. SIGIR.

    Examples
    --------
    >>> from shortlist import TextVectorizer
    >>> vectorizer = TextVectorizer()
    >>> vectorizer.fit_transform(["wheat and corn", "corn prices"]).toarray()
    array([[1., 1., 1., 0.],
           [0., 0., 1., 1.]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['wheat', 'and', 'corn', 'prices']
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        composed: bool = False,
        min_length: int | str = 2,
        fold_digits: bool = False,
        stop_words: str | Sequence[str] | None = None,
        ngrams: int | str = 1,
        prefix: int | str | None = None,
        characters: tuple[int, int] | str | None = None,
        character_weight: float | str = 1.0,
        min_df: int = 1,
        hashed: int | None = None,
        tf: str = "count",
        idf: str | None = None,
        norm: str | None = None,
        slope: float = 0.3,
        fields: Sequence[str] | None = None,
    ) -> None:
        self.lowercase = lowercase
        self.composed = composed
        self.min_length = min_length
        self.fold_digits = fold_digits
        self.stop_words = stop_words
        self.ngrams = ngrams
        self.prefix = prefix
        self.characters = characters
        self.character_weight = character_weight
        self.min_df = min_df
        self.hashed = hashed
        self.tf = tf
        self.idf = idf
        self.norm = norm
        self.slope = slope
        self.fields = fields

    def fit(self, texts: Iterable[Document], y: object = None) -> Self:
        """Learn from these texts alone."""
        self.fit_counts([as_documents(texts)])
        return self

    def fit_transform(self, texts: Iterable[Document], y: object = None) -> scipy.sparse.csr_array:
        """Learn from these texts alone and return their rows; each text is read once."""
        return self.fit_counts([as_documents(texts)]).all().to_matrix()

    def partial_fit(self, texts: Iterable[Document], y: object = None) -> Self:
        """Go on learning from more texts. Features that were there keep their columns."""
        self.take(texts)
        return self

    def transform(self, texts: Iterable[Document]) -> scipy.sparse.csr_array:
        """Return the rows of these texts; features never seen in learning count as nothing."""
        return self.rows(as_documents(texts)).to_matrix()

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags = TransformerTags()
        tags.requires_fit = self.requires_fit
        return tags
