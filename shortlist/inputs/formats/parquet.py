"""Parquet: columns for the text and the labels; a cell may hold one label or a list."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.parsing.table import Table
from shortlist.inputs.source import Source

SLICE = 1 << 24  # about so many bytes of the file are decoded at a time


@dataclass
class Parquet(Table):
    name = "parquet"
    description = "Parquet, with columns for the text and the labels"
    endings = (".parquet", ".pq")
    encoding = "binary"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return head.startswith("PAR1")

    def examples(self, source: Source) -> Iterator[Examples]:
        """A file that is on disk and not compressed is read where it is; any other is first copied to disk."""
        head = source.head()
        if not head:
            return
        if not head.startswith("PAR1"):
            raise InputError(f"{source.name}: expected a Parquet file, which begins with PAR1, found {head[:4]!r}")
        if source.path and not source.compressed:
            yield from self._scan(source, source.path)
            return
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = Path(folder, "copy.parquet")
            with open(path, "wb") as copy:
                while data := source.read(1 << 20):
                    copy.write(data)
            yield from self._scan(source, path)

    def _scan(self, source: Source, path: Path) -> Iterator[Examples]:
        import polars

        def collected(query: polars.LazyFrame) -> polars.DataFrame:
            try:
                return query.collect()
            except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as problem:
                raise InputError(f"cannot read {source.name}: {str(problem).splitlines()[0]}") from None

        file = polars.scan_parquet(path, glob=False)
        names = collected(file.head(0)).columns
        n_rows = collected(file.select(polars.len())).item()
        present: dict[str, Any] = self.present(names, source.name)
        wanted = file.select(list(dict.fromkeys(present.values())))
        size = max(1, path.stat().st_size)
        step = max(1, min(n_rows, SLICE * n_rows // size, 1 << 14))
        for first in range(0, n_rows, step):
            frame = collected(wanted.slice(first, step))
            columns = {what: frame[column].to_list() for what, column in present.items()}
            source.progress.bytes_read = size * min(first + step, n_rows) // n_rows
            yield from self.columns_examples(source.name, first, columns, source.progress)
