"""Copies of the package, while other test processes may be compiling beside its sources."""

import shutil
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "shortlist"
COMPILED = (".nbi", ".nbc")


def copy_sources(folder):
    """The sources alone, over what is there."""
    return _copied(folder, lambda name: False)


def copy_compiled(folder, but=""):
    """The sources with the loops that are compiled so far, but not those of a module or kernel
    whose name begins so.
    """
    return _copied(
        folder, lambda name: name.endswith(COMPILED) and not (but and name.startswith(but))
    )


def _copied(folder, wanted):
    # Drafts of compiled files come and go; whole ones are put in place at once, and stay.
    def not_copied(place, names):
        if Path(place).name == "__pycache__":
            return [name for name in names if not wanted(name)]
        return (
            [] if wanted(f"x{COMPILED[0]}") else [name for name in names if name == "__pycache__"]
        )

    return shutil.copytree(PACKAGE, folder / "shortlist", ignore=not_copied, dirs_exist_ok=True)
