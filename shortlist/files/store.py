"""Model <-> one file.

A ``.shortlist`` file is a safetensors file: the arrays, and a JSON header with the format version, the library version,
the class, its settings, and a checksum of everything. It is written array by array, and what is ``Later`` piece by
piece: saving takes little memory, where the library would hold all arrays. It is read array by array too, into memory
of the process's own: what is mapped could be overwritten or cut short under the kernels. There is no pickle: opening a
file can run no code, and what the kernels will trust is checked by each class as it takes its state.
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
from shortlist.files import container, packing
from shortlist.files.container import NAMES, Array, Checksum, Later, NoContainer, array_to_text
from shortlist.files.container import of_arrays as _checksum
from shortlist.files.drafts import whole_file
from shortlist.names import VERSION, storable

Scalar = TypeVar("Scalar", bound=np.generic)
Kind = TypeVar("Kind")

FORMAT = 1
KEY = "shortlist"
LATER = ("letters",)  # packed arrays that stay so until somebody needs them: names (vocabulary.py)
# The errors that a damaged file can cause: a damaged number may, for example, ask for any amount of memory.
DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


@dataclass
class State:
    """All that a model is: its class, what fits in JSON, its arrays, and the models inside it."""

    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Array | Later] = field(default_factory=dict)
    parts: dict[str, State] = field(default_factory=dict)
    compact: Callable[[], Mapping[str, Array]] | None = None  # makes other arrays, which say the same in less room

    def compacted(self) -> State:
        """The same in less room."""
        parts = {name: part.compacted() for name, part in self.parts.items()}
        return State(self.kind, self.settings, self.compact() if self.compact else self.arrays, parts)

    def header(self) -> dict[str, Any]:
        """What the JSON header of a file says of it."""
        return {
            "kind": self.kind,
            "settings": self.settings,
            "parts": {name: part.header() for name, part in self.parts.items()},
        }

    def all_arrays(self, prefix: str = "") -> dict[str, Array]:
        return {name: np.ascontiguousarray(array) for name, array in self.named_arrays(prefix).items()}

    def named_arrays(self, prefix: str = "") -> dict[str, Array | Later]:
        """All arrays under their names in the file, as they are: some are made later, some not contiguous."""
        arrays = {prefix + name: array for name, array in self.arrays.items()}
        for name, part in self.parts.items():
            arrays |= part.named_arrays(f"{prefix}{name}/")
        return arrays

    def copied(self) -> State:
        """The same in memory of its own."""
        arrays = {name: np.array(array) for name, array in self.arrays.items()}
        parts = {name: part.copied() for name, part in self.parts.items()}
        return State(self.kind, self.settings, arrays, parts)

    @classmethod
    def join(cls, header: dict[str, Any], arrays: Mapping[str, Array]) -> State:
        """The inverse of ``header`` and ``all_arrays``."""
        own = {name: array for name, array in arrays.items() if "/" not in name}
        parts = {}
        for name, inner in header["parts"].items():
            start = name + "/"
            inside = {key[len(start) :]: array for key, array in arrays.items() if key.startswith(start)}
            parts[name] = cls.join(inner, inside)
        return cls(header["kind"], header["settings"], own, parts)

    def array(self, name: str, dtype: type[Scalar], ndim: int = 1) -> NDArray[Scalar]:
        """The array of that name, refused unless it has that type and number of dimensions."""
        if name not in self.arrays:
            raise ModelFileError(f"the model file has no array {name!r} for its {self.kind}")
        array: NDArray[Any] = np.asarray(self.arrays[name])
        if array.dtype != np.dtype(dtype) or array.ndim != ndim:
            raise ModelFileError(
                f"array {name!r} of the {self.kind} in the model file is {array.dtype}[{array.ndim}-d], "
                f"not {np.dtype(dtype)}[{ndim}-d]"
            )
        return array

    def offsets(self, name: str, n_lists: int, n_entries: int) -> NDArray[np.int64]:
        """The array that says where each list begins among the entries of all, and where the last one ends.

        SciPy's own check of a sparse matrix believes a negative number of entries, and looks no further.
        """
        offsets = self.array(name, np.int64)
        bounded = offsets.size == n_lists + 1 and offsets.min() == offsets[0] == 0
        bounded = bounded and offsets.max() == offsets[-1] == n_entries  # otherwise differences might overflow
        self.require(bounded and bool((np.diff(offsets) >= 0).all()), f"{name} ascend from 0 to the number of entries")
        return offsets

    def names(self, name: str) -> list[Any]:
        """The labels or other names in the array of that name, each a text or a number."""
        names = array_to_text(self.array(name, np.uint8))
        kinds = set(map(type, names))
        comparable = float not in kinds or all(one == one for one in names)
        self.require(kinds <= {str, int, float, bool} and comparable, f"{name} are texts and numbers")
        return names

    def require(self, condition: bool | np.bool_, what: str) -> None:
        """Refuse the file unless the condition holds; ``what`` says what should have been true."""
        if not condition:
            raise ModelFileError(f"the {self.kind} in the model file is damaged: {what}")


class Storable(Protocol):
    """What a class needs to be saved and loaded."""

    def to_state(self) -> State: ...

    @classmethod
    def from_state(cls, state: State) -> Self: ...


def save(model: Storable, path: str | os.PathLike[str], *, compact: bool = False) -> None:
    """Write a model to one file. A file of that name is replaced only once the new one is whole and on disk."""
    write(model.to_state(), path, compact=compact)


def write(state: State, path: str | os.PathLike[str], *, compact: bool = False) -> None:
    """Write a state to one file, as ``save`` does."""
    target = Path(os.path.realpath(path))  # where it is a link, the file that it leads to
    if target.exists() and not target.is_file():
        raise ModelFileError(f"cannot write {path}: it is not a regular file; name another one")
    header: dict[str, Any] = {"format": FORMAT, "library": VERSION, "model": state.header()}
    if compact:
        arrays, notes = packing.packed(state.compacted().named_arrays())
        header["packed"] = notes
    else:
        arrays = state.named_arrays()
    try:
        with whole_file(target) as file:
            _write_arrays(file, header, arrays)
    except OSError as problem:
        raise ModelFileError(f"cannot write {path}: {problem.strerror}; nothing was changed") from None


def _write_arrays(file: BinaryIO, header: dict[str, Any], arrays: dict[str, Array | Later]) -> None:
    """Write a safetensors file: as the library does, byte for byte, but each array is made when it is written.

    The checksum is known last; it has a place of its length in the header, which is written again at the end.
    """
    start, layout = 0, {}
    for name in sorted(arrays, key=lambda name: (list(NAMES).index(arrays[name].dtype), name)):
        dtype, shape = arrays[name].dtype, arrays[name].shape
        end = start + dtype.itemsize * math.prod(shape)
        layout[name] = {"dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [start, end]}
        start = end

    def write_header(checksum: str) -> None:
        metadata = {KEY: json.dumps(header | {"checksum": checksum})}
        text = json.dumps({"__metadata__": metadata} | layout, separators=(",", ":"), ensure_ascii=False).encode()
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
def load(path: str | os.PathLike[str], also: Iterable[type[Storable]] = (), *, kind: None = None) -> Any: ...
@overload
def load(path: str | os.PathLike[str], also: Iterable[type[Storable]] = (), *, kind: type[Kind]) -> Kind: ...
def load(path: str | os.PathLike[str], also: Iterable[type[Storable]] = (), *, kind: type | None = None) -> object:
    """Open a model file: a Categorizer, a Rater, a DocumentRanker or a learner, whichever was saved.

    Only shortlist's own classes are made from a file, and no code in it is ever run.

    Parameters
    ----------
    path : path
        The file.
    also : iterable of classes
        Those of your own that the file may hold.
    kind : class, optional
        What the file has to hold; a model of another class is refused.

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
        model = build(state, also)  # which trusts nothing that is found, and changes nothing of it
    except (ModelFileError, *DAMAGE) as problem:
        check()
        if isinstance(problem, ModelFileError):
            raise
        raise _damaged(path, problem) from None
    check()
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(f"{path} holds a {state.kind}, not a {kind.__name__}")
    return model


