"""The program that decodes Parquet in a separate process: a damaged file can make the decoder
abort.

``frames`` runs it with the path of a file. It writes a line of JSON, the columns and the number of
rows; reads a line of JSON, the wanted columns and the rows of a slice; and writes each slice, its
length and that many bytes in Arrow's format. Errors go to standard error. It imports nothing of
shortlist, to start fast.
"""

from __future__ import annotations

import io
import json
import os
import sys

LEAST_MEMORY = 1 << 32  # a process reserves more memory than it uses


def bound_memory() -> None:
    """Limit the memory of the process to that of the machine, where the system can."""
    try:
        import resource

        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        resource.setrlimit(
            resource.RLIMIT_AS, (max(physical, LEAST_MEMORY), resource.RLIM_INFINITY)
        )
    except (ImportError, ValueError, OSError):
        pass


def main(path: str) -> None:
    import polars

    try:
        file = polars.scan_parquet(path, glob=False)
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
    except (
        polars.exceptions.PolarsError,
        polars.exceptions.PanicException,
        OSError,
        MemoryError,
    ) as problem:
        sys.exit((str(problem).splitlines() or [""])[0] or type(problem).__name__)


if __name__ == "__main__":
    bound_memory()
    main(sys.argv[1])
