"""Model <-> one file.

A ``.shortlist`` file is a safetensors file: the arrays, and a JSON header with the format version,
the library version, the class, its settings, and a checksum of everything. It is written array by
array, and ``Later`` arrays piece by piece, so that saving takes little memory. There is no pickle:
opening a file runs no code, and each class checks its state before the kernels trust it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import ModelFileError, ShortlistError
from shortlist.files import container
from shortlist.files.container import (
    DTYPE_NAMES,
    Array,
    Checksum,
    Later,
    NoContainer,
    array_to_text,
)
from shortlist.files.container import of_arrays as _checksum
from shortlist.files.drafts import whole_file
from shortlist.public_names import VERSION, storable

ArrayScalar = TypeVar("ArrayScalar", bound=np.generic)
LoadedModel = TypeVar("LoadedModel")

FORMAT_VERSION = 1
METADATA_KEY = "shortlist"
# The errors that a damaged file can cause; a damaged number may ask for any amount of memory.
DAMAGE_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass
class State:
    """A model as data: its class, its settings as JSON, its arrays, and the states of its parts."""

    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Array | Later] = field(default_factory=dict)
    parts: dict[str, State] = field(default_factory=dict)
    # makes smaller arrays of the same content
    compact: Callable[[], Mapping[str, Array]] | None = None

    def compacted(self) -> State:
        """Return the same state with smaller arrays."""
        parts = {name: part.compacted() for name, part in self.parts.items()}
        arrays = self.compact() if self.compact else self.arrays
        return State(self.kind, self.settings, arrays, parts)

    def header(self) -> dict[str, Any]:
        """Return the part of a file's JSON header that describes this state."""
        return {
            "kind": self.kind,
            "settings": self.settings,
            "parts": {name: part.header() for name, part in self.parts.items()},
        }

    def all_arrays(self) -> dict[str, Array]:
        return {name: np.ascontiguousarray(array) for name, array in self.named_arrays().items()}

    def named_arrays(self, prefix: str = "") -> dict[str, Array | Later]:
        """Return all arrays under their names in the file; some are made later, some are not
        contiguous.
        """
        arrays = {prefix + name: array for name, array in self.arrays.items()}
        for name, part in self.parts.items():
            arrays |= part.named_arrays(f"{prefix}{name}/")
        return arrays

    def copied(self) -> State:
        """Return the same state with copies of its arrays."""
        arrays = {name: np.array(array) for name, array in self.arrays.items()}
        parts = {name: part.copied() for name, part in self.parts.items()}
        return State(self.kind, self.settings, arrays, parts)

    @classmethod
    def join(cls, header: dict[str, Any], arrays: Mapping[str, Array]) -> State:
        """Return the state of a header and arrays; the inverse of ``header`` and ``all_arrays``."""
        parts = {}
        for name, inner in header["parts"].items():
            prefix = f"{name}/"
            names = [key for key in arrays if key.startswith(prefix)]
            parts[name] = cls.join(inner, {key.removeprefix(prefix): arrays[key] for key in names})
        own_arrays = {name: array for name, array in arrays.items() if "/" not in name}
        return cls(header["kind"], header["settings"], own_arrays, parts)

    def array(self, name: str, dtype: type[ArrayScalar], ndim: int = 1) -> NDArray[ArrayScalar]:
        """Return the array of that name; refuse another type or number of dimensions."""
        if name not in self.arrays:
            raise ModelFileError(f"the model file has no array {name!r} for its {self.kind}")
        array: NDArray[Any] = np.asarray(self.arrays[name])
        if array.dtype != np.dtype(dtype) or array.ndim != ndim:
            raise ModelFileError(
                f"array {name!r} of the {self.kind} in the model file is "
                f"{array.dtype}[{array.ndim}-d], not {np.dtype(dtype)}[{ndim}-d]"
            )
        return array

    def offsets(self, name: str, n_lists: int, n_entries: int) -> NDArray[np.int64]:
        """Return the array of where each list begins among all entries, and where the last one
        ends; checked.

        SciPy's check of a sparse matrix accepts a negative number of entries.
        """
        offsets = self.array(name, np.int64)
        # bounds first: differences of numbers outside of them might overflow
        is_bounded = offsets.size == n_lists + 1 and offsets.min() == offsets[0] == 0
        is_bounded = is_bounded and offsets.max() == offsets[-1] == n_entries
        is_good = is_bounded and bool((np.diff(offsets) >= 0).all())
        self.require(is_good, f"{name} ascend from 0 to the number of entries")
        return offsets

    def names(self, name: str) -> list[Any]:
        """Return the labels or other names in the array of that name, each a text or a number."""
        names = array_to_text(self.array(name, np.uint8))
        is_good = {type(value) for value in names} <= {str, int, float, bool}
        is_good = is_good and all(value == value for value in names)  # NaN does not equal itself
        self.require(is_good, f"{name} are texts and numbers")
        return names

    def require(self, condition: bool | np.bool_, sentence: str) -> None:
        """Refuse the file unless the condition holds; the sentence says which."""
        if not condition:
            raise ModelFileError(f"the {self.kind} in the model file is damaged: {sentence}")


