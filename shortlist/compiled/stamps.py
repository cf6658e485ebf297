"""What a compiled loop is made of: the stamp under which its machine code is kept on disk.

Numba itself looks at the file that a kernel stands in. A kernel is compiled together with the
helpers it calls, the constants it names and the layout of the named tuples it is given, and these
may come from other files: after an edit there, or an upgrade of the package, the old loops would go
on running. So the stamp is a digest of all of them. It is taken from what is in memory, not from
files, which may have changed since they were imported.
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

# the compiler's options, and steps that are not Python
COMPILER_FILES = ("kernels.py", "numba_internals.py")
COMPILER = b"".join(Path(__file__).with_name(name).read_bytes() for name in COMPILER_FILES)
Constant = (bool, int, float, complex, str, bytes, tuple, np.generic, np.ndarray)


def stamp(function: FunctionType) -> str:
    """A digest of all that a function is compiled from."""
    packages = {"shortlist", package_of(function)}
    parts: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [(function.__name__, function)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Constant):
            parts[name] = exactly(value)
        elif package_of(value) in packages and hasattr(value, "__qualname__"):
            name = f"{value.__module__}.{value.__qualname__}"
            if name not in parts:
                parts[name] = described(value)
                waiting += used_by(value, packages)
    return hashlib.sha256(repr((COMPILER, sorted(parts.items()))).encode()).hexdigest()


def package_of(value: Any) -> str:
    """The package that a value was defined in."""
    return str(getattr(value, "__module__", "")).partition(".")[0]


def described(value: Any) -> Any:
    """A function's code, or a named tuple's fields."""
    if isinstance(value, FunctionType):
        return steps_of(value.__code__), repr(value.__defaults__)
    return getattr(value, "_fields", ())


def steps_of(code: CodeType) -> Any:
    """What a code object does, without the lines that it stands on."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(steps_of(constant))
        else:
            constants.append(repr(constant))
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants


def used_by(value: Any, packages: set[str]) -> Iterator[tuple[str, Any]]:
    """What a function or a class names: in its code, in its annotations, in modules of these
    packages.
    """
    names: set[str] = set()
    for hint in getattr(value, "__annotations__", {}).values():
        names.update(re.findall(r"\w+", str(hint)))
    if isinstance(value, FunctionType):
        names |= names_in(value.__code__)
        namespace = value.__globals__
    else:
        namespace = vars(sys.modules[value.__module__])
    namespaces = [namespace]
    for name in names:
        module = namespace.get(name)
        if isinstance(module, ModuleType) and module.__name__.partition(".")[0] in packages:
            namespaces.append(vars(module))
    for place in namespaces:
        for name in names & place.keys():
            yield f"{place['__name__']}.{name}", getattr(place[name], "py_func", place[name])


def names_in(code: CodeType) -> set[str]:
    """The names in a code object, and in those inside of it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= names_in(constant)
    return names


def exactly(value: Any) -> Any:
    """A constant with its type and all of its digits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return [exactly(entry) for entry in value]
    return repr(value)
