"""Compressed or not: recognised by the first bytes, whatever the file is called, and undone a piece at a time.

An archive bomb is a small file that expands to an enormous one. Nothing here ever holds more than one piece of the
expanded text, and dictionaries that would need more than WINDOW bytes are refused, so a bomb costs time, not memory;
its endless lines are refused by the limit on the length of a record (see ``source``).
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from shortlist.errors import InputError, installing

WINDOW = 1 << 27  # zstd --ultra -22 and xz -9 need no more than 128 MiB
PIECE = 1 << 16


class Readable(Protocol):
    """All that is asked of a stream of bytes."""

    def read(self, size: int, /) -> bytes: ...


class Peekable:
    """A stream of bytes whose beginning can be looked at before it is read."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._held = b""

    def peek(self, least: int) -> bytes:
        """The bytes that come next, left where they are: as many as are there, but ``least``, or fewer at the end."""
        while len(self._held) < least and (piece := self._stream.read(PIECE)):
            self._held += piece
        return self._held

    def read(self, size: int) -> bytes:
        if self._held:
            piece, self._held = self._held[:size], self._held[size:]
            return piece
        return self._stream.read(size)


class _Xz:
    """xz streams, one after another. Unlike lzma.LZMAFile it refuses a dictionary that would not fit in memory."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._decoder: lzma.LZMADecompressor | None = None

    def read(self, size: int) -> bytes:
        while True:
            if self._decoder is None or self._decoder.eof:
                data = (self._decoder.unused_data if self._decoder else b"") or self._stream.read(PIECE)
                if not data:
                    return b""
                self._decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2 * WINDOW)
            else:
                data = self._stream.read(PIECE) if self._decoder.needs_input else b""
                if not data and self._decoder.needs_input:
                    raise EOFError
            piece = self._decoder.decompress(data, size)
            if piece:
                return piece


def _zst(stream: Any) -> Readable:
    zstd = _zstd()
    if zstd is None:
        raise InputError(
            "this file is compressed with zstd, which needs Python 3.14 or the package backports.zstd; "
            + installing("zstd")
        )
    return zstd.ZstdFile(stream, options={zstd.DecompressionParameter.window_log_max: WINDOW.bit_length() - 1})


def _zstd() -> Any:
    """Python's own module since 3.14, the same module as a package before, or None."""
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        return None


# How a compressed file begins -> what undoes it.
_BEGINNINGS: dict[bytes, Callable[[Any], Readable]] = {
    b"\x1f\x8b\x08": lambda stream: gzip.GzipFile(fileobj=stream),
    b"\xfd7zXZ\x00": _Xz,
    b"\x28\xb5\x2f\xfd": _zst,
    **{b"BZh%d1AY&SY" % level: bz2.BZ2File for level in range(1, 10)},
}

ENDINGS = (".gz", ".xz", ".zst", ".bz2")


@cache
def problems() -> tuple[type[Exception], ...]:
    """Whatever reading raises when the file cannot be read, or its compressed data are damaged or stop too early."""
    zstd = _zstd()
    return (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, *([zstd.ZstdError] if zstd else []))


def decompressed(stream: Peekable) -> Readable | None:
    """What the compressed bytes of a stream stand for; None where they are not compressed."""
    beginning = stream.peek(10)  # the longest of the beginnings
    for magic, undo in _BEGINNINGS.items():
        if beginning.startswith(magic):
            return undo(stream)
    return None
