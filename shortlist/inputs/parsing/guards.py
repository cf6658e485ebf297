"""Cells that a spreadsheet would run as formulas: they are written with an apostrophe before them, and read without.

A cell that begins with =, +, -, @ or a control character is a formula to a spreadsheet. An apostrophe before it makes
it text there. A cell that has such apostrophes already gets one more, so that what is written is read back as it was.
"""

from __future__ import annotations

import re

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
GUARDED = re.compile(r"''*[=+\-@\t\r\n]")  # a line feed, since a carriage return before it is not kept


def guarded(cell: str) -> str:
    """A text as a cell that no spreadsheet runs."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """The text of such a cell."""
    return cell[1:] if cell[:1] == "'" and GUARDED.match(cell) else cell


def may_be_guarded(block: bytes) -> bool:
    """Whether a cell in this block may have an apostrophe before it."""
    return any(b"'" + mark in block for mark in (b"=", b"+", b"-", b"@", b"\t", b"\r"))
