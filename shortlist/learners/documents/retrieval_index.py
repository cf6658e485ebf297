"""RetrievalIndex: the five retrieval functions that paper 003 feeds to SVM-map, over a collection
of texts.

The paper's are those of Indri with its default parameters, on three indexes: plain, stemmed
(Porter), and stemmed and stopped. For a query with q_t times the term t, and a document d with tf_t
of them and |d| words in all:

    cosine          Σ q·d / (‖q‖·‖d‖) over (1 + log tf)·log(N/df), the same for the query
    tfidf           1/|q| · Σ q_t·idf² · k1·tf/(tf + K),   idf = log((N + 1)/(df + ½))
    bm25            1/|q| · Σ idf · (k1 + 1)·tf/(tf + K) · (k3 + 1)·q_t/(k3 + q_t),
                    idf = log(1 + (N − df + ½)/(df + ½))
    dirichlet       1/|q| · Σ q_t·log[ (tf + μ·p(t))/(|d| + μ) ],
                    p(t) = share of t among all words of the collection
    jelinek_mercer  1/|q| · Σ q_t·log[ (1 − λ)·tf/|d| + λ·p(t) ]

with K = k1·(1 − b + b·|d|/mean |d|), k1 = 1.2, b = 0.75, k3 = 7, μ = 2500, λ = 0.4; N is the number
of documents, df of those with the term, |q| = Σ q_t. Dividing by |q| is what Indri's #combine does;
it makes scores of long and short queries comparable. Terms that no document has are left out. With
an encoder, beside the paper, a sixth:

    meaning         the cosine of the vectors of query and document

Deviations: the stop words are scikit-learn's English list, not Indri's; the idf of bm25 is
Lucene's, which unlike Okapi's is not negative for words that more than half of the documents have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats
from shortlist.data.texts import as_texts
from shortlist.data.validation import as_choice
from shortlist.encoders import load_encoder
from shortlist.errors import InputError, installing
from shortlist.text.vectorizer import TextVectorizer

RETRIEVAL_METHODS = ("cosine", "tfidf", "bm25", "dirichlet", "jelinek_mercer")
TEXTS_AT_ONCE = 10_000  # texts read at a time
K1 = 1.2
B = 0.75
K3 = 7.0
MU = 2500.0
LAMBDA = 0.4


class RetrievalIndex:
    """An index of texts that scores every one of them for a query.

    Parameters
    ----------
    texts : iterable of str
        The documents. An iterator is read in batches.
    stem : bool, default False
        Whether to reduce words to their stem with Porter's stemmer, from the package
        snowballstemmer.
    stop : bool, default False
        Whether to leave out English stop words.
    encoder : str or callable, default None
        The encoder for the method "meaning": its name, such as "all-MiniLM-L6-v2", or a callable
        from a list of texts to a matrix with a row for each.

    Examples
    --------
    >>> from shortlist import RetrievalIndex
    >>> index = RetrievalIndex(["wheat and corn", "crude oil prices", "corn prices"])
    >>> index.scores(["corn prices"], "bm25").argmax()
    np.int64(2)
    """

    def __init__(
        self,
        texts: Iterable[str],
        *,
        stem: bool = False,
        stop: bool = False,
        encoder: str | Callable[[list[str]], ArrayLike] | None = None,
    ) -> None:
        self._stem = stem
        self._stop = stop
        self._encoder = load_encoder(encoder) if isinstance(encoder, str) else encoder
        if self._encoder is not None:
            texts = list(texts)
            self._vectors = self._encoded(texts)
        counts, terms = self._count(texts)
        self._column = {term: column for column, term in enumerate(dict.fromkeys(terms))}
        columns = [self._column[term] for term in terms]
        term_of_word = scipy.sparse.csr_array(
            (np.ones(len(terms)), (np.arange(len(terms)), columns)),
            shape=(len(terms), len(self._column)),
        )
        self._counts = scipy.sparse.csc_array(counts @ term_of_word)
        self._length = self._counts.sum(axis=1)
        self._documents_with = np.diff(self._counts.indptr)
        self._share = self._counts.sum(axis=0) / max(1.0, self._length.sum())
        log_weighted = self._counts.copy()
        log_weighted.data = 1.0 + np.log(log_weighted.data)
        idf = np.log(self._counts.shape[0] / np.maximum(1, self._documents_with))
        self._norm = np.sqrt((log_weighted * log_weighted) @ idf**2)

    def __len__(self) -> int:
        return int(self._counts.shape[0])

    def scores(self, queries: Iterable[str], method: str) -> Floats:
        """The score of every document for each query, queries × documents; ``method`` is one of
        ``RETRIEVAL_METHODS``.

        With an encoder it may be "meaning", too.
        """
        if method == "meaning":
            vectors = self._encoded(list(queries))
            if not vectors.size or not len(self):
                return np.zeros((len(vectors), len(self)))
            return vectors @ self._vectors.T
        score = getattr(self, f"_{as_choice(method, 'method', RETRIEVAL_METHODS)}")
        counts, words = self._count(queries)
        columns = np.array([self._column.get(word, -1) for word in words], dtype=np.int64)
        scores = np.zeros((counts.shape[0], len(self)))
        for i in range(counts.shape[0]):
            of_query = slice(counts.indptr[i], counts.indptr[i + 1])
            of_words = columns[counts.indices[of_query]]
            is_known = of_words >= 0
            q = np.bincount(of_words[is_known], weights=counts.data[of_query][is_known])
            terms = np.flatnonzero(q)
            scores[i] = score(terms, q[terms], self._counts[:, terms].toarray())
            if method != "cosine":
                scores[i] /= max(1.0, q.sum())
        return scores

    def _cosine(self, terms: NDArray[np.int64], q: Floats, tf: Floats) -> Floats:
        idf = np.log(len(self) / self._documents_with[terms])
        query = (1.0 + np.log(q)) * idf
        # 1 + log tf, and 0 for 0
        document = np.log(tf, where=tf > 0, out=np.full(tf.shape, -1.0)) + 1.0
        lengths = self._norm * np.sqrt(query @ query)
        products = (document * idf) @ query
        return np.divide(products, lengths, where=lengths > 0, out=np.zeros(len(self)))

    def _tfidf(self, terms: NDArray[np.int64], q: Floats, tf: Floats) -> Floats:
        idf = np.log((len(self) + 1) / (self._documents_with[terms] + 0.5))
        return (K1 * tf / (tf + self._saturation())) @ (q * idf**2)

    def _bm25(self, terms: NDArray[np.int64], q: Floats, tf: Floats) -> Floats:
        df = self._documents_with[terms]
        idf = np.log(1 + (len(self) - df + 0.5) / (df + 0.5))
        return ((K1 + 1) * tf / (tf + self._saturation())) @ (idf * (K3 + 1) * q / (K3 + q))

    def _dirichlet(self, terms: NDArray[np.int64], q: Floats, tf: Floats) -> Floats:
        return np.log((tf + MU * self._share[terms]) / (self._length[:, None] + MU)) @ q

    def _jelinek_mercer(self, terms: NDArray[np.int64], q: Floats, tf: Floats) -> Floats:
        model = tf / np.maximum(1.0, self._length)[:, None]
        return np.log((1 - LAMBDA) * model + LAMBDA * self._share[terms]) @ q

    def _saturation(self) -> Floats:
        """K of each document, as a column."""
        mean = max(1e-300, float(self._length.mean()))
        return (K1 * (1 - B + B * self._length / mean))[:, None]

    def _encoded(self, texts: list[str]) -> Floats:
        """Vectors of unit length."""
        if self._encoder is None:
            raise InputError(
                "the method meaning needs an encoder, RetrievalIndex(texts, encoder=…)"
            )
        if not texts:
            return np.zeros((0, 1))
        vectors = np.asarray(self._encoder(texts), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise InputError(
                f"the encoder gave an array of shape {vectors.shape}, not a finite row for each "
                "text"
            )
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, length, where=length > 0, out=np.zeros_like(vectors))

    def _count(self, texts: Iterable[str]) -> tuple[scipy.sparse.csr_array, list[str]]:
        """Return how often each text has each word, and the term of each word; several words
        may share a term.
        """
        vectorizer = TextVectorizer(min_length=1, stop_words="english" if self._stop else None)
        texts = iter(texts if isinstance(texts, Iterator) else as_texts(texts))
        batches = iter(lambda: list(islice(texts, TEXTS_AT_ONCE)), [])
        counts = vectorizer.fit_counts(batches).all().to_matrix()
        words = vectorizer.names(range(counts.shape[1]))
        return counts, _stems(words) if self._stem else words


def _stems(words: list[str]) -> list[str]:
    try:
        import snowballstemmer
    except ImportError:
        raise InputError(
            f"stemming needs the package snowballstemmer; {installing('retrieval')}"
        ) from None
    return list(snowballstemmer.stemmer("porter").stemWords(words))
