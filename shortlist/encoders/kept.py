"""What takes time to make is kept on disk, beside the compiled loops: graphs, and static tables.

A file begins with the SHA-256 of the rest. One that does not match is made again, and where no folder can be written,
everything is made anew in every run.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path

from shortlist.arrays.compiling import folders_of
from shortlist.files.drafts import whole_file

LENGTH = 32  # bytes of a digest


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """The bytes that are kept under a name; made, and kept from now on, where there are none."""
    places = [folder / name for folder in folders_of(kept)]
    for place in places:
        found = _read(place)
        if found is not None:
            return found
    made = make()
    with contextlib.suppress(OSError), whole_file(places[0]) as file:
        file.write(hashlib.sha256(made).digest())
        file.write(made)
    return made


def _read(path: Path) -> bytes | None:
    """The bytes in a file, if its digest is right."""
    try:
        with open(path, "rb") as file:
            digest, found = file.read(LENGTH), file.read()
    except OSError:
        return None
    return found if hashlib.sha256(found).digest() == digest else None
