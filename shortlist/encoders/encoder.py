"""Encoders: a name, an identity, and a call from texts to vectors of unit length."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from shortlist.encoders.endpoint import (
    EncoderChanged,
    endpoint_of,
    is_endpoint,
    name_of_endpoint,
)
from shortlist.encoders.finding import find, sha256
from shortlist.encoders.fingerprint import FINGERPRINT_TEXTS, agree, fingerprint_of, is_fingerprint
from shortlist.encoders.libraries import library_of, open_library
from shortlist.encoders.network import Network, Vectors
from shortlist.encoders.static_tables import (
    MOST_COMPONENTS,
    TABLE_VERSION,
    StaticTable,
    StoredTable,
)
from shortlist.encoders.universal import Universal
from shortlist.encoders.vector_cache import VectorCache, cache_folder
from shortlist.errors import InputError, installing

MEMORY = 64 * 2**20  # bytes of vectors that are remembered
OVERHEAD = 256  # bytes of a vector in memory, beside its numbers

STATIC = ":static"  # after a name: the table that is made from these weights
NETWORKS = {"bert": Network, "onnx": Network, "universal": Universal}
PACKAGES = ("onnxruntime", "onnx", "tokenizers")


class Engine(Protocol):
    """What makes the vectors of an encoder; they need not have unit length yet."""

    device: str
    is_slow: bool  # whether vectors are worth a cache on disk

    @property
    def dimension(self) -> int: ...

    def vectors(self, texts: list[str]) -> Vectors: ...


class Encoder:
    """Texts to vectors: float32, of unit length, a row for each text.

    It is called with a sequence of texts, by any number of threads at the same time. With weights
    in files, the vector of a text depends on this text alone, to the last bit: not on the texts
    beside it, their order, or the number of threads. On another processor or with another version
    of onnxruntime, the last digits may differ. A static table gives zeros for a text without a
    known token. Endpoints and libraries promise less.

    Attributes
    ----------
    name : str
        What a model file keeps: the name that ``load_encoder`` was given, without an address.
    digest : str
        ``sha256:`` and the digest of the weights, the tokenizer and the settings: encoders of the
        same digest make the same vectors, wherever their files are. For endpoints and libraries a
        fingerprint, ``vectors:…``, of the vectors of three fixed texts.
    dimension : int
        How many numbers a vector has.
    device : str
        Where it runs: ``processor``, ``GPU (CUDA)``, or ``endpoint``.
    settings : dict
        What the digest was made from, for JSON.
    """

    def __init__(
        self, name: str, settings: dict[str, Any], engine: Engine, digest: str | None = None
    ) -> None:
        self.name = name
        self.settings = settings
        self.dimension = engine.dimension
        self.device = engine.device
        self._engine = engine
        if digest is None:
            digest = fingerprint_of(_of_unit_length(engine.vectors(list(FINGERPRINT_TEXTS))))
        self.digest = digest
        self._most_remembered = MEMORY // (4 * self.dimension + OVERHEAD)
        # the vectors of the latest texts, the oldest first
        self._remembered: dict[bytes, Vectors] = {}
        self._lock = threading.Lock()
        self._cache: VectorCache | None = None
        folder = cache_folder()
        if engine.is_slow and folder is not None:
            file_name = json.dumps([name, settings], sort_keys=True)
            if not is_fingerprint(digest):
                file_name = f"{digest} {engine.device} {_version_of_onnxruntime()}"
            self._cache = VectorCache(folder, file_name, digest, self.dimension)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text."""
        checked = _as_texts(texts)
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in checked]
        with self._lock:
            rows = {key: self._remembered[key] for key in keys if key in self._remembered}
        new = {key: text for key, text in zip(keys, checked, strict=True) if key not in rows}
        if new:
            vectors = self._vectors_of(new)
            self._remember(vectors)
            rows |= vectors
        matrix = np.array([rows[key] for key in keys], dtype=np.float32)
        return matrix.reshape(len(keys), self.dimension)

    def characters_read(self, text: str) -> int:
        """How many characters of a text its vector is made of: all, unless a network cuts off the
        rest. What endpoints and libraries cut off is not known.
        """
        if isinstance(self._engine, Network):
            return self._engine.characters_read(text)
        return len(text)

    def _vectors_of(self, texts: dict[bytes, str]) -> dict[bytes, Vectors]:
        """The vectors of texts that are not remembered, from the cache or the engine."""
        rows = {}
        if self._cache is not None:
            rows = self._cache.find(list(texts))
        missing = [key for key in texts if key not in rows]
        if missing:
            made = _of_unit_length(self._engine.vectors([texts[key] for key in missing]))
            if self._cache is not None:
                self._cache.add(missing, made)
            rows |= zip(missing, made, strict=True)
        return rows

    def _remember(self, rows: dict[bytes, Vectors]) -> None:
        latest = list(rows.items())[-self._most_remembered :]
        with self._lock:
            for key, row in latest:
                self._remembered[key] = row.copy()
            while len(self._remembered) > self._most_remembered:
                del self._remembered[next(iter(self._remembered))]

    def __repr__(self) -> str:
        return f"<Encoder {self.name}: {self.dimension} numbers, {self.digest[:15]}…>"

    def __deepcopy__(self, memo: object) -> Encoder:
        """Return itself: it never changes, and its weights are large."""
        return self

    def __reduce__(self) -> tuple[Callable[[str, str], Encoder], tuple[str, str]]:
        """Another process loads the encoder by its name and checks the digest."""
        return load_same, (getattr(self._engine, "source", self.name), self.digest)


