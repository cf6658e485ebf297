"""Lines with a fixed number of fields and no quotes: what MovieLens, EachMovie and all
judgements share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import counted
from shortlist.inputs.delimited import place_of
from shortlist.inputs.source import Source

Rows = list[list[str]]


def field_blocks(
    source: Source, names: tuple[str, ...], separator: str | None = None
) -> Iterator[tuple[list[int], Rows]]:
    """Blocks of rows, one field for each name, with their line numbers; separated by spaces
    unless said otherwise.
    """
    for numbers, lines in source.line_blocks():
        kept, rows = [], []
        for number, line in zip(numbers, lines, strict=True):
            row = line.split(separator)
            if len(row) == len(names):
                kept.append(number)
                rows.append(row)
            elif line.strip():
                fields = re.finditer(r"\S+" if separator is None else r"[^,:\t]+", line)
                column = [*(field.start() + 1 for field in fields), len(line) + 1][
                    : len(names) + 1
                ][-1]
                source.bad(
                    number,
                    column,
                    f"expected {', '.join(names)}, found {counted(len(row), 'fields')}",
                )
        yield kept, rows


def with_numbers(
    source: Source,
    numbers: list[int],
    rows: Rows,
    field: int,
    what: str,
    among: tuple[float, ...] = (),
) -> tuple[Rows, NDArray[np.float64]]:
    """The rows whose field is a finite number, and these numbers; the others are bad."""

    def to_number(line: int, row: list[str]) -> float:
        text = row[field]
        try:
            number = float(text)
        except ValueError:
            number = nan
        if not isfinite(number) or (among and number not in among):
            source.bad(
                line, place_of(field, row), f"expected {what}, a number, found {text[:40]!r}"
            )
            return nan
        return number

    found = np.array(
        [to_number(line, row) for line, row in zip(numbers, rows, strict=True)], dtype=np.float64
    )
    good = ~np.isnan(found)
    if good.all():
        return rows, found
    return [row for row, is_good in zip(rows, good, strict=True) if is_good], found[good]
