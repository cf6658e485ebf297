"""Vectors of a file of their own, beside texts in parts: each worker reads the rows of its part.

Which rows these are is known when the texts of all parts before it are counted. Every worker must be able to open the
file where it stands.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from shortlist.distributed.cluster import Cluster, digest
from shortlist.distributed.parts import Part, Slice
from shortlist.errors import InputError
from shortlist.files.store import State
from shortlist.inputs.vectors import open_vectors, unequal


def with_vectors(cluster: Cluster, parts: Sequence[Part], path: str | os.PathLike[str]) -> list[Part]:
    """The same parts, whose texts have the rows of a .npy file beside them."""
    n_rows, there = len(open_vectors(path)), Path(path).resolve()
    if any(part.options.get("skip_bad") for part in parts):
        raise InputError("texts that are left out would shift the vectors of all others; leave out skip_bad")
    keys = [digest("texts", part) for part in parts]
    found = cluster.each(count, lambda n: (parts[n],), keys)
    ends = np.cumsum([0, *(one.settings["examples"] for one in found)]).tolist()
    if ends[-1] != n_rows:
        raise unequal(path, n_rows, ends[-1])
    about = there.stat()
    version = f"{about.st_size} {about.st_mtime_ns}"
    return [
        part._replace(vectors=Slice(str(there), first, last, version))
        for part, first, last in zip(parts, ends[:-1], ends[1:], strict=True)
    ]


def count(part: Part) -> State:
    """How many examples a part has, with labels or without."""
    return State("Count", {"examples": sum(len(batch) for batch in part.open())}, {}, {})
