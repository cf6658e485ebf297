"""The rows of a sheet of Excel or LibreOffice, with their own numbers; and workbooks to write.

fastexcel (calamine) decodes 10,000 rows of five columns in 0.15 s and 12 MB; openpyxl needs 1.5 s
and 6 MB, and reads no .ods and .xls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from importlib.util import find_spec
from typing import Any, BinaryIO

from shortlist.errors import InputError, installing
from shortlist.inputs.decoding import DecodingProcess, on_disk
from shortlist.inputs.source import Source

# Rows, each with the line on which it begins, or its number in a sheet.
NumberedRows = list[tuple[int, list[str]]]
SPREADSHEET_ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
BEGINNINGS = ("PK", "\ufffd\ufffd\x11")  # of a zip archive, and of the older Excel
ROWS_AT_A_TIME = 1 << 14
MIDNIGHT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}) 00:00:00")  # of a day without a time


def is_spreadsheet(name: str, head: str) -> bool:
    """Whether a file of this name and beginning is a spreadsheet, not text that is called so."""
    return name.lower().endswith(SPREADSHEET_ENDINGS) and head.startswith(BEGINNINGS)


def sheet_rows(source: Source, sheet: str) -> Iterator[NumberedRows]:
    """Yield blocks of rows that are not blank, of a sheet by its name or number."""
    if find_spec("fastexcel") is None:
        raise InputError(
            f"reading the spreadsheet {source.name} needs fastexcel; {installing('excel')}, or "
            "save it as CSV in UTF-8"
        )
    head = source.head()
    if not head:
        return
    if not head.startswith(BEGINNINGS):
        raise InputError(
            f"{source.name}: expected a spreadsheet of Excel or LibreOffice, found {head[:4]!r}; "
            "if it is text, name its format with --format csv"
        )
    ending = next(
        (end for end in SPREADSHEET_ENDINGS if source.name.lower().endswith(end)), ".xlsx"
    )
    process = source.hold(DecodingProcess(source, on_disk(source, f"copy{ending}"), sheet))
    names, n_rows = process.begin()
    process.ask(names, ROWS_AT_A_TIME)
    for first in range(0, n_rows, ROWS_AT_A_TIME):
        rows = []
        for number, cells in enumerate(process.frame().rows(), first + 1):
            row = ["" if cell is None else MIDNIGHT.sub(r"\1", cell) for cell in cells]
            if any(row):
                rows.append((number, row))
        if rows:
            yield rows


def check_can_write() -> None:
    """Refuse to write a workbook where xlsxwriter is missing."""
    if find_spec("xlsxwriter") is None:
        raise InputError(f"writing xlsx needs xlsxwriter; {installing('excel')}")


def write_workbook(file: BinaryIO, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as a workbook of one sheet, whose first row stays in view. They wait on disk, not
    in memory. Texts stay texts, whatever they look like.
    """
    check_can_write()
    import xlsxwriter

    with xlsxwriter.Workbook(file, {"constant_memory": True}) as book:
        book.set_properties({"created": datetime(1980, 1, 1)})  # the same bytes each time
        sheet = book.add_worksheet()
        sheet.freeze_panes(1, 0)
        for number, row in enumerate(rows):
            for place, cell in enumerate(row):
                if isinstance(cell, str):
                    sheet.write_string(number, place, cell)
                else:
                    sheet.write(number, place, cell)
