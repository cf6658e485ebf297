"""Downloading a data set from its publisher: whole files are kept, and what is not the data set
is not.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from papers.archives import unpack
from papers.datasets import DataSet, Remote, dataset
from papers.finding import content_digest
from shortlist.errors import InputError

Progress = Callable[[str, int, int | None], None]  # file, bytes there, bytes in all where known
BLOCK = 1 << 16
PATIENCE = 30.0  # seconds without a byte


def fetch(name: str, data: str | Path, progress: Progress = lambda file, there, of: None) -> Path:
    """Download a data set into its folder in the data folder, and check it. Gives the folder,
    which may be there.
    """
    wanted, target = dataset(name), Path(data) / dataset(name).folder
    if wanted.is_in(target):
        return target
    if not wanted.remotes:
        raise InputError(f"{name} has no direct download: see {wanted.address}; {wanted.by_hand}")
    work = Path(data) / f".fetching-{name}"
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot make the folder {work}: {problem.strerror}") from None
    files = [_download(remote, work, progress) for remote in wanted.remotes]
    if files[0].name in wanted.archives:
        _unpack_checked(wanted, files[0], target)
        shutil.rmtree(work)
    else:
        os.replace(work, target)
    return target


def _download(remote: Remote, folder: Path, progress: Progress) -> Path:
    """One file, which is kept once it is whole and right."""
    file, part = folder / remote.name, folder / f"{remote.name}.part"
    if file.exists():
        return file
    kind, _, expected = (remote.digest or "sha256:").partition(":")
    digest, there, total = hashlib.new(kind), 0, None
    try:
        with (
            urllib.request.urlopen(remote.url, timeout=PATIENCE) as answer,
            part.open("wb") as stream,
        ):
            length = answer.headers.get("Content-Length")
            total = int(length) if length else None
            progress(remote.name, there, total)
            while block := answer.read(BLOCK):
                stream.write(block)
                digest.update(block)
                there += len(block)
                progress(remote.name, there, total)
        if total is not None and there < total:
            raise http.client.IncompleteRead(b"", total - there)
    except urllib.error.HTTPError as problem:
        raise InputError(f"{remote.url} answers {problem.code} {problem.reason}") from None
    except (OSError, http.client.HTTPException) as problem:
        why = getattr(problem, "reason", None) or problem
        raise InputError(
            f"the download of {remote.url} broke off after {there:,} bytes ({why}); run the same "
            "again"
        ) from None
    if expected and digest.hexdigest() != expected:
        part.unlink()
        raise InputError(
            f"{remote.url} is not the file that was published: its {kind} is {digest.hexdigest()}, "
            f"not {expected}; "
            "it was not kept"
        )
    os.replace(part, file)
    return file


def _unpack_checked(wanted: DataSet, archive: Path, target: Path) -> None:
    """Unpack an archive; one whose own digest nobody published is judged by the files in it."""
    try:
        unpack(archive, archive.parent / "unpacked", wanted.marker)
        if not wanted.remotes[0].digest:
            found = content_digest(archive.parent / "unpacked", wanted.files)
            if found != wanted.digest:
                raise InputError(
                    f"the files of {wanted.remotes[0].url} are not those of {wanted.name}: their "
                    f"digest is {found}, "
                    f"not {wanted.digest}; they were not kept"
                )
    except InputError:
        shutil.rmtree(archive.parent)
        raise
    os.replace(archive.parent / "unpacked", target)
