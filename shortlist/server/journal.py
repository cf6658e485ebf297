"""The journal: every example learned and every undo, in order, in one SQLite file.

A commit returns when the disk has it (write-ahead log, synchronous=FULL). Examples are numbered from 1; undos too, in
a row of their own. A change of labels is an example without a text, whose labels are an object. What a model should be
is a function of the journal alone: the base model, and then all examples that were not taken back, one at a time, in
order. An example says which labels are right, which were crossed out, whether all others are wrong, and who judged.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from shortlist.categories.index.vectors import unit
from shortlist.errors import InputError
from shortlist.models.relabelling import Change
from shortlist.server import chain
from shortlist.server.documents import USUAL, kept, read_back, renamed
from shortlist.server.ledger import Ledger, Version, identity
from shortlist.texts.fields import Document, Vectors

# The vector of an example in the journal, so that it is learned again as it was.


NUMBERS = np.dtype("<f4")


def written_vector(vector: Vectors | None) -> str:
    """A vector as the journal keeps it."""
    return "" if vector is None else b64encode(vector.astype(NUMBERS).tobytes()).decode()


def read_vector(kept: str) -> Vectors | None:
    """The vector again."""
    if not kept:
        return None
    try:
        return np.frombuffer(b64decode(kept, validate=True), dtype=NUMBERS).astype(np.float32)
    except ValueError:
        raise InputError("the stored vector is not valid base64 float32") from None


WINDOW = 200  # examples that the rolling measures look back on
WITH_PREFIX = "{0} >= ? AND {0} < ?"  # what _span gives
ALONE = "(decided alone)"  # behind the name of who had the model decide, or in its place
BY_PEOPLE = f"person NOT LIKE '%{ALONE}'"  # what the model decided says nothing of how good it is
KEPT = "NOT EXISTS (SELECT 1 FROM undos WHERE example = examples.number)"


class KeyUsed(InputError):
    """An idempotency key came a second time, with something else to learn."""


class Moved(InputError):
    """Labels were changed, something was taken back or another model was promoted since a request was checked."""


class MustTry(InputError):
    """A change of labels may need what is to be taken back: only a model that does without it can tell."""


@dataclass(frozen=True)
class Example:
    """Something to learn."""

    text: Document
    labels: Sequence[Any] | dict[str, Any]  # or a change of labels, which has no text
    key: str | None = None
    place: int | None = None
    wrong: Sequence[Any] = ()  # labels that were crossed out
    complete: bool = True  # whether all other labels are wrong; False: they were not judged
    person: str = ""  # who judged, where the server knows people
    vector: Vectors | None = None  # that of the text, where texts have any


@dataclass(frozen=True)
class Entry:
    """An example as the journal holds it."""

    number: int
    time: float
    text: Document
    labels: list[Any]
    wrong: list[Any]
    complete: bool
    person: str
    place: int | None
    undone: bool
    key: str | None
    change: bool  # of labels


class Lesson(NamedTuple):
    """What there is to learn of an example."""

    number: int
    text: Document
    labels: list[Any] | dict[str, Any]  # or a change of labels (relabelling.py)
    wrong: list[Any]
    complete: bool
    person: str
    vector: str  # as the journal keeps it (journal.py)


class Judged(NamedTuple):
    """An example with all that is known of its judgement, for whoever looks back."""

    number: int
    time: float
    key: str | None
    text: Document
    labels: list[Any]
    wrong: list[Any]
    complete: bool
    person: str
    place: int | None


class Outcome(NamedTuple):
    """How an example stood before it was learned."""

    number: int
    time: float
    labels: list[Any]
    wrong: list[Any]
    place: int | None


class Seen(NamedTuple):
    """What a request was checked against: a moment of the journal, and the base of the model."""

    version: Version
    base: tuple[int, ...]


class Receipt(NamedTuple):
    """Where an example stands in the journal, and whether it was put there just now."""

    number: int
    new: bool


class Journal(Ledger):
    """The journal in a folder. Examples that are ``hidden`` are not learned, as if they had been taken back."""

    hidden: Collection[int] = ()

    def append(
        self, requests: Sequence[Sequence[Example]], seen: Iterable[Seen | None] = repeat(None)
    ) -> list[list[Receipt] | InputError]:
        """Write the examples of some requests in one commit. A request whose key is taken fails alone and whole.

        So does one that was checked against what is no longer so, where it says what it has ``seen``.
        """
        with self._commit():
            return [self._append(request, own) for request, own in zip(requests, seen)]  # noqa: B905  repeat has no end

    def undo(self, number: int, person: str = "") -> bool:
        """Take an example back. Gives whether that changed anything; it may have been taken back before."""
        return self.undo_all([number], person) == 1

    def undo_all(self, numbers: Sequence[int], person: str = "", check: Check | None = None) -> int:
        """Take examples back in one commit, all or none. Gives how many of them had not been taken back before.

        ``check`` may refuse that; nobody writes between its answer and the commit.
        """
        with self._commit():
            if check is not None:
                check(self)
            return sum(self._undo_one(number, person) for number in numbers)

    def replace(
        self, number: int, example: Example, seen: Seen | None = None, check: Check | None = None
    ) -> Receipt:  # fmt: skip
        """Take an example back and learn another in its place, in one commit: never the one without the other.

        Asked again with the same key, it changes nothing.
        """
        with self._commit():
            if check is not None:
                check(self)
            receipt = self._append_one(example, seen)
            if receipt.new != self._undo_one(number, example.person):
                raise KeyUsed(f"example {number} was taken back already")
            if not receipt.new and self._is_undone(receipt.number):
                raise KeyUsed(f"example {receipt.number}, learned in its place, was taken back; learn the text anew")
            return receipt

    def _is_undone(self, number: int) -> bool:
        return self._db.execute("SELECT 1 FROM undos WHERE example = ?", (number,)).fetchone() is not None

    def _undo_one(self, number: int, person: str) -> bool:
        if number < 1 or chain.at(self._db, "examples", number) is None:
            raise InputError(f"there is no example {number}")
        if self._is_undone(number):
            return False
        end = self._end
        row = (end.undos + 1, time.time(), number, person)
        link = chain.link(end.undo_chain, row)
        self._insert("undos", (*row, link))
        self._end = end._replace(undos=row[0], undo_chain=link)
        return True

    def undone_since(self, version: Version) -> int | None:
        """The first of the examples that a model of that version has learned and that were taken back since."""
        query = "SELECT min(example) FROM undos WHERE number > ? AND example <= ?"
        found: int | None = self._row(query, (version.undos, version.examples))[0]
        return found

    def has_change_from(self, number: int) -> bool:
        """Whether there is a change of labels from this number on that was not taken back."""
        query = f"SELECT EXISTS (SELECT 1 FROM examples WHERE number >= ? AND labels LIKE '{{%' AND {KEPT})"
        return bool(self._row(query, (number,))[0])

    def after(self, number: int, last: int, limit: int = 256) -> list[Lesson]:
        """The next examples to learn, up to the last: none that was taken back."""
        others = f"AND number NOT IN ({', '.join(map(str, map(int, self.hidden)))})" if self.hidden else ""
        query = (
            "SELECT number, text, fields, labels, wrong, complete, person, vector FROM examples "
            f"WHERE number > ? AND number <= ? AND {KEPT} {others} ORDER BY number LIMIT ?"
        )
        rows = self._rows(query, (number, last, limit))
        return [
            Lesson(n, read_back(text, own), json.loads(labels), json.loads(wrong), bool(complete), person, vector)
            for n, text, own, labels, wrong, complete, person, vector in rows
        ]

    def entries(self, before: int | None = None, limit: int = 20, prefix: str = "") -> list[Entry]:
        """The newest examples, newest first; those before a number, or with keys that begin so, if any is given."""
        of_key = f"{WITH_PREFIX.format('key')} AND" if prefix else ""
        query = (
            f"SELECT number, time, text, fields, labels, wrong, complete, person, place, NOT {KEPT}, key FROM examples "
            f"WHERE {of_key} number < ? ORDER BY number DESC LIMIT ?"
        )
        given = _span(prefix) if prefix else ()
        rows = self._rows(query, (*given, 2**62 if before is None else before, limit))
        return [
            Entry(
                n, at, *_said(read_back(text, fields), json.loads(own)), json.loads(wrong), bool(complete), person,
                place, bool(undone), key, own.startswith("{"),
            )
            for n, at, text, fields, own, wrong, complete, person, place, undone, key in rows
        ]  # fmt: skip

    def example(self, number: int) -> Example | None:
        """What was learned under a number, taken back or not; None if there is none."""
        columns = "text, fields, labels, key, place, wrong, complete, person, vector"
        for text, fields, labels, key, place, wrong, complete, person, vector in self._rows(
            f"SELECT {columns} FROM examples WHERE number = ?", (number,)
        ):
            judged = json.loads(wrong), bool(complete), person
            return Example(read_back(text, fields), json.loads(labels), key, place, *judged, read_vector(vector))
        return None

    def nearest(self, vector: Vectors, n: int = 3, looked_at: int = 1000) -> list[tuple[float, Document, list[Any]]]:
        """Of the newest examples with labels and a vector the n nearest ones: cosine, text, labels."""
        rows = self._rows(
            f"SELECT text, fields, labels, vector FROM examples WHERE vector != '' AND labels LIKE '[_%]' AND {KEPT} "
            "ORDER BY number DESC LIMIT ?", (looked_at,),
        )  # fmt: skip
        known, asked = [], unit(vector[np.newaxis])[0]
        for text, fields, labels, stored in rows:
            own = read_vector(stored)
            if own is not None and own.shape == vector.shape:
                cosine = float((unit(own[np.newaxis]) @ asked)[0])
                known.append((cosine, read_back(text, fields), json.loads(labels)))
        return sorted(known, key=lambda one: -one[0])[:n]

    def has_key(self, key: str | None) -> bool:
        """Whether something was learned under a key, taken back or not."""
        return key is not None and any(self._rows("SELECT 1 FROM examples WHERE key = ?", (key,)))

    def keyed(self, prefix: str, after: int, last: int) -> list[tuple[int, str]]:
        """Number and key of the examples in between whose keys begin so, taken back or not."""
        key = "+key" if after else "key"  # the last few are found by number, all of them by key
        query = (
            f"SELECT number, key FROM examples WHERE {WITH_PREFIX.format(key)} AND number > ? AND number <= ? "
            "ORDER BY number"
        )
        return list(self._rows(query, (*_span(prefix), after, last)))

    def undone_between(self, after: int, last: int) -> list[int]:
        """The examples that were taken back by the undos in between."""
        query = "SELECT example FROM undos WHERE number > ? AND number <= ? ORDER BY number"
        return [example for (example,) in self._rows(query, (after, last))]

    def lines(
        self, after: int, names: Mapping[str, str] = USUAL, last: int = 2**62, limit: int = 500
    ) -> tuple[int, bytes]:
        """Some examples as JSON lines, a training file like any other, and the number of the last of them.

        names: what labels and all else beside a document are called (documents.py). last: none after this number.
        """
        lessons = self.after(after, last, limit)
        records = [_record(lesson, names) for lesson in lessons if not isinstance(lesson.labels, dict)]
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
        return lessons[-1].number if lessons else 0, "".join(lines).encode()

    def judged(self, after: int = 0, limit: int = 500, before: int = 2**62) -> list[Judged]:
        """The next examples after a number that were not taken back, without changes of labels."""
        query = (
            "SELECT number, time, key, text, fields, labels, wrong, complete, person, place FROM examples "
            f"WHERE number > ? AND number < ? AND {KEPT} AND labels LIKE '[%' ORDER BY number LIMIT ?"
        )
        return [
            Judged(n, at, key, read_back(text, own), json.loads(labels), json.loads(wrong), bool(full), person, place)
            for n, at, key, text, own, labels, wrong, full, person, place in self._rows(query, (after, before, limit))
        ]

    def outcomes(self, limit: int) -> list[Outcome]:
        """How the last examples stood before they were learned, oldest first."""
        query = (
            "SELECT number, time, labels, wrong, place FROM examples "
            f"WHERE {KEPT} AND {BY_PEOPLE} AND labels LIKE '[%' AND labels != '[]' ORDER BY number DESC LIMIT ?"
        )
        rows = self._rows(query, (limit,))
        return [Outcome(n, at, json.loads(own), json.loads(wrong), place) for n, at, own, wrong, place in rows][::-1]

    def field_names(self) -> list[str]:
        """The names of all fields of documents that were learned and not taken back, in alphabetical order."""
        query = f"SELECT DISTINCT one.key FROM examples, json_each(text) AS one WHERE fields = 1 AND {KEPT} ORDER BY 1"
        return [name for (name,) in self._rows(query)]

    def has_in_a_list(self, letters: str) -> bool:
        """Whether these letters may stand in a label, right or wrong, or in a list that is a field of a document."""
        in_a_field = "SELECT 1 FROM json_each(text) AS one WHERE one.type = 'array' AND instr(one.value, ?1)"
        query = (
            "SELECT EXISTS (SELECT 1 FROM examples WHERE labels LIKE '[%' AND "
            f"(instr(labels, ?1) OR instr(wrong, ?1) OR (fields = 1 AND EXISTS ({in_a_field}))))"
        )
        return bool(self._row(query, (letters,))[0])

    def counts(self) -> tuple[int, int]:
        """How many examples there are, and how many of them were taken back."""
        examples, undone = self._row("SELECT (SELECT count(*) FROM examples), (SELECT count(*) FROM undos)")
        return examples, undone

    def places(self) -> list[int | None]:
        """Where the best right label of each of the last examples stood before it was learned, newest first."""
        query = (
            f"SELECT place FROM examples WHERE {KEPT} AND {BY_PEOPLE} AND labels LIKE '[_%]' "
            "ORDER BY number DESC LIMIT ?"
        )
        return [place for (place,) in self._rows(query, (WINDOW,))]

    def _append(self, request: Sequence[Example], seen: Seen | None) -> list[Receipt] | InputError:
        before = self._end
        self._db.execute("SAVEPOINT request")
        try:
            answer: list[Receipt] | InputError = [self._append_one(example, seen) for example in request]
        except (KeyUsed, Moved) as problem:
            self._db.execute("ROLLBACK TO request")
            self._end, answer = before, problem
        self._db.execute("RELEASE request")
        return answer

    def _must_be(self, seen: Seen) -> None:
        """Refuse what was checked against labels, or a base, that may have changed since."""
        query = (
            "SELECT EXISTS (SELECT 1 FROM examples WHERE number > ? AND labels LIKE '{%') "
            "OR EXISTS (SELECT 1 FROM undos WHERE number > ?)"
        )
        if self._db.execute(query, seen.version).fetchone()[0] or identity(self.path.parent) != seen.base:
            raise Moved("labels were changed meanwhile; try again")

    def _append_one(self, example: Example, seen: Seen | None) -> Receipt:
        given = example.labels if isinstance(example.labels, dict) else list(example.labels)
        labels = json.dumps(given, ensure_ascii=False)
        wrong = json.dumps(list(example.wrong), ensure_ascii=False)
        text, fields = kept(example.text)
        judged = (wrong, int(example.complete), example.person, written_vector(example.vector), fields)
        if example.key is not None:
            query = "SELECT number, text, labels, wrong, complete, person, vector, fields FROM examples WHERE key = ?"
            known = self._db.execute(query, (example.key,)).fetchone()
            if known is not None and known[1:] != (text, labels, *judged):
                raise KeyUsed(f"the key {example.key!r} was used for another example, number {known[0]}")
            if known is not None:
                return Receipt(known[0], new=False)
        if seen is not None:
            self._must_be(seen)
        number = self._end.examples + 1
        row = (number, time.time(), example.key, text, labels, example.place, *judged)
        link = chain.link(self._end.example_chain, row)
        self._insert("examples", (*row, link))
        self._end = self._end._replace(examples=number, example_chain=link)
        return Receipt(number, new=True)


def _span(prefix: str) -> tuple[str, str]:
    """The first of the keys that begin so, and the first behind them."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _record(lesson: Lesson, names: Mapping[str, str]) -> dict[str, Any]:
    """An example as a line of a training file has it; what says nothing is left out."""
    own = lesson.text if isinstance(lesson.text, Mapping) else {"text": lesson.text}
    record: dict[str, Any] = {"labels": lesson.labels}
    if lesson.wrong or not lesson.complete or not lesson.labels:
        record |= {"wrong": lesson.wrong, "complete": lesson.complete}
    if lesson.person:
        record["person"] = lesson.person
    vector = read_vector(lesson.vector)
    record |= {} if vector is None else {"vector": vector.tolist()}
    return {**own, **renamed(record, names)}


def _said(text: Document, labels: list[Any] | dict[str, Any]) -> tuple[Document, list[Any]]:
    """Text and labels of an entry as people see them."""
    return (str(Change.of(labels)), []) if isinstance(labels, dict) else (text, labels)


Check = Callable[[Journal], None]  # refuses what is about to be written


def nothing_needs(numbers: Sequence[int], journal: Journal) -> None:
    """Refuse to take examples back where a change of labels may need one of them."""
    if journal.has_change_from(min(numbers, default=2**62)):
        raise MustTry("a change of labels may need it")
