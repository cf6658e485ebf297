"""Encoders of sentence-transformers, model2vec and fastembed, where these are installed.

They read models that are on this machine. With SHORTLIST_DOWNLOAD=yes in the environment they
download what is missing. Prompts are those that the settings of the model ask for.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.encoders.fingerprint import FINGERPRINT_TEXTS
from shortlist.encoders.network import Vectors
from shortlist.errors import InputError

DOWNLOAD = "SHORTLIST_DOWNLOAD"
MOST_LETTERS_OF_PROBLEM = 300


def may_download() -> bool:
    """Whether the user has told the libraries to download models."""
    return os.environ.get(DOWNLOAD) == "yes"


def library_of(name: str) -> str | None:
    """The library that the name of an encoder begins with, such as model2vec:NAME."""
    library, colon, model = name.partition(":")
    return library if colon and model and library in LIBRARY_ENCODERS else None


def open_library(name: str, threads: int | None) -> tuple[LibraryEncoder, dict[str, Any]]:
    """The encoder of a library, and what its vectors depend on."""
    library, _, model = name.partition(":")
    if find_spec(library.replace("-", "_")) is None:
        raise InputError(f"the encoder {name} needs {library}: pip install {library}")
    settings = {"library": library, "version": metadata.version(library), "model": model}
    return LIBRARY_ENCODERS[library](name, model, threads), settings


class LibraryEncoder(ABC):
    """A model that another library runs."""

    is_slow = True
    device = "processor"

    def __init__(self, name: str, model: str, threads: int | None) -> None:
        self._name = name
        self._lock = threading.Lock()  # the libraries promise nothing to several threads
        with self._refusing("cannot be opened"):
            self.open(model, threads)
        self.dimension = self.vectors([FINGERPRINT_TEXTS[0]]).shape[1]

    @abstractmethod
    def open(self, model: str, threads: int | None) -> None:
        """Open the model of that name."""

    @abstractmethod
    def encode(self, texts: list[str]) -> Any:
        """A vector for each text."""

    def vectors(self, texts: list[str]) -> Vectors:
        """A vector for each text."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock, self._refusing("cannot encode a text"):
            made = np.asarray(self.encode(texts), dtype=np.float32)
            if made.ndim != 2 or len(made) != len(texts) or not made.size:
                raise ValueError(f"it makes {list(made.shape)} of {len(texts)} texts, not vectors")
            if not np.isfinite(made).all():
                raise ValueError("it makes numbers that are not finite")
        return made

    @contextmanager
    def _refusing(self, what: str) -> Iterator[None]:
        """Turn any error of the library into one sentence."""
        try:
            yield
        except Exception as problem:
            reason = " ".join(str(problem).split())[:MOST_LETTERS_OF_PROBLEM].rstrip(".")
            reason = reason or type(problem).__name__
            hint = "" if may_download() else f", or set {DOWNLOAD}=yes to let it download"
            raise InputError(
                f"the encoder {self._name} {what}: {reason}; name a model that is here{hint}"
            ) from None


class SentenceTransformers(LibraryEncoder):
    """Any model of sentence-transformers, with PyTorch, on a GPU if there is one."""

    def open(self, model: str, threads: int | None) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(
            model, local_files_only=not may_download(), trust_remote_code=False
        )
        if str(self._model.device) != "cpu":
            self.device = f"GPU ({self._model.device})"

    def encode(self, texts: list[str]) -> Any:
        return self._model.encode(texts, convert_to_numpy=True, show_progress_bar=False)


class Model2Vec(LibraryEncoder):
    """A static model of model2vec."""

    is_slow = False

    def open(self, model: str, threads: int | None) -> None:
        from model2vec import StaticModel

        if not Path(model).is_dir():
            from huggingface_hub import snapshot_download

            model = snapshot_download(model, local_files_only=not may_download())
        self._model = StaticModel.from_pretrained(model)

    def encode(self, texts: list[str]) -> Any:
        return self._model.encode(texts)


class FastEmbed(LibraryEncoder):
    """A model that fastembed knows, run by onnxruntime."""

    def open(self, model: str, threads: int | None) -> None:
        from fastembed import TextEmbedding

        self._model = TextEmbedding(model, threads=threads, local_files_only=not may_download())

    def encode(self, texts: list[str]) -> Any:
        return list(self._model.embed(texts))


LIBRARY_ENCODERS: dict[str, Callable[[str, str, int | None], LibraryEncoder]] = {
    "sentence-transformers": SentenceTransformers,
    "model2vec": Model2Vec,
    "fastembed": FastEmbed,
}
