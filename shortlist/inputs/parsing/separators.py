"""How spreadsheets write tables: what stands between cells, and between the whole part of a number and its fraction.

Excel writes CSV with semicolons and decimal commas where decimal commas are the custom, and may begin a file with a
line ``sep=;`` that names what separates the cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SEPARATORS = (",", ";", "\t", "|")
NAMED = re.compile(r"sep=([^\w\s]|\t)\s*", re.ASCII)
QUOTED = re.compile(r'"(?:[^"]|"")*"')
DECIMAL_COMMA = re.compile(r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+)?,\d+([eE][-+]?\d+)?\s*", re.ASCII)


def recognised(head: str, wanted: Sequence[str | int]) -> str:
    """What separates the cells of a table that begins so: what its first line names, or lets a wanted name be found.

    Where no name is wanted, or none is there, it is what stands there most often; of equals a comma.
    """
    first = head.lstrip("\n").partition("\n")[0].rstrip("\r")
    if said := NAMED.fullmatch(first):
        return said[1]
    bare = QUOTED.sub('""', first)
    for one in SEPARATORS:
        if not set(names_in(first, one)).isdisjoint(str(name).strip() for name in wanted):
            return one
    if wanted and all(str(column).isdigit() for column in wanted):  # there is no line of names, but one of data
        return next((one for one in SEPARATORS if one in bare), ",")
    return max(SEPARATORS, key=bare.count)


def names_in(line: str, separator: str) -> list[str]:
    """The names in a first line, as it looks before quoted fields are read: without quotes and spaces around them."""
    return [cell.strip().strip('"').strip() for cell in line.split(separator)]


def with_point(cell: str) -> str:
    """A number as Python reads it: 1.234,5 is 1234.5. Anything else stays as it is."""
    return cell.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell
