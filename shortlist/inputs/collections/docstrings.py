"""The embedded data set: which module of Python's standard library does a docstring come from?

Every Python carries it. Sources are read, never imported, so nothing runs; modules written in C are left out.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

LEFT_OUT = {"test", "tests", "idlelib", "idle_test", "lib2to3", "site-packages", "dist-packages", "ensurepip",
            "turtledemo", "pydoc_data", "__pycache__", "__phello__"}  # fmt: skip
DOCSTRING = re.compile(r':[ \t]*\n\s*[rRuU]?"""(.*?)"""', re.DOTALL)  # parsing the sources would take ten times as long
LEAST_WORDS = 4
LEAST_DOCSTRINGS = 5  # a module with fewer cannot be both learned and tried


def docstrings() -> tuple[list[str], list[str]]:
    """Docstrings and their modules: some 6,000 from about 125 modules, in order of module."""
    texts: list[str] = []
    modules: list[str] = []
    for module, files in _modules(Path(sysconfig.get_path("stdlib"))):
        found = list(dict.fromkeys(text for file in files for text in _docstrings_of(file)))
        if len(found) >= LEAST_DOCSTRINGS:
            texts += found
            modules += [module] * len(found)
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


def _docstrings_of(file: Path) -> Iterator[str]:
    for text in DOCSTRING.findall(file.read_text(encoding="utf-8", errors="replace")):
        if len(text.split()) >= LEAST_WORDS:
            yield cleandoc(text)
