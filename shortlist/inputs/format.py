"""What every format is: a name, a description, what it carries, how it is recognised, and how it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.source import Progress, Source

Kind = TypeVar("Kind", bound="Format")
Option = str | int | float | list[str] | list[int] | list[str | int] | None  # a value of an option of a format
NONE: Mapping[str, Option] = {}


@dataclass
class Format:
    """A format; its fields are its options."""

    name: ClassVar[str]
    description: ClassVar[str]
    carries: ClassVar[tuple[str, ...]]  # the fields of Examples that it fills
    endings: ClassVar[tuple[str, ...]] = ()  # endings of the names of such files
    encoding: ClassVar[str] = "utf-8"
    obtained: ClassVar[str] = ""  # where the data set can be had, for the formats that are one data set's own

    @classmethod
    def with_options(cls: type[Kind], options: Mapping[str, Option], preferred: Mapping[str, Option] = NONE) -> Kind:
        """The format with these options, refused if it does not have them; preferred ones only if it has them."""
        known = [option.name for option in fields(cls)]
        options = {name: value for name, value in preferred.items() if name in known} | dict(options)
        for option in options:
            if option not in known:
                takes = f"its options are {', '.join(known)}" if known else "it has none"
                raise InputError(f"the format {cls.name} has no option {option!r}; {takes}")
        given: dict[str, Any] = dict(options)
        return cls(**given)

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        """Whether a file of this name (lower case, without .gz and the like) that begins so is of this format."""
        return False

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        """Whether this folder is of this format."""
        return False

    # How a file can be cut into pieces that are read apart.

    @property
    def by_line(self) -> bool:
        """Whether every record is a line, so that a file can be cut after any line."""
        return False

    def together(self, line: bytes, after: bytes) -> bool:
        """Whether a line must stay with the one after it all the same."""
        return False

    def of_pieces(self: Kind, source: Source, first: str) -> tuple[str, bool, Kind]:
        """From the first line of a file: the line that every piece needs before its own, if any; whether it is that
        first line itself; and how the pieces are read, with nothing left to guess."""
        return "", False, self

    def files(self, folder: Path) -> list[Path]:
        """The files of a folder of this format, in order."""
        raise InputError(f"{folder} is a folder, and the format {self.name} is read from a file")

    def examples(self, source: Source) -> Iterator[Examples]:
        """Read an open file, a batch at a time."""
        raise InputError(f"the format {self.name} is read from a folder, not a file, and {source.name} is a file")

    def folder_examples(self, folder: Path, progress: Progress) -> Iterator[Examples]:
        """Read a folder, a batch at a time: its files one after another."""
        for _, source in self.opened(folder, progress):
            yield from self.examples(source)

    def file_examples(self, path: Path, progress: Progress) -> Iterator[Examples]:
        """Open one file, read it, and close it."""
        for _, source in self.opened(path, progress):
            yield from self.examples(source)

    def opened(self, where: Path, progress: Progress) -> Iterator[tuple[Path, Source]]:
        """The file, or each file of a folder, open until the next one is asked for."""
        files = self.files(where) if where.is_dir() else [where]
        progress.bytes_total = sum(path.stat().st_size for path in files)
        for path in files:
            source = Source(path, progress)
            try:
                source.decode_as(self.encoding)
                yield path, source
            finally:
                source.close()
