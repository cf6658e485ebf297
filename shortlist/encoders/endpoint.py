"""Vectors from an endpoint that speaks OpenAI's /v1/embeddings: text-embeddings-inference, vLLM,
Ollama, llama.cpp, a cloud, or ``shortlist encode --serve``.

    SHORTLIST_ENDPOINT           the address, such as http://localhost:8080/v1
    SHORTLIST_ENDPOINT_KEY       a key, if the endpoint asks for one
    SHORTLIST_ENDPOINT_KEY_FILE  or the file that holds it

A model file has the name of the endpoint's model and a fingerprint, never the address or the key.
Every answer is checked. An endpoint that does not answer is asked again after growing pauses;
redirects are not followed, so that a key reaches one server only.

Python's http.client is enough for this, so that no package is needed; it uses no proxy.
"""

from __future__ import annotations

import json
import os
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import numpy as np
from numpy.typing import NDArray

from shortlist.concurrency import by_threads
from shortlist.encoders.fingerprint import FINGERPRINT_TEXTS, agree, fingerprint_of
from shortlist.encoders.http_client import HttpClient
from shortlist.errors import InputError, counted

ENDPOINT = "endpoint:"  # before the name of its model
ADDRESS_VARIABLE = "SHORTLIST_ENDPOINT"
KEY_VARIABLE = "SHORTLIST_ENDPOINT_KEY"
KEY_FILE_VARIABLE = "SHORTLIST_ENDPOINT_KEY_FILE"
SCHEMES = ("http://", "https://")

TEXTS_IN_REQUEST = 32  # what text-embeddings-inference takes, if nobody has told it otherwise
LETTERS_IN_REQUEST = 200_000
REQUESTS_AT_A_TIME = 4
MOST_NUMBERS = 16_384  # of a vector
BYTES_OF_NUMBER = 32  # in JSON, at most
BYTES_BESIDE_NUMBERS = 100_000
LEAST_LETTERS = 500  # a text that is refused is cut to half as long as this is left
FIRST_PAUSE = 0.5  # seconds, doubled with each attempt
LONGEST_PAUSE = 30.0
BUSY_STATUSES = (408, 425, 429, 500, 502, 503, 504)  # statuses after which asking again may help
TOO_LARGE_STATUSES = (
    400,
    413,
    422,
)  # statuses of endpoints that refuse the length or number of texts
MOST_LETTERS_QUOTED = 200  # of what an endpoint says

Vectors = NDArray[np.float32]


class EndpointError(InputError):
    """An endpoint does not answer, or answers what cannot be used."""


class EncoderChanged(EndpointError):
    """The model behind a name is not the one that was used before."""


class _Busy(EndpointError):
    """Asking again may help, after some seconds."""

    def __init__(self, sentence: str, pause: float = 0.0) -> None:
        super().__init__(sentence)
        self.pause = pause


class _TooLarge(EndpointError):
    """Fewer or shorter texts may be taken."""


@dataclass(frozen=True)
class Patience:
    """How long an endpoint is waited for."""

    seconds: float = 120.0  # for one answer
    retries: int = 6
    rest: float = 0.0  # seconds after a failure in which it is not asked at all


OF_A_SERVER = Patience(seconds=5.0, retries=0, rest=15.0)
_patience = Patience()


def set_patience(patience: Patience) -> None:
    """Set how long this process waits for endpoints; a server cannot wait as a command can."""
    global _patience
    _patience = patience


def is_endpoint(name: str) -> bool:
    return name.startswith((ENDPOINT, *SCHEMES))


def name_of_endpoint(name: str) -> str:
    """The name without an address: ``endpoint:`` and the model."""
    return name if name.startswith(ENDPOINT) else ENDPOINT + urlsplit(name).fragment


def endpoint_of(name: str) -> Endpoint:
    """The endpoint of ``http://HOST:PORT/v1#MODEL`` or ``endpoint:MODEL``, made once."""
    address, _, model = name.partition("#")
    if name.startswith(ENDPOINT):
        address = os.environ.get(ADDRESS_VARIABLE, "")
        model = name.removeprefix(ENDPOINT)
        if not address:
            raise EndpointError(
                f"the encoder {name} is an endpoint whose address is not known here: set "
                f"{ADDRESS_VARIABLE} to it, such as http://localhost:8080/v1"
            )
    if not model:
        raise InputError(
            f"the endpoint {address} needs the name of its model: --encoder-model NAME, or "
            f"{address}#NAME in Python"
        )
    return _endpoint(address, model, read_key())


