"""A file, a folder, standard input or a frame -> a stream of batches of examples."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from shortlist.data.validation import as_choice, as_whole
from shortlist.errors import InputError
from shortlist.inputs.delimited import Csv, NumberTable, Spreadsheet, Tsv
from shortlist.inputs.examples import Examples, beside
from shortlist.inputs.frames import Frame, Frames, Parquet
from shortlist.inputs.json_records import Doccano, JsonArray, JsonLines, LabelStudio
from shortlist.inputs.source import (
    BATCH_BYTES,
    COMPRESSED_ENDINGS,
    MAX_RECORD_BYTES,
    Format,
    Option,
    Progress,
    Source,
    is_open,
)
from shortlist.inputs.sparse import Letor, SvmLight
from shortlist.inputs.tables import ColumnNames
from shortlist.inputs.text_files import ClassFolders, FastText, PlainLines

# From the most particular to the most general: the order in which a format is recognised.
FORMATS: dict[str, type[Format]] = {
    kind.name: kind
    for kind in (
        Frames,
        Parquet,
        Spreadsheet,
        Doccano,
        JsonLines,
        LabelStudio,
        JsonArray,
        FastText,
        Letor,
        SvmLight,
        Csv,
        Tsv,
        NumberTable,
        ClassFolders,
        PlainLines,
    )
}

ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".rar")
# at most one character of so many is a control character in text; of random bytes it is one in nine
LETTERS_PER_CONTROL = 20

Input = str | os.PathLike[str] | BinaryIO


class Stream:
    """The batches of an input. They can be iterated once.

    ``format`` is the name of the format; ``bytes_read`` of ``bytes_total`` (None if unknown) is the
    progress; ``skipped`` counts the bad records that were left out; ``notes`` lists assumptions.
    """

    def __init__(self, format: str, batches: Iterator[Examples], progress: Progress) -> None:
        self.format = format
        self.skip_bad = progress.skip_bad
        self.skipped = progress.skipped
        self.notes = progress.notes
        self._batches = batches
        self.progress = progress

    def __iter__(self) -> Iterator[Examples]:
        n_seen = 0
        while True:
            with _explained():
                batch = next(self._batches, None)
            if batch is None:
                return
            if len(batch):
                batch.feature_names = self.columns
                batch.first = n_seen
                n_seen += len(batch)
                yield batch

    def begins(self, labelled: bool = False) -> bool:
        """Whether the first batch has examples, and labels if ``labelled``; nothing else is
        read.
        """
        with _explained():
            batch = next(self._batches, Examples())
            return len(batch) > 0 and not (labelled and batch.labels is None)

    def with_vectors(
        self, path: str | os.PathLike[str], first: int = 0, last: int | None = None
    ) -> Stream:
        """Put the rows of a .npy file, or its rows first..last-1, beside the texts; return the
        stream.
        """
        if self.skip_bad:
            raise InputError(
                "texts that are left out would shift the vectors of all others; leave out skip_bad"
            )
        self._batches = beside(path, self._batches, first, last)
        return self

    @property
    def bytes_read(self) -> int:
        return self.progress.bytes_read

    @property
    def bytes_total(self) -> int | None:
        return self.progress.bytes_total

    @property
    def columns(self) -> list[str] | None:
        """The names of the features, if the file has them; known after the first batch."""
        return self.progress.columns


@contextmanager
def _explained() -> Iterator[None]:
    """Name the file or folder that the system refuses."""
    try:
        yield
    except OSError as problem:
        raise InputError(f"cannot read {problem.filename}: {problem.strerror}") from None


def read(
    source: Input | Frame,
    format: str | None = None,
    *,
    text: ColumnNames = "text",
    labels: ColumnNames = "labels",
    label_separator: str | None = None,
    skip_bad: bool = False,
    encoding: str | None = None,
    batch: int = BATCH_BYTES,
    max_record: int = MAX_RECORD_BYTES,
    prefer: Mapping[str, Option] | None = None,
    **options: Option,
) -> Stream:
    r"""Read examples from a path, a folder, ``"-"`` (standard input), an open binary file, or a
    pandas or polars frame.

    Files compressed with gzip, xz, zstd or bzip2 are recognised by their content. The format is
    recognised by name and content unless given. A bad record raises InputError with its file, line
    and column.

    Parameters
    ----------
    source : path, binary file, or frame
        What to read; ``"-"`` is standard input.
    format : str, optional
        The name of a format; docs/formats.md lists them and their options.
    text, labels : str or int, default "text" and "labels"
        The column or field that holds the text and the labels, by its name or its number from 0.
        Several columns may hold labels: a list of them, or a name with a star. Several columns of
        text are fields of one text.
    label_separator : str, optional
        What stands between several labels in one column.
    skip_bad : bool, default False
        Whether to leave bad records out; ``stream.skipped`` counts them.
    encoding : str, optional
        The encoding of the file, by default that of the format, usually UTF-8.
    batch : int
        About how many bytes of the file make a batch.
    max_record : int
        The most bytes that a line or record may have.
    prefer : mapping, optional
        Options as below, taken where the format has them and left out where it has not.
    **options
        The format's own options.

    Returns
    -------
    Stream
        Iterates, once, over batches of :class:`~shortlist.inputs.examples.Examples`.

    Examples
    --------
    >>> import io
    >>> from shortlist import read
    >>> file = io.BytesIO(b'{"text": "wheat exports rose", "labels": ["grain", "trade"]}\n')
    >>> for batch in read(file):
    ...     print(list(batch.texts), list(batch.labels))
    ['wheat exports rose'] [['grain', 'trade']]
    """
    progress = Progress(
        skip_bad=bool(skip_bad),
        batch=as_whole(batch, "batch", least=1),
        max_record=as_whole(max_record, "max_record", least=1),
        encoding=encoding,
    )
    if text != "text":
        options["text"] = text
    if labels != "labels":
        options["labels"] = labels
    if label_separator is not None:
        options["label_separator"] = label_separator
    prefer = prefer or {}
    if format is not None:
        as_choice(format, "format", list(FORMATS))
    if Frames.is_frame(source):
        frames = Frames.with_options(options, prefer)
        return Stream(frames.name, frames.frame_examples(source, progress), progress)
    path = None if is_open(source) else _path(source)
    if path and (path.is_dir() or path.is_file()):  # unlike a pipe, they can be opened twice
        if path.is_file():
            progress.bytes_total = path.stat().st_size
        name = format or sniff(path, encoding=encoding)
        reader = FORMATS[name].with_options(options, prefer)
        batches = reader.folder_examples if path.is_dir() else reader.file_examples
        return Stream(reader.name, batches(path, progress), progress)
    opened = Source(path or cast("BinaryIO", source), progress)
    reader = FORMATS[format or _sniff_source(opened)].with_options(options, prefer)
    opened.decode_as(reader.encoding)
    return Stream(reader.name, reader.examples(opened), progress)


def sniff(source: Input, *, encoding: str | None = None) -> str:
    """Return the name of the format of a path, a folder, or an open binary file that can seek
    back.
    """
    path = None if is_open(source) else _path(source)
    if path and path.is_dir():
        with _explained():
            for kind in FORMATS.values():
                if kind.recognises_folder(path):
                    return kind.name
        raise InputError(
            f"the folder {path} is of no format that is recognised; name one of "
            f"{', '.join(FORMATS)}"
        )
    if not path and not hasattr(source, "seek"):
        raise InputError(
            "standard input cannot be read twice; read() recognises its format while reading"
        )
    place = None if path else source.tell()  # type: ignore[union-attr]
    opened = Source(source, Progress(encoding=encoding))
    try:
        return _sniff_source(opened)
    finally:
        opened.close()
        if place is not None:
            source.seek(place)  # type: ignore[union-attr]


def _path(source: Any) -> Path:
    try:
        path = Path(source)
        exists = path.exists()
    except (TypeError, ValueError):
        raise InputError(
            f"expected a path, '-', an open binary file or a frame, not {source!r}"
        ) from None
    if not exists:
        raise InputError(f"there is no file or folder {path}")
    return path


def _sniff_source(source: Source) -> str:
    head = source.head()
    if not head:
        raise InputError(f"{source.name} is empty")
    name = source.name.lower()
    for ending in COMPRESSED_ENDINGS:
        name = name.removesuffix(ending)
    if name.endswith(ARCHIVES) and "::" not in name:  # zip://a.jsonl::… is a file in one
        raise InputError(
            f"{source.name} is an archive; unpack it, and give the file or folder that is in it"
        )
    file_name = os.path.basename(name)
    kind = next((kind for kind in FORMATS.values() if kind.recognises(file_name, head)), None)
    if kind is None or kind.encoding != "binary":
        n_controls = sum(letter < " " and not letter.isspace() for letter in head)
        if n_controls > len(head) // LETTERS_PER_CONTROL:
            raise InputError(
                f"{source.name} holds no text, or text in an encoding that has to be named, for "
                "example encoding='utf-16' (--encoding utf-16)"
            )
    if kind is None:
        raise InputError(
            f"{source.name} is of no format that is recognised; name one of {', '.join(FORMATS)}"
        )
    return kind.name