def load_encoder(name: str, *, threads: int | None = None) -> Encoder:
    """Open an encoder.

    Parameters
    ----------
    name : str
        One of these:

        - a known name, such as ``"all-MiniLM-L6-v2"``;
        - a folder as sentence-transformers or model2vec lays it out, or the name of one in the
          folders that the environment variable SHORTLIST_ENCODERS names;
        - one of these with ``:static`` after it: a table of vectors for each token that is made
          from the same weights, about a hundred times as fast, and less accurate;
        - ``"http://HOST:PORT/v1#MODEL"``: an endpoint that speaks OpenAI's /v1/embeddings; or
          ``"endpoint:MODEL"`` with its address in the environment variable SHORTLIST_ENDPOINT;
        - ``"sentence-transformers:NAME"``, ``"model2vec:NAME"`` or ``"fastembed:NAME"``, where that
          library is installed.
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
    if is_endpoint(name):
        endpoint = endpoint_of(name)
        return Encoder(
            name_of_endpoint(name),
            {"endpoint": endpoint.model},
            endpoint,
            endpoint.fingerprint(),
        )
    if library_of(name) is not None:
        engine, settings = open_library(name, threads)
        return Encoder(name, settings, engine)
    return _load_from_files(name, threads)


def _load_from_files(name: str, threads: int | None) -> Encoder:
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        raise InputError(f"encoder {name} needs {', '.join(missing)}; {installing('meaning')}")
    plain = name.removesuffix(STATIC)
    source = find(plain)
    settings = source.described()
    engine: Engine
    if source.settings.network == "static":
        if plain != name:
            raise InputError(f"{plain} is a static table already: name it without {STATIC}")
        engine = StoredTable(source)
        return Encoder(name, settings, engine, digest_of(settings))
    network = NETWORKS[source.settings.network]
    if plain == name:
        engine = network(source, threads)
        return Encoder(name, settings, engine, digest_of(settings))
    settings |= {"static": TABLE_VERSION, "components": MOST_COMPONENTS}
    engine = StaticTable(network, source, digest_of(settings), threads)
    return Encoder(name, settings, engine, digest_of(settings))


def load_same(name: str, digest: str) -> Encoder:
    """Open an encoder, and refuse it if it is not the one of the digest or fingerprint."""
    encoder = load_encoder(name)
    check_same(encoder, digest)
    return encoder


def check_same(encoder: Encoder, digest: str) -> None:
    """Refuse an encoder that is not the one of the digest or fingerprint."""
    if agree(encoder.digest, digest):
        return
    if is_fingerprint(digest):
        raise EncoderChanged(
            f"the encoder {encoder.name} is not the one that was used before: it gives other "
            "vectors for the same texts; bring back the model of that time, or train again"
        )
    raise InputError(
        f"the encoder {encoder.name} is not the one that was used before (its digest is "
        f"{encoder.digest}, not {digest}): "
        "bring back its files, or train again"
    )


def digest_of(settings: dict[str, Any]) -> str:
    return "sha256:" + sha256(json.dumps(settings, sort_keys=True).encode())


def _version_of_onnxruntime() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("onnxruntime")
    except PackageNotFoundError:  # onnxruntime-gpu
        import onnxruntime

        return str(onnxruntime.__version__)


def _as_texts(texts: Sequence[str]) -> list[str]:
    """Check texts; half of a surrogate pair, which tokenizers refuse, becomes a question mark."""
    if isinstance(texts, str):
        raise InputError("an encoder takes a list of texts, not one text: put it in a list")
    checked = []
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"texts[{place}] must be a text, not {type(text).__name__}")
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
        checked.append(text)
    return checked


def _of_unit_length(vectors: Vectors) -> Vectors:
    """The vectors, each divided by its length; zeros stay as they are."""
    lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1, keepdims=True))
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
