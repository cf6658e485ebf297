"""The program that decodes Parquet in a separate process: a damaged file can make the decoder
abort.

``frames`` runs it with the path of a file, and ``sent`` if little memory may be used for it. It
writes a line of JSON, the columns and the number of
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
    bound_memory("sent" in sys.argv[2:])
    main(sys.argv[1])
