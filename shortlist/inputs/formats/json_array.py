"""A JSON array of objects, ``[{"text": "wheat exports rose", "labels": ["grain"]}, …]``, on any number of lines.

The array is never held as a whole: a kernel finds where each of its elements ends, and each is a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.formats.json_lines import JsonLines, explained
from shortlist.inputs.parsing.table import BadValue
from shortlist.inputs.source import Source

LINE_FEED, QUOTE, BACKSLASH, COMMA, OPEN, CLOSE, BEGIN, END = (ord(c) for c in '\n"\\,[]{}')
# Where the reading of an array stands; what it expects next.
START, FIRST, NEXT, INSIDE, BEHIND, DONE = range(6)
EXPECTED = {
    START: "[, which begins a JSON array", FIRST: "an object, {…}, or ]", NEXT: "an object, {…}",
    BEHIND: ", or ] behind an object", DONE: "nothing behind the array",
}  # fmt: skip


class Place(NamedTuple):
    """A line and a column of the file, both from 1."""

    line: int
    column: int

    def after(self, text: str) -> Place:
        """The place behind this text, which begins here."""
        line_feeds = text.count("\n")
        column = self.column + len(text) if not line_feeds else len(text) - text.rfind("\n")
        return Place(self.line + line_feeds, column)


@dataclass
class JsonArray(JsonLines):
    name = "json"
    description = "JSON: an array of objects, with fields for the text and the labels"
    endings = (".json",)

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        begins = head.lstrip()
        return begins.startswith("[") and begins[1:].lstrip()[:1] in ("{", "]")

    @property
    def by_line(self) -> bool:
        return False

    def examples(self, source: Source) -> Iterator[Examples]:
        to_row = self._reader()
        for records in self._records(source):
            rows, lines = [], []
            for place, record in records:
                if source.decoded_line(place.line, record) is None:
                    continue
                try:
                    rows.append(row := to_row(record))
                    lines.append(place.line)
                    self.note_fields(row, record, source)
                except (BadValue, ValueError, RecursionError) as problem:
                    column, sentence = explained(record, problem)
                    source.bad(*place.after(record.decode()[: column - 1]), sentence)
            yield self.batch(rows, Places(source.name, lines))

    def _records(self, source: Source) -> Iterator[list[tuple[Place, bytes]]]:
        """The objects of the array and where each begins, some at a time."""
        held, state, place = bytearray(), np.array([START, 0, 0, 0], dtype=np.int64), Place(1, 1)
        while data := source.read(source.progress.batch):
            looked = len(held)
            held += data
            starts, ends = np.empty((2, data.count(b"}") + 1), dtype=np.int64)
            stop, n = _find_objects(np.frombuffer(held, dtype=np.uint8), looked, state, starts, ends)
            found = []
            at = 0
            for start, end in zip(starts[:n].tolist(), ends[:n].tolist(), strict=True):
                place = place.after(_text(held[at:start]))
                found.append((place, bytes(held[start:end])))
                place, at = place.after(_text(held[start:end])), end
            yield found
            if stop >= 0:
                line, column = place.after(_text(held[at:stop]))
                letter = _text(held[stop : stop + 4])[:1]
                expected = f"expected {EXPECTED[int(state[0])]}, found {letter!r}"
                raise InputError(f"{source.name}, line {line}, column {column}: {expected}")
            del held[:at]
            state[3] -= at
            if len(held) > source.progress.max_record:
                longest = source.progress.max_record
                raise InputError(f"{source.name}, line {place.line}: expected an object of at most {longest} bytes")
        if state[0] not in (START, DONE):
            raise InputError(f"{source.name}: expected ] at the end of the array, found the end of the file")


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")


@kernel
def _find_objects(letters: NDArray[np.uint8], first: int, state: Longs, starts: Longs, ends: Longs) -> tuple[int, int]:
    """Where the objects of an array begin and end; what is before ``first`` was looked at before.

    state: what is expected, how deep objects are nested, 1 inside of a string and 2 behind a backslash there, and where
    the object that is open began. Gives the place of a letter that was not expected, or −1, and the number of objects.
    """
    n = 0
    for i in range(first, letters.size):
        c = letters[i]
        if state[0] == INSIDE:
            if state[2] == 2:
                state[2] = 1
            elif state[2] == 1:
                if c == QUOTE:
                    state[2] = 0
                elif c == BACKSLASH:
                    state[2] = 2
            elif c == QUOTE:
                state[2] = 1
            elif c in (BEGIN, OPEN):
                state[1] += 1
            elif c in (END, CLOSE):
                state[1] -= 1
                if state[1] == 0:
                    starts[n] = state[3]
                    ends[n] = i + 1
                    n += 1
                    state[0] = BEHIND
        elif c == LINE_FEED or c == ord(" ") or c == ord("\t") or c == ord("\r"):
            continue
        elif state[0] == START and c == OPEN:
            state[0] = FIRST
        elif (state[0] == FIRST or state[0] == NEXT) and c == BEGIN:
            state[0] = INSIDE
            state[1] = 1
            state[3] = i
        elif (state[0] == FIRST or state[0] == BEHIND) and c == CLOSE:
            state[0] = DONE
        elif state[0] == BEHIND and c == COMMA:
            state[0] = NEXT
        else:
            return i, n
    return -1, n
