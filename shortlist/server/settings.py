"""What a server is told: where its state is, where it listens, who may ask, and how much."""

from __future__ import annotations

import contextlib
import io
import ipaddress
import logging
import os
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import msgspec

from shortlist.arrays.validation import as_whole
from shortlist.errors import InputError
from shortlist.models.encoding import Encoder
from shortlist.server.journal import kept
from shortlist.server.people import FILE as PEOPLE
from shortlist.server.people import People, lost
from shortlist.texts import Document

LEAST_TOKEN = 16  # characters; a short token can be guessed


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for, and how much is done at a time."""

    body: int = 2_000_000  # bytes
    file: int = 50_000_000  # bytes of a file of texts for the queue
    text: int = 200_000  # characters of one text
    batch: int = 1_000  # texts or examples in one request
    labels: int = 100  # labels of one example
    in_flight: int = 128  # requests at a time
    seconds: int = 30  # for one request, or for the next piece of a long answer
    header: int = 32_768  # bytes of a request before its body
    idle: int = 30  # seconds for a connection to send the next header, or to take what was answered
    connections: int = 512  # at a time

    @classmethod
    def of(cls, values: dict[str, Any]) -> Limits:
        """The usual limits with some changed."""
        known = [one.name for one in fields(cls)]
        for name, value in values.items():
            if name not in known:
                raise InputError(f"there is no limit {name}; the limits are {', '.join(known)}")
            as_whole(value, f"the limit {name}", least=1)
        return cls(**values)

    def check_texts(self, texts: Sequence[Document], first: int = 0) -> None:
        if len(texts) > self.batch:
            raise InputError(f"{len(texts):,} texts are more than the {self.batch:,} that one request may hold")
        for n, text in enumerate(texts, first):
            if (letters := len(kept(text)[0])) > self.text:
                raise InputError(f"text {n} has {letters:,} characters; at most {self.text:,} are taken")

    def check_rows(self, n_rows: int) -> None:
        if n_rows > self.batch:
            raise InputError(f"{n_rows:,} rows are more than the {self.batch:,} that one request may hold")

    def check_labels(self, examples: list[list[str]]) -> None:
        for n, labels in enumerate(examples):
            if len(labels) > self.labels:
                raise InputError(f"example {n} has {len(labels):,} labels; at most {self.labels:,} are taken")


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
    refresh: float = 0.05  # seconds after which a server looks for what another has learned

    def check(self) -> None:
        """Refuse what would be unsafe or cannot be."""
        if self.salvage and self.read_only:
            raise InputError("--salvage writes a new journal, and --read-only writes nothing; choose one")
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise InputError(f"the token has {len(self.token)} characters; give it at least {LEAST_TOKEN}")
        if self.token is None and (problem := lost(self.folder)) is not None:
            raise problem
        guarded = self.token is not None or bool(People(self.folder / PEOPLE).everyone)
        if not guarded and not is_loopback(self.host):
            raise InputError(
                f"listening on {self.host} lets others in: give a token with --token-file or SHORTLIST_TOKEN first, or "
                "each person one with shortlist people add"
            )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def read_token(file: Path | None, environment: str | None) -> str | None:
    """The token: the first line of a file, or else what the environment says."""
    if file is None:
        return environment.strip() or None if environment is not None else None
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot read the token file {file}: {getattr(problem, 'strerror', problem)}") from None
    if not lines or not lines[0].strip():
        raise InputError(f"the token file {file} is empty")
    return lines[0].strip()


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
