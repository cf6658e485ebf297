"""Unpacking an archive that somebody else made: nothing may land outside the folder meant for
it.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
import zipfile
from pathlib import Path

from shortlist.errors import InputError

MOST_BYTES = 4_000_000_000  # unpacked; the largest of our data sets has 0.1 GB


def unpack(archive: Path, folder: Path, marker: str) -> None:
    """Unpack a tar or zip file so that ``folder`` becomes the folder in it that holds ``marker``.

    The folder appears at once, when all of it is there.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking-") as temporary:
        inside = Path(temporary)
        try:
            if zipfile.is_zipfile(archive):
                _unzip(archive, inside)
            else:
                _untar(archive, inside)
        except (
            OSError,
            EOFError,
            tarfile.TarError,
            zipfile.BadZipFile,
            zipfile.LargeZipFile,
        ) as problem:
            raise InputError(
                f"cannot unpack {archive}: {str(problem) or type(problem).__name__}"
            ) from None
        found = min(inside.rglob(marker), key=lambda path: len(path.parts), default=None)
        if found is None:
            raise InputError(f"{archive} does not hold {marker}, which belongs to the data set")
        if folder.is_symlink():
            folder.unlink()
        try:
            os.replace(found.parent, folder)
        except OSError as problem:
            raise InputError(
                f"cannot unpack {archive} to {folder}: {problem.strerror}; remove what is there"
            ) from None
        inside.mkdir(exist_ok=True)  # for the cleaner, if the archive had no folder of its own


def _untar(archive: Path, folder: Path) -> None:
    if not hasattr(tarfile, "data_filter"):
        raise InputError(
            f"this Python cannot unpack {archive} safely; update it, or unpack the archive yourself"
        )
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        _refuse_if_large(archive, sum(member.size for member in members))
        # refuses absolute paths, '..' and links that lead out
        tar.extractall(folder, members, filter="data")


def _unzip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as zipped:
        _refuse_if_large(archive, sum(member.file_size for member in zipped.infolist()))
        for name in zipped.namelist():
            path = Path(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
                raise InputError(f"{archive} holds {name!r}, which would land outside its folder")
        zipped.extractall(folder)


def _refuse_if_large(archive: Path, n_bytes: int) -> None:
    if n_bytes > MOST_BYTES:
        raise InputError(
            f"{archive} would unpack to {n_bytes:,} bytes, more than any data set here has"
        )
