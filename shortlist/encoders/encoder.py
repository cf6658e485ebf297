"""Encoders: a name, a digest, and a call from texts to vectors of unit length."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shortlist.encoders.finding import Source, find, kept, sha256
from shortlist.encoders.network import Network, Vectors, n_tokens, tokens_of
from shortlist.encoders.universal import Universal
from shortlist.errors import InputError, installing

MEMORY = 64 * 2**20  # bytes of vectors that are remembered
OVERHEAD = 256  # bytes of a vector in memory, beside its numbers
VERSION = 1  # of static tables: tables of another version are made again
DIMENSION = 256  # of static tables, at most
A = 1e-4  # of the weights of tokens
PIECE = 4096  # texts at a time

STATIC = ":static"  # after a name: the table that is made from these weights
NETWORKS = {"bert": Network, "onnx": Network, "universal": Universal}
PACKAGES = ("onnxruntime", "onnx", "tokenizers")


class Encoder:
    """Texts to vectors: float32, of unit length, a row for each text.

    It is called with a sequence of texts, by any number of threads at the same time. The vector of
    a text depends on this text alone, to the last bit: not on the texts beside it, their order, or
    the number of threads. On another processor or with another version of onnxruntime, the last
    digits may differ. A static table gives zeros for a text without a known token.

    Attributes
    ----------
    name : str
        What ``load_encoder`` was given.
    digest : str
        ``sha256:`` and the digest of the weights, the tokenizer and the settings: encoders of the
        same digest make the same vectors, wherever their files are.
    dimension : int
        How many numbers a vector has.
    settings : dict
        What the digest was made from, for JSON: the digests of both files, and how they are used.
    """

    def __init__(self, name: str, settings: dict[str, Any], engine: Network | Table) -> None:
        self.name, self.settings, self.digest = name, settings, digest_of(settings)
        self.dimension = engine.dimension
        self._engine = engine
        self._most = MEMORY // (4 * self.dimension + OVERHEAD)
        # the vectors of the latest texts, the oldest first
        self._remembered: dict[bytes, Vectors] = {}
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text."""
        given = _as_texts(texts)
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in given]
        with self._lock:
            known = {key: self._remembered[key] for key in keys if key in self._remembered}
        new = {key: text for key, text in zip(keys, given, strict=True) if key not in known}
        made = _of_unit_length(self._engine.vectors(list(new.values()))) if new else ()
        with self._lock:
            self._remembered |= {
                key: row.copy() for key, row in list(zip(new, made, strict=True))[-self._most :]
            }
            while len(self._remembered) > self._most:
                del self._remembered[next(iter(self._remembered))]
        rows = known | dict(zip(new, made, strict=True))
        return np.array([rows[key] for key in keys], dtype=np.float32).reshape(
            len(given), self.dimension
        )

    def __repr__(self) -> str:
        return f"<Encoder {self.name}: {self.dimension} numbers, {self.digest[:15]}…>"

    def __deepcopy__(self, memo: object) -> Encoder:
        """Return itself: it never changes, and its weights are large."""
        return self

    def __reduce__(self) -> tuple[Callable[[str, str], Encoder], tuple[str, str]]:
        """Another process loads the encoder by its name and checks the digest."""
        return load_same, (self.name, self.digest)


def load_encoder(name: str, *, threads: int | None = None) -> Encoder:
    """Open an encoder.

    Parameters
    ----------
    name : str
        A known name, such as ``"all-MiniLM-L6-v2"``; a folder as sentence-transformers lays it out;
        or the name of one in the folders that the environment variable SHORTLIST_ENCODERS names.
        With ``:static`` after it, a table of vectors for each token that is made from the same
        weights: about a hundred times as fast, and less accurate.
    threads : int, optional
        How many threads encode; as many as there are processors by default. The vectors do not
        depend on it.

    Returns
    -------
    encoder : Encoder
        A callable from a list of texts to float32[texts, numbers].

    Examples
    --------
    >>> encoder = load_encoder("all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> encoder(["a question", "another one"]).shape  # doctest: +SKIP
    (2, 384)
    """
    if threads is not None and threads < 1:
        raise InputError(f"threads must be at least 1, not {threads}")
    plain = name.removesuffix(STATIC)
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        raise InputError(f"encoder {name} needs {', '.join(missing)}; {installing('meaning')}")
    source = find(plain)
    kind = NETWORKS[source.settings.network]
    if plain == name:
        return Encoder(name, source.described(), kind(source, threads))
    settings = source.described() | {"static": VERSION, "components": DIMENSION}
    return Encoder(name, settings, Table(kind, source, digest_of(settings), threads))


