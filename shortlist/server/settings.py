"""Settings of a server, and its limits."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from shortlist.confidence.spot_checks import USUAL_SHARE
from shortlist.data.texts import Document
from shortlist.data.validation import as_whole
from shortlist.errors import InputError
from shortlist.models.encoding import Encoder
from shortlist.server.entries import written_document
from shortlist.server.people import PEOPLE_FILE, People, lost_people

LEAST_TOKEN_CHARACTERS = 16  # a shorter token can be guessed


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
        names = [limit.name for limit in fields(cls)]
        for name, value in values.items():
            if name not in names:
                raise InputError(f"there is no limit {name}; the limits are {', '.join(names)}")
            as_whole(value, f"the limit {name}", least=1)
        return cls(**values)

    def check_texts(self, texts: Sequence[Document], first: int = 0) -> None:
        if len(texts) > self.batch:
            raise InputError(
                f"{len(texts):,} texts are more than the {self.batch:,} that one request may hold"
            )
        for n, text in enumerate(texts, first):
            written, _ = written_document(text)
            if len(written) > self.text:
                raise InputError(
                    f"text {n} has {len(written):,} characters; at most {self.text:,} are taken"
                )


@dataclass(frozen=True)
class ServerSettings:
    """All settings of one server."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    read_only: bool = False
    salvage: bool = False  # go on with the sound part of a damaged journal
    encoder: Encoder | None = None  # makes vectors of texts, for a model that has them
    limits: Limits = field(default_factory=Limits)
    # a snapshot is written when so many examples are new, or any is and so much time has passed
    snapshot_examples: int = 10_000
    snapshot_seconds: float = 300.0
    spot_checks: float = USUAL_SHARE  # the usual share of texts that people check
    refresh: float = 0.05  # seconds between two looks for what another server has learned

    def check(self) -> None:
        """Refuse settings that are unsafe or contradict each other."""
        if self.salvage and self.read_only:
            raise InputError(
                "--salvage writes a new journal, and --read-only writes nothing; choose one"
            )
        if self.token is not None and len(self.token) < LEAST_TOKEN_CHARACTERS:
            raise InputError(
                f"the token has {len(self.token)} characters; give it at least "
                f"{LEAST_TOKEN_CHARACTERS}"
            )
        if self.token is not None:
            return
        problem = lost_people(self.folder)
        if problem is not None:
            raise problem
        people = People(self.folder / PEOPLE_FILE)
        if not people.everyone and not is_loopback(self.host):
            raise InputError(
                f"listening on {self.host} lets others in: give a token with --token-file or "
                "SHORTLIST_TOKEN first, or each person one with shortlist people add"
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