class Storable(Protocol):
    """What a class needs to be saved and loaded."""

    def to_state(self) -> State: ...

    @classmethod
    def from_state(cls, state: State) -> Self: ...


def save(model: Storable, path: str | os.PathLike[str], *, compact: bool = False) -> None:
    """Write a model to one file. A file of that name is replaced only once the new one is whole
    and on disk.
    """
    write(model.to_state(), path, compact=compact)


def save_learner(self: Storable, path: str | os.PathLike[str], *, compact: bool = False) -> None:
    """Write the learner to one file; ``shortlist.load`` opens it. ``compact``: see
    Categorizer.save.
    """
    save(self, path, compact=compact)


def write(state: State, path: str | os.PathLike[str], *, compact: bool = False) -> None:
    """Write a state to one file, as ``save`` does."""
    target = Path(os.path.realpath(path))  # where it is a link, the file that it leads to
    if target.exists() and not target.is_file():
        raise ModelFileError(f"cannot write {path}: it is not a regular file; name another one")
    header: dict[str, Any] = {"format": FORMAT_VERSION, "library": VERSION, "model": state.header()}
    if compact:
        arrays, notes = container.packed(state.compacted().named_arrays())
        header["packed"] = notes
    else:
        arrays = state.named_arrays()
    try:
        with whole_file(target) as file:
            _write_arrays(file, header, arrays)
    except OSError as problem:
        raise ModelFileError(
            f"cannot write {path}: {problem.strerror}; nothing was changed"
        ) from None


def _write_arrays(file: BinaryIO, header: dict[str, Any], arrays: dict[str, Array | Later]) -> None:
    """Write a safetensors file, byte for byte as the library does, but make each array only when it
    is written.

    The checksum is known last: the header is written again at the end.
    """
    start = 0
    layout = {}
    dtypes = list(DTYPE_NAMES)
    for name in sorted(arrays, key=lambda name: (dtypes.index(arrays[name].dtype), name)):
        dtype = arrays[name].dtype
        shape = list(arrays[name].shape)
        end = start + dtype.itemsize * math.prod(shape)
        layout[name] = {"dtype": DTYPE_NAMES[dtype], "shape": shape, "data_offsets": [start, end]}
        start = end

    def write_header(checksum: str) -> None:
        metadata = {METADATA_KEY: json.dumps(header | {"checksum": checksum})}
        content = {"__metadata__": metadata} | layout
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        file.seek(0)
        file.write(len(text).to_bytes(8, "little") + text)

    digest = Checksum(_described(header))
    write_header(digest.hex())
    data = file.tell()
    for name in sorted(arrays):
        file.seek(data + layout[name]["data_offsets"][0])
        for piece in digest.pieces(name, arrays[name]):
            file.write(piece)
    write_header(digest.hex())


@overload
def load(
    path: str | os.PathLike[str], also: Iterable[type[Storable]] = (), *, kind: None = None
) -> Any: ...
@overload
def load(
    path: str | os.PathLike[str], also: Iterable[type[Storable]] = (), *, kind: type[LoadedModel]
) -> LoadedModel: ...
def load(
    path: str | os.PathLike[str], also: Iterable[type[Storable]] = (), *, kind: type | None = None
) -> object:
    """Open a model file: a Categorizer, a Rater, a DocumentRanker or a learner.

    A file makes instances of shortlist's classes only, and runs no code.

    Parameters
    ----------
    path : path
        The file.
    also : iterable of classes
        Other classes that the file may hold.
    kind : class, optional
        The class that the file has to hold; a model of another class is refused.

    Returns
    -------
    model
        As it was when it was saved.

    Examples
    --------
    >>> from shortlist import PRank, load
    >>> PRank().fit([[-1.0], [1.0]], [1, 2]).save("rater.shortlist")
    >>> load("rater.shortlist").predict([[3.0]])
    array([2])
    """
    state, check = _opened(path)
    try:
        model = build(state, also)  # checks everything, and changes nothing of the state
    except (ModelFileError, *DAMAGE_ERRORS) as problem:
        check()
        if isinstance(problem, ModelFileError):
            raise
        raise _damaged(path, problem) from None
    check()
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(f"{path} holds a {state.kind}, not a {kind.__name__}")
    return model


