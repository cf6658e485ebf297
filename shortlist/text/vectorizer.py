"""TextVectorizer: texts -> sparse rows, learned as the texts arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from shortlist.arrays.growing import give_back
from shortlist.arrays.rows import Rows
from shortlist.concurrency.interrupts import stop_here, whole
from shortlist.concurrency.locks import merging, reading, writing
from shortlist.concurrency.prefetch import by_threads
from shortlist.errors import InputError
from shortlist.text.counted import CountedRows
from shortlist.text.naming import NamingVectorizer
from shortlist.text.rounds import counted_by_threads, pieces_of
from shortlist.text.settings import LEFT_OPEN, Settings
from shortlist.text.taken import Taken
from shortlist.text.weighting import Weighting, needs_counts
from shortlist.texts import blocks
from shortlist.texts.fields import Document, as_documents
from shortlist.vocabulary import Vocabulary

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import Self


class TextVectorizer(TransformerMixin, NamingVectorizer):
    """Texts to rows of weighted features, with a vocabulary that grows as texts arrive.

    With the defaults, the counts are those of scikit-learn's ``CountVectorizer``; columns are in order of first
    appearance.

    Learning online: ``partial_fit`` and ``learn_rows`` first take up all their texts (new features, m, u and pivot),
    and ``learn_rows`` then weighs the rows with the counts as they are after the whole batch. Given one text at a time,
    the rows are those that a learner on a stream can know: weighted by what came so far, the text itself included.
    Rows given earlier stay as they were. A ``fit`` that fails, or learning that is stopped, leaves all as it was.

    Parameters
    ----------
    lowercase : bool, default True
        Whether to lower-case words.
    composed : bool, default False
        Whether letters and the marks on them are put together first (Unicode's normal form C): "naïve" is one word
        then, however it is written.
    min_length : int, default 2
        The fewest letters that a word has.
    fold_digits : bool, default False
        Whether every word of digits, however short, counts as the one feature ``<digit>``.
    stop_words : {None, "english"} or list of str, default None
        Words to leave out; "english" is scikit-learn's list. They are lower-cased and folded as the words of texts are.
        N-grams reach across a word left out.
    ngrams : int or "auto", default 1
        The longest run of words that is a feature; all lengths from 1 on are. "auto": where the first texts learned are
        short (under 400 letters on average), pairs too, and five-letter prefixes or, where labels come up again and
        again (``settle``: each text has one, or the first thousand have at most half as many), words of one letter,
        four-letter prefixes and runs of three characters that weigh 0.7; otherwise single words. Texts that are written
        without spaces get runs of characters. ``min_length``, ``prefix``, ``characters`` and ``character_weight`` are
        left to it, too, unless they are set; each of them may be "auto" itself, whatever n-grams there are.
    prefix : int or None, default None
        If a number, the first so many letters of each word that has as many are a feature too (``expor*``).
    characters : tuple of two int or None, default None
        If two numbers, as (3, 4), all runs of so many characters inside words, punctuation included, and over their
        edges, are features too (``" wh"``): those of scikit-learn's ``analyzer="char_wb"``.
    character_weight : float, default 1.0
        What the values of runs of characters are multiplied by before a row is scaled. In hashed columns, which they
        share with words, it is 1.
    min_df : int, default 1
        The fewest documents that a feature must have been seen in. Until then its column stays empty; ``fit`` leaves no
        such columns behind.
    hashed : int or None, default None
        If a number, there are always that many columns, and a hash of the feature chooses its column: nothing grows,
        whatever arrives. Different features may share a column. Without idf, pivoted norm or min_df there is nothing to
        learn, and no need to ``fit``.
    tf : {"count", "log", "boolean"}, default "count"
        d, 1 + log d, or 1, for a feature that a document has d times.
    idf : {None, "plain", "smooth"}, default None
        "plain" is log(m/u), "smooth" is log((1+m)/(1+u)) + 1 (as scikit-learn), for a feature that u of the m documents
        learned from have. What weighs 0 is not stored.
    norm : {None, "l2", "pivoted"}, default None
        "l2" scales each row to Euclidean length 1; "pivoted" divides it by
        tf(avg) · [(1 − slope) + slope · m_i/pivot], where avg is the mean count of its m_i features and pivot the mean
        of m_i over the documents learned from.
    slope : float, default 0.3
        Of the pivoted norm. ``tf="log", idf="plain", norm="pivoted"`` is the weighting of Singhal et al.

    fields : list of str or None, default None
        The fields of texts that have several (``{"title": …, "body": …}``), the longest first. Words are features
        wherever they stand, and once more as words of their field (``title: wheat``), but those of the longest. None:
        as the first texts have them.

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

    vocabulary_: Vocabulary
    _settings: Settings
    _weighting: Weighting

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
        """Learn from these texts alone, and give their rows; reads each text once."""
        return self.fit_rows([as_documents(texts)]).to_matrix()

    def partial_fit(self, texts: Iterable[Document], y: object = None) -> Self:
        """Go on learning from more texts. Features that were there keep their columns."""
        self.take_up(texts)
        return self

    def settled(self, texts: Sequence[Document], recurring: bool = False) -> TextVectorizer:
        """An unfitted copy that leaves nothing to the first texts: it has what it would choose for these."""
        chosen = Settings.of(self).of_fields(texts)
        chosen = chosen.suiting(texts, recurring) if chosen.left and texts else chosen
        copy: TextVectorizer = clone(self)
        names = ("fields",) if chosen.left else LEFT_OPEN
        return copy.set_params(**{name: getattr(chosen, name) for name in names})

    def settle(self, texts: Sequence[Document], recurring: bool = False) -> None:
        """Choose what "auto" leaves to the first texts; ``recurring``: labels come up again and again."""
        if not hasattr(self, "vocabulary_"):
            self._begin()
        self._settings = self._settings.of_fields(texts)
        if self._settings.left and texts:
            self._settings = self._settings.suiting(texts, recurring)

    @merging
    @whole
    def merge(self, other: TextVectorizer) -> Self:
        """Take up what another vectorizer of the same parameters has learned, as if its texts had come next. Exact."""
        other._give_to(self)
        return self

    @reading
    def _give_to(self, taker: TextVectorizer) -> None:
        check_is_fitted(self, "vocabulary_")
        taker._take_over(self)

    def _take_over(self, other: TextVectorizer) -> None:
        if not hasattr(self, "vocabulary_"):
            self._begin()
        if self._settings != other._settings:
            raise InputError("only a TextVectorizer with the same parameters can be merged into this one")
        numbers = self.vocabulary_.merge(other.vocabulary_)
        if self._settings.hashed is not None:
            numbers = np.arange(self.n_features_, dtype=np.int32)
        self._weighting.merge(other._weighting, numbers, self.n_features_)

    @writing
    @whole
    def forget_rare(self) -> NDArray[np.bool_]:
        """Forget the features of fewer than ``min_df`` documents, as ``fit`` does; says which columns are kept."""
        if self._settings.min_df == 1 or self._settings.hashed is not None:
            return np.ones(self.n_features_, dtype=np.bool_)
        kept = self._weighting.u[: self.n_features_] >= self._settings.min_df
        self.forget_columns(kept)
        return kept

    def transform(self, texts: Iterable[Document]) -> scipy.sparse.csr_array:
        """The rows of these texts; features never seen in learning give nothing."""
        return self.rows(as_documents(texts)).to_matrix()

    def fit_rows(self, batches: Iterable[Sequence[Document]]) -> Rows:
        """Learn from these batches of texts alone, and give the rows of all of them."""
        return self.fit_counts(batches).all()

    @writing
    def fit_counts(self, batches: Iterable[Sequence[Document]], n_jobs: int = 1) -> CountedRows:
        """Learn from these batches of texts alone, and keep the rows of all of them, to be weighed as they are taken.

        Neither the texts are kept nor anything else that grows with them. ``n_jobs`` threads give the same rows as one.
        """
        before = dict(self.__dict__)  # learning from the start changes nothing of what there was
        try:
            self._begin()
            rows = CountedRows(self.weighted)
            for some in map(self.take_up, batches) if n_jobs == 1 else self._taken_up_by_threads(batches, n_jobs):
                rows.add(some)
            rows.n_features = self.n_features_
            kept = self.forget_rare()
            if not kept.all():
                rows.keep_columns(kept)
            if rows.are_many():  # and will be learned before anybody asks for a word
                self.vocabulary_.rest()
                give_back()
        except BaseException:
            self.__dict__ = before
            raise
        return rows

    def _taken_up_by_threads(self, batches: Iterable[Sequence[Document]], n_jobs: int) -> Iterator[Rows]:
        """Take up one batch after the other, with nothing to be given back; gives their rows of counts in pieces."""
        for rows in counted_by_threads(self, pieces_of(batches, self.settle), n_jobs):
            self._weighting.learn(rows)
            yield rows

    @writing
    @whole
    def learn_rows(self, texts: Sequence[Document]) -> Rows:
        """Take up these texts, and give their rows, weighted by the counts after all of them."""
        return self.weighted(self.take(texts).rows)

    def take_up(self, texts: Iterable[Document]) -> Rows:
        """Take up these texts, and give their rows of counts, not yet weighted."""
        return self.take(texts).rows

    @writing
    @whole
    def take(self, texts: Iterable[Document], *, recurring: bool = False) -> Taken:
        """``take_up`` for those who may have to give some of the texts back: all of them are taken up, or none.

        ``recurring`` says that their labels come up again and again, where they are to choose anything.
        """
        if not hasattr(self, "vocabulary_"):
            self._begin()
        texts, settings, n_features = as_documents(texts), self._settings, self.n_features_
        counted = []
        try:
            self.settle(texts, recurring)
            for block in blocks(texts):
                counted.append(self._count(texts[block], learning=True))
                stop_here()
        except BaseException:
            self._settings, self.vocabulary_ = settings, self.vocabulary_.first(n_features)
            raise
        rows = Rows.stack(counted or [self._count([], learning=False)])
        self._weighting.learn(rows)
        return Taken(rows, settings, n_features, (self._weighting.m, self.n_features_))

    @writing
    @whole
    def give_back(self, taken: Taken, n_kept: int = 0) -> None:
        """Undo ``take`` for all its texts but the first few, unless others have been taken up since."""
        taken.give_back(self, n_kept)

    def weighted(self, rows: Rows) -> Rows:
        """Weighted rows from rows of counts, by what has been taken up by now. The counts may be overwritten."""
        return self._weighting.weigh(rows, self._settings.character_weight, self.vocabulary_.quoted)

    @writing
    @whole
    def forget_columns(self, kept: NDArray[np.bool_]) -> None:
        """Forget all features but those kept, which are renumbered in their order."""
        self.vocabulary_ = self.vocabulary_.keep(kept)
        self._weighting.keep(kept)

    @reading
    def rows(self, texts: Sequence[Document], n_jobs: int = 1) -> Rows:
        """The rows of these texts, with nothing learned; the same for any number of threads."""
        if not hasattr(self, "vocabulary_"):
            if self.__sklearn_tags__().requires_fit:
                check_is_fitted(self, "vocabulary_")
            self._begin()
        given = as_documents(texts)

        def made(block: slice) -> Rows:
            return self.weighted(self._count(given[block], learning=False))

        runs = blocks(given)
        made_of = map(made, runs) if n_jobs == 1 or len(given) == 1 else by_threads(made, runs, n_jobs)
        return Rows.stack(list(made_of) or [self._count([], learning=False)])

    @property
    def n_features_(self) -> int:
        """The number of columns so far."""
        return len(self.vocabulary_) if self._settings.hashed is None else self._settings.hashed

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.hashed is None or needs_counts(self.idf, self.norm, self.min_df)
        return tags
