"""The embedded data set: which module of Python's standard library does a docstring come from?

Every Python carries it. Sources in Python are read, never imported, so that nothing of them runs. Modules that are
written in C have their docstrings in memory: of these the ones that only define things are imported.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from types import BuiltinFunctionType, ClassMethodDescriptorType, GetSetDescriptorType, MethodDescriptorType, ModuleType
from warnings import catch_warnings, simplefilter

LEFT_OUT = {"test", "tests", "idlelib", "idle_test", "lib2to3", "site-packages", "dist-packages", "ensurepip",
            "turtledemo", "pydoc_data", "__pycache__", "__phello__"}  # fmt: skip
NOT_IMPORTED = {"_curses", "_curses_panel", "_tkinter", "distutils", "readline", "sys"}  # slow, or change the terminal
KNOWN_AS = {"posix": "os", "nt": "os", "pyexpat": "xml"}
DOCSTRING = re.compile(r':[ \t]*\n\s*[rRuU]?"""(.*?)"""', re.DOTALL)  # parsing the sources would take ten times as long
LEAST_WORDS = 4
LEAST_DOCSTRINGS = 5  # a module with fewer cannot be both learned and tried
Method = (MethodDescriptorType, ClassMethodDescriptorType, GetSetDescriptorType)


def docstrings() -> tuple[list[str], list[str]]:
    """Docstrings and their modules: some 7,000 from about 150 modules, in order of module."""
    found: dict[str, list[str]] = {}
    for module, files in _modules(Path(sysconfig.get_path("stdlib"))):
        found.setdefault(module, []).extend(text for file in files for text in _docstrings_of(file))
    for module, loaded in _modules_in_c():
        found.setdefault(module, []).extend(_docstrings_in_memory(loaded))
    texts: list[str] = []
    modules: list[str] = []
    for module in sorted(found):
        own = list(dict.fromkeys(cleandoc(text) for text in found[module] if len(text.split()) >= LEAST_WORDS))
        if len(own) >= LEAST_DOCSTRINGS:
            texts += own
            modules += [module] * len(own)
    return texts, modules


def _modules(root: Path) -> Iterator[tuple[str, list[Path]]]:
    for entry in sorted(root.iterdir()):
        if entry.name in LEFT_OUT:
            continue
        if entry.suffix == ".py":
            yield entry.stem, [entry]
        elif (entry / "__init__.py").exists():
            files = sorted(entry.rglob("*.py"))
            yield entry.name, [file for file in files if LEFT_OUT.isdisjoint(file.relative_to(root).parts)]


def _docstrings_of(file: Path) -> list[str]:
    return DOCSTRING.findall(file.read_text(encoding="utf-8", errors="replace"))


def _modules_in_c() -> Iterator[tuple[str, ModuleType]]:
    """Modules under the names by which people know them: what is in _socket belongs to socket, posix to os."""
    for name in sorted(sys.stdlib_module_names - NOT_IMPORTED):
        known = KNOWN_AS.get(name, name.removeprefix("_"))
        if known.startswith("_") or known not in sys.stdlib_module_names:
            continue
        place = find_spec(name)
        if place is not None and (place.origin == "built-in" or str(place.origin).endswith(tuple(EXTENSION_SUFFIXES))):
            with suppress(ImportError), catch_warnings():  # built without the library that it needs; or deprecated
                simplefilter("ignore")
                yield known, import_module(name)


def _docstrings_in_memory(module: ModuleType) -> Iterator[str]:
    """Of functions, classes and their methods; not of what every class has, as __eq__."""
    for _, value in sorted(vars(module).items()):
        inside = vars(value).values() if isinstance(value, type) and _is_at_home(value, module) else ()
        own = [value] if inside or isinstance(value, BuiltinFunctionType) else []
        for one in [*own, *(one for one in inside if isinstance(one, Method))]:
            if isinstance(one.__doc__, str):
                yield one.__doc__


def _is_at_home(kind: type, module: ModuleType) -> bool:
    return kind.__module__.removeprefix("_") == module.__name__.removeprefix("_")
