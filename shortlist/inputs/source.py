"""Read one file: decompressed, in UTF-8, a block of whole lines at a time; and the base class of
the formats.

``batch``, the bytes of a block, and ``max_record``, the longest record, bound memory. So a small
file that expands to an enormous one costs time, not memory: no more than one piece of it is held,
and data are refused whose dictionary needs more than LARGEST_WINDOW bytes.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import sys
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Protocol, Self, TypeVar

import numpy as np

from shortlist.errors import InputError, installing
from shortlist.inputs.examples import Examples, Skipped

LARGEST_WINDOW = 1 << 27  # zstd --ultra -22 and xz -9 need no more than 128 MiB
PIECE_BYTES = 1 << 16


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes: ...


class Peekable:
    """A stream of bytes whose beginning can be looked at before it is read."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._peeked = b""

    def peek(self, least: int) -> bytes:
        """Return the next bytes without taking them: at least ``least``, or fewer at the end."""
        while len(self._peeked) < least:
            piece = self._stream.read(PIECE_BYTES)
            if not piece:
                break
            self._peeked += piece
        return self._peeked

    def read(self, size: int) -> bytes:
        if not self._peeked:
            return self._stream.read(size)
        piece = self._peeked[:size]
        self._peeked = self._peeked[size:]
        return piece


class _Xz:
    """Read xz streams, one after another. Unlike lzma.LZMAFile, refuse a dictionary of more
    than LARGEST_WINDOW bytes.
    """

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._decoder = _xz_decoder()
        self._is_new = True

    def read(self, size: int) -> bytes:
        piece = b""
        while not piece:
            data = b""
            if self._decoder.eof:
                data = self._decoder.unused_data
                self._decoder = _xz_decoder()
                self._is_new = True
            if not data and self._decoder.needs_input:
                data = self._stream.read(PIECE_BYTES)
                if not data and self._is_new:
                    return b""
                if not data:
                    raise EOFError
            self._is_new = False
            piece = self._decoder.decompress(data, size)
        return piece


def _xz_decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2 * LARGEST_WINDOW)


def _zst(stream: Any) -> Readable:
    zstd = _zstd()
    if zstd is None:
        raise InputError(
            "this file is compressed with zstd, which needs Python 3.14 or the package "
            "backports.zstd; " + installing("zstd")
        )
    option = zstd.DecompressionParameter.window_log_max
    return zstd.ZstdFile(stream, options={option: LARGEST_WINDOW.bit_length() - 1})


