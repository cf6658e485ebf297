"""Finding data sets in a data folder, as folders or as archives, and laying them out as the
experiments expect them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from papers.archives import unpack
from papers.datasets import DATASETS, dataset
from shortlist.errors import InputError


def find(data: str | Path, name: str, cache: str | Path) -> Path:
    """The folder of a data set: in the data folder as it is, or unpacked once from an archive
    there into the cache.
    """
    folder = look(data, name, cache)
    if folder is None:
        raise InputError(dataset(name).missing(Path(data)))
    return folder


def look(data: str | Path, name: str, cache: str | Path) -> Path | None:
    """The same, or None where there is neither."""
    wanted, data, unpacked = dataset(name), Path(data), Path(cache) / dataset(name).folder
    for folder in (
        data / wanted.folder,
        *(data / other for other in wanted.folders),
        data,
        unpacked,
    ):
        if wanted.is_in(folder):
            return folder
    for archive in wanted.archives:
        if (data / archive).is_file():
            unpack(data / archive, unpacked, wanted.marker)
            return unpacked
    return None


def lay_out(data: str | Path, names: Iterable[str], cache: str | Path) -> Path:
    """A folder in which each of these data sets has its own name: the data folder, or the cache
    with links to it.
    """
    found = {DATASETS[name].folder: find(data, name, cache) for name in names}
    if all(folder == Path(data) / own for own, folder in found.items()):
        return Path(data)
    for own, folder in found.items():
        place = Path(cache) / own
        if place.is_symlink():
            place.unlink()
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                place.symlink_to(folder.resolve(), target_is_directory=True)
            except OSError:  # where links are not allowed
                shutil.copytree(folder, place)
    return Path(cache)


def content_digest(folder: Path, files: str) -> str:
    """sha256 over the files that match the patterns: for each, in order of its path, path,
    length and bytes.
    """
    digest = hashlib.sha256()
    every = (path for pattern in files.split() for path in folder.glob(pattern))
    matching = {path.relative_to(folder).as_posix(): path for path in every if path.is_file()}
    for name in sorted(matching):
        digest.update(f"{name}\0{os.path.getsize(matching[name])}\0".encode())
        digest.update(matching[name].read_bytes())
    return digest.hexdigest()
