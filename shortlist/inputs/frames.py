"""pandas and polars frames, from Python, and Parquet; a cell may hold one label or a list.

Parquet is decoded in a separate process, because a damaged file can abort the process that decodes
it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeGuard

from shortlist.errors import InputError
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
        if source.path and not source.compressed:
            yield from self._scan(source, source.path)
            return
        path = Path(
            source.hold(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)), "copy.parquet"
        )
        with open(path, "wb") as copy:
            while data := source.read(1 << 20):
                copy.write(data)
        yield from self._scan(source, path)

    def _scan(self, source: Source, path: Path) -> Iterator[Examples]:
        size = max(1, path.stat().st_size)
        is_sent = source.progress.most_bytes is not None  # by whoever asks a server
        process = source.hold(_Process(source.name, path, is_sent))
        names, n_rows = process.begin()
        present = self.present(names, source.name, source.progress)
        step = max(1, min(n_rows, SLICE_BYTES * n_rows // size, 1 << 14))
        process.ask(list(dict.fromkeys(names[place] for place in present.values())), step)
        for first in range(0, n_rows, step):
            frame = process.frame(source)
            columns = [(column, frame[names[place]].to_list()) for column, place in present.items()]
            source.progress.bytes_read = size * min(first + step, n_rows) // n_rows
            yield from self.columns_examples(source.name, first, columns, source.progress)


class _Process:
    """The process that decodes a file; see ``parquet_process``."""

    def __init__(self, name: str, path: Path, is_sent: bool) -> None:
        program = str(Path(__file__).with_name("parquet_process.py"))
        # puts no folder on sys.path
        run = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
        folders = os.pathsep.join(folder for folder in sys.path if folder)
        self._name = name
        self._process = subprocess.Popen(
            [sys.executable, "-c", run, program, str(path.resolve()), *["sent"] * is_sent],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": folders, "PYTHONSAFEPATH": "1"},
        )

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        with contextlib.suppress(OSError):  # a request that was never read
            self._process.communicate()

    def begin(self) -> tuple[list[str], int]:
        """Return the names of the columns, and the number of rows."""
        names, n_rows = json.loads(self._stdout.readline() or self._failed())
        return names, n_rows

    def ask(self, columns: list[str], step: int) -> None:
        """Request columns, ``step`` rows at a time."""
        assert self._process.stdin is not None
        # waiting for the answer shows that the process has ended
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps([columns, step]).encode() + b"\n")
            self._process.stdin.flush()

    def frame(self, source: Source) -> Any:
        import polars

        size = int.from_bytes(self._stdout.read(8), "little")
        source.count(size)
        data = self._stdout.read(size)
        if not data or len(data) < size:
            self._failed()
        return polars.read_ipc_stream(io.BytesIO(data))

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _failed(self) -> NoReturn:
        errors = self._process.communicate()[1].decode("utf-8", "replace").splitlines()
        if self._process.returncode == 1 and errors:  # it ended with its own sentence
            raise InputError(f"cannot read {self._name}: {errors[-1]}")
        raise InputError(
            f"cannot read {self._name}: the Parquet reader broke down; the file is damaged, or "
            "needs more memory than there is, and must be written anew"
        )