def read(path: str | os.PathLike[str]) -> State:
    """Read the state in a file, and check its checksum. No model is made."""
    state, check = _opened(path)
    check()
    return state


def _opened(path: str | os.PathLike[str]) -> tuple[State, Callable[[], None]]:
    """Read the state in a file; return it with a function that refuses it if its checksum is wrong.

    The checksum is computed in the background.
    """
    try:
        header, arrays = _read(path)
        stated = header["checksum"]
        pool = ThreadPoolExecutor(1)
        computed = pool.submit(_checksum, _described(header), arrays)
        pool.shutdown(wait=False)
        unpacked = container.unpack(arrays, header.get("packed", {}))
        state = State.join(header["model"], arrays | unpacked)
    except ModelFileError:
        raise
    except OSError as problem:
        raise ModelFileError(f"cannot read {path}: {problem.strerror or problem}") from None
    except container.NotPacked:
        raise ModelFileError(f"{path} is damaged: an array in it cannot be unpacked") from None
    except DAMAGE_ERRORS as problem:
        raise _damaged(path, problem) from None

    def check() -> None:
        try:
            is_right = stated == computed.result()
        except DAMAGE_ERRORS as problem:
            raise _damaged(path, problem) from None
        if not is_right:
            raise ModelFileError(f"{path} is damaged: its contents do not match its checksum")

    return state, check


def _damaged(path: str | os.PathLike[str], problem: Exception) -> ModelFileError:
    reason = problem if isinstance(problem, ShortlistError) else repr(problem)
    return ModelFileError(f"{path} is damaged: {reason}")


def build(state: State, also: Iterable[type[Storable]] = ()) -> Any:
    """Make the model of a state."""
    extra = {kind.__name__: kind for kind in also}
    kind = extra.get(state.kind) or storable(state.kind)
    if not hasattr(kind, "from_state"):
        raise ModelFileError(
            f"the model file holds a {state.kind!r}, which this version of shortlist does not know"
        )
    return kind.from_state(state)


def build_all(states: Iterable[State]) -> list[Any]:
    """Make the models of several states in parallel; the first error is raised."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(build, states))


def is_model_file(path: Path) -> bool:
    """Whether a file begins as a model file does: the length of a JSON header, and a header
    that names shortlist.
    """
    with open(path, "rb") as file:
        start = file.read(512)
    return start[8:9] == b"{" and f'"{METADATA_KEY}"'.encode() in start


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file."""
    try:
        with container.opened(path) as file:
            return _header(path, file.texts.get(METADATA_KEY)), file.arrays()
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file {path}") from None
    except NoContainer:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ModelFileError(
                f"cannot read {path}: it is not a regular file; name the model file itself"
            ) from None
        raise ModelFileError(f"{path} is not a model file, or a part of it is missing") from None


def _header(path: str | os.PathLike[str], text: Any) -> dict[str, Any]:
    """Return the header; refuse one that this version of the library cannot read."""
    if text is None:
        raise ModelFileError(f"{path} was not written by shortlist")
    try:
        header: dict[str, Any] = json.loads(text)
        version = header["format"]
    except DAMAGE_ERRORS:
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from None
    if version != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {version!r}; this version of shortlist reads "
            f"{FORMAT_VERSION}: upgrade shortlist"
        )
    return header


def _described(header: dict[str, Any]) -> Any:
    """Return the part of a header that the checksum covers."""
    packed = {"packed": header["packed"]} if "packed" in header else {}
    return header["model"] | packed


def checksum(state: State) -> str:
    """Return a digest of everything in a state."""
    return _checksum(state.header(), state.named_arrays())


def learned_examples(path: str | os.PathLike[str]) -> int:
    """Return how many examples the model in a file has learned. Only the header is read."""
    try:
        with container.opened(path) as file:
            return _most_examples(_header(path, file.texts.get(METADATA_KEY))["model"])
    except (OSError, NoContainer, *DAMAGE_ERRORS):
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from None


def _most_examples(header: dict[str, Any]) -> int:
    """Return the number that a model, or one of its parts, keeps."""
    counts = [_most_examples(part) for part in header["parts"].values()]
    return max([int(header["settings"].get("n_examples", 0)), *counts])
