"""Model <-> one file.

A ``.shortlist`` file is a safetensors file: the arrays, memory-mapped on loading, and a JSON header with the
format version, the library version, the class, its settings, and a checksum of everything. There is no pickle:
opening a file can run no code, and what the kernels will trust is checked by each class as it takes its state.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from shortlist.errors import ModelFileError

FORMAT = 1
KEY = "shortlist"


@dataclass
class State:
    """All that a model is: its class, what fits in JSON, its arrays, and the models inside it."""

    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    parts: dict[str, State] = field(default_factory=dict)

    def header(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "settings": self.settings,
            "parts": {name: part.header() for name, part in self.parts.items()},
        }

    def all_arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        arrays = {prefix + name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        for name, part in self.parts.items():
            arrays |= part.all_arrays(f"{prefix}{name}/")
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
        array = self.arrays[name]
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
    from shortlist import __version__

    target = Path(path)
    arrays = state.all_arrays()
    model_header = state.header()
    header = {
        "format": FORMAT,
        "library": __version__,
        "model": model_header,
        "checksum": _checksum(model_header, arrays),
    }
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as problem:
        raise ModelFileError(f"cannot write {target}: {problem.strerror}") from None
    try:
        os.close(handle)
        save_file(arrays, draft, metadata={KEY: json.dumps(header)})
        _give_usual_permissions(draft)
        with open(draft, "rb") as written:
            os.fsync(written.fileno())
        os.replace(draft, target)
    except (OSError, SafetensorError) as problem:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        reason = getattr(problem, "strerror", None) or str(problem)
        raise ModelFileError(f"cannot write {target}: {reason}; nothing was changed") from None
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def load(path: str | os.PathLike[str], also: Iterable[type[Storable]] = ()) -> Any:
    """Open a model file: a Categorizer or a learner, whichever was saved.

    Only shortlist's own classes are made from a file; name in ``also`` those of your own that it may hold.
    """
    state = read(path)
    try:
        return build(state, also)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ModelFileError(f"{path} is damaged: {problem!r}") from None


def read(path: str | os.PathLike[str]) -> State:
    """The state in a file, whose checksum is right; what it describes is not made."""
    header, arrays = _read(Path(path))
    try:
        if header["checksum"] == _checksum(header["model"], arrays):
            return State.join(header["model"], arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ModelFileError(f"{path} is damaged: {problem!r}") from None
    raise ModelFileError(f"{path} is damaged: its contents do not match its checksum")


def build(state: State, also: Iterable[type[Storable]] = ()) -> Any:
    """Make the model that a state describes."""
    import shortlist

    kinds = {kind.__name__: kind for kind in also}
    if state.kind in shortlist.__all__:
        kinds[state.kind] = getattr(shortlist, state.kind)
    if not hasattr(kinds.get(state.kind), "from_state"):
        raise ModelFileError(f"the model file holds a {state.kind!r}, which this version of shortlist does not know")
    return kinds[state.kind].from_state(state)


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
    except (ValueError, KeyError, TypeError):
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


_DTYPES = {
    "BOOL": np.bool_, "U8": np.uint8, "I32": np.int32, "I64": np.int64, "U32": np.uint32, "U64": np.uint64,
    "F32": np.float32, "F64": np.float64,
}  # fmt: skip


def checksum(state: State) -> str:
    """A digest of everything in a state."""
    return _checksum(state.header(), state.all_arrays())


def _checksum(model: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(json.dumps(model, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    return f"sha256:{digest.hexdigest()}"


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
