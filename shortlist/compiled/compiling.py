"""What a compiled loop is made of: the stamp under which Numba's cache keeps it.

Numba itself looks at the file that a kernel stands in. A kernel is compiled together with the
helpers it calls, the constants it names and the layout of the named tuples it is given, and these
may come from other files: after an edit there, or an upgrade of the package, the old loops would go
on running. So the stamp is a digest of all of them. It is taken from what is in memory, not from
files, which may have changed since they were imported.

Loops are kept beside the source, or in the user's own folder where that cannot be written. What was
compiled beside the source by whoever installed the package (``shortlist warmup``) is read in any
case. Wheels carry loops compiled for a baseline, which every processor with its features runs
(scripts/wheels.py).
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import platform
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite.binding
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

# the compiler's options, and steps that are not Python
HOW = Path(__file__).with_name("kernels.py").read_bytes()
Constant = (bool, int, float, complex, str, bytes, tuple, np.generic, np.ndarray)


# a list of kept loops that names a type where an earlier version had it
MOVED = (ImportError, AttributeError)


# The baseline of each kind of machine: LLVM's name for it, and the features that a processor needs
# to run its loops.
BASELINES = {
    "x86_64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")),
    "aarch64": ("generic", ("neon",)),
}


@cache
def baseline() -> tuple[str, str] | None:
    """The name and the features of the baseline of this machine, as LLVM takes them; None where
    it does not run it.
    """
    name, needed = BASELINES.get(platform.machine(), ("", ()))
    known = llvmlite.binding.get_host_cpu_features() if needed else {}
    runs = bool(needed) and all(known.get(feature) for feature in needed)
    return (name, ",".join(f"+{feature}" for feature in needed)) if runs else None


class BesideTheSource:
    """Where the loops of a function are if no folder at all can be written; Numba asks for this
    one last.
    """

    def __init__(self, function: FunctionType, file: str) -> None:
        self._line = function.__code__.co_firstlineno
        self._folder = Path(file).with_name("__pycache__")

    from_function = classmethod(lambda cls, function, file: cls(function, file))

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        """It is not made: whoever can write it has done so."""


class Places(CompileResultCacheImpl):
    """Numba's own places, and one more."""

    _locator_classes = (*CompileResultCacheImpl._locator_classes, BesideTheSource)


class StampedCache(FunctionCache):
    """Numba's cache of one function on disk, which forgets what was compiled from anything else
    than what is there.
    """

    _impl_class = Places
    _cache_file: Any
    # whether a loop for the baseline is asked for, not one for this very processor
    _for_baseline = False

    def load_overload(self, sig: object, target_context: object) -> object | None:
        """Asked for first, whether a loop is then found or compiled; by now all that the
        function names is there.
        """
        own = self._cache_file
        own._source_stamp = stamp(self._py_func)
        installed = str(Path(self._py_func.__code__.co_filename).with_name("__pycache__"))
        found = None
        # Numba loads all of its compiler here, which a kept loop has no need of
        rtsys.initialize(target_context)
        places = list(dict.fromkeys([self._cache_path, installed]))
        for self._for_baseline in (False, True) if baseline() else (False,):
            for place in places:
                self._cache_file = IndexDataCacheFile(
                    place, self._impl.filename_base, own._source_stamp
                )
                with contextlib.suppress(OSError, *MOVED):
                    found = found or self._load_overload(sig, target_context)
        self._cache_file, self._for_baseline = own, False
        if found is None:
            _say_so_once()
        return found

    def _index_key(self, sig: object, codegen: Any) -> Any:
        signature, (triple, *processor), code = super()._index_key(sig, codegen)
        return (
            signature,
            (triple, *((baseline() if self._for_baseline else None) or processor)),
            code,
        )

    def save_overload(self, sig: object, data: object) -> None:
        """Keep a loop where that is possible. Where it is not, it has been compiled all the
        same.
        """
        with contextlib.suppress(OSError):
            try:
                super().save_overload(sig, data)
            except MOVED:
                self._cache_file.flush()
                super().save_overload(sig, data)


def folders_of(function: Callable[..., object]) -> list[Path]:
    """The folders in which loops of a function are looked for; new ones are kept in the first,
    if it can be written.
    """
    beside = Path(function.__code__.co_filename).with_name("__pycache__")
    return list(dict.fromkeys([Path(Places(function).locator.get_cache_path()), beside]))


somebody_waits = False  # whether a command was given on a terminal


def _say_so_once(told: list[bool] = []) -> None:  # noqa: B006 - it is meant to last
    """Say to somebody who waits for a command, at a prompt or in a notebook why the first call
    takes so long.
    """
    if not told and (somebody_waits or hasattr(sys, "ps1") or hasattr(builtins, "get_ipython")):
        told.append(True)
        print(
            "shortlist: compiling its inner loops, once for this machine…",
            file=sys.stderr,
            flush=True,
        )


def stamp(function: FunctionType) -> str:
    """A digest of all that a function is compiled from."""
    ours = {"shortlist", _package(function)}
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [(function.__name__, function)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Constant):
            found[name] = _exactly(value)
        elif _package(value) in ours and hasattr(value, "__qualname__"):
            name = f"{value.__module__}.{value.__qualname__}"
            if name not in found:
                found[name] = _described(value)
                waiting += _used(value, ours)
    return hashlib.sha256(repr((HOW, sorted(found.items()))).encode()).hexdigest()


def _package(value: Any) -> str:
    return str(getattr(value, "__module__", "")).partition(".")[0]


def _described(value: Any) -> Any:
    """A function's code, or a named tuple's fields."""
    if isinstance(value, FunctionType):
        return _steps(value.__code__), repr(value.__defaults__)
    return getattr(value, "_fields", ())


def _steps(code: CodeType) -> Any:
    constants = [_steps(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants


def _used(value: Any, ours: set[str]) -> Iterator[tuple[str, Any]]:
    """What a function or a class of ours names: in its code, in its annotations, in modules of
    ours.
    """
    names = {
        word
        for hint in getattr(value, "__annotations__", {}).values()
        for word in re.findall(r"\w+", str(hint))
    }
    if isinstance(value, FunctionType):
        names |= _names(value.__code__)
    own = (
        value.__globals__
        if isinstance(value, FunctionType)
        else vars(sys.modules[value.__module__])
    )
    inside = [one for name in names if isinstance(one := own.get(name), ModuleType)]
    for place in [
        own,
        *(vars(module) for module in inside if module.__name__.partition(".")[0] in ours),
    ]:
        for name in names & place.keys():
            yield f"{place['__name__']}.{name}", getattr(place[name], "py_func", place[name])


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(
        *(_names(one) for one in code.co_consts if isinstance(one, CodeType))
    )


def _exactly(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return [_exactly(one) for one in value] if isinstance(value, tuple) else repr(value)