def load_same(name: str, digest: str) -> Encoder:
    """Open an encoder, and refuse it if its weights, tokenizer or settings are not those of the
    digest.
    """
    encoder = load_encoder(name)
    if encoder.digest != digest:
        raise InputError(
            f"the encoder {name} is not the one that was used before (its digest is "
            f"{encoder.digest}, not {digest}): "
            "bring back its files, or train again"
        )
    return encoder


def digest_of(settings: dict[str, Any]) -> str:
    return "sha256:" + sha256(json.dumps(settings, sort_keys=True).encode())


def _as_texts(texts: Sequence[str]) -> list[str]:
    """Check texts; half of a surrogate pair, which tokenizers refuse, becomes a question mark."""
    if isinstance(texts, str):
        raise InputError("an encoder takes a list of texts, not one text: put it in a list")
    given = list(texts)
    for place, text in enumerate(given):
        if not isinstance(text, str):
            raise InputError(f"texts[{place}] must be a text, not {type(text).__name__}")
    return [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in given]


def _of_unit_length(vectors: Vectors) -> Vectors:
    """The vectors, each divided by its length; zeros stay as they are."""
    lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1, keepdims=True))
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


# A static table: one vector for each token, made once from a network; a text is the sum of its
# tokens. As in model2vec, every token is encoded alone, the vectors are turned to their principal
# components, of which the first are kept, and each is weighted by a/(a + p). The probability p of a
# token comes from Zipf's law, by its place in the vocabulary, which tokenizers order by frequency.


class Table:
    """Vectors of tokens: texts to vectors that are not yet scaled to unit length."""

    def __init__(
        self, kind: type[Network], source: Source, digest: str, threads: int | None
    ) -> None:
        self._lower = source.settings.lower_case
        self._tokenizer = kind.read_tokenizer(source)

        def make() -> bytes:
            network = kind(source, threads)
            vectors = network.vectors_of_tokens()
            added = network.tokenizer.get_added_tokens_decoder()
            # unknown, begin, end
            not_words = [number for number, token in added.items() if token.special]
            return _table_of(vectors, not_words).tobytes()

        found = np.frombuffer(
            kept(f"static-{digest.removeprefix('sha256:')}.table", make), dtype="<f2"
        )
        self._table = found.reshape(n_tokens(self._tokenizer), -1).astype(np.float32)
        self.dimension = self._table.shape[1]

    def vectors(self, texts: list[str]) -> Vectors:
        """A vector for each text; zeros where it has no known token."""
        parts = [self._sums(texts[first : first + PIECE]) for first in range(0, len(texts), PIECE)]
        return np.concatenate([np.zeros((0, self.dimension), dtype=np.float32), *parts])

    def _sums(self, texts: list[str]) -> Vectors:
        plain = [text.lower() for text in texts] if self._lower else texts
        tokens = tokens_of(self._tokenizer, plain, special=False)
        ends = np.cumsum([0, *map(len, tokens)])
        flat = np.fromiter(
            (token for one in tokens for token in one), dtype=np.int32, count=ends[-1]
        )
        ones = np.ones(flat.size, dtype=np.float32)
        made = (
            scipy.sparse.csr_array((ones, flat, ends), shape=(len(texts), len(self._table)))
            @ self._table
        )
        return np.asarray(made, dtype=np.float32)


def _table_of(vectors: Vectors, not_words: list[int]) -> NDArray[np.float16]:
    """The table: components times weights. It is scaled so that its largest number is 1."""
    p = 1 / np.arange(1, len(vectors) + 1)
    weights = A / (A + p / p.sum())
    weights[not_words] = 0
    with threadpool_limits(1):  # the same sums whatever the number of threads
        table = _components(vectors.astype(np.float64)) * weights[:, np.newaxis]
    largest = np.abs(table).max(initial=0)
    if not 0 < largest < np.inf:
        raise InputError(
            "no static table can be made of weights whose tokens all have the same vector"
        )
    return (table / largest).astype("<f2")


def _components(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first principal components of rows; the largest loading of each is positive, so that
    its sign is fixed.
    """
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :DIMENSION]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return centred @ (axes * signs)
