"""Static tables: one vector for each token; a text is the sum of its tokens.

A table is one that model2vec has written, or is made once from a network. As in model2vec, every
token is encoded alone, the vectors are turned to their principal components, of which the first are
kept, and each is weighted by a/(a + p). The probability p of a token comes from Zipf's law, by its
place in the vocabulary, which tokenizers order by frequency.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shortlist.encoders.finding import EncoderFiles, kept
from shortlist.encoders.network import Network, Vectors, n_tokens, refusing, tokens_of
from shortlist.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TABLE_VERSION = 1  # tables of another version are made again
MOST_COMPONENTS = 256
A = 1e-4  # of the weights of tokens
TEXTS_SUMMED_AT_ONCE = 4096
NAMES_OF_TABLES = ("embeddings", "embedding.weight")  # as model2vec and sentence-transformers write


class StaticTable:
    """A table made from a network: texts to vectors that are not yet scaled to unit length."""

    is_slow = False
    device = "processor"

    def __init__(
        self, kind: type[Network], source: EncoderFiles, digest: str, threads: int | None
    ) -> None:
        self._lower = source.settings.lower_case
        self._tokenizer = kind.read_tokenizer(source)

        def make() -> bytes:
            network = kind(source, threads)
            added = network.tokenizer.get_added_tokens_decoder()
            # unknown, begin, end
            not_words = [number for number, token in added.items() if token.special]
            return table_of(network.vectors_of_tokens(), not_words).tobytes()

        stored = kept(f"static-{digest.removeprefix('sha256:')}.table", make)
        table = np.frombuffer(stored, dtype="<f2").reshape(n_tokens(self._tokenizer), -1)
        self.table = table.astype(np.float32)
        self.dimension = self.table.shape[1]

    def vectors(self, texts: list[str]) -> Vectors:
        """A vector for each text; zeros where it has no known token."""
        made = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for first in range(0, len(texts), TEXTS_SUMMED_AT_ONCE):
            some = texts[first : first + TEXTS_SUMMED_AT_ONCE]
            made[first : first + len(some)] = self._sums(some)
        return made

    def _sums(self, texts: list[str]) -> Vectors:
        if self._lower:
            texts = [text.lower() for text in texts]
        tokens = self._tokens(texts)
        ends = np.cumsum([0, *map(len, tokens)])
        flat = np.fromiter(chain.from_iterable(tokens), dtype=np.int32, count=ends[-1])
        ones = np.ones(flat.size, dtype=np.float32)
        counts = scipy.sparse.csr_array((ones, flat, ends), shape=(len(texts), len(self.table)))
        return np.asarray(counts @ self.table, dtype=np.float32)

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        return tokens_of(self._tokenizer, texts, special=False)


class StoredTable(StaticTable):
    """A table that model2vec has written: vectors, and perhaps a weight for each token."""

    def __init__(self, source: EncoderFiles) -> None:
        from safetensors.numpy import load

        self._lower = source.settings.lower_case
        self._tokenizer = Network.read_tokenizer(source)
        most_tokens = source.settings.max_length
        self._tokenizer.enable_truncation(most_tokens)
        lengths = [len(token) for token in self._tokenizer.get_vocab()]
        self._most_letters = most_tokens * int(np.median(lengths))
        with refusing(f"{source.where} is not a whole safetensors file"):
            arrays = load(source.weights)
        self.table = rows_of_tokens(arrays, n_tokens(self._tokenizer), source.where)
        self.dimension = self.table.shape[1]
        self._unknown = unknown_token(self._tokenizer)

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        tokens = super()._tokens([text[: self._most_letters] for text in texts])
        return [[token for token in of_text if token != self._unknown] for of_text in tokens]


def rows_of_tokens(arrays: dict[str, NDArray[Any]], n: int, where: Path) -> Vectors:
    """The vector of each of n tokens, from the arrays of a file."""
    tables = [arrays[name] for name in NAMES_OF_TABLES if name in arrays]
    vectors = tables[0] if tables else np.zeros(0)
    mapping = arrays.get("mapping", np.arange(len(vectors)))
    weights = arrays.get("weights", np.ones(mapping.size, dtype=np.float32))
    is_table = (
        vectors.ndim == 2
        and vectors.dtype.kind == "f"
        and vectors.shape[1] > 0
        and mapping.ndim == weights.ndim == 1
        and mapping.size == weights.size >= n > 0
        and mapping.dtype.kind in "iu"
        and weights.dtype.kind == "f"
    )
    if not is_table or mapping.min() < 0 or mapping.max() >= len(vectors):
        raise InputError(
            f"{where} does not hold a table of model2vec for the {n:,} tokens of its tokenizer: "
            "get the folder again"
        )
    table = vectors[mapping].astype(np.float32) * weights.astype(np.float32)[:, np.newaxis]
    if not np.isfinite(table).all():
        raise InputError(f"{where} has numbers that are not finite: get the file again")
    return table


def unknown_token(tokenizer: Tokenizer) -> int | None:
    """The number of the token that stands for unknown words, which model2vec leaves out."""
    if hasattr(tokenizer.model, "unk_token"):
        unknown = tokenizer.model.unk_token
        return None if unknown is None else tokenizer.token_to_id(unknown)
    return json.loads(tokenizer.to_str())["model"].get("unk_id")


def table_of(vectors: Vectors, not_words: list[int]) -> NDArray[np.float16]:
    """The table: components times weights. It is scaled so that its largest number is 1."""
    p = 1 / np.arange(1, len(vectors) + 1)
    weights = A / (A + p / p.sum())
    weights[not_words] = 0
    with threadpool_limits(1):  # the same sums whatever the number of threads
        table = components(vectors.astype(np.float64)) * weights[:, np.newaxis]
    largest = np.abs(table).max(initial=0)
    if not 0 < largest < np.inf:
        raise InputError(
            "no static table can be made of weights whose tokens all have the same vector"
        )
    return (table / largest).astype("<f2")


def components(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first principal components of rows; the largest loading of each is positive, so that
    its sign is fixed.
    """
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :MOST_COMPONENTS]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return centred @ (axes * signs)
