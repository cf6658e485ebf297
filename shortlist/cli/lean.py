"""Less memory, where the process is ours: what scikit-learn loads and does not use, and what the C library would keep.

Up to 1.9 scikit-learn has ``sklearn.utils.fixes``, without which nothing of it can be used, load pandas, which it
makes no use of at all, and scipy.stats, for one function (scikit-learn's pull request 34265): 110 MB.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType

WHERE = "sklearn.utils.fixes"
UNUSED = ("pandas", "scipy.stats")
MMAP_THRESHOLD, LARGE = -3, 1 << 22  # as <malloc.h> numbers it; smaller ones are made and freed all the time


class LeanLoader(SourceFileLoader):
    """Loads a module, for which what it would load without need is an empty one.

    Whoever wants the real one loads it later: SciPy itself loads its parts when somebody asks for them.
    """

    def exec_module(self, module: ModuleType) -> None:
        aside = [name for name in UNUSED if name not in sys.modules]
        sys.modules.update({name: ModuleType(name) for name in aside})
        try:
            super().exec_module(module)
            return
        except (AttributeError, ImportError):  # it has come to use them
            pass
        finally:
            for name in aside:
                del sys.modules[name]
        super().exec_module(module)


class LeanFinder(MetaPathFinder):
    """Finds that one module, as it would be found otherwise, to be loaded by a LeanLoader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target) if fullname == WHERE else None
        if found is None or found.origin is None or not isinstance(found.loader, SourceFileLoader):
            return None
        return spec_from_file_location(fullname, found.origin, loader=LeanLoader(fullname, found.origin))


def load_what_is_used() -> None:
    """From now on scikit-learn is loaded without what it does not use."""
    if not any(isinstance(finder, LeanFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, LeanFinder())


def never_keep_large() -> None:
    """From now on what was freed of arrays of LARGE bytes or more goes back to the system at once (glibc).

    By itself the C library comes to keep up to 64 MB for the next array. This is for a process of our own: it changes
    how all of the process gets its memory.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE)
