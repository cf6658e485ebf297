"""TextVectorizer: texts to sparse rows, with a vocabulary that grows; its settings, and what
the first texts choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist.concurrency import (
    by_threads,
    learning,
    reading,
    snapshot,
    spread,
    stop_here,
    uninterrupted,
    writing,
)
from shortlist.data.rows import Rows, give_back
from shortlist.data.texts import (
    Document,
    Fielded,
    as_documents,
    as_texts,
    band,
    blocks,
    cell_value,
    laid,
    lengths_of,
)
from shortlist.data.validation import MOST_AMOUNT, as_choice, as_real, as_whole
from shortlist.errors import InputError
from shortlist.estimators import Estimator, clone, not_fitted
from shortlist.files.store import State
from shortlist.text.counts import NORM, SMOOTH, TF, CountedRows, Weighting, count, needs_counts
from shortlist.text.feature_names import Vocabulary, encoded
from shortlist.text.features import (
    VALUE,
    Features,
    Words,
    character_table,
    features_of,
    letter_table,
    places,
    places_before,
    spell,
    split,
    value_hashes,
    with_characters,
    with_fields,
)

if TYPE_CHECKING:
    from sklearn.utils import Tags

# Words to leave out.


def stop_table(settings: Settings, table: NDArray[np.uint32]) -> Vocabulary | None:
    """The words to leave out, read as those of texts are; None where there are none."""
    listed = settings.stop_words
    if listed is None:
        return None
    if listed == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        listed = sorted(ENGLISH_STOP_WORDS)
    stops = Vocabulary()
    for text in listed:
        words = split([text], table, 1, settings.lowercase, settings.composed)
        if words.ends.size == 1 and words.ends[0] - words.starts[0] == words.codes.size:
            stops.learn(words.hashes)
    return stops


# What the first texts choose: each setting that is "auto", or all unset ones of these if n-grams
# alone are "auto".
AUTO = "auto"
PLAIN: dict[str, Any] = {
    "ngrams": 1,
    "min_length": 2,
    "prefix": None,
    "characters": None,
    "character_weight": 1.0,
}
ALL_AUTO: dict[str, Any] = dict.fromkeys(PLAIN, AUTO)
LEFT_OPEN = (*PLAIN, "fields")
SHORT = 400  # letters: texts shorter than that say little in single words
MOST_WORDS = 100  # of an n-gram: a text has that many times as many of them as it has words
PAIRS, PREFIX = 2, 5  # additional features of short texts
# of short texts whose labels come up again and again
STEM, CHARACTERS, CHARACTER_WEIGHT = 4, [3, 3], 0.7
MOST = 32  # characters of a run
LEAST_WEIGHT, MOST_WEIGHT = 1e-3, 1e3  # of a run
UNSPACED = [2, 4]  # runs of characters in texts that are written without spaces
# Where such scripts lie: Thai and Lao, Myanmar, Khmer, Kana, Han.
SCRIPTS = np.array(
    [
        (0x0E00, 0x0F00),
        (0x1000, 0x10A0),
        (0x1780, 0x1800),
        (0x3040, 0x3100),
        (0x3400, 0x4DC0),
        (0x4E00, 0xA000),
        (0xF900, 0xFB00),
        (0x20000, 0x40000),
    ]
)


class Settings(NamedTuple):
    """The parameters, checked, as they were when learning began. In the types that JSON has."""

    lowercase: bool
    composed: bool
    min_length: int
    fold_digits: bool
    stop_words: str | list[str] | None
    ngrams: int
    prefix: int | None
    characters: list[int] | None
    min_df: int
    hashed: int | None
    tf: str
    idf: str | None
    norm: str | None
    slope: float
    fields: list[str] | None = None
    character_weight: float = 1.0
    left: tuple[str, ...] = ()  # settings that the first texts choose

    def suiting(self, texts: Sequence[Any], recurring: bool) -> Settings:
        """These settings with what suits such texts; ``recurring``: their labels come up again and
        again.

        The fields of texts, if they have any, are ordered so that the longest is the first.
        """
        if not texts:
            return self
        if self.fields is None and type(texts) is Fielded:
            longest = texts.longest()
            self = self._replace(fields=sorted(texts.texts, key=lambda name: name != longest))
        if not self.left:
            return self
        short = lengths_of(texts).sum() < SHORT * len(texts)
        chosen: dict[str, Any] = {"ngrams": 1}
        if unspaced(texts):
            chosen |= {"characters": UNSPACED}
        elif short and recurring:
            weight = CHARACTER_WEIGHT if self.hashed is None else self.character_weight
            chosen |= {"min_length": 1, "ngrams": PAIRS, "prefix": STEM}
            chosen |= {"characters": CHARACTERS, "character_weight": weight}
        elif short:
            chosen |= {"ngrams": PAIRS, "prefix": PREFIX}
        return self._replace(
            **{name: chosen[name] for name in chosen if name in self.left}, left=()
        )

    def saved(self) -> dict[str, Any]:
        """The parameters as a model file has them."""
        kept = {name: value for name, value in self._asdict().items() if name != "left"}
        return kept | dict.fromkeys(self.left, AUTO)

    @classmethod
    def of(cls, given: Any) -> Settings:
        values = {name: getattr(given, name) for name in PLAIN}
        left = [name for name, value in values.items() if isinstance(value, str) and value == AUTO]
        if left == ["ngrams"]:
            left += [
                name for name, value in values.items() if name not in left and value == PLAIN[name]
            ]
        values |= {name: PLAIN[name] for name in left}
        stop_words = given.stop_words
        if isinstance(stop_words, str):
            as_choice(stop_words, "stop_words", (None, "english"))
        elif stop_words is not None:
            stop_words = [str(word) for word in as_texts(stop_words, "stop_words")]
        weight = as_real(
            values["character_weight"], "character_weight", least=LEAST_WEIGHT, most=MOST_WEIGHT
        )
        if weight != 1 and given.hashed is not None:
            raise InputError(
                "character_weight must be 1 with hashed columns, which characters share with words"
            )
        return cls(
            lowercase=bool(as_choice(given.lowercase, "lowercase", (True, False))),
            min_length=as_whole(values["min_length"], "min_length", least=1),
            composed=bool(as_choice(given.composed, "composed", (True, False))),
            fold_digits=bool(as_choice(given.fold_digits, "fold_digits", (True, False))),
            stop_words=stop_words,
            ngrams=as_whole(values["ngrams"], "ngrams", least=1, most=MOST_WORDS),
            prefix=None
            if values["prefix"] is None
            else as_whole(values["prefix"], "prefix", least=1),
            characters=None if values["characters"] is None else as_range(values["characters"]),
            min_df=as_whole(given.min_df, "min_df", least=1),
            hashed=None if given.hashed is None else as_whole(given.hashed, "hashed", least=1),
            tf=as_choice(given.tf, "tf", TF),
            idf=as_choice(given.idf, "idf", (None, *SMOOTH)),
            norm=as_choice(given.norm, "norm", (None, *NORM)),
            slope=as_real(given.slope, "slope", least=0, most=1),
            fields=None
            if given.fields is None
            else [str(name) for name in as_texts(given.fields, "fields")],
            character_weight=weight,
            left=tuple(left),
        )


def as_range(given: Iterable[int]) -> list[int]:
    """The fewest and the most characters of a run."""
    try:
        least, most = given
    except (TypeError, ValueError):
        raise InputError(
            f"characters must be two whole numbers such as (3, 4), or None, not {given!r}"
        ) from None
    least = as_whole(least, "characters[0]", least=1)
    return [least, as_whole(most, "characters[1]", least=least, most=MOST)]


def unspaced(texts: Sequence[Any]) -> bool:
    """Whether a quarter or more of what these texts begin with is written without spaces
    between words.
    """
    beginning = laid(as_documents(texts[next(blocks(texts), slice(0, 0))]))
    if beginning.whole.isascii():
        return False
    codes = beginning.codes
    # as in most alphabets, which is known sooner
    if 4 * np.count_nonzero(codes >= SCRIPTS[0, 0]) < codes.size:
        return False
    script = np.searchsorted(SCRIPTS[:, 0], codes, side="right") - 1
    return bool(4 * np.count_nonzero((script >= 0) & (codes < SCRIPTS[script, 1])) >= codes.size)


# TextVectorizer: texts -> sparse rows, learned as the texts arrive.


LEAST_IN_WORDS = 3  # characters: shorter runs stand for words
MANY = 1 << 20  # entries, from which on freed memory is returned to the system


class Taken(NamedTuple):
    """The rows of counts of texts, and what is needed to undo learning them."""

    rows: Rows
    settings: Settings  # before
    n_features: int
    after: tuple[int, int]  # documents and features


class TextVectorizer(Estimator):
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

    vocabulary_: Vocabulary
    settings_: Settings
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
        """Learn from these texts alone and return their rows; each text is read once."""
        return self.fit_counts([as_documents(texts)]).all().to_matrix()

    def partial_fit(self, texts: Iterable[Document], y: object = None) -> Self:
        """Go on learning from more texts. Features that were there keep their columns."""
        self.take(texts)
        return self

    def settled(self, texts: Sequence[Document], recurring: bool = False) -> TextVectorizer:
        """Return an unfitted copy with the settings that it would choose for these texts."""
        chosen = Settings.of(self).suiting(texts, recurring)
        return clone(self) if chosen.left else TextVectorizer(**chosen.saved())

    def settle(self, texts: Sequence[Document], recurring: bool = False) -> None:
        """Choose the settings that are "auto"; ``recurring``: labels come up again and again."""
        if not hasattr(self, "vocabulary_"):
            self._begin()
        self.settings_ = self.settings_.suiting(texts, recurring)

    @learning
    def merge(self, other: TextVectorizer) -> Self:
        """Learn exactly what another vectorizer of the same parameters has learned, as if its
        texts had come next.
        """
        other.check_fitted()
        if not hasattr(self, "vocabulary_"):
            self._begin()
        if self.settings_ != other.settings_:
            raise InputError(
                "only a TextVectorizer with the same parameters can be merged into this one"
            )
        numbers = self.vocabulary_.merge(other.vocabulary_)
        if self.settings_.hashed is not None:
            numbers = np.arange(self.n_features_, dtype=np.int32)
        self._weighting.merge(other._weighting, numbers, self.n_features_)
        return self

    @learning
    def forget_rare(self) -> NDArray[np.bool_]:
        """Forget the features of fewer than ``min_df`` documents; return which columns are kept."""
        if self.settings_.min_df == 1 or self.settings_.hashed is not None:
            return np.ones(self.n_features_, dtype=np.bool_)
        kept = self._weighting.counts(self.n_features_) >= self.settings_.min_df
        self.forget_columns(kept)
        return kept

    def transform(self, texts: Iterable[Document]) -> scipy.sparse.csr_array:
        """Return the rows of these texts; features never seen in learning count as nothing."""
        return self.rows(as_documents(texts)).to_matrix()

    @writing
    def fit_counts(self, batches: Iterable[Sequence[Document]], n_jobs: int = 1) -> CountedRows:
        """Learn from these batches of texts alone; return their rows, which are weighted when they
        are used.

        The texts are not kept. The number of threads, ``n_jobs``, changes nothing.
        """
        before = dict(self.__dict__)

        def pieces() -> Iterator[Sequence[Document]]:
            for batch in map(as_documents, batches):
                self.settle(batch)
                yield from (batch[block] for block in blocks(batch))

        try:
            self._begin()
            rows = CountedRows(self.weighted)
            # Threads cut texts into features; one thread numbers and counts these.
            for words, features in by_threads(self._features, pieces(), n_jobs):
                with uninterrupted():
                    counted = self._counted(words, features, learning=True)
                    self._weighting.learn(counted)
                    rows.add(counted)
            rows.n_words = self.n_features_
            kept = self.forget_rare()
            if not kept.all():
                rows.keep_columns(kept)
            if rows.n_entries > MANY:
                give_back()
        except BaseException:
            self.__dict__ = before
            raise
        return rows

    @learning
    def learn_rows(self, texts: Sequence[Document]) -> Rows:
        """Learn from these texts and return their rows, weighted by the counts after all of
        them.
        """
        return self.weighted(self.take(texts).rows)

    @learning
    def take(self, texts: Iterable[Document], *, recurring: bool = False, n_jobs: int = 1) -> Taken:
        """Learn from these texts, all or none, and return what ``give_back`` needs to undo it.

        ``recurring``: their labels come up again and again; used where the first texts choose
        settings.
        """
        if not hasattr(self, "vocabulary_"):
            self._begin()
        texts, settings, n_features = as_documents(texts), self.settings_, self.n_features_
        counted = []
        try:
            self.settle(texts, recurring)
            for words, features in spread(
                lambda block: self._features(texts[block]), blocks(texts), n_jobs
            ):
                counted.append(self._counted(words, features, learning=True))
                stop_here()
        except BaseException:
            self.settings_, self.vocabulary_ = settings, self.vocabulary_.first(n_features)
            raise
        rows = Rows.stack(counted or [self._counted(*self._features([]), learning=False)])
        self._weighting.learn(rows)
        return Taken(rows, settings, n_features, (self._weighting.m, self.n_features_))

    @learning
    def give_back(self, taken: Taken, n_kept: int = 0) -> None:
        """Undo ``take`` for all its texts but the first few, unless others have been taken up
        since.
        """
        if taken.after != (self._weighting.m, self.n_features_):
            return
        kept, left = np.split(taken.rows.indices, taken.rows.indptr[[n_kept]])
        self._weighting.unlearn(taken.rows.n_rows - n_kept, left)
        if taken.settings.hashed is None:  # features are numbered by first appearance
            self.vocabulary_ = self.vocabulary_.first(
                max(taken.n_features, int(kept.max(initial=-1)) + 1)
            )
        if n_kept == 0:
            self.settings_ = taken.settings

    def weighted(self, rows: Rows) -> Rows:
        """Return weighted rows from rows of counts, which may be overwritten."""
        return self._weighting.weigh(rows, self.settings_.character_weight, self.vocabulary_.quoted)

    @learning
    def forget_columns(self, kept: NDArray[np.bool_]) -> None:
        """Forget the other features; those kept are renumbered in their order."""
        self.vocabulary_ = self.vocabulary_.keep(kept)
        self._weighting.keep(kept)

    @reading
    def rows(self, texts: Sequence[Document], n_jobs: int = 1) -> Rows:
        """Return the rows of these texts, without learning; the same for any number of threads."""
        if not hasattr(self, "vocabulary_"):
            if self._requires_fit:
                self.check_fitted()
            self._begin()
        given = as_documents(texts)

        def made(block: slice) -> Rows:
            return self.weighted(self._counted(*self._features(given[block]), learning=False))

        return Rows.stack(list(spread(made, blocks(given), n_jobs)) or [made(slice(0, 0))])

    @property
    def n_features_(self) -> int:
        """The number of columns so far."""
        return len(self.vocabulary_) if self.settings_.hashed is None else self.settings_.hashed

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags = TransformerTags()
        tags.requires_fit = self._requires_fit
        return tags

    @property
    def _requires_fit(self) -> bool:
        return self.hashed is None or needs_counts(self.idf, self.norm, self.min_df)

    def check_fitted(self) -> None:
        if not hasattr(self, "vocabulary_"):
            raise not_fitted(
                "this TextVectorizer has learned nothing yet; call fit or partial_fit first"
            )

    # Single texts: features, their names and their places.

    @reading
    def names(self, columns: Iterable[int], text: Document | None = None) -> list[str]:
        """The feature behind each column.

        With ``hashed=...`` a column has no name of its own: given a ``text``, its features that
        fall into the column are named, with " | " between them, otherwise the column's number, as
        "#7".
        """
        self.check_fitted()
        columns = [int(column) for column in columns]
        for column in columns:
            if not 0 <= column < self.n_features_:
                raise InputError(
                    f"there is no column {column}; there are {self.n_features_}, counted from 0"
                )
        if self.settings_.hashed is None:
            return self.vocabulary_.names(columns)
        behind: dict[int, list[str]] = {}
        if text is not None:
            words, features = self._features(as_documents([text]))
            vocabulary = Vocabulary()
            self._learned(vocabulary, words, features)
            for name, column in zip(
                vocabulary.names(), self._numbers(vocabulary.hashes).tolist(), strict=True
            ):
                behind.setdefault(column, []).append(name)
        return [" | ".join(behind.get(column, [f"#{column}"])) for column in columns]

    @reading
    def spans(self, text: Document) -> dict[int, list[tuple[int, int]]]:
        """Where the features of each column stand in a text: first letter and the one after the
        last, by column.

        The fields of a text are joined, with a line feed between two fields.
        """
        documents = as_documents([text])
        words, features = self._features(documents)
        columns, chosen = self._numbers(features.hashes), self.settings_
        has_place = (columns >= 0) & (features.field != VALUE)
        starts, ends = places(
            words, features.firsts[has_place], features.sizes[has_place], chosen.prefix or 0
        )
        given = laid(documents)
        # composing or lower-casing changed letters
        if not np.array_equal(words.codes, given.codes):
            starts, ends = places_before(
                given.whole, starts, ends, chosen.composed, chosen.lowercase
            )
        line_feeds = np.searchsorted(given.ends[:-1], starts, side="right")
        found: dict[int, list[tuple[int, int]]] = {}
        spans = zip((starts + line_feeds).tolist(), (ends + line_feeds).tolist(), strict=True)
        for column, span in zip(columns[has_place].tolist(), spans, strict=True):
            found.setdefault(column, []).append(span)
        return found

    @reading
    def has_known_word(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether any word of each text is known.

        Only needed with runs of characters, some of which are known in nearly every text. Without
        them, in hashed columns and beside runs of one or two characters, every text counts as
        known.
        """
        chosen = self.settings_
        if (
            chosen.hashed is not None
            or chosen.characters is None
            or chosen.characters[0] < LEAST_IN_WORDS
        ):
            return np.ones(len(texts), dtype=bool)
        words = split(texts, self._table, chosen.min_length, chosen.lowercase, chosen.composed)
        known = np.append(0, np.cumsum(self.vocabulary_.find(words.hashes) >= 0))
        found: NDArray[np.bool_] = known[words.indptr[1:]] > known[words.indptr[:-1]]
        return found

    @reading
    def known_share(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The known share of the different features of each text; 1 if it has none, and in
        hashed columns.
        """
        if self.settings_.hashed is not None:
            return np.ones(len(texts), dtype=np.float32)
        _, features = self._features(texts)
        every = Vocabulary()
        # each different feature once
        rows = count(every.learn(features.hashes)[0], features.indptr, len(every))
        known = np.append(0, np.cumsum(self.vocabulary_.find(every.hashes)[rows.indices] >= 0))
        n_features, n_known = rows.lengths(), np.diff(known[rows.indptr])
        share = np.where(n_features > 0, n_known / np.maximum(1, n_features), 1.0)
        return share.astype(np.float32)

    @reading
    def values(self, first: int = 0) -> list[tuple[str, str, bool]]:
        """The categories and numbers learned from column ``first`` on: field, value, and
        whether it is a number.
        """
        if self.settings_.hashed is not None:
            return []
        numbers = self.vocabulary_.having("=", first)
        names = self.vocabulary_.names(numbers.tolist())
        # not runs of characters that look alike
        is_value = self.vocabulary_.find(value_hashes(names)) == numbers
        pairs = [
            name.partition("=")[::2]
            for name, chosen in zip(names, is_value.tolist(), strict=True)
            if chosen
        ]
        return [(field, value, self._is_number(field, value)) for field, value in pairs]

    def _is_number(self, field: str, value: str) -> bool:
        """Whether a value was learned as a number: then its band was, too."""
        number = cell_value(value)
        bands = band(field, number) if isinstance(number, float) else []
        return bool((self.vocabulary_.find(value_hashes(bands)) >= 0).any())

    @reading
    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The feature behind each column, in order."""
        self.check_fitted()
        return np.array(self.names(range(self.n_features_)), dtype=object)

    def _begin(self) -> None:
        """Check the parameters, and forget everything."""
        self.settings_ = chosen = Settings.of(self)
        self._weighting = Weighting(chosen.tf, chosen.idf, chosen.norm, chosen.slope, chosen.min_df)
        self._table = letter_table(chosen.lowercase, chosen.fold_digits)
        self._stops = stop_table(chosen, self._table)
        self.vocabulary_ = Vocabulary()

    def _counted(self, words: Words, features: Features, *, learning: bool) -> Rows:
        if self.settings_.hashed is not None:
            numbers = self._numbers(features.hashes)
        elif learning:
            numbers = self._learned(self.vocabulary_, words, features)
        else:
            numbers = self.vocabulary_.find(features.hashes)
        return count(numbers, features.indptr, self.n_features_)

    def _features(self, texts: Sequence[Any]) -> tuple[Words, Features]:
        """The words of texts, or of documents of several fields, and their features."""
        chosen = self.settings_
        if type(texts) is Fielded:
            words, features = self._features(texts.in_turn())
            return words, with_fields(features, texts, chosen.fields[0] if chosen.fields else None)
        words = split(texts, self._table, chosen.min_length, chosen.lowercase, chosen.composed)
        if self._stops is not None:
            words = words.keep(self._stops.find(words.hashes) < 0)
        features = features_of(words, self._table, chosen.ngrams, chosen.prefix or 0)
        if chosen.characters is None:
            return words, features
        return words, with_characters(
            features, words, character_table(chosen.lowercase), *chosen.characters
        )

    def _numbers(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The columns of features, −1 of unknown ones.

        A hashed column is the upper half of the hash, scaled down to the width.
        """
        if self.settings_.hashed is None:
            return self.vocabulary_.find(hashes)
        half = np.uint64(32)
        return ((hashes >> half) * np.uint64(self.n_features_) >> half).astype(np.int32)

    def _learned(
        self, vocabulary: Vocabulary, words: Words, features: Features
    ) -> NDArray[np.int32]:
        """The numbers of the features in the vocabulary, to which new ones are added with their
        names.
        """
        numbers, new = vocabulary.learn(features.hashes)
        if new.size:
            chosen = self.settings_
            characters = (
                self._table if chosen.characters is None else character_table(chosen.lowercase)
            )
            vocabulary.name(
                *encoded(*spell(words, features, new, self._table, chosen.prefix or 0, characters))
            )
        return numbers

    # Model files.

    @snapshot
    def to_state(self) -> State:
        """What a model file keeps."""
        self.check_fitted()
        arrays: dict[str, Any] = dict(self.vocabulary_.arrays())
        if self._weighting.needs_counts:
            # others may go on counting
            arrays["document_counts"] = self._weighting.counts(self.n_features_).copy()
        return State(
            "TextVectorizer", {**self.settings_.saved(), "documents": self._weighting.m}, arrays
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The vectorizer that a state describes, or ModelFileError."""
        settings = dict(state.settings)
        m = settings.pop("documents")
        vectorizer = cls(**settings)
        vectorizer._begin()
        vectorizer.vocabulary_ = Vocabulary.from_state(state)
        known = len(vectorizer.vocabulary_)
        state.require(vectorizer.hashed is None or known == 0, "hashed columns have no vocabulary")
        u = np.empty(0, dtype=np.int64)
        if vectorizer._weighting.needs_counts:
            u = np.array(state.array("document_counts", np.int64))
            state.require(u.size == vectorizer.n_features_, "every column has a count of documents")
        state.require(isinstance(m, int) and 0 <= m <= MOST_AMOUNT, "documents is a count")
        state.require(
            u.size == 0 or (u.min() >= 0 and u.max() <= m),
            "no feature is in more documents than there are",
        )
        vectorizer._weighting.restore(m, u)
        return vectorizer