@cache
def _endpoint(address: str, model: str, key: str | None) -> Endpoint:
    return Endpoint(address, model, key)


def read_key() -> str | None:
    """The key, from the environment or from the file that it names."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    file = os.environ.get(KEY_FILE_VARIABLE)
    if not key and file:
        try:
            key = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            raise InputError(
                f"cannot read the key in {file}, which {KEY_FILE_VARIABLE} names"
            ) from None
    if not key.isascii() or not key.isprintable():
        raise InputError("the key of the endpoint must be one line of plain characters")
    return key or None


class Endpoint:
    """A client of one model behind one address; any number of threads may use it."""

    is_slow = True
    device = "endpoint"

    def __init__(self, address: str, model: str, key: str | None) -> None:
        self.model = model
        self.source = f"{address}#{model}"  # how another process finds it
        parts = check_address(address)
        self._where = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self._key = key
        self._client = HttpClient(parts, "/embeddings", key)
        self._texts_in_request = TEXTS_IN_REQUEST
        self._lock = threading.Lock()
        self._fingerprint: str | None = None
        self._has_failed = False  # since the fingerprint was last compared
        self._resting_until = 0.0
        self._sentence = ""  # of the last failure

    @property
    def dimension(self) -> int:
        return int(self.fingerprint().split(":")[1])

    def fingerprint(self) -> str:
        """The fingerprint of the model, from its vectors of three fixed texts."""
        with self._lock:
            known = self._fingerprint
            if known is not None and not self._has_failed:
                return known
        vectors = self._guarded(list(FINGERPRINT_TEXTS))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not lengths.all():
            raise EndpointError(f"{self._where} gives vectors of zeros: use another model")
        now = fingerprint_of((vectors / lengths).astype(np.float32))
        if known is not None and not agree(known, now):
            raise EncoderChanged(
                f"{self._where} gives other vectors for {self.model} than before: bring back the "
                "model of that time, or start again with the new one"
            )
        with self._lock:
            self._fingerprint = known or now
            self._has_failed = False
        return self._fingerprint

    def vectors(self, texts: list[str]) -> Vectors:
        """A vector for each text; zeros for an empty one, which most endpoints refuse."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        places = [place for place, text in enumerate(texts) if text.strip()]
        answered = self._guarded([texts[place] for place in places])
        if answered.shape[1] != self.dimension:
            raise EndpointError(
                f"{self._where} gives vectors of {counted(answered.shape[1], 'numbers')}, and gave "
                f"{self.dimension} before: start it with the model of that time"
            )
        vectors[places] = answered
        return vectors

    def _guarded(self, texts: list[str]) -> Vectors:
        """The vectors of texts; after a failure the endpoint is left alone for some time."""
        with self._lock:
            if time.monotonic() < self._resting_until:
                raise EndpointError(self._sentence)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        try:
            parts = list(by_threads(self._patiently, self._requests(texts), REQUESTS_AT_A_TIME))
            return np.concatenate(parts)
        except EndpointError as problem:
            with self._lock:
                self._has_failed = True
                self._resting_until = time.monotonic() + _patience.rest
                self._sentence = str(problem)
            raise EndpointError(str(problem)) from None
        except ValueError:
            raise EndpointError(
                f"{self._where} gives vectors of different lengths: use another model"
            ) from None

    def _requests(self, texts: list[str]) -> Iterator[list[str]]:
        """Texts, as many at a time as one request may hold."""
        batch: list[str] = []
        letters = 0
        for text in texts:
            letters += len(text)
            if batch and (len(batch) >= self._texts_in_request or letters > LETTERS_IN_REQUEST):
                yield batch
                batch = []
                letters = len(text)
            batch.append(text)
        if batch:
            yield batch

    def _patiently(self, texts: list[str]) -> Vectors:
        """The vectors of the texts of a request, which is repeated while the endpoint is busy."""
        for attempt in range(_patience.retries):
            try:
                return self._in_parts(texts)
            except _Busy as problem:
                growing = FIRST_PAUSE * 2**attempt
                time.sleep(min(max(growing, problem.pause), LONGEST_PAUSE))
        return self._in_parts(texts)

    def _in_parts(self, texts: list[str]) -> Vectors:
        """The vectors of texts, asked for in parts if they are too many or too long together."""
        try:
            return self._ask(texts)
        except _TooLarge:
            middle = len(texts) // 2
            if middle:
                self._texts_in_request = max(1, min(self._texts_in_request, middle))
                parts = [self._in_parts(texts[:middle]), self._in_parts(texts[middle:])]
                return np.concatenate(parts)
            letters = len(texts[0]) // 2
            if letters < LEAST_LETTERS:
                raise
            return self._in_parts([texts[0][:letters]])

    def _ask(self, texts: list[str]) -> Vectors:
        """One request and its answer, checked."""
        question = {"model": self.model, "input": texts, "encoding_format": "float"}
        body = json.dumps(question).encode()
        most_bytes = BYTES_BESIDE_NUMBERS + len(texts) * MOST_NUMBERS * BYTES_OF_NUMBER
        try:
            status, headers, content = self._client.post(body, most_bytes, _patience.seconds)
        except (OSError, HTTPException) as problem:
            raise self._no_answer(problem) from None
        if status != 200:
            raise self._refusal(status, headers, content)
        return self._checked(content, len(texts))

    def _refusal(self, status: int, headers: dict[str, str], content: bytes) -> EndpointError:
        """The error of a status other than 200."""
        quotation = self._quotation(content)
        if status in BUSY_STATUSES:
            pause = headers.get("retry-after", "")
            seconds = float(pause) if pause.isdecimal() and len(pause) < 9 else 0.0
            return _Busy(
                f"{self._where} is busy or failing (status {status}{quotation}): wait, or look at "
                "its log",
                seconds,
            )
        if status in TOO_LARGE_STATUSES:
            return _TooLarge(f"{self._where} refuses texts (status {status}{quotation})")
        if status in (401, 403):
            return EndpointError(
                f"{self._where} asks for a key (status {status}): set {KEY_VARIABLE}, or "
                f"{KEY_FILE_VARIABLE} to the file that holds it"
            )
        return EndpointError(
            f"{self._where} has no embeddings of {self.model} (status {status}{quotation}): check "
            "the address, which ends in /v1, and the name of the model"
        )

    def _quotation(self, content: bytes) -> str:
        """What an endpoint says of its refusal, without the key; nothing if that is not JSON."""
        try:
            error = json.loads(content)["error"]
            message = str(error["message"] if isinstance(error, dict) else error)
        except (KeyError, RecursionError, TypeError, ValueError):
            return ""
        if self._key:
            message = message.replace(self._key, "…")
        return f": {' '.join(message.split())[:MOST_LETTERS_QUOTED]}"

    def _checked(self, content: bytes, n: int) -> Vectors:
        """The vectors of an answer for n texts."""
        try:
            data = json.loads(content)["data"]
            by_place = {entry["index"]: entry["embedding"] for entry in data}
            rows = [by_place[place] for place in range(n)]
            is_whole = len(by_place) == len(data) == n
        except (KeyError, RecursionError, TypeError, ValueError):
            is_whole = False
        if not is_whole:
            raise EndpointError(
                f"{self._where} does not answer as /v1/embeddings should, with a vector for each "
                f"of {counted(n, 'texts')}: check the address"
            )
        try:
            numbers = np.array(rows)
        except (OverflowError, TypeError, ValueError):
            numbers = np.zeros(0)
        if numbers.dtype.kind not in "fi" or numbers.ndim != 2 or not numbers.size:
            raise EndpointError(
                f"{self._where} gives vectors that are not numbers, as many for each text: use "
                "another model"
            )
        with np.errstate(over="ignore"):
            vectors = numbers.astype(np.float32)
        if not np.isfinite(vectors).all():
            raise EndpointError(
                f"{self._where} gives numbers that are not finite: use another model"
            )
        return vectors

    def _no_answer(self, problem: Exception) -> EndpointError:
        if isinstance(problem, TimeoutError):
            return _Busy(
                f"{self._where} does not answer within {_patience.seconds:g} s: see whether it is "
                "overloaded"
            )
        if isinstance(problem, ssl.SSLCertVerificationError):
            return EndpointError(
                f"{self._where} cannot be trusted: {problem.verify_message}; name the address of "
                "its certificate"
            )
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        return _Busy(
            f"{self._where} cannot be asked ({' '.join(reason.split())[:MOST_LETTERS_QUOTED]}): "
            "start it, or correct its address"
        )


def check_address(address: str) -> SplitResult:
    """The parts of the address of an endpoint."""
    try:
        parts = urlsplit(address)
        is_whole = f"{parts.scheme}://" in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or not address.isascii() or not address.isprintable() or " " in address:
        raise InputError(
            f"the address of an endpoint is such as http://localhost:8080/v1, not {address!r}"
        )
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"the address of an endpoint takes no name and password: set {KEY_VARIABLE}, or "
            f"{KEY_FILE_VARIABLE} to the file that holds the key"
        )
    return parts
