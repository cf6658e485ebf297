"""An audit as a worklist: out to a spreadsheet, corrected there, applied to a copy of the file."""

import csv
import io
import json
import re

import polars
import pytest
import xlsxwriter

import shortlist as sl
from tests.cli.test_bad_input import refused

TOPICS = {"grain": "wheat corn rye oats", "money": "bank rates loan credit"}
WRONG = (8, 21)  # lines


def tickets(separator=";"):
    """Lines with an id, an empty row and a bad one in front of those with a wrong label."""
    lines = [["Nr", "Frage", "Thema", "Datum"]]
    for n in range(2, 42):
        topic = list(TOPICS)[n % 2]
        own = TOPICS[topic].split()
        label = list(TOPICS)[(n + 1) % 2] if n in WRONG else topic
        lines.append([f"T{n}", f"{own[n % 4]} and {own[(n + 1) % 4]} {n}", label, "05.01.2026"])
    lines[3] = ["T4", "", "grain", ""]
    lines[5] = ["T6", "=wheat", "", ""]
    return lines


COLUMNS = ("--text-column", "Frage", "--label-column", "Thema", "--skip-bad")


@pytest.fixture(params=["csv", "xlsx"])
def file(request, tmp_path):
    path = tmp_path / f"tickets.{request.param}"
    if request.param == "csv":
        text = "\n".join(";".join(cells) for cells in tickets()) + "\n"
        path.write_text("\ufeff" + text, encoding="utf-8")
    else:
        with xlsxwriter.Workbook(str(path), {"strings_to_formulas": False}) as book:
            sheet = book.add_worksheet()
            for number, cells in enumerate(tickets()):
                sheet.write_row(number, 0, cells)
    return path


def rows_of(path):
    (batch,) = sl.read(path, text=[], labels=[], wrong=None, keep="*")
    return batch.kept


def corrected_in(path, corrections):
    """Fill the last column as a person does in a spreadsheet."""
    rows = rows_of(path)
    for row in rows:
        number = row.get("line") or row["row"]
        row["corrected"] = corrections.get(int(number), "")
    if path.suffix == ".xlsx":
        polars.DataFrame(rows).write_excel(path)
    else:
        separator = ";" if path.read_bytes().startswith(b"\xef\xbb\xbf") else ","
        polars.DataFrame(rows).write_csv(path, separator=separator)


def test_numbers_are_those_of_the_file(run, file):
    found = run("audit", file, *COLUMNS, "--id-column", "Nr", "--json").json
    assert sorted((doubt["number"], doubt["id"]) for doubt in found["doubts"][:2]) == [
        (n, f"T{n}") for n in WRONG
    ]
    assert found["numbers"] == ("line" if file.suffix == ".csv" else "row")
    said = run("audit", file, *COLUMNS, "--id-column", "Nr").out
    assert re.search(r"\b21 \(T21\)", said)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_worklist_is_corrected_and_applied(run, file, tmp_path, ending):
    worklist = tmp_path / f"doubts.{ending}"
    said = run("audit", file, *COLUMNS, "--id-column", "Nr", "-o", worklist)
    assert "audit apply" in said.err
    by_id = {row["Nr"]: row for row in rows_of(worklist)}
    assert (by_id["T8"]["labels"], by_id["T8"]["suggested"]) == ("money", "grain")
    assert by_id["T8"]["corrected"] == ""
    nothing = run("audit", "apply", file, worklist, *COLUMNS, "-o", tmp_path / "x.csv")
    refused(nothing, "no corrections")
    corrected_in(worklist, {8: "grain", 21: "a new one"})
    new = tmp_path / f"corrected{file.suffix}"
    done = run("audit", "apply", file, worklist, *COLUMNS, "-o", new)
    assert done.out == f"Corrected 2 examples: {new}.\n"
    expected = [dict(zip(tickets()[0], cells, strict=True)) for cells in tickets()[1:]]
    expected[6]["Thema"] = "grain"
    expected[19]["Thema"] = "a new one"
    assert rows_of(new) == expected
    if file.suffix == ".csv":
        before = file.read_bytes().splitlines()
        after = new.read_bytes().splitlines()
        assert [n for n in range(41) if before[n] != after[n]] == [7, 20], "all else stays"
    again = tmp_path / "again.csv"
    assert run("audit", "apply", new, worklist, *COLUMNS, "-o", again).code == 0
    assert run("train", new, *COLUMNS, "-o", tmp_path / "m.shortlist").code == 0


def test_a_file_that_was_changed_since_is_refused(run, file, tmp_path):
    worklist = tmp_path / "doubts.xlsx"
    run("audit", file, *COLUMNS, "-o", worklist)
    corrected_in(worklist, {8: "grain"})
    rows = rows_of(worklist)
    polars.DataFrame([row | {"labels": "other"} for row in rows]).write_excel(worklist)
    new = tmp_path / "new.csv"
    refused(run("audit", "apply", file, worklist, *COLUMNS, "-o", new), "was changed", "audit it")
    assert not new.exists()


def test_json_lines_and_quotes(run, tmp_path):
    path = tmp_path / "news.jsonl"
    lines = [
        json.dumps({"text": cells[1], "labels": [cells[2], "all"], "n": n})
        for n, cells in enumerate(tickets()[1:])
        if cells[1] and cells[2]
    ]
    path.write_text("\n".join(lines) + "\n")
    worklist = tmp_path / "doubts.csv"
    run("audit", path, "-o", worklist)
    rows = list(csv.DictReader(io.StringIO(worklist.read_text())))
    doubted = next(row for row in rows if row["suggested"] == "grain|all")
    corrected_in(worklist, {int(doubted["line"]): "grain|all"})
    new = tmp_path / "new.jsonl"
    assert run("audit", "apply", path, worklist, "-o", new).code == 0
    before = path.read_text().splitlines()
    after = new.read_text().splitlines()
    (changed,) = [n for n in range(len(before)) if before[n] != after[n]]
    assert changed == int(doubted["line"]) - 1
    assert json.loads(after[changed])["labels"] == ["grain", "all"]


def test_what_cannot_be_done_is_refused(run, file, tmp_path):
    refused(run("audit", file, *COLUMNS, "-o", tmp_path / "doubts.txt"), ".csv or an .xlsx")
    refused(run("audit", "apply", file), "name three files")
    refused(run("audit", "apply", file, file, "-o", file), "is not overwritten")
    refused(run("audit", "apply", file, file, "-o", tmp_path / "n.csv"), "not a worklist")
