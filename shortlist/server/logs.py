"""Structured logs: one JSON object a line on standard error. Texts, labels and tokens are never logged."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import time
import traceback
from typing import Any

import msgspec


def log(event: str, level: str = "info", **fields: Any) -> None:
    """Write one event. A log that cannot be written, on a full disk or to a reader that has gone, stops nothing."""
    line = msgspec.json.encode({"time": round(time.time(), 3), "level": level, "event": event, **fields}) + b"\n"
    with contextlib.suppress(OSError, ValueError):  # ValueError: closed
        try:
            # Not through Python's buffer: what cannot be written stays there, and fails whoever flushes it next.
            os.write(sys.stderr.fileno(), line)
        except io.UnsupportedOperation:  # no file, but something that takes its place
            sys.stderr.write(line.decode())


class AsEvents(logging.Handler):
    """What libraries log, in the same form."""

    def emit(self, record: logging.LogRecord) -> None:
        log("remark", record.levelname.lower(), source=record.name, message=record.getMessage())


def log_failure(event: str, problem: BaseException, **fields: Any) -> None:
    """Write what went wrong, with its traceback: for whoever runs the server, never for who asked."""
    where = traceback.format_tb(problem.__traceback__)  # without the message, which may quote a text or a label
    log(event, "error", problem=type(problem).__name__, traceback=where, **fields)