def read(path: str | os.PathLike[str]) -> State:
    """The state in a file, whose checksum is right; what it describes is not made."""
    state, check = _opened(path)
    check()
    return state


def _opened(path: str | os.PathLike[str]) -> tuple[State, Callable[[], None]]:
    """The state in a file, and what refuses it if its checksum is wrong, which is being computed meanwhile."""
    try:
        header, arrays = _read(path)
        stated, described = header["checksum"], _described(header)
        beside = ThreadPoolExecutor(1)
        found = beside.submit(_checksum, described, arrays)
        beside.shutdown(wait=False)
        unpacked = packing.unpack(arrays, header.get("packed", {}), LATER)  # which trusts nothing that is found
        state = State.join(header["model"], arrays | unpacked)
    except ModelFileError:
        raise
    except OSError as problem:
        raise ModelFileError(f"cannot read {path}: {problem.strerror or problem}") from None
    except packing.NotPacked:
        raise ModelFileError(f"{path} is damaged: an array in it cannot be unpacked") from None
    except DAMAGE as problem:
        raise _damaged(path, problem) from None

    def check() -> None:
        try:
            right = stated == found.result()
        except DAMAGE as problem:
            raise _damaged(path, problem) from None
        if not right:
            raise ModelFileError(f"{path} is damaged: its contents do not match its checksum")

    return state, check


