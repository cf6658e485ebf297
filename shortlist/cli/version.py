"""shortlist --version"""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist import __version__

LIBRARIES = ("numba", "numpy", "scipy", "scikit-learn")  # on which results and speed depend


def show_version(asked: bool) -> None:
    """Print the versions that an error report should name. Nothing is imported for it."""
    if asked:
        import platform
        from importlib.metadata import version

        print(f"shortlist {__version__}")
        print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}")
        print(", ".join(f"{name} {version(name)}" for name in LIBRARIES))
        raise typer.Exit


def version(
    _: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the versions and stop.")
    ] = False,
) -> None:
    """Learn to rank from a stream: categories for a text, steps of a rating scale, documents for a query."""
