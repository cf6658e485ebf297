"""Texts that wait to be judged, in a SQLite file beside the journal, and the choice of the next
text.

The journal stays the truth. A text's id is the key under which its judgement is learned, and the
queue follows the journal: a text is judged when its key is there, and waits again when that example
was undone. Every change is one transaction, so that only one of two people gets a text. A
reservation has an end: a text that was taken and never judged comes back. Each process and each
thread opens its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import sqlite3
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from shortlist.confidence.observers import DEPTH
from shortlist.data.texts import Document, Fielded
from shortlist.errors import InputError
from shortlist.inputs import Examples, read
from shortlist.inputs.labelled import ERRORS
from shortlist.inputs.source import Option
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.models.category_model import Assigned
from shortlist.models.model import Model
from shortlist.server.client import parts
from shortlist.server.journal import (
    ALONE,
    BESIDE,
    PATIENCE,
    PROBLEMS,
    Conflict,
    DiskFull,
    Journal,
    JournalError,
    Version,
    kept,
    read_back,
)

FILE = "queue.sqlite"
VERSION = 1
PREFIX = "queue-"  # of ids, which are keys in the journal
ATTEMPT = re.compile("[0-9]{0,9}")  # the number of a judgement, behind the id in its key
STATES = ("waiting", "judged", "skipped", "flagged")
AT_ONCE = 1000  # texts in one commit of a long import
ORDERS = {
    "date": "number",
    "random": "lot",
    "gain": "gain DESC, lot",
    "stale": "measured, lot",
    "sure": "gain, lot",
}

TABLES = """
CREATE TABLE items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,              -- made from the text: the same text comes once
    attempt INTEGER NOT NULL DEFAULT 1,   -- one more each time that its judgement was undone
    time REAL NOT NULL,
    text TEXT NOT NULL,
    fields INTEGER NOT NULL DEFAULT 0,    -- whether the text is a JSON object of fields
    lot INTEGER NOT NULL,                 -- its place in the random order
    state TEXT NOT NULL DEFAULT 'waiting',
    later INTEGER NOT NULL DEFAULT 0,     -- how often it was put off: the others come first
    note TEXT NOT NULL DEFAULT '',
    person TEXT,                          -- who has it, or had it last
    until REAL NOT NULL DEFAULT 0,        -- when its reservation ends
    gain REAL,
    measured REAL NOT NULL DEFAULT 0,     -- when its gain was measured
    example INTEGER                       -- its number in the journal
);
CREATE INDEX by_date ON items (state, later, number);
CREATE INDEX by_lot ON items (state, later, lot);
CREATE INDEX by_gain ON items (state, later, gain DESC, lot);
CREATE INDEX by_age ON items (state, later, measured, lot);
CREATE INDEX by_example ON items (example);
CREATE INDEX by_person ON items (person, until);
CREATE INDEX by_until ON items (until);
CREATE TABLE followed (examples INTEGER, undos INTEGER, seal TEXT);
INSERT INTO followed VALUES (0, 0, NULL);
"""
FREE = "state = 'waiting' AND (until < :now OR person = :person)"
COLUMNS = "number, id, attempt, time, text, fields, state, later, note, person, until, example"


class NotThere(InputError):
    """There is no such text in the queue."""


@dataclass(frozen=True)
class Item:
    """A text of the queue."""

    number: int
    id: str
    attempt: int
    time: float
    text: Document
    state: str
    later: int
    note: str
    person: str | None
    until: float
    example: int | None

    @classmethod
    def of(cls, row: Sequence[Any]) -> Item:
        """Return the text of a row."""
        number, id, attempt, at, text, fields, *others = row
        return cls(number, id, attempt, at, read_back(text, fields), *others)

    @property
    def key(self) -> str:
        """The key of its judgement; another one once that was undone."""
        return self.id if self.attempt == 1 else f"{self.id}-{self.attempt}"

    def to_dict(self) -> dict[str, Any]:
        """Return it for an answer."""
        shown = {
            name: getattr(self, name)
            for name in ("text", "state", "note", "time", "person", "example")
        }
        return {"id": self.key} | shown | {"until": self.until or None}


class Queue:
    """The queue of a state directory."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        with self.explaining():
            self.db = sqlite3.connect(
                self.path, PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self.db.close()
                raise

    def close(self) -> None:
        self.db.close()

    def add(self, texts: Iterable[Document]) -> dict[str, int]:
        """Add texts, except those without a word; return how many are ``added``, and how many were
        ``known``.

        Known texts stay as they are, so a retry is safe.
        """
        given = added = 0
        texts = iter(texts)
        while some := list(islice(texts, AT_ONCE)):
            now = time.time()
            rows = [(*names_of(text), now, *kept(text)) for text in some if says_something(text)]
            with self.writing():
                insert = (
                    "INSERT OR IGNORE INTO items (id, lot, time, text, fields) VALUES (?, ?, ?, "
                    "?, ?)"
                )
                added += self.db.executemany(insert, rows).rowcount
                # some may be judged
                self.db.execute("UPDATE followed SET examples = 0, undos = 0, seal = NULL")
            given += len(rows)
        return {"added": added, "known": given - added}

    # Reservations.

    def held(self, person: str, seconds: float) -> Item | None:
        """Return the text that this person has and has not judged yet; its reservation begins
        anew.
        """
        query = (
            "SELECT number FROM items WHERE person = ? AND until >= ? AND state = 'waiting' LIMIT 1"
        )
        with self.explaining():
            row = self.db.execute(query, (person, time.time())).fetchone()
        return None if row is None else self.lease(row, person, seconds)

    def lease(self, numbers: Sequence[int], person: str, seconds: float) -> Item | None:
        """Reserve the first of these texts that is free; None if none is."""
        return next(iter(self.lease_all(numbers, person, seconds, most=1)), None)

    def lease_all(
        self, numbers: Sequence[int], person: str, seconds: float, most: int
    ) -> list[Item]:
        """Reserve the first of these texts that are free."""
        taken: list[Item] = []
        with self.writing(durable=False):
            now = time.time()
            update = (
                "UPDATE items SET person = :person, until = :until WHERE number = :number AND "
                f"{FREE} RETURNING "
            )
            given = {"person": person, "until": now + seconds, "now": now}
            for number in numbers:
                row = self.db.execute(update + COLUMNS, given | {"number": number}).fetchone()
                taken += [] if row is None else [Item.of(row)]
                if len(taken) == most:
                    break
        return taken

    def move(self, keys: Sequence[str], to: str, person: str, note: str = "") -> int:
        """Put texts into another state, all or none; refuse texts that another person has."""
        with self.writing():
            now = time.time()
            for key in keys:
                item = self.of_key(key)
                if item is None:
                    raise NotThere(
                        f"there is no text {key!r} in the queue, or its judgement was taken back "
                        "since"
                    )
                if item.state == "judged":
                    raise Conflict(
                        f"the text {key} is judged; take its example {item.example} back instead"
                    )
                if item.until >= now and item.person != person:
                    raise Conflict(f"another person has the text {key} just now")
                later = item.later + 1 if to == "later" else 0 if to == "waiting" else item.later
                state = "waiting" if to == "later" else to
                self.db.execute(
                    "UPDATE items SET state = ?, later = ?, note = ?, person = ?, until = 0 WHERE "
                    "number = ?",
                    (state, later, note, person, item.number),
                )
        return len(keys)

    def of_key(self, key: str) -> Item | None:
        """Return the text whose judgement has this key."""
        id = PREFIX + key.removeprefix(PREFIX).partition("-")[0]
        found = self._items("id = :id", id=id)
        return found[0] if found and found[0].key == key else None

    # Looking.

    def free(self, order: str, person: str, limit: int, but: Sequence[int] = ()) -> list[Item]:
        """Return the first texts in an order that this person may have."""
        others = f"AND number NOT IN ({', '.join(map(str, map(int, but)))})" if but else ""
        unknown = "AND gain IS NOT NULL" if order == "gain" else ""
        where = f"{FREE} {unknown} {others} ORDER BY later, {ORDERS[order]} LIMIT :n"
        return self._items(where, now=time.time(), person=person, n=limit)

    def items(self, state: str, after: str | None = None, limit: int = 20) -> list[Item]:
        """Return texts in a state, newest first, behind one of them."""
        behind = None if after is None else self.of_key(after)
        where = "state = :state AND number < :behind ORDER BY number DESC LIMIT :n"
        return self._items(where, state=state, behind=behind.number if behind else 2**62, n=limit)

    def _items(self, where: str, **values: Any) -> list[Item]:
        with self.explaining():
            rows = self.db.execute(f"SELECT {COLUMNS} FROM items WHERE {where}", values).fetchall()
        return [Item.of(row) for row in rows]

    def measure(self, gains: Sequence[tuple[int, float]]) -> None:
        """Note what judgements of these texts would gain."""
        with self.writing(durable=False):
            now = time.time()
            update = "UPDATE items SET gain = ?, measured = ? WHERE number = ?"
            self.db.executemany(update, [(gain, now, number) for number, gain in gains])

    def counts(self) -> dict[str, int]:
        """Return how many texts are in each state, how many are reserved, and how many there
        are.
        """
        with self.explaining():
            found = dict.fromkeys(STATES, 0)
            found |= self.db.execute("SELECT state, count(*) FROM items GROUP BY state").fetchall()
            # uses by_until: few are held
            query = "SELECT count(*) FROM items WHERE +state = 'waiting' AND until >= ?"
            (held,) = self.db.execute(query, (time.time(),)).fetchone()
        return found | {"held": held, "total": sum(found.values())}

    # The file.

    @contextlib.contextmanager
    def writing(self, durable: bool = True) -> Iterator[None]:
        """Make one transaction while others wait.

        A ``durable`` one is on disk at the end. Reservations, gains and what the journal says need
        not be: a power failure at worst loses what can be found out again.
        """
        with self.explaining():
            self.db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.db.execute("COMMIT")
            finally:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        try:
            yield
        except PROBLEMS as problem:
            if "disk is full" in str(problem) or "disk I/O error" in str(problem):
                raise DiskFull(
                    f"the disk did not take it ({problem}): make room and try again"
                ) from None
            raise JournalError(
                f"the queue {self.path} cannot be used ({problem}); move it away and import the "
                "texts again: what was "
                "judged stands in the journal"
            ) from None

    def _prepare(self) -> None:
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("BEGIN IMMEDIATE")
        (found,) = self.db.execute("PRAGMA user_version").fetchone()
        if found not in (0, VERSION):
            raise JournalError(
                f"the queue {self.path} has version {found}; this shortlist reads {VERSION}"
            )
        if found == 0:
            for statement in TABLES.split(";\n")[:-1]:
                self.db.execute(statement)
            self.db.execute(f"PRAGMA user_version={VERSION}")
        self.db.execute("COMMIT")


def key_again(key: str) -> str | None:
    """Return the key for the next judgement of a text of the queue; None for other keys."""
    judged = judgement_of(key)
    return None if judged is None else f"{judged[0]}-{judged[1] + 1}"


def judgement_of(key: str) -> tuple[str, int] | None:
    """Return the id of a text of the queue, and the number of its judgement; None for other
    keys.
    """
    id, _, attempt = key.removeprefix(PREFIX).partition("-")
    if not key.startswith(PREFIX) or not ATTEMPT.fullmatch(attempt):
        return None
    return PREFIX + id, int(attempt or 1)


def names_of(text: Document) -> tuple[str, int]:
    """Return the id of a text, and its place in the random order; both depend on the text alone."""
    written, fields = kept(text)
    digest = blake2b(written.encode(), digest_size=16, person=b"fields" * fields).digest()
    return PREFIX + digest[:10].hex(), int.from_bytes(digest[10:], "big")


def says_something(document: Document) -> bool:
    """Return whether a document holds anything to judge: a word or a value, not only a
    spreadsheet's errors.
    """
    own = document.values() if isinstance(document, Mapping) else [document]
    return any(str(one).strip() not in {"", *ERRORS} for one in own)


def follow(queue: Queue, journal: Journal) -> None:
    """Bring the queue up to the journal, whoever wrote to it; begin anew if it is another
    journal.
    """
    with queue.explaining():
        *seen, seal = queue.db.execute("SELECT examples, undos, seal FROM followed").fetchone()
    if (
        journal.version() == Version(*seen)
        and seal is not None
        and journal.seal(Version(*seen)) == seal
    ):
        return
    with queue.writing(durable=False):
        *seen, seal = queue.db.execute("SELECT examples, undos, seal FROM followed").fetchone()
        since, again = (
            Version(*seen),
            "state = 'waiting', example = NULL, attempt = attempt + 1, later = 0",
        )
        if seal is not None and journal.seal(since) == seal:
            again += ", until = 0"  # its reservation has ended
        else:  # texts were added, or the journal is another one or was salvaged; reservations stay
            since = Version(0, 0)
            queue.db.execute(
                "UPDATE items SET state = 'waiting', example = NULL, attempt = 1 WHERE state = "
                "'judged'"
            )
        now = journal.version()
        for number, key in journal.keyed(PREFIX, since.examples, now.examples):
            if (judged := judgement_of(key)) is not None:
                id, attempt = judged
                queue.db.execute(
                    "UPDATE items SET state = 'judged', example = ?, attempt = ? WHERE id = ?",
                    (number, attempt, id),
                )
        for number in journal.undone_between(since.undos, now.undos):
            queue.db.execute(f"UPDATE items SET {again} WHERE example = ?", (number,))
        queue.db.execute(
            "UPDATE followed SET examples = ?, undos = ?, seal = ?", (*now, journal.seal(now))
        )


# Texts that the model decides.


RESERVED = 120.0  # seconds for the model to decide


def reserve(queue: Queue, keys: Sequence[str]) -> list[Item]:
    """Reserve texts until they are decided, except those that a person has or has judged."""
    found = [item.number for item in map(queue.of_key, keys) if item is not None]
    return queue.lease_all(found, ALONE, RESERVED, most=len(found))


def let_go(queue: Queue, items: Sequence[Item]) -> None:
    """End the reservations of texts that are not decided."""
    with queue.writing():
        update = "UPDATE items SET until = 0 WHERE number = ? AND person = ?"
        queue.db.executemany(update, [(item.number, ALONE) for item in items])


# The texts of files. Labels in a file are ignored: people judge.


def texts_in(source: str, batches: Iterable[Examples]) -> Iterator[Document]:
    """Yield the texts of batches of examples, or documents if they have several fields."""
    for batch in batches:
        if batch.texts is None:
            raise InputError(f"{source} has no texts; name their column, or another format")
        texts = batch.texts
        if isinstance(texts, Fielded) and (taken := {*texts.texts, *texts.values} & {*BESIDE}):
            raise InputError(
                f"{source}: a field cannot be called {min(taken)}, which an export has beside the "
                "fields"
            )
        yield from (texts if isinstance(texts, Fielded) else map(str, texts))


def columns_of(model: Model[Any]) -> list[str] | None:
    """Return the named columns of texts that a model was trained from: its fields, or one
    column.
    """
    return model.fields_ or (getattr(model, "training_columns_", None) or {}).get("text_column")


def texts_of_file(
    content: bytes,
    name: str,
    format: str | None,
    column: str | None,
    known: list[str] | None,
    most: int,
) -> list[Document]:
    """Return the texts of a sent file, at most ``most`` characters; its name helps to recognise its
    format.

    They are in the named column, or else in those that the model knows, if the file has them.
    """

    def read_as(**options: Any) -> list[Document]:
        file = BytesIO(content)
        file.name = name
        return _at_most(most, name, read(file, format, **options))

    if column is not None:
        return read_as(text=column)
    try:
        return read_as(prefer=preferring(known))
    except InputError:
        with contextlib.suppress(InputError):
            return read_as()
        raise


def preferring(known: list[str] | None) -> dict[str, Option]:
    """Return known columns of texts as an option of ``read``."""
    return {"text": known[0] if len(known) == 1 else known} if known else {}


def _at_most(most: int, name: str, batches: Iterable[Examples]) -> list[Document]:
    texts: list[Document] = []
    held = 0
    for one in texts_in(name, batches):
        held += len(kept(one)[0])
        if held > most:  # a small compressed file may hold very much
            raise InputError(
                f"{name} holds more than {most:,} characters of text; send it in parts"
            )
        texts.append(one)
    return texts


# The next text by gain: how much its judgement would teach.
#
# The model learns most from a text whose two best labels have nearly equal scores. Scores are known
# from the first example on, and margins of calibrated probabilities were no better. A text of
# unknown words has no margin and comes first.
#
# A margin cannot tell an ambiguous text from one with words that were not judged yet. So the gain
# counts in full if all words that other texts share are new, and half if none is. Of equal texts,
# those unlike the texts handed out last come first.
#
# Each question measures a bounded sample: the best texts of earlier samples, and those measured
# longest ago. So each answer costs the same however long the queue is. The disk is waited for in a
# thread; the model is asked on the event loop.


BEST, STALE = 16, 48  # texts that are measured: the best known, and those measured longest ago
PIECE = 20_000  # characters that are ranked at a time, before others have their turn
RECENT = 20  # texts handed out last
TRIES = 5  # samples, if others take all texts of one
LOOKED_AT = 2  # labels of each text
MET = 10_000  # texts whose words are counted

Gains = Callable[[Sequence[Document]], list[float]]  # what judgements of texts would gain
Found = TypeVar("Found")
Ready = Callable[[Sequence[Document]], Sequence[Any]]  # texts as a model ranks them


def gains(model: Categorizer, texts: Sequence[Any]) -> list[float]:
    """Return the expected gain of a judgement of each text by its ranking, from 0 to 1."""
    ranking = model.rank(texts, LOOKED_AT)
    scores = np.nan_to_num(ranking.scores)
    if scores.shape[1] < 2:
        return [1.0] * len(texts)  # at most one label is known
    first, second = scores.T
    margin = (first - second) / np.maximum(np.abs(first) + np.abs(second), np.finfo(float).tiny)
    return (1.0 - np.clip(margin, 0.0, 1.0)).tolist()


class Novelty:
    """Which words the texts of a queue have, and how often each was judged."""

    def __init__(self) -> None:
        self._met: set[int] = set()  # numbers of texts
        self._texts: Counter[str] = Counter()  # that have a word
        self._judged: Counter[str] = Counter()

    def meet(self, number: int, words: frozenset[str]) -> None:
        """Count the words of a text; a sample of a long queue is enough."""
        if len(self._met) < MET and number not in self._met:
            self._met.add(number)
            self._texts.update(words)

    def judge(self, words: frozenset[str]) -> None:
        """Count the words of a text that is being judged."""
        self._judged.update(words)

    def share(self, words: frozenset[str]) -> float:
        """Return the share of words that are new and that other texts have, from 0 to 1; rare
        words weigh more.
        """
        new = every = 0.0
        for word in words:
            n = self._texts[word]
            weight = math.log(1 + len(self._met) / max(1, n)) ** 2
            every += weight
            new += weight / (1 + self._judged[word]) if n > 1 else 0.0
        return new / every if every else 0.0


def likeness(own: frozenset[str], others: Iterable[frozenset[str]]) -> float:
    """Return how similar a text is to the most similar of some others: the Jaccard index of
    their words.
    """
    return max((len(own & one) / max(1, len(own | one)) for one in others), default=0.0)


def letters_of(item: Item) -> str:
    return shown(item.text)


class Handing:
    """The queue of a state directory, as the routes use it."""

    def __init__(self, folder: Path, gains: Gains) -> None:
        self._folder, self._gains = folder, gains
        self._thread = ThreadPoolExecutor(1, "queue")
        self._opened: tuple[Queue, Journal] | None = None
        # the words of the texts handed out last
        self._recent: deque[frozenset[str]] = deque(maxlen=RECENT)
        self._novelty = Novelty()

    def close(self) -> None:
        """Finish what was asked for."""
        self._thread.shutdown()
        for one in self._opened or ():
            one.close()

    async def ask(self, work: Callable[..., Found], *arguments: object) -> Found:
        """Run work on the queue, once it has followed the journal."""

        def done() -> Found:
            if self._opened is None:  # late: a queue that cannot be opened stops nothing else
                self._opened = Queue(self._folder), Journal(self._folder)
            queue, journal = self._opened
            follow(queue, journal)
            return work(queue, *arguments)

        # A caller that gives up does not cancel what is on its way to the disk.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, done))

    async def next(
        self, person: str, order: str, seconds: float
    ) -> tuple[Item | None, dict[str, int]]:
        """Return the text that this person has, or else the next in an order, None if none is
        left; and the counts.
        """
        counts: dict[str, int] = {}
        for _ in range(TRIES):
            item, found, counts = await self.ask(_look, person, order, seconds)
            if item is not None or not found:
                return item, counts
            chosen, gained = await self._by_gain(found)
            item, counts = await self.ask(_take, chosen, gained, person, seconds)
            if item is not None:
                return item, counts
        return None, counts

    async def _by_gain(self, found: list[Item]) -> tuple[list[int], list[tuple[int, float]]]:
        """Return the numbers of some texts, best first, and the gain of each."""
        words = {one.number: frozenset(shown(one.text).casefold().split()) for one in found}
        for number, own in words.items():
            self._novelty.meet(number, own)
        gained: dict[int, float] = {}
        for some in parts(found, letters_of, PIECE):
            for one, gain in zip(some, self._gains([one.text for one in some]), strict=True):
                gained[one.number] = gain * (1 + self._novelty.share(words[one.number])) / 2
            await asyncio.sleep(0)
        late = {one.number: one.later for one in found}
        best = sorted(
            words, key=lambda n: (late[n], likeness(words[n], self._recent) / 2 - gained[n])
        )
        self._recent.append(words[best[0]])
        self._novelty.judge(words[best[0]])
        return best, list(gained.items())


def _look(
    queue: Queue, person: str, order: str, seconds: float
) -> tuple[Item | None, list[Item], dict[str, int]]:
    """Return the text of this person, or a sample of texts to choose from by gain; and the
    counts.
    """
    item, found = queue.held(person, seconds), []
    if item is None and order == "gain":
        best = queue.free("gain", person, BEST)
        found = best + queue.free("stale", person, STALE, but=[one.number for one in best])
    while order != "gain" and item is None and (free := queue.free(order, person, BEST)):
        # None: others have taken all of them
        item = queue.lease([one.number for one in free], person, seconds)
    return item, found, queue.counts()


def _take(
    queue: Queue, chosen: list[int], gained: list[tuple[int, float]], person: str, seconds: float
) -> tuple[Item | None, dict[str, int]]:
    """Note what was measured, and reserve the first text that is still free."""
    queue.measure(gained)
    return queue.lease(chosen, person, seconds), queue.counts()


async def sure_of(
    model: Categorizer, ready: Ready, items: Sequence[Item], precision: float
) -> tuple[list[tuple[Item, Assigned]], list[float]]:
    """Return the texts that the model would decide, with their labels, and the gains of judging
    each text.
    """
    found: list[tuple[Item, Assigned]] = []
    gained: list[float] = []
    for some in parts(items, letters_of, PIECE):
        texts = await asyncio.to_thread(ready, [one.text for one in some])
        decided = model.decide(texts, model.rank(texts, DEPTH), model.aim(precision))
        found += [(one, labels) for one, labels in zip(some, decided, strict=True) if labels]
        gained += gains(model, texts)
        await asyncio.sleep(0)  # let others have a turn
    return found, gained