def _damaged(path: str | os.PathLike[str], problem: Exception) -> ModelFileError:
    return ModelFileError(f"{path} is damaged: {problem if isinstance(problem, ShortlistError) else repr(problem)}")


def build(state: State, also: Iterable[type[Storable]] = ()) -> Any:
    """Make the model that a state describes."""
    kind = {one.__name__: one for one in also}.get(state.kind) or storable(state.kind)
    if not hasattr(kind, "from_state"):
        raise ModelFileError(f"the model file holds a {state.kind!r}, which this version of shortlist does not know")
    return kind.from_state(state)


def build_all(states: Iterable[State]) -> list[Any]:
    """``build`` of several states, at the same time; if some are refused, the first of them says why."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(build, states))


def is_model_file(path: Path) -> bool:
    """Whether a file looks like one of ours: the length of a JSON header, and the header, which names shortlist."""
    with open(path, "rb") as file:
        start = file.read(512)
    return start[8:9] == b"{" and f'"{KEY}"'.encode() in start


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file."""
    try:
        with container.opened(path) as found:
            header = _header(path, found.texts.get(KEY))
            return header, found.arrays()
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file {path}") from None
    except NoContainer:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ModelFileError(f"cannot read {path}: it is not a regular file; name the model file itself") from None
        raise ModelFileError(f"{path} is not a model file, or a part of it is missing") from None


def _header(path: str | os.PathLike[str], text: Any) -> dict[str, Any]:
    """What the header says, if this version of the library can read such files."""
    if text is None:
        raise ModelFileError(f"{path} was not written by shortlist")
    try:
        header: dict[str, Any] = json.loads(text)
        version = header["format"]
    except DAMAGE:
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from None
    if version != FORMAT:
        raise ModelFileError(
            f"{path} has format version {version!r}; this version of shortlist reads {FORMAT}: upgrade shortlist"
        )
    return header


def _described(header: dict[str, Any]) -> Any:
    """What a checksum covers of a header."""
    return header["model"] | ({"packed": header["packed"]} if "packed" in header else {})


def checksum(state: State) -> str:
    """A digest of everything in a state."""
    return _checksum(state.header(), state.named_arrays())


# What a model file says of its model without its arrays, which may be large.


def learned_examples(path: str | os.PathLike[str]) -> int:
    """How many examples the model in a file has learned, by its header; the rest of the file is not looked at."""
    return _asked(path, _most_examples)


def kind_of(path: str | os.PathLike[str]) -> str:
    """The class of the model in a file, by its header."""
    return _asked(path, lambda header: str(header["kind"]))


def _asked(path: str | os.PathLike[str], question: Callable[[dict[str, Any]], Any]) -> Any:
    try:
        with container.opened(path) as found:
            return question(_header(path, found.texts.get(KEY))["model"])
    except (OSError, NoContainer, *DAMAGE):
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from None


def _most_examples(header: dict[str, Any]) -> int:
    """A model keeps the number itself, or one of its parts does."""
    own = int(header["settings"].get("n_examples", 0))
    return max([own, *(_most_examples(part) for part in header["parts"].values())])
