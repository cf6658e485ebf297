"""pandas and polars frames, from Python, and Parquet; a cell may hold one label or a list.

Parquet is decoded in a separate process, because a damaged file can abort the process that decodes
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from shortlist.errors import InputError
from shortlist.inputs.decoding import DecodingProcess, on_disk
from shortlist.inputs.examples import ExamplePlaces, Examples
from shortlist.inputs.source import Progress, Source
from shortlist.inputs.tables import BadValue, Column, Row, TableFormat

if TYPE_CHECKING:
    import pandas
    import polars

SLICE_BYTES = 1 << 24  # about how many bytes of a file are decoded at a time


Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame"


@dataclass
class Frames(TableFormat):
    name = "frame"
    description = "a pandas or polars frame, from Python, with columns for the text and the labels"

    @staticmethod
    def is_frame(source: object) -> TypeGuard[Frame]:
        return hasattr(type(source), "columns") and hasattr(type(source), "__len__")

    def examples(self, source: Source) -> Iterator[Examples]:
        raise InputError("a frame is given to read() itself, not as a file")

    def frame_examples(self, frame: Frame, progress: Progress) -> Iterator[Examples]:
        table: Any = frame
        names = list(table.columns)
        present = self.present(names, "the frame", progress)
        columns = [(column, table[names[place]].to_list()) for column, place in present.items()]
        yield from self.columns_examples("the frame", 0, columns, progress)

    def columns_examples(
        self,
        where: str,
        first: int,
        columns: Sequence[tuple[Column, Sequence[object]]],
        progress: Progress,
    ) -> Iterator[Examples]:
        """Yield examples of columns in memory; ``first`` is the number of the first row."""
        rows: list[Row] = []
        numbers: list[int] = []
        n_letters = 0
        for i in range(len(columns[0][1])):
            try:
                row = self.to_row((column, values[i]) for column, values in columns)
            except BadValue as problem:
                progress.bad(f"{where}, row {first + i}: {problem}")
                continue
            rows.append(row)
            numbers.append(first + i)
            fields = row.text.values() if isinstance(row.text, dict) else [row.text]
            n_letters += sum(len(str(field)) for field in fields)
            if n_letters >= progress.batch:
                yield self.batch(rows, ExamplePlaces(where, numbers, "row"))
                rows = []
                numbers = []
                n_letters = 0
        yield self.batch(rows, ExamplePlaces(where, numbers, "row"))


@dataclass
class Parquet(Frames):
    name = "parquet"
    description = "Parquet, with columns for the text and the labels"
    endings = (".parquet", ".pq")
    encoding = "binary"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return head.startswith("PAR1")

    def examples(self, source: Source) -> Iterator[Examples]:
        """Read a file on disk that is not compressed in place; copy any other to disk first."""
        head = source.head()
        if not head:
            return
        if not head.startswith("PAR1"):
            raise InputError(
                f"{source.name}: expected a Parquet file, which begins with PAR1, found "
                f"{head[:4]!r}"
            )
        yield from self._scan(source, on_disk(source, "copy.parquet"))

    def _scan(self, source: Source, path: Path) -> Iterator[Examples]:
        size = max(1, path.stat().st_size)
        process = source.hold(DecodingProcess(source, path))
        names, n_rows = process.begin()
        present = self.present(names, source.name, source.progress)
        step = max(1, min(n_rows, SLICE_BYTES * n_rows // size, 1 << 14))
        process.ask(list(dict.fromkeys(names[place] for place in present.values())), step)
        for first in range(0, n_rows, step):
            frame = process.frame()
            columns = [(column, frame[names[place]].to_list()) for column, place in present.items()]
            source.progress.bytes_read = size * min(first + step, n_rows) // n_rows
            yield from self.columns_examples(source.name, first, columns, source.progress)
