"""People who may use a server: each has a name, a role and a token.

They stand in ``people.json`` in the state directory, with a hash of each token. A token is 256
random bits, so a plain SHA-256 is enough. The file is written as a whole, and read again when it
changes: a removed person is refused at the next request.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Collection, Iterator
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from hashlib import sha256
from pathlib import Path

from shortlist.errors import InputError, ShortlistError
from shortlist.files.drafts import whole_file

PEOPLE_FILE = "people.json"
PEOPLE_MARK = "people.begun"  # stays if the other file is lost
PEOPLE_LOCK = "people.lock"
MARK_TEXT = f"""This server knows people by name, from {PEOPLE_FILE} beside this file.
Without it nobody is let in.
To serve everybody who can reach the server again, remove both files while it is stopped.
"""
PERSON_NAME = re.compile(r"\w[\w.@ -]{0,98}\w|\w")  # cannot look like a formula in a spreadsheet


class Role(IntEnum):
    """What a person may do; each role may also do what those before it may."""

    READ = 1
    JUDGE = 2
    MANAGE = 3

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def of(cls, name: str) -> Role:
        try:
            return cls[name.upper()]
        except KeyError:
            raise InputError(
                f"there is no role {name!r}; the roles are {', '.join(map(str, cls))}"
            ) from None


class PeopleError(ShortlistError):
    """The file of people cannot be read or trusted."""


class NotAllowed(ShortlistError):
    """The role of a person does not allow a request."""


@dataclass(frozen=True)
class Person:
    """A person with a token."""

    name: str  # empty for the token of the server, and where no token is needed
    role: Role
    hash: str = ""
    since: float = 0.0

    def must_be(self, role: Role) -> None:
        """Refuse a lower role."""
        if self.role < role:
            raise NotAllowed(
                f"this needs the role {role}, and {self.name} has the role {self.role}; ask who "
                "manages this server for more"
            )


ANYONE = Person("", Role.MANAGE)
# the person of the present request
ASKING: ContextVar[Person] = ContextVar("asking", default=ANYONE)


def hashed(token: bytes) -> str:
    return sha256(token).hexdigest()


class People:
    """The people of a state directory, as they were when they were read; nobody if there is no
    file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.everyone: dict[str, Person] = {}
        try:
            for record in json.loads(path.read_bytes())["people"]:
                person = Person(
                    str(record["name"]),
                    Role.of(record["role"]),
                    str(record["hash"]),
                    float(record["since"]),
                )
                self.everyone[person.name] = person
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
            words = getattr(problem, "strerror", None) or problem
            raise PeopleError(
                f"the people of this server cannot be read from {path}: {words}"
            ) from None
        self.by_hash = {person.hash: person for person in self.everyone.values()}

    def add(self, name: str, role: Role) -> str:
        """Add a person; returns the token, which is not kept."""
        if PERSON_NAME.fullmatch(name) is None:
            raise InputError(
                f"{name!r} is not a name for a person: up to 100 letters, digits, spaces and "
                ". @ - _, the first and the last a letter or a digit"
            )
        if name in self.everyone:
            raise InputError(
                f"there is a person {name!r} already; remove {name!r} first to give a new token"
            )
        token = secrets.token_urlsafe(32)
        self.everyone[name] = Person(name, role, hashed(token.encode()), time.time())
        return token

    def remove(self, name: str) -> None:
        del self.everyone[self._known(name)]

    def give_role(self, name: str, role: Role) -> None:
        self.everyone[self._known(name)] = replace(self.everyone[name], role=role)

    def save(self) -> None:
        mark(self.path.parent)
        people = [asdict(person) | {"role": str(person.role)} for person in self.everyone.values()]
        try:
            with whole_file(self.path) as file:
                file.write(json.dumps({"people": people}, ensure_ascii=False, indent=1).encode())
        except OSError as problem:
            raise InputError(f"cannot write {self.path}: {problem.strerror}") from None

    def _known(self, name: str) -> str:
        if name not in self.everyone:
            names = ", ".join(self.everyone) or "nobody yet"
            raise InputError(f"there is no person {name!r}; there is {names}")
        return name


def mark(folder: Path) -> None:
    """Write down that a server knows people, so that losing their file does not open the server."""
    if not (folder / PEOPLE_MARK).exists():
        try:
            (folder / PEOPLE_MARK).write_text(MARK_TEXT, encoding="utf-8")
        except OSError as problem:
            raise InputError(f"cannot write {folder / PEOPLE_MARK}: {problem.strerror}") from None


