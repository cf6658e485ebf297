"""Parts of files: ranges of bytes that begin and end between two records.

Addresses are paths, or whatever fsspec can open (``s3://…``, ``https://…``, ``zip://…``), and may
contain ``*``. Only the surroundings of each cut are read here; a worker reads its part. Compressed
files, and formats whose records are not lines, are one part each.
"""

from __future__ import annotations

import io
import os
import warnings
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

import fsspec
from fsspec.core import url_to_fs

from shortlist.data.validation import MOST_AMOUNT, as_whole
from shortlist.errors import InputError
from shortlist.inputs import FORMATS, Stream, read
from shortlist.inputs.reading import sniff
from shortlist.inputs.source import Option, Peekable, Progress, Source, decompressed

PART_SIZE = 1 << 25
HEAD = 1 << 16
UTF16 = (BOM_UTF16_LE, BOM_UTF16_BE)


class Part(NamedTuple):
    """The bytes start..stop-1 of a file, or all of it where stop is None, and how to read them."""

    address: str
    start: int
    stop: int | None
    before: int | None  # how many lines of the file precede it; None where they were not counted
    header: str  # a line that precedes those of the part
    format: str
    options: dict[str, Any]  # of the format, and of ``read``
    version: str  # changes when the file does

    @property
    def name(self) -> str:
        """The file and where the part begins, for errors."""
        return (
            self.address if self.before is not None else f"{self.address} after byte {self.start}"
        )

    def open(self) -> Stream:
        """The examples of the part."""
        if self.stop is None and "://" not in self.address:
            return read(self.address, self.format, **self.options)
        with opened(self.address) as file:
            file.seek(self.start)
            data = file.read() if self.stop is None else file.read(self.stop - self.start)
        start = (
            f"{self.header}\n".encode(self.options["encoding"] or "utf-8") if self.header else b""
        )
        first_line = (self.before or 0) + (not self.header)
        return read(_Piece(self.name, start + data, first_line), self.format, **self.options)


class _Piece(io.BytesIO):
    """Bytes with a name, and the number of their first line."""

    def __init__(self, name: str, data: bytes, first_line: int = 1) -> None:
        super().__init__(data)
        self.name = name
        self.first_line = first_line


def cut(
    addresses: str | Iterable[str],
    format: str | None = None,
    *,
    part_size: int = PART_SIZE,
    skip_bad: bool = False,
    encoding: str | None = None,
    **options: Option,
) -> list[Part]:
    """Cut files into parts of about ``part_size`` bytes, in order; the other arguments are
    those of ``read``.
    """
    size = as_whole(part_size, "part_size", least=1, most=MOST_AMOUNT)
    for_all = {"skip_bad": bool(skip_bad), "encoding": encoding}
    usual = {"text": "text", "labels": "labels", "label_separator": None}
    options = {
        name: value for name, value in options.items() if name not in usual or value != usual[name]
    }
    parts: list[Part] = []
    for address in files([addresses] if isinstance(addresses, str) else addresses):
        parts += _parts_of(address, format, size, options, for_all)
    return parts


def check_some(parts: Sequence[Part], counts: Sequence[int]) -> None:
    """Refuse files if none has examples; warn of each that has none."""
    found = dict.fromkeys((part.address for part in parts), 0)
    for part, count in zip(parts, counts, strict=True):
        found[part.address] += count
    if not any(counts):
        raise nothing_in(found)
    for address, count in found.items():
        if count == 0:
            warnings.warn(f"{address} has no examples", UserWarning, stacklevel=3)


def nothing_in(addresses: Iterable[str]) -> InputError:
    """Return the error about files without examples."""
    listed = list(dict.fromkeys(addresses))
    have = "has" if len(listed) == 1 else "have"
    return InputError(
        f"{', '.join(listed)} {have} no examples; at least one is needed below the header"
    )


def files(addresses: Iterable[str]) -> Iterator[str]:
    """Yield each file; those of a pattern in the order of their names."""
    for address in addresses:
        try:
            fs, path = url_to_fs(address)
            found = fs.glob(path) if "*" in path else [path] if fs.exists(path) else []
            folder = next((one for one in found if fs.isdir(one)), None)
        except (OSError, ValueError, ImportError) as problem:
            raise InputError(f"cannot find {address}: {problem}") from None
        if not found:
            raise InputError(f"there is no file {address}")
        if folder is not None:
            raise InputError(
                f"{folder} is a folder; on a cluster, name its files: {folder.rstrip('/')}/*"
            )
        if "*" in path:
            yield from sorted(fs.unstrip_protocol(one) for one in found)
        else:
            # workers may run in other folders
            yield address if "://" in address else os.path.abspath(address)


@contextmanager
def opened(address: str) -> Iterator[BinaryIO]:
    """Open a file for reading bytes."""
    try:
        with fsspec.open(address, "rb") as file:
            yield file
    except InputError:
        raise
    except (OSError, ValueError, ImportError) as problem:
        raise InputError(f"cannot read {address}: {problem}") from None


def _parts_of(
    address: str, format: str | None, size: int, options: dict[str, Any], for_all: dict[str, Any]
) -> list[Part]:
    fs, path = url_to_fs(address)
    encoding = for_all["encoding"]
    with opened(address) as file:
        head = file.read(HEAD)
        if not head:
            return []
        if format is None:
            format = sniff(_Piece(address, head), encoding=encoding)
        if format not in FORMATS:
            raise InputError(
                f"format must be one of {', '.join(map(repr, FORMATS))}, not {format!r}"
            )
        reader = FORMATS[format].with_options(options, {})
        lines_end_in_a_byte = (
            not head.startswith(UTF16) and "\n".encode(encoding or "utf-8") == b"\n"
        )
        whole = (
            not reader.by_line
            or not lines_end_in_a_byte
            or decompressed(Peekable(io.BytesIO(head))) is not None
        )
        header, is_first, edges = "", False, [0]
        if not whole:
            file.seek(0)
            line = file.readline()
            text = line.decode(encoding or "utf-8-sig", "replace").rstrip("\r\n")
            header, is_first, reader = reader.of_pieces(
                Source(_Piece(address, head), Progress()), text
            )
            first = len(line) if is_first else len(BOM_UTF8) if line.startswith(BOM_UTF8) else 0
            edges = _edges(file, first, int(fs.size(path)), size)
    settings = asdict(reader) | for_all
    version = fs.ukey(path)
    if whole:
        return [Part(address, 0, None, 0, "", format, settings, version)]
    return [
        Part(address, start, stop, None if n else int(is_first), header, format, settings, version)
        for n, (start, stop) in enumerate(pairwise(edges))
    ]


def _edges(file: BinaryIO, first: int, last: int, size: int) -> list[int]:
    """Return where the parts begin, and where the last one ends."""
    edges = [first]
    while edges[-1] + size < last:
        file.seek(edges[-1] + size - 1)
        file.readline()
        if file.tell() >= last:
            break
        edges.append(file.tell())
    return [*edges, last] if last > first else edges