def _zstd() -> Any:
    """Return Python's module (since 3.14), the same module as a package, or None."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return import_module(name)
    except ImportError:
        return None


# How a compressed file begins -> how it is decompressed.
_DECOMPRESSORS: dict[bytes, Callable[[Any], Readable]] = {
    b"\x1f\x8b\x08": lambda stream: gzip.GzipFile(fileobj=stream),
    b"\xfd7zXZ\x00": _Xz,
    b"\x28\xb5\x2f\xfd": _zst,
    **{b"BZh%d1AY&SY" % level: bz2.BZ2File for level in range(1, 10)},
}

COMPRESSED_ENDINGS = (".gz", ".xz", ".zst", ".bz2")


@cache
def problems() -> tuple[type[Exception], ...]:
    """Return the errors of a file that cannot be read, or whose compressed data are damaged or
    end too early.
    """
    errors = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
    zstd = _zstd()
    return errors if zstd is None else (*errors, zstd.ZstdError)


def decompressed(stream: Peekable) -> Readable | None:
    """Return the decompressed stream; None if it is not compressed."""
    beginning = stream.peek(10)  # as long as the longest key
    for magic, decompress in _DECOMPRESSORS.items():
        if beginning.startswith(magic):
            return decompress(stream)
    return None


BATCH_BYTES = 1 << 18  # fits in a processor's cache; larger blocks are read more slowly
MAX_RECORD_BYTES = 1 << 26
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

Resource = TypeVar("Resource")
# the number of each line in its file, and the lines without their ends
Lines = tuple[Sequence[int], list[str]]


class TooLarge(InputError):
    """A file holds more than may be read."""


@dataclass
class Progress:
    """The options and the progress of reading; the files of a folder share one."""

    skip_bad: bool = False
    batch: int = BATCH_BYTES
    max_record: int = MAX_RECORD_BYTES
    encoding: str | None = None
    bytes_read: int = 0
    bytes_total: int | None = None
    most_bytes: int | None = None  # of a file, decompressed
    skipped: Skipped = field(default_factory=Skipped)
    notes: list[str] = field(default_factory=list)
    columns: list[str] | None = None  # the names of the features
    # of the first record without labels, or the columns of a table without labels
    fields: list[str] | None = None
    separator: str | None = None  # the recognised separator of a table

    def bad(self, sentence: str) -> None:
        """Refuse a bad record, or count it if bad records are skipped."""
        if not self.skip_bad:
            raise InputError(sentence)
        self.skipped.add(sentence)


class Source:
    """The bytes of a path or an open binary file, decompressed and in UTF-8.

    ``close`` closes what the source has opened; so does the end of the source, even in a cycle of
    references.
    """

    def __init__(self, where: str | os.PathLike[str] | BinaryIO, progress: Progress) -> None:
        self.progress = progress
        self.path = None if is_open(where) else Path(where)  # type: ignore[arg-type]
        self.name = str(self.path) if self.path else _name_of(where)
        self._problems = problems()
        self._resources = ExitStack()
        self.close = weakref.finalize(self, self._resources.close)
        with self._explained():
            if where == "-" and sys.stdin is None:
                raise InputError("it is closed")
            stream: Any = sys.stdin.buffer if where == "-" else where
            if self.path:
                stream = self.hold(open(self.path, "rb"))  # noqa: SIM115 - held
            self._is_pipe = not (hasattr(stream, "seekable") and stream.seekable())
            raw = Peekable(_Counted(stream, progress))
            expanded = decompressed(raw)
            self.compressed = expanded is not None
            self._plain = Peekable(expanded) if expanded else raw
            self._text: Readable = self._plain
        # the line of the first bad record, and the sentence about it
        self.first_bad: tuple[int, str] | None = None
        # a piece of a file may have a line before its own
        self._first_line = getattr(where, "first_line", 1)
        self.unit = "line"  # what numbers count: of a spreadsheet its rows
        self._ended = False
        self._last = b""
        self._n_bytes = 0  # decompressed

    def hold(self, resource: AbstractContextManager[Resource]) -> Resource:
        """Enter a context until the source is closed."""
        return self._resources.enter_context(resource)

    def head(self) -> str:
        """Return the beginning of the file without taking it."""
        with self._explained():
            head = self._plain.peek(1)
            encoding = _marked(head) or _checked(self.progress.encoding or "utf-8")
            return head.decode(encoding, "replace")

    def decode_as(self, encoding: str) -> None:
        """Read text in this encoding, unless the caller or a byte order mark names another; or
        "binary" data.
        """
        if encoding == "binary":
            return
        with self._explained():
            self._text = _in_utf8(self._plain, self.progress.encoding or encoding)

    def read(self, size: int) -> bytes:
        """Return about ``size`` bytes of UTF-8 or fewer; none at the end."""
        with self._explained():
            data = self._text.read(size)
        self.count(len(data))
        return data

    def count(self, n_bytes: int) -> None:
        """Count decompressed bytes; refuse a file that holds too many."""
        self._n_bytes += n_bytes
        most = self.progress.most_bytes
        if most is not None and self._n_bytes > most:
            raise TooLarge(
                f"{self.name} holds more than {most:,} bytes once it is decompressed; send it in "
                "parts"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Name the file in errors."""
        try:
            yield
        except EOFError:
            raise InputError(
                f"cannot read {self.name}: its compressed data end too early"
            ) from None
        except self._problems as problem:
            reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
            raise InputError(f"cannot read {self.name}: {reason}") from None

    def bad(self, line: int, column: int, problem: str) -> None:
        """Report a bad record at a line and column, both counted from 1."""
        where = f"line {line}, column {column}" if self.unit == "line" else f"{self.unit} {line}"
        sentence = f"{self.name}, {where}: {problem}"
        self.first_bad = self.first_bad or (line, sentence)
        self.progress.bad(sentence)

    def blocks(self, as_they_are: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole lines, each with the number of its first line.

        Carriage returns before line feeds are removed, unless lines are asked for as they are.
        """
        longest = self.progress.max_record
        number = self._first_line
        rest = bytearray()
        is_skipping = False  # a record that is too long
        while data := self._fill(min(self.progress.batch, longest)):
            first = data.find(b"\n") + 1
            if is_skipping or len(rest) + (first or len(data)) > longest:
                if not is_skipping:
                    expected = f"expected a record of at most {longest} bytes, found a longer one"
                    self.bad(number, 1, expected)
                rest.clear()
                is_skipping = not first
                if is_skipping:
                    continue
                number += 1
                data = data[first:]
            end = data.rfind(b"\n") + 1
            if end:
                block = bytes(rest) + data[:end]
                yield number, block if as_they_are else block.replace(b"\r\n", b"\n")
                number += int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")))
                rest.clear()
            rest += data[end:]

    def _fill(self, size: int) -> bytes:
        """Read ``size`` bytes, fewer from a pipe; add the line feed that the last line may lack."""
        data = bytearray()
        while len(data) < size and not self._ended:
            piece = self.read(size - len(data))
            data += piece
            if not piece:
                self._ended = True
                if self._last not in (b"", b"\n"):
                    data += b"\n"
            self._last = piece[-1:]
            if self._is_pipe:
                break  # the writer of a pipe may wait for an answer
        return bytes(data)

    def line_blocks(self) -> Iterator[Lines]:
        """Yield blocks of lines as text. A line that is not UTF-8 is bad."""
        for first, block in self.blocks():
            yield self.decoded(first, block)

    def decoded(self, first: int, block: bytes) -> Lines:
        """Return the good lines of a block as text."""
        try:
            lines = block.decode().split("\n")[:-1]
            return range(first, first + len(lines)), lines
        except UnicodeDecodeError:
            decoded = self._decoded_lines(first, block)
            good = {number: line for number, line in decoded if line is not None}
            return list(good), list(good.values())

    def decoded_text(self, first: int, block: bytes) -> str:
        """Return a block as text, in which bad lines are empty."""
        try:
            return block.decode()
        except UnicodeDecodeError:
            return "".join(f"{line or ''}\n" for _, line in self._decoded_lines(first, block))

    def _decoded_lines(self, first: int, block: bytes) -> Iterator[tuple[int, str | None]]:
        for number, line in enumerate(block.split(b"\n")[:-1], first):
            yield number, self.decoded_line(number, line)

    def decoded_line(self, number: int, line: bytes) -> str | None:
        """Return a line, or a record that begins there, as text; None if it is bad and skipped."""
        try:
            return line.decode()
        except UnicodeDecodeError as problem:
            good = line[: problem.start].decode()
            self.bad(
                number + good.count("\n"),
                len(good) - good.rfind("\n"),
                f"expected text in {self.progress.encoding or 'UTF-8'}, found the byte "
                f"0x{line[problem.start]:02x}; if the file has another encoding, name it, for "
                "example encoding='latin-1' (--encoding latin-1)",
            )
            return None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line as text, with its number."""
        for block in self.line_blocks():
            yield from zip(*block, strict=True)

    def whole(self) -> str | None:
        """Return the text of a file that is one record; None if it is bad and skipped."""
        text = bytearray()
        longest = self.progress.max_record
        while data := self.read(1 << 20):
            text += data
            if len(text) > longest:
                self.progress.bad(
                    f"{self.name}: expected a text of at most {longest} bytes, found a longer one"
                )
                return None
        return self.decoded_line(1, bytes(text).replace(b"\r\n", b"\n"))


class _Counted:
    """Count the bytes that were read, and refuse a file that was opened as text."""

    def __init__(self, stream: Readable, progress: Progress) -> None:
        # of a pipe, what is there, without waiting for more
        self._read = getattr(stream, "read1", stream.read)
        self._progress = progress

    def read(self, size: int) -> bytes:
        data = self._read(size)
        if not isinstance(data, bytes):
            raise InputError("it must be opened in binary mode: open(path, 'rb')")
        self._progress.bytes_read += len(data)
        return data


class _Transcoded:
    """Turn any encoding into UTF-8. Bytes that are not in the encoding are kept, to be reported
    with their line.
    """

    def __init__(self, stream: Readable, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
        self._encoding = encoding

    def read(self, size: int) -> bytes:
        while True:
            data = self._stream.read(size)
            try:
                text = self._decoder.decode(data, final=not data)
                if text or not data:
                    return text.encode("utf-8", "surrogateescape")
            except UnicodeError as problem:
                raise InputError(f"expected text in {self._encoding}: {problem}") from None


def _in_utf8(stream: Peekable, encoding: str) -> Readable:
    """Return the stream in UTF-8, without its byte order mark."""
    mark = _marked(stream.peek(3))
    if mark == "utf-8-sig":
        stream.read(3)
        return stream
    if mark is None and codecs.lookup(_checked(encoding)).name == "utf-8":
        return stream
    return _Transcoded(stream, mark or encoding)


def _checked(encoding: str) -> str:
    try:
        "".encode(encoding)  # refuses rot13 and the like, which codecs.lookup finds
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError, TypeError):
        raise InputError(f"there is no text encoding {encoding!r}") from None
    return encoding


def _marked(head: bytes) -> str | None:
    """Return the encoding of a byte order mark, if there is one."""
    return next((name for mark, name in BYTE_ORDER_MARKS.items() if head.startswith(mark)), None)


def is_open(where: object) -> bool:
    """Whether this is an open file, or "-" for standard input, rather than a path."""
    return hasattr(where, "read") or (isinstance(where, str) and where == "-")


def _name_of(where: Any) -> str:
    if where == "-":
        return "standard input"
    name = getattr(where, "name", None)
    return name if isinstance(name, str) else f"<{type(where).__name__}>"


# a value of an option of a format
Option = str | int | float | list[str] | list[int] | list[str | int] | None


@dataclass
class Format:
    """A format; its fields are its options."""

    name: ClassVar[str]
    description: ClassVar[str]
    carries: ClassVar[tuple[str, ...]]  # the fields of Examples that it fills
    endings: ClassVar[tuple[str, ...]] = ()  # endings of the names of such files
    encoding: ClassVar[str] = "utf-8"
    obtained: ClassVar[str] = ""  # where to get the data sets of this format

    @classmethod
    def with_options(cls, options: Mapping[str, Option], preferred: Mapping[str, Option]) -> Self:
        """Return the format with these options; preferred options are ignored if the format
        does not have them.
        """
        names = [option.name for option in fields(cls)]
        chosen: dict[str, Any] = {name: value for name, value in preferred.items() if name in names}
        for name, value in options.items():
            if name not in names:
                takes = f"its options are {', '.join(names)}" if names else "it has none"
                raise InputError(f"the format {cls.name} has no option {name!r}; {takes}")
            chosen[name] = value
        return cls(**chosen)

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        """Whether a file of this name (lower case, without .gz and the like) and beginning is
        of this format.
        """
        return False

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        """Whether this folder is of this format."""
        return False

    # Cutting a file into pieces, for a cluster.

    @property
    def by_line(self) -> bool:
        """Whether every record is a line, so that a file can be cut after any line."""
        return False

    def of_pieces(self, source: Source, first: str) -> tuple[str, bool, Self]:
        """Return, by the first line of a file, how its pieces are read.

        That is a line to put before each piece, or ""; whether that is the first line itself; and
        the format with options for all that was recognised.
        """
        return "", False, self

    def files(self, folder: Path) -> list[Path]:
        """Return the files of a folder of this format, in order."""
        raise InputError(f"{folder} is a folder, and the format {self.name} is read from a file")

    def examples(self, source: Source) -> Iterator[Examples]:
        """Read an open file, a batch at a time."""
        raise InputError(
            f"the format {self.name} is read from a folder, not a file, and {source.name} is a file"
        )

    def folder_examples(self, folder: Path, progress: Progress) -> Iterator[Examples]:
        """Read the files of a folder one after another, a batch at a time."""
        return self.file_examples(folder, progress)

    def file_examples(self, path: Path, progress: Progress) -> Iterator[Examples]:
        """Read a file, a batch at a time."""
        for _, source in self.opened(path, progress):
            yield from self.examples(source)

    def opened(self, where: Path, progress: Progress) -> Iterator[tuple[Path, Source]]:
        """Yield the file, or each file of a folder, open until the next one."""
        files = self.files(where) if where.is_dir() else [where]
        progress.bytes_total = sum(path.stat().st_size for path in files)
        for path in files:
            source = Source(path, progress)
            try:
                source.decode_as(self.encoding)
                yield path, source
            finally:
                source.close()
