"""Spreadsheets are read wherever a table is."""

import datetime
import io

import pytest
import xlsxwriter

from shortlist import InputError, read
from tests.inputs.samples import spreadsheet


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "tickets.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        rows = book.add_worksheet("March")
        rows.write_row(0, 0, ["Nr", "Datum", "Text", "Thema"])
        rows.write_row(1, 0, [4711, None, "line one\nline two", "a"])
        rows.write_datetime(
            1, 1, datetime.datetime(2026, 1, 5), book.add_format({"num_format": "dd.mm.yyyy"})
        )
        rows.write_row(3, 0, ["A-1", "", 12345, 7])
        book.add_worksheet("April").write_row(0, 0, ["text", "labels"])
        book.worksheets()[1].write_row(1, 0, ["umsatz größer", "x;y"])
    return path


def only(stream):
    (batch,) = stream
    return batch


def test_cells_are_texts_and_rows_have_their_numbers(sheet):
    batch = only(read(sheet, text="Text", labels="Thema", id="Nr", keep=["Datum"]))
    assert list(batch.texts) == ["line one\nline two", "12345"]
    assert [list(names) for names in batch.labels] == [["a"], ["7"]]
    assert batch.ids == ["4711", "A-1"]
    assert batch.kept == [{"Datum": "2026-01-05"}, {"Datum": ""}]
    assert batch.places.of(1) == f"{sheet}, row 4"


def test_another_sheet_and_a_sent_file(sheet):
    file = io.BytesIO(sheet.read_bytes())
    file.name = "tickets.xlsx"
    batch = only(read(file, sheet="April", label_separator=";"))
    assert list(batch.texts) == ["umsatz größer"]
    assert [list(names) for names in batch.labels] == [["x", "y"]]
    assert list(only(read(sheet, sheet=1)).texts) == ["umsatz größer"]
    with pytest.raises(InputError, match=r"cannot read .*May"):
        list(read(sheet, sheet="May"))


def test_numbers(tmp_path):
    path = tmp_path / "stars.xlsx"
    path.write_bytes(spreadsheet([["a", "b", "stars"], [1.5, -2, 3], [0, 4, 5]]))
    batch = only(read(path, "numbers", target="stars"))
    assert batch.rows.to_matrix().toarray().tolist() == [[1.5, -2.0], [0.0, 4.0]]
    assert [list(names) for names in batch.labels] == [["3"], ["5"]]


def test_errors_name_the_row(tmp_path):
    path = tmp_path / "stars.xlsx"
    path.write_bytes(spreadsheet([["text", "stars"], ["good", 5], ["bad", "many"]]))
    with pytest.raises(InputError, match=r"stars\.xlsx, row 3: expected a number in 'stars'"):
        list(read(path, rating="stars"))
    with pytest.raises(InputError, match=r"stars\.xlsx, row 1: expected a column 'words' for text"):
        list(read(path, text="words"))


def test_text_that_is_called_a_spreadsheet_is_read_as_text(tmp_path):
    path = tmp_path / "export.xls"
    path.write_text("text\tlabels\nwheat\tgrain\n")
    assert list(only(read(path)).texts) == ["wheat"]
