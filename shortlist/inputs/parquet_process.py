"""What reads Parquet in a process of its own: a damaged file can make the decoder ask for 2⁶¹ bytes, and abort.

Run by ``frames``, with the path of a file. To standard output goes a line of JSON, the columns and the number of rows;
then a frame for each slice, its length and so many bytes in Arrow's format. In between, one line of JSON comes in: the
columns that are wanted, and how many rows at a time. What is wrong goes to standard error.
It imports nothing of shortlist, so that it starts at once.
"""

from __future__ import annotations

import io
import json
import os
import sys

LEAST_MEMORY = 1 << 32  # what a process may ask for even where the machine has less: not all of it is used


def bound_memory() -> None:
    """Let the process ask for no more memory than the machine has, where the system can see to that."""
    try:
        import resource

        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        resource.setrlimit(resource.RLIMIT_AS, (max(physical, LEAST_MEMORY), resource.RLIM_INFINITY))
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
        raise  # nobody is reading any more
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, MemoryError) as problem:
        sys.exit((str(problem).splitlines() or [""])[0] or type(problem).__name__)


if __name__ == "__main__":
    bound_memory()
    main(sys.argv[1])
