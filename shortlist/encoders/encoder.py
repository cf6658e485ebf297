"""The encoder that people use: a name, a digest, and a call from texts to vectors of unit length."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from shortlist.encoders.finding import find, sha256
from shortlist.encoders.network import Network, Progress, Vectors, counting
from shortlist.encoders.static import DIMENSION, VERSION, Table
from shortlist.encoders.universal import Universal
from shortlist.errors import InputError, installing

MEMORY = 64 * 2**20  # bytes of vectors that are remembered
OVERHEAD = 256  # bytes of a vector in memory, beside its numbers

STATIC = ":static"  # after a name: the table that is made from these weights
NETWORKS = {"bert": Network, "onnx": Network, "universal": Universal}
PACKAGES = ("onnxruntime", "onnx", "tokenizers")


class Encoder:
    """Texts to vectors: float32, of unit length, a row for each text.

    It is called with a sequence of texts, by any number of threads at the same time. The vector of a text depends on
    this text alone, to the last bit: not on the texts beside it, their order, or the number of threads. On another
    processor or with another version of onnxruntime, the last digits may differ. A static table gives zeros for a text
    without a known token.

    Attributes
    ----------
    name : str
        What ``load_encoder`` was given.
    digest : str
        ``sha256:`` and the digest of the weights, the tokenizer and the settings: encoders of the same digest make the
        same vectors, wherever their files are.
    dimension : int
        How many numbers a vector has.
    settings : dict
        What the digest was made from, for JSON: the digests of both files, and how they are used.
    """

    def __init__(self, name: str, settings: dict[str, Any], engine: Network | Table) -> None:
        self.name, self.settings, self.digest = name, settings, digest_of(settings)
        self.dimension = engine.dimension
        self._engine = engine
        self._remembered = _Remembered(MEMORY // (4 * self.dimension + OVERHEAD))

    def __call__(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """A row for each text. ``progress`` is told how many texts are encoded so far, and how many there are."""
        given = _as_texts(texts)
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in given]
        known = self._remembered.find(keys)
        new = {key: text for key, text in zip(keys, given, strict=True) if key not in known}
        if not new:
            return np.array([known[key] for key in keys], dtype=np.float32).reshape(len(given), self.dimension)
        made = _of_unit_length(self._engine.vectors(list(new.values()), counting(progress, len(new))))
        self._remembered.add(new, made)
        if len(new) == len(given):
            return made
        rows = known | dict(zip(new, made, strict=True))
        return np.stack([rows[key] for key in keys])

    def __repr__(self) -> str:
        return f"<Encoder {self.name}: {self.dimension} numbers, {self.digest[:15]}…>"

    def __deepcopy__(self, memo: object) -> Encoder:
        """Itself: nothing of it changes, and its weights are large."""
        return self

    def __reduce__(self) -> tuple[Callable[[str, str], Encoder], tuple[str, str]]:
        """Another process loads it by its name, and refuses another digest."""
        return load_same, (self.name, self.digest)


def load_encoder(name: str, *, threads: int | None = None, progress: Progress | None = None) -> Encoder:
    """Open an encoder.

    Parameters
    ----------
    name : str
        A known name, such as ``"all-MiniLM-L6-v2"``; a folder as sentence-transformers lays it out; or the name of one
        in the folders that the environment variable SHORTLIST_ENCODERS names. With ``:static`` after it, a table of
        vectors for each token that is made from the same weights: some hundred times as fast, and less accurate.
    threads : int, optional
        How many threads encode; as many as there are processors by default. The vectors do not depend on it.
    progress : callable, optional
        Told how many tokens are encoded so far, and how many there are, while a static table is made: once for a
        machine, about a minute.

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
    return Encoder(name, settings, Table(kind, source, digest_of(settings), threads, progress))


def load_same(name: str, digest: str, *, threads: int | None = None) -> Encoder:
    """Open an encoder, and refuse it if its weights, tokenizer or settings are not those of the digest."""
    encoder = load_encoder(name, threads=threads)
    if encoder.digest != digest:
        raise InputError(
            f"the encoder {name} is not the one that was used before (its digest is {encoder.digest}, not {digest}): "
            "bring back its files, or train again"
        )
    return encoder


def digest_of(settings: dict[str, Any]) -> str:
    return "sha256:" + sha256(json.dumps(settings, sort_keys=True).encode())


class _Remembered:
    """The vectors of the latest texts, as many as fit in the memory that they may have."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, keys: list[bytes]) -> dict[bytes, Vectors]:
        with self._lock:
            found = {key: self._rows[key] for key in keys if key in self._rows}
            for key in found:
                self._rows.move_to_end(key)
        return found

    def add(self, keys: dict[bytes, str], rows: Vectors) -> None:
        latest = list(zip(keys, rows, strict=True))[-self._most :]
        with self._lock:
            self._rows |= {key: row.copy() for key, row in latest}
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)


def _as_texts(texts: Sequence[str]) -> list[str]:
    """Check texts; half of a surrogate pair, which no tokenizer takes, becomes a question mark."""
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
