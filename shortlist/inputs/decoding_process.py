"""The program that decodes Parquet and spreadsheets in a separate process: a damaged file can make
a decoder abort.

``decoding`` runs it with the path of a file, ``sent`` or ``own``, by whether little memory may be
used for it, and the sheet of a spreadsheet. It writes a line of JSON, the columns and the number of
rows; reads a line of JSON, the wanted columns and the rows of a slice; and writes each slice, its
length and that many bytes in Arrow's format. Errors go to standard error. It imports nothing of
shortlist, to start fast.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any

LEAST_MEMORY = 1 << 32  # a process reserves more memory than it uses


def bound_memory(is_sent: bool) -> None:
    """Limit the memory of the process to little or to that of the machine, where the system can."""
    try:
        import resource

        most = LEAST_MEMORY
        if not is_sent:
            most = max(most, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    except (ImportError, ValueError, OSError):
        pass


def sheet_of(path: str, sheet: str) -> Any:
    """Return a sheet of a spreadsheet, by its name or number: all cells as texts, and no row as the
    names of columns.
    """
    import fastexcel

    book = fastexcel.read_excel(path)
    name = sheet if sheet in book.sheet_names or not sheet.isdigit() else int(sheet)
    cells = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string")
    return cells.to_polars().lazy()


def main(path: str, sheet: str | None = None) -> None:
    import polars

    try:
        file = polars.scan_parquet(path, glob=False) if sheet is None else sheet_of(path, sheet)
        names = file.head(0).collect().columns
        n_rows = file.select(polars.len()).collect().item()
        print(json.dumps([names, n_rows]), flush=True)
        columns, step = json.loads(sys.stdin.readline())
        for first in range(0, n_rows, step):
            frame = io.BytesIO()
            file.select(columns).slice(first, step).collect().write_ipc_stream(frame)
            sys.stdout.buffer.write(frame.tell().to_bytes(8, "little") + frame.getvalue())
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise  # the reader has stopped
    except BaseException as problem:  # a decoder's panic is no Exception
        sys.exit((str(problem).splitlines() or [""])[0] or type(problem).__name__)


if __name__ == "__main__":
    bound_memory(sys.argv.pop(2) == "sent")
    main(*sys.argv[1:])
