"""What a compiled loop is made of: the stamp under which Numba's cache keeps it.

Numba itself looks at the file that a kernel stands in. A kernel is compiled together with the helpers it calls, the
constants it names and the layout of the named tuples it is given, and these may come from other files: after an edit
there, or an upgrade of the package, the old loops would go on running. So the stamp is a digest of all of them. It is
taken from what is in memory, not from files, which may have changed since they were imported.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.caching import FunctionCache

HOW = Path(__file__).with_name("kernels.py").read_bytes()  # the compiler's options, and steps that are not Python
Constant = (bool, int, float, complex, str, bytes, tuple, np.generic, np.ndarray)


class StampedCache(FunctionCache):
    """Numba's cache of one function on disk, which forgets what was compiled from anything else than what is there."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Asked for first, whether a loop is then found or compiled; by now all that the function names is there."""
        self._cache_file._source_stamp = stamp(self._py_func)
        return super().load_overload(sig, target_context)


def stamp(function: FunctionType) -> str:
    """A digest of all that a function is compiled from."""
    package = function.__module__.partition(".")[0]
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [(function.__name__, function)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Constant):
            found[name] = _exactly(value)
        elif getattr(value, "__module__", "").partition(".")[0] == package and hasattr(value, "__qualname__"):
            name = f"{value.__module__}.{value.__qualname__}"
            if name not in found:
                found[name] = _described(value)
                waiting += _used(value, package)
    return hashlib.sha256(repr((HOW, sorted(found.items()))).encode()).hexdigest()


def _described(value: Any) -> Any:
    """A function's code, or a named tuple's fields."""
    if isinstance(value, FunctionType):
        return _steps(value.__code__), repr(value.__defaults__)
    return getattr(value, "_fields", ())


def _steps(code: CodeType) -> Any:
    constants = [_steps(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants


def _used(value: Any, package: str) -> Iterator[tuple[str, Any]]:
    """What a function or a class of the package names: in its code, in its annotations, in modules of the package."""
    names = {word for hint in getattr(value, "__annotations__", {}).values() for word in re.findall(r"\w+", str(hint))}
    if isinstance(value, FunctionType):
        names |= _names(value.__code__)
    own = value.__globals__ if isinstance(value, FunctionType) else vars(sys.modules[value.__module__])
    inside = [one for name in names if isinstance(one := own.get(name), ModuleType)]
    for place in [own, *(vars(module) for module in inside if module.__name__.partition(".")[0] == package)]:
        for name in names & place.keys():
            yield f"{place['__name__']}.{name}", getattr(place[name], "py_func", place[name])


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(one) for one in code.co_consts if isinstance(one, CodeType)))


def _exactly(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return [_exactly(one) for one in value] if isinstance(value, tuple) else repr(value)
