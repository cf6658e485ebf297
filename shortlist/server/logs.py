"""Logs: one JSON object a line on standard error, never with texts, labels or tokens."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import time
import traceback
from typing import Any


def log(event: str, level: str = "info", **fields: Any) -> None:
    """Write one event. A log that cannot be written stops nothing."""
    record = {"time": round(time.time(), 3), "level": level, "event": event, **fields}
    written = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    # a path need not be UTF-8
    line = written.encode(errors="backslashreplace") + b"\n"
    # a full disk, a reader that has gone, a closed file
    with contextlib.suppress(OSError, ValueError):
        try:
            # Not through Python's buffer, where an unwritten line would fail the next flush.
            os.write(sys.stderr.fileno(), line)
        except io.UnsupportedOperation:  # not a real file
            sys.stderr.write(line.decode())


def log_failure(event: str, problem: BaseException, **fields: Any) -> None:
    """Write an error with its traceback, without its message, which may quote a text or a label."""
    where = traceback.format_tb(problem.__traceback__)
    log(event, "error", problem=type(problem).__name__, traceback=where, **fields)


class AsEvents(logging.Handler):
    """Writes the logs of libraries as events."""

    def emit(self, record: logging.LogRecord) -> None:
        log("remark", record.levelname.lower(), source=record.name, message=record.getMessage())
