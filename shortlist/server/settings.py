"""Settings of a server, its limits, and its logs."""

from __future__ import annotations

import contextlib
import io
import ipaddress
import logging
import os
import socket
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import msgspec

from shortlist.data.texts import Document
from shortlist.data.validation import as_whole
from shortlist.errors import InputError
from shortlist.models.encoding import Encoder
from shortlist.server.journal import kept
from shortlist.server.people import FILE as PEOPLE
from shortlist.server.people import People, lost

LEAST_TOKEN = 16  # characters; a shorter token can be guessed


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for, and how much is done at a time."""

    body: int = 2_000_000  # bytes
    file: int = 50_000_000  # bytes of a file of texts for the queue
    text: int = 200_000  # characters of one text
    batch: int = 1_000  # texts or examples in one request
    in_flight: int = 128  # requests at a time
    seconds: int = 30  # for one request, or for the next piece of a long answer
    header: int = 32_768  # bytes of a request before its body
    idle: int = 30  # seconds for a connection to send the next header, or to take an answer
    connections: int = 512  # at a time

    @classmethod
    def of(cls, values: dict[str, Any]) -> Limits:
        """Return the default limits with some changed."""
        known = [one.name for one in fields(cls)]
        for name, value in values.items():
            if name not in known:
                raise InputError(f"there is no limit {name}; the limits are {', '.join(known)}")
            as_whole(value, f"the limit {name}", least=1)
        return cls(**values)

    def check_texts(self, texts: Sequence[Document], first: int = 0) -> None:
        if len(texts) > self.batch:
            raise InputError(
                f"{len(texts):,} texts are more than the {self.batch:,} that one request may hold"
            )
        for n, text in enumerate(texts, first):
            if (letters := len(kept(text)[0])) > self.text:
                raise InputError(
                    f"text {n} has {letters:,} characters; at most {self.text:,} are taken"
                )


@dataclass(frozen=True)
class Settings:
    """All settings of one server."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    read_only: bool = False
    salvage: bool = False  # go on with the sound part of a damaged journal
    encoder: Encoder | None = None  # makes vectors of texts, for a model that has them
    limits: Limits = field(default_factory=Limits)
    snapshot_examples: int = 10_000  # a snapshot is written when so many examples are new,
    snapshot_seconds: float = 300.0  # or when any is and so much time has passed
    refresh: float = 0.05  # seconds between two looks for what another server has learned

    def check(self) -> None:
        """Refuse settings that are unsafe or contradict each other."""
        if self.salvage and self.read_only:
            raise InputError(
                "--salvage writes a new journal, and --read-only writes nothing; choose one"
            )
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise InputError(
                f"the token has {len(self.token)} characters; give it at least {LEAST_TOKEN}"
            )
        if self.token is None and (problem := lost(self.folder)) is not None:
            raise problem
        guarded = self.token is not None or bool(People(self.folder / PEOPLE).everyone)
        if not guarded and not is_loopback(self.host):
            raise InputError(
                f"listening on {self.host} lets others in: give a token with --token-file or "
                "SHORTLIST_TOKEN first, or "
                "each person one with shortlist people add"
            )


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that a port in use is known before anything else happens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as problem:
        raise InputError(f"cannot listen on {host}, port {port}: {problem.strerror}") from None


def read_token(file: Path | None, environment: str | None) -> str | None:
    """Return the token: the first line of a file, or else the value from the environment."""
    if file is None:
        return (environment or "").strip() or None
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"cannot read the token file {file}: {getattr(problem, 'strerror', problem)}"
        ) from None
    if not lines or not lines[0].strip():
        raise InputError(f"the token file {file} is empty")
    return lines[0].strip()


# Logs: one JSON object a line on standard error, never with texts, labels or tokens.


def log(event: str, level: str = "info", **fields: Any) -> None:
    """Write one event. A log that cannot be written stops nothing."""
    line = (
        msgspec.json.encode(
            {"time": round(time.time(), 3), "level": level, "event": event, **fields}
        )
        + b"\n"
    )
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
