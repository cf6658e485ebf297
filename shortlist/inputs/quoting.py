"""Quoted fields (RFC 4180): a field may stand in quotes, with quotes doubled inside, and lines may break inside.

Python's csv module is not used because it cannot say in which column a mistake stands, and refuses fields of more
than 128 KiB unless a setting of the whole process is changed.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from shortlist.inputs.source import Source


class Quoting:
    """Lines -> rows of fields. ``waiting`` holds the lines of a record whose quote is still open."""

    def __init__(self, source: Source, separator: str, quote: str) -> None:
        self.source = source
        self.separator = separator
        self.quote = quote
        self.waiting: list[tuple[int, str]] = []
        self._held = 0
        q, s = re.escape(quote), re.escape(separator)
        self._field = re.compile(f"{q}([^{q}]*(?:{q}{q}[^{q}]*)*){q}(?!{q})|(?!{q})[^{s}]*")

    def rows(self, numbers: Sequence[int], lines: list[str], last: bool = False) -> tuple[list[int], list[list[str]]]:
        """The rows of the lines that waited and of these, with the number of the line on which each begins."""
        queue = self.waiting + list(zip(numbers, lines, strict=True))
        # Inside quotes, the line that closes them is the next that has an odd number of quotes.
        odd = deque(i for i in range(len(self.waiting), len(queue)) if queue[i][1].count(self.quote) % 2)
        if self.waiting and not odd and not last and self._fits(lines):
            self.waiting = queue
            return [], []
        self.waiting, self._held = [], 0
        starts: list[int] = []
        rows: list[list[str]] = []
        at = 0
        while at < len(queue):
            number, record = queue[at]
            end = at + 1
            try:
                try:
                    fields = self._fields(record)
                except _Unclosed:
                    while odd and odd[0] <= at:
                        odd.popleft()
                    if not odd:
                        if not last and self._fits([line for _, line in queue[at:]]):
                            self.waiting = queue[at:]
                            break
                        raise
                    end = odd[0] + 1
                    fields = self._fields("\n".join(line for _, line in queue[at:end]))
                if record:
                    starts.append(number)
                    rows.append(fields)
            except _BadQuote as problem:
                self.source.bad(number + problem.line, problem.column, problem.sentence)
                if isinstance(problem, _Unclosed):
                    end = at + 1  # the lines after the one that opens a quote may still be good
            at = end
        return starts, rows

    def _fits(self, lines: list[str]) -> bool:
        """Whether the record that is open may go on: it is not too long with these lines."""
        self._held += sum(map(len, lines))
        return self._held <= self.source.progress.max_record

    def _fields(self, record: str) -> list[str]:
        """The fields of a record, which may have several lines."""
        if self.quote not in record:
            return record.split(self.separator)
        fields = []
        at = 0
        while True:
            field = self._field.match(record, at)
            if field is None:
                raise _Unclosed(record, at, "expected a closing quote for the one that opens here, found none")
            fields.append(field[0] if field[1] is None else field[1].replace(self.quote * 2, self.quote))
            at = field.end()
            if at == len(record):
                return fields
            if record[at] != self.separator:
                wrong = f"expected {self.separator!r} after the closing quote, found {record[at]!r}"
                raise _BadQuote(record, at, wrong)
            at += 1


class _BadQuote(Exception):
    def __init__(self, record: str, at: int, sentence: str) -> None:
        self.sentence = sentence
        self.line = record.count("\n", 0, at)
        self.column = at - record.rfind("\n", 0, at)


class _Unclosed(_BadQuote):
    pass
