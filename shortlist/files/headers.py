"""What a model file says of its model without its arrays, which may be large."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from shortlist.errors import ModelFileError
from shortlist.files import container
from shortlist.files.container import NoContainer
from shortlist.files.store import DAMAGE, KEY, _header

Answer = TypeVar("Answer")


def learned_examples(path: str | os.PathLike[str]) -> int:
    """How many examples the model in a file has learned, by its header; the rest of the file is not looked at."""
    return _asked(path, _most_examples)


def kind_of(path: str | os.PathLike[str]) -> str:
    """The class of the model in a file, by its header."""
    return _asked(path, lambda header: str(header["kind"]))


def _asked(path: str | os.PathLike[str], question: Callable[[dict[str, Any]], Answer]) -> Answer:
    try:
        with container.opened(path) as found:
            return question(_header(path, found.texts.get(KEY))["model"])
    except (OSError, NoContainer, *DAMAGE):
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from None


def _most_examples(header: dict[str, Any]) -> int:
    """A model keeps the number itself, or one of its parts does."""
    own = int(header["settings"].get("n_examples", 0))
    return max([own, *(_most_examples(part) for part in header["parts"].values())])
