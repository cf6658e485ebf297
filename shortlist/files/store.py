"""Model <-> one file.

A ``.shortlist`` file is a safetensors file: the arrays, memory-mapped on loading, and a JSON header with the
format version, the library version, the class, its settings, and a checksum of everything. It is written array by
array, and what is ``Later`` piece by piece: saving takes little memory, where the library would hold all arrays. There
is no pickle: opening a file can run no code, and what the kernels will trust is checked by each class as it takes its
state.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from shortlist.errors import ModelFileError
from shortlist.names import VERSION, storable

FORMAT = 1
KEY = "shortlist"
DAMAGE = (KeyError, TypeError, ValueError, AttributeError, RecursionError)  # what a file not as written leads to


@dataclass
class Later:
    """A one-dimensional array that is made piece by piece when it is needed; NumPy's functions take it as an array."""

    dtype: np.dtype[Any]
    size: int
    pieces: Callable[[], Iterator[NDArray[Any]]]

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.concatenate([np.empty(0, dtype=self.dtype), *self.pieces()])


@dataclass
class State:
    """All that a model is: its class, what fits in JSON, its arrays, and the models inside it."""

    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)  # arrays, or arrays made later
    parts: dict[str, State] = field(default_factory=dict)

    def header(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "settings": self.settings,
            "parts": {name: part.header() for name, part in self.parts.items()},
        }

    def all_arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        return {name: np.ascontiguousarray(array) for name, array in self.named_arrays(prefix).items()}

    def named_arrays(self, prefix: str = "") -> dict[str, Any]:
        """All arrays under their names in the file, as they are: some are made later, some not contiguous."""
        arrays = {prefix + name: array for name, array in self.arrays.items()}
        for name, part in self.parts.items():
            arrays |= part.named_arrays(f"{prefix}{name}/")
        return arrays

    @classmethod
    def join(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> State:
        """The inverse of ``header`` and ``all_arrays``."""
        own = {name: array for name, array in arrays.items() if "/" not in name}
        parts = {}
        for name, inner in header["parts"].items():
            start = name + "/"
            inside = {key[len(start) :]: array for key, array in arrays.items() if key.startswith(start)}
            parts[name] = cls.join(inner, inside)
        return cls(header["kind"], header["settings"], own, parts)

    def array(self, name: str, dtype: Any, ndim: int = 1) -> NDArray[Any]:
        """The array of that name, refused unless it has that type and number of dimensions."""
        if name not in self.arrays:
            raise ModelFileError(f"the model file has no array {name!r} for its {self.kind}")
        array = np.asarray(self.arrays[name])
        if array.dtype != np.dtype(dtype) or array.ndim != ndim:
            raise ModelFileError(
                f"array {name!r} of the {self.kind} in the model file is {array.dtype}[{array.ndim}-d], "
                f"not {np.dtype(dtype)}[{ndim}-d]"
            )
        return array

    def require(self, condition: bool | np.bool_, what: str) -> None:
        """Refuse the file unless the condition holds; ``what`` says what should have been true."""
        if not condition:
            raise ModelFileError(f"the {self.kind} in the model file is damaged: {what}")


class Storable(Protocol):
    """What a class needs to be saved and loaded."""

    def to_state(self) -> State: ...

    @classmethod
    def from_state(cls, state: State) -> Any: ...


def save(model: Storable, path: str | os.PathLike[str]) -> None:
    """Write a model to one file. A file of that name is replaced only once the new one is whole and on disk."""
    write(model.to_state(), path)


def write(state: State, path: str | os.PathLike[str]) -> None:
    """Write a state to one file, as ``save`` does."""
    target = Path(os.path.realpath(path))  # behind a link, the file itself
    if target.exists() and not target.is_file():
        raise ModelFileError(f"cannot write {path}: it is no ordinary file; name another one")
    header = {"format": FORMAT, "library": VERSION, "model": state.header()}
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as problem:
        raise ModelFileError(f"cannot write {path}: {problem.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            _write_arrays(file, header, state.named_arrays())
            file.flush()
            os.fsync(file.fileno())
        _give_usual_permissions(draft)
        os.replace(draft, target)
    except OSError as problem:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise ModelFileError(f"cannot write {path}: {problem.strerror}; nothing was changed") from None
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _write_arrays(file: BinaryIO, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a safetensors file: as the library does, byte for byte, but each array is made when it is written.

    The checksum is known last; it has a place of its length in the header, which is written again at the end.
    """
    start, layout = 0, {}
    for name in sorted(arrays, key=lambda name: (list(_NAMES).index(arrays[name].dtype), name)):
        dtype, shape = arrays[name].dtype, arrays[name].shape
        end = start + dtype.itemsize * math.prod(shape)
        layout[name] = {"dtype": _NAMES[dtype], "shape": list(shape), "data_offsets": [start, end]}
        start = end

    def write_header(checksum: str) -> None:
        metadata = {KEY: json.dumps(header | {"checksum": checksum})}
        text = json.dumps({"__metadata__": metadata} | layout, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        file.seek(0)
        file.write(len(text).to_bytes(8, "little") + text)

    digest = Checksum(header["model"])
    write_header(digest.hex())
    data = file.tell()
    for name in sorted(arrays):
        file.seek(data + layout[name]["data_offsets"][0])
        for piece in digest.pieces(name, arrays[name]):
            file.write(piece)
    write_header(digest.hex())


def load(path: str | os.PathLike[str], also: Iterable[type[Storable]] = ()) -> Any:
    """Open a model file: a Categorizer or a learner, whichever was saved.

    Only shortlist's own classes are made from a file; name in ``also`` those of your own that it may hold.
    """
    state = read(path)
    try:
        return build(state, also)
    except ModelFileError:
        raise
    except DAMAGE as problem:
        raise ModelFileError(f"{path} is damaged: {problem!r}") from None


def read(path: str | os.PathLike[str]) -> State:
    """The state in a file, whose checksum is right; what it describes is not made."""
    try:
        header, arrays = _read(Path(path))
        if header["checksum"] == _checksum(header["model"], arrays):
            return State.join(header["model"], arrays)
    except ModelFileError:
        raise
    except DAMAGE as problem:
        raise ModelFileError(f"{path} is damaged: {problem!r}") from None
    raise ModelFileError(f"{path} is damaged: its contents do not match its checksum")


def build(state: State, also: Iterable[type[Storable]] = ()) -> Any:
    """Make the model that a state describes."""
    kind = {one.__name__: one for one in also}.get(state.kind) or storable(state.kind)
    if not hasattr(kind, "from_state"):
        raise ModelFileError(f"the model file holds a {state.kind!r}, which this version of shortlist does not know")
    return kind.from_state(state)


def is_model_file(path: Path) -> bool:
    """Whether a file looks like one of ours: the length of a JSON header, and the header, which names shortlist."""
    with open(path, "rb") as file:
        start = file.read(512)
    return start[8:9] == b"{" and f'"{KEY}"'.encode() in start


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the memory-mapped arrays of a file, whose layout safetensors has checked."""
    try:
        with safe_open(path, framework="numpy") as opened:
            text = (opened.metadata() or {}).get(KEY)
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file {path}") from None
    except OSError as problem:
        raise ModelFileError(f"cannot read {path}: {problem.strerror or problem}") from None
    except SafetensorError:
        raise ModelFileError(f"{path} is not a model file, or a part of it is missing") from None
    if text is None:
        raise ModelFileError(f"{path} was not written by shortlist")
    try:
        header = json.loads(text)
        version = header["format"]
    except DAMAGE:
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from None
    if not isinstance(version, int) or not 1 <= version <= FORMAT:
        raise ModelFileError(
            f"{path} has format version {version!r}; this version of shortlist reads 1 to {FORMAT}: upgrade shortlist"
        )
    return header, _map(path)


def _map(path: Path) -> dict[str, NDArray[Any]]:
    """Map the arrays copy-on-write: a loaded model can go on learning, and the file stays as it is."""
    whole = np.memmap(path, dtype=np.uint8, mode="c").view(np.ndarray)
    size = int.from_bytes(whole[:8].tobytes(), "little")
    layout = json.loads(whole[8 : 8 + size].tobytes())
    arrays = {}
    for name, entry in layout.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            raw = whole[8 + size + first : 8 + size + last]
            arrays[name] = raw.view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays


_DTYPES = {  # in the order in which the library writes them
    "U64": np.uint64, "I64": np.int64, "F64": np.float64, "F32": np.float32, "U32": np.uint32, "I32": np.int32,
    "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}


class Checksum:
    """A digest of a header and of arrays, added in the order of their names."""

    def __init__(self, model: dict[str, Any]) -> None:
        self._digest = hashlib.sha256(json.dumps(model, sort_keys=True).encode())

    def pieces(self, name: str, array: Any) -> Iterator[memoryview]:
        """The bytes of an array, piece by piece, each of which has been added to the digest."""
        self._digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        for piece in array.pieces() if isinstance(array, Later) else [array]:
            if piece.size:
                held = np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
                self._digest.update(held)
                yield held

    def hex(self) -> str:
        return f"sha256:{self._digest.hexdigest()}"


def checksum(state: State) -> str:
    """A digest of everything in a state."""
    return _checksum(state.header(), state.named_arrays())


def _checksum(model: dict[str, Any], arrays: dict[str, Any]) -> str:
    digest = Checksum(model)
    for name in sorted(arrays):
        for _ in digest.pieces(name, arrays[name]):
            pass
    return digest.hex()


def _give_usual_permissions(path: str) -> None:
    """mkstemp makes files for the owner alone; a model file gets what the user's umask allows."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)


def text_to_array(texts: list[Any]) -> NDArray[np.uint8]:
    """Words or labels as bytes for a model file: JSON, so that numbers stay numbers."""
    return np.frombuffer(json.dumps(texts, ensure_ascii=False).encode("utf-8", "surrogatepass"), dtype=np.uint8)


def array_to_text(array: NDArray[np.uint8]) -> list[Any]:
    """The inverse of ``text_to_array``."""
    values = json.loads(array.tobytes().decode("utf-8", "surrogatepass"))
    if not isinstance(values, list):
        raise ModelFileError("a list of names in the model file is damaged")
    return values
