"""What reads Parquet in a process of its own: a damaged file can make the decoder ask for 2⁶¹ bytes, and abort.

Run by ``parquet``, with the path of a file. To standard output go messages, each a letter, a length and so many bytes:
the columns and the number of rows (``N``, as JSON), then a frame for each slice (``F``, in Arrow's format), or what is
wrong (``E``). In between, one line of JSON comes in: the columns that are wanted, and how many rows at a time.
It imports nothing of shortlist, so that it starts at once.
"""

from __future__ import annotations

import io
import json
import os
import sys

LEAST_MEMORY = 1 << 32  # what a process may ask for even where the machine has less: not all of it is used


def send(kind: bytes, data: bytes) -> None:
    sys.stdout.buffer.write(kind + len(data).to_bytes(8, "little") + data)
    sys.stdout.buffer.flush()


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
        send(b"N", json.dumps([names, n_rows]).encode())
        columns, step = json.loads(sys.stdin.readline())
        for first in range(0, n_rows, step):
            frame = io.BytesIO()
            file.select(columns).slice(first, step).collect().write_ipc_stream(frame)
            send(b"F", frame.getvalue())
    except BrokenPipeError:
        raise  # nobody is reading any more
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, MemoryError) as problem:
        send(b"E", ((str(problem).splitlines() or [""])[0] or type(problem).__name__).encode("utf-8", "replace"))


if __name__ == "__main__":
    bound_memory()
    main(sys.argv[1])