def lost_people(folder: Path) -> PeopleError | None:
    """Return the error for people whose file is gone."""
    if (folder / PEOPLE_FILE).exists() or not (folder / PEOPLE_MARK).exists():
        return None
    return PeopleError(
        f"the people of this server cannot be read: {folder / PEOPLE_FILE} is gone; bring it "
        f"back, or remove {folder / PEOPLE_MARK} to serve everybody who can reach the server"
    )


@contextlib.contextmanager
def changing(folder: Path, new: bool = False) -> Iterator[People]:
    """Give the people of a state directory to change, and save them at the end; others wait.

    ``new``: make the directory if needed; a model may be served from it later.
    """
    from shortlist.server.snapshots import no_state, only_one

    with contextlib.suppress(OSError):
        if new:
            folder.mkdir(exist_ok=True)
    if not folder.is_dir():
        raise no_state(folder)
    with only_one(folder, waiting=True, name=PEOPLE_LOCK):
        people = People(folder / PEOPLE_FILE)
        yield people
        people.save()


class Doorkeeper:
    """Knows people by the tokens of their requests.

    Once there were people, a lost or damaged file lets none of them in. The token of the server
    needs no file.
    """

    def __init__(self, folder: Path, token: str | None) -> None:
        self._path = folder / PEOPLE_FILE
        self._token = None if token is None else token.encode()
        self._read: tuple[int, ...] | None = None  # the file that was read
        self._people: People | PeopleError | None = None  # None if there never were any
        self._refresh()

    @property
    def asks(self) -> bool:
        """Whether a token is needed."""
        self._refresh()
        return self._token is not None or self._people is not None

    def who(self, authorization: bytes) -> Person | None:
        """Return the person of this header; None for a stranger."""
        scheme, _, token = authorization.partition(b" ")
        if self._token is not None and hmac.compare_digest(authorization, b"Bearer " + self._token):
            return ANYONE
        self._refresh()
        if scheme != b"Bearer":
            return None
        if isinstance(self._people, PeopleError):
            raise PeopleError(str(self._people))
        # The time of the look-up may tell about the hash, which nobody can choose.
        return None if self._people is None else self._people.by_hash.get(hashed(token))

    def _refresh(self) -> None:
        """Read the file again if it has changed; a problem is reported when somebody needs the
        file.
        """
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            problem = lost_people(self._path.parent)
            if problem is None and self._people is not None:
                problem = PeopleError(f"{self._path} is gone; bring it back")
            self._read = None
            self._people = problem
            return
        identity = (status.st_ino, status.st_mtime_ns, status.st_size)
        if identity != self._read:
            self._read = identity
            try:
                self._people = People(self._path)
            except PeopleError as problem:
                self._people = problem


# The role that each route needs.


NO_ROLE = None  # no token: it reveals nothing of the model
ROLES_AND_ROUTES: list[tuple[Role | None, str, str]] = [
    (NO_ROLE, "GET", "/ /docs /openapi.json /healthz /page/{name}"),
    (Role.READ, "GET", "/v1/me /v1/model /v1/labels /v1/label /v1/feature /v1/examples /v1/export"),
    (Role.READ, "GET", "/v1/audit /v1/taught /v1/rehearsal /v1/queue /v1/queue/items /metrics"),
    (Role.READ, "GET", "/v1/queue/decisions /v1/queue/standing /v1/queue/groups /v1/promise"),
    (Role.READ, "POST", "/v1/rank /v1/explain"),
    (Role.JUDGE, "POST", "/v1/learn /v1/undo /v1/repair /v1/queue/next /v1/queue/move"),
    (
        Role.MANAGE,
        "POST",
        "/v1/queue /v1/queue/file /v1/queue/sure /v1/queue/decide /v1/queue/undo "
        "/v1/queue/standing",
    ),
    (
        Role.MANAGE,
        "POST",
        "/v1/labels /v1/strike /v1/strike/preview /v1/rehearse /v1/promote /v1/go-back",
    ),
]
ROLE_OF_ROUTE = {
    (method, path): role for role, method, paths in ROLES_AND_ROUTES for path in paths.split()
}


def role_needed(method: str, path: str, paths: Collection[str]) -> Role | None:
    """Return the role for a request: manage for a path that the table forgot, read for one that
    does not exist.
    """
    if method == "HEAD":
        method = "GET"
    if path.startswith("/page/"):
        path = "/page/{name}"
    unlisted = Role.MANAGE if path in paths else Role.READ
    return ROLE_OF_ROUTE.get((method, path), unlisted)
