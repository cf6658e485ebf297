"""Files that are decoded in a process of their own: a damaged one can abort it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any, NoReturn

from shortlist.errors import InputError
from shortlist.inputs.source import Source


def on_disk(source: Source, name: str) -> Path:
    """Return the path of a file on disk that is not compressed, or of a copy of any other."""
    if source.path and not source.compressed:
        return source.path
    path = Path(source.hold(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)), name)
    with open(path, "wb") as copy:
        while data := source.read(1 << 20):
            copy.write(data)
    return path


class DecodingProcess:
    """The process that decodes a file, or a sheet of one; see ``decoding_process``."""

    def __init__(self, source: Source, path: Path, *sheet: str) -> None:
        program = str(Path(__file__).with_name("decoding_process.py"))
        # puts no folder on sys.path
        run = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
        folders = os.pathsep.join(folder for folder in sys.path if folder)
        self._name = source.name
        self._source = source
        memory = "own" if source.progress.most_bytes is None else "sent"  # by a server's client
        self._process = subprocess.Popen(
            [sys.executable, "-c", run, program, str(path.resolve()), memory, *sheet],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": folders, "PYTHONSAFEPATH": "1"},
        )

    def __enter__(self) -> DecodingProcess:
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

    def frame(self) -> Any:
        import polars

        size = int.from_bytes(self._stdout.read(8), "little")
        self._source.count(size)
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
            f"cannot read {self._name}: its reader broke down; the file is damaged, or needs "
            "more memory than there is, and must be written anew"
        )
