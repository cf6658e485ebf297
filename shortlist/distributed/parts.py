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

PART_BYTES = 1 << 25
HEAD_BYTES = 1 << 16
UTF16_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)


class Part(NamedTuple):
    """The bytes start..stop-1 of a file, or all of it where stop is None, and how to read them."""

    address: str
    start: int
    stop: int | None
    n_lines_before: int | None  # None where they were not counted
    header: str  # a line that precedes those of the part
    format: str
    options: dict[str, Any]  # of the format, and of ``read``
    version: str  # changes when the file does

    @property
    def name(self) -> str:
        """The file and where the part begins, for errors."""
        if self.n_lines_before is None:
            return f"{self.address} after byte {self.start}"
        return self.address

    def open(self) -> Stream:
        """The examples of the part."""
        if self.stop is None and "://" not in self.address:
            return read(self.address, self.format, **self.options)
        with opened(self.address) as file:
            file.seek(self.start)
            data = file.read(-1 if self.stop is None else self.stop - self.start)
        first_line = (self.n_lines_before or 0) + 1
        if self.header:
            first_line -= 1
            data = f"{self.header}\n".encode(self.options["encoding"] or "utf-8") + data
        return read(_Piece(self.name, data, first_line), self.format, **self.options)


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
    part_size: int = PART_BYTES,
    skip_bad: bool = False,
    encoding: str | None = None,
    **options: Option,
) -> list[Part]:
    """Cut files into parts of about ``part_size`` bytes, in order; the other arguments are
    those of ``read``.
    """
    size = as_whole(part_size, "part_size", least=1, most=MOST_AMOUNT)
    reading = {"skip_bad": bool(skip_bad), "encoding": encoding}
    defaults = {"text": "text", "labels": "labels", "label_separator": None}
    options = {
        name: value
        for name, value in options.items()
        if name not in defaults or value != defaults[name]
    }
    if isinstance(addresses, str):
        addresses = [addresses]
    parts: list[Part] = []
    for address in files(addresses):
        parts += _parts_of(address, format, size, options, reading)
    return parts


def check_some(parts: Sequence[Part], counts: Sequence[int]) -> None:
    """Refuse files if none has examples; warn of each that has none."""
    totals = dict.fromkeys((part.address for part in parts), 0)
    for part, count in zip(parts, counts, strict=True):
        totals[part.address] += count
    if not any(counts):
        raise nothing_in(totals)
    for address, count in totals.items():
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
            paths = [path] if fs.exists(path) else []
            if "*" in path:
                paths = fs.glob(path)
            folder = next((path for path in paths if fs.isdir(path)), None)
        except (OSError, ValueError, ImportError) as problem:
            raise InputError(f"cannot find {address}: {problem}") from None
        if not paths:
            raise InputError(f"there is no file {address}")
        if folder is not None:
            raise InputError(
                f"{folder} is a folder; on a cluster, name its files: {folder.rstrip('/')}/*"
            )
        if "*" in path:
            yield from sorted(map(fs.unstrip_protocol, paths))
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
    address: str, format: str | None, size: int, options: dict[str, Any], reading: dict[str, Any]
) -> list[Part]:
    fs, path = url_to_fs(address)
    encoding = reading["encoding"]
    with opened(address) as file:
        head = file.read(HEAD_BYTES)
        if not head:
            return []
        if format is None:
            format = sniff(_Piece(address, head), encoding=encoding)
        if format not in FORMATS:
            raise InputError(
                f"format must be one of {', '.join(map(repr, FORMATS))}, not {format!r}"
            )
        reader = FORMATS[format].with_options(options, {})
        version = fs.ukey(path)
        lines_end_in_a_byte = (
            not head.startswith(UTF16_MARKS) and "\n".encode(encoding or "utf-8") == b"\n"
        )
        is_compressed = decompressed(Peekable(io.BytesIO(head))) is not None
        if is_compressed or not reader.by_line or not lines_end_in_a_byte:
            return [Part(address, 0, None, 0, "", format, asdict(reader) | reading, version)]
        file.seek(0)
        line = file.readline()
        text = line.decode(encoding or "utf-8-sig", "replace").rstrip("\r\n")
        source = Source(_Piece(address, head), Progress())
        header, is_first, reader = reader.of_pieces(source, text)
        settings = asdict(reader) | reading
        first = 0
        if is_first:
            first = len(line)
        elif line.startswith(BOM_UTF8):
            first = len(BOM_UTF8)
        edges = _edges(file, first, int(fs.size(path)), size)
    parts: list[Part] = []
    for start, stop in pairwise(edges):
        n_lines_before = None if parts else int(is_first)
        parts.append(Part(address, start, stop, n_lines_before, header, format, settings, version))
    return parts


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
