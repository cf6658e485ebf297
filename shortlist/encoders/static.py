"""A static table: one vector for each token, made once from a network; a text is the sum of its tokens.

As in model2vec: every token is encoded alone, the vectors are turned to their principal components, of which the first
are kept, and each is weighted by a/(a + p). The probability p of a token is taken from Zipf's law, by its place in the
vocabulary, which tokenizers order by frequency. Some hundred times as fast as the network, and less accurate.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shortlist.encoders.finding import Source
from shortlist.encoders.kept import kept
from shortlist.encoders.network import Network, Progress, Told, Vectors, counting, n_tokens
from shortlist.errors import InputError

VERSION = 1  # of the table: another one is made again
DIMENSION = 256  # at most
A = 1e-4  # of the weights
PIECE = 4096  # texts at a time


class Table:
    """Vectors of tokens: texts to vectors that are not yet scaled to unit length."""

    def __init__(
        self, kind: type[Network], source: Source, digest: str, threads: int | None, progress: Progress | None
    ) -> None:
        self._lower = source.settings.lower_case
        self._tokenizer = kind.read_tokenizer(source)

        def make() -> bytes:
            network = kind(source, threads)
            vectors = network.vectors_of_tokens(counting(progress, network.n_tokens))
            return _table(vectors, _not_words(network)).tobytes()

        found = np.frombuffer(kept(f"static-{digest.removeprefix('sha256:')}.table", make), dtype="<f2")
        self._table = found.reshape(n_tokens(self._tokenizer), -1).astype(np.float32)
        self.dimension = self._table.shape[1]

    def vectors(self, texts: list[str], told: Told) -> Vectors:
        """A vector for each text; zeros where it has no known token."""
        parts = [np.zeros((0, self.dimension), dtype=np.float32)]
        for first in range(0, len(texts), PIECE):
            parts.append(self._sums(texts[first : first + PIECE]))
            told(len(parts[-1]))
        return np.concatenate(parts)

    def _sums(self, texts: list[str]) -> Vectors:
        plain = [text.lower() for text in texts] if self._lower else texts
        if len(plain) == 1:  # without the threads of the library
            tokens = [self._tokenizer.encode(plain[0], add_special_tokens=False).ids]
        else:
            tokens = [one.ids for one in self._tokenizer.encode_batch_fast(plain, add_special_tokens=False)]
        ends = np.cumsum([0, *map(len, tokens)])
        flat = np.fromiter((token for one in tokens for token in one), dtype=np.int32, count=ends[-1])
        ones = np.ones(flat.size, dtype=np.float32)
        made = scipy.sparse.csr_array((ones, flat, ends), shape=(len(texts), len(self._table))) @ self._table
        return np.asarray(made, dtype=np.float32)


def _table(vectors: Vectors, not_words: list[int]) -> NDArray[np.float16]:
    """The table: components times weights. It is scaled so that its largest number is 1."""
    p = 1 / np.arange(1, len(vectors) + 1)
    weights = A / (A + p / p.sum())
    weights[not_words] = 0
    with threadpool_limits(1):  # the same sums whatever the number of threads
        table = _components(vectors.astype(np.float64)) * weights[:, np.newaxis]
    largest = np.abs(table).max(initial=0)
    if not 0 < largest < np.inf:
        raise InputError("no static table can be made of weights whose tokens all have the same vector")
    return (table / largest).astype("<f2")


def _components(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first principal components of rows; the largest loading of each is positive, so that its sign is fixed."""
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :DIMENSION]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return centred @ (axes * signs)


def _not_words(network: Network) -> list[int]:
    """The tokens that stand for no word: unknown ones, and those around a text."""
    return [number for number, token in network.tokenizer.get_added_tokens_decoder().items() if token.special]
