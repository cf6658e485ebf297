"""Worklists of an audit: for a spreadsheet, corrected there, and applied to a copy of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from shortlist.cli.options import Reading
from shortlist.cli.terminal import print_json, say
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.data.labels import NumberedLabels
    from shortlist.inputs import Examples
    from shortlist.inputs.correcting import Correction
    from shortlist.models.auditing import Audit
    from shortlist.models.categorizer import Categorizer

CORRECTED = "corrected"  # the column that people fill
LABELS = "labels"
LABELS_BETWEEN = "|"  # in a cell, where the file has lists
UNITS = ("line", "row")  # the column of numbers


@dataclass(frozen=True)
class Numbering:
    """The numbers of examples in their file, and their ids."""

    numbers: list[int]
    unit: str  # what they count: line, row, or example where there are several files or none
    ids: dict[int, str]

    @classmethod
    def of(cls, batches: Sequence[Examples]) -> Numbering:
        places = [batch.places for batch in batches]
        if len({place.file for place in places if place is not None}) == 1 and None not in places:
            numbers = [number for place in places if place for number in place.numbers]
            unit = next(place.unit for place in places if place)
        else:
            numbers = list(range(1, sum(map(len, batches)) + 1))
            unit = "example"
        names = [name for batch in batches for name in batch.ids or ()]
        return cls(numbers, unit, dict(zip(numbers, names, strict=False)))

    def called(self, number: int) -> str:
        """Return the number for a table, with the id of the example if it has one."""
        return f"{number} ({self.ids[number]})" if number in self.ids else str(number)

    def id_of(self, number: int) -> dict[str, str]:
        return {"id": self.ids[number]} if number in self.ids else {}

    def worklist(
        self,
        report: Audit,
        texts: Sequence[Any],
        labels: NumberedLabels,
        auditor: Categorizer,
        reading: Reading,
    ) -> list[list[Any]]:
        """Return the rows of a worklist: doubtful examples, and others with equal texts."""
        from shortlist.models.auditing import shown

        if self.unit not in UNITS:
            raise InputError("a worklist is of one file whose lines or rows are known, not of this")
        between = separator(reading)
        for name in labels.names:
            if between in str(name):
                raise InputError(
                    f"the label {name} holds {between}, which stands between labels in a worklist; "
                    "name another --label-separator"
                )
        place_of = {number: place for place, number in enumerate(self.numbers)}
        whys: dict[int, tuple[str, str, str]] = {}
        for doubt in report.doubts:
            suggested = [doubt.found if label == doubt.label else label for label in doubt.labels]
            words = ", ".join(word for word, _ in doubt.words)
            why = f"{auditor.name_of(doubt.found)} is likelier than {auditor.name_of(doubt.label)}"
            whys[doubt.number] = (between.join(map(str, dict.fromkeys(suggested))), why, words)
        for equal in report.duplicates:
            for number in equal.numbers:
                others = [other for other in equal.numbers if other != number]
                why = f"equal to {', '.join(map(str, others))}, with other labels"
                whys.setdefault(number, ("", why, ""))
        id_name = [reading.id_column] if self.ids and reading.id_column else []
        head = [self.unit, *id_name, "text", LABELS, "suggested", "why", "because of", CORRECTED]
        rows: list[list[Any]] = [head]
        for number, why_cells in whys.items():
            place = place_of[number]
            id_cell = [self.ids[number]] if id_name else []
            own = between.join(map(str, labels[place]))
            rows.append([number, *id_cell, shown(texts[place]), own, *why_cells, ""])
        return rows


def separator(reading: Reading) -> str:
    """Return what stands between labels in a cell of a worklist."""
    return reading.label_separator or LABELS_BETWEEN


def check_worklist(path: Path) -> None:
    """Refuse a worklist of another format."""
    if path.suffix not in (".csv", ".xlsx"):
        raise InputError(f"a worklist is a .csv or an .xlsx file, not {path}")


def write_worklist(path: Path, rows: list[list[Any]], between: str | None) -> None:
    """Write a worklist, as CSV with semicolons and a mark for Excel if the file has semicolons."""
    from shortlist.inputs.sheets import write_workbook
    from shortlist.inputs.tables import as_line, guarded

    def write(file: BinaryIO) -> None:
        if path.suffix == ".xlsx":
            write_workbook(file, rows)
            return
        if between == ";":
            file.write("\ufeff".encode())
        for row in rows:
            cells = [guarded(cell) if isinstance(cell, str) else cell for cell in row]
            file.write(as_line(cells, ";" if between == ";" else ",").encode())

    _write(path, write)


def _write(path: Path, write: Any) -> None:
    from shortlist.files.drafts import whole_file

    try:
        with whole_file(path) as file:
            write(file)
    except OSError as problem:
        raise InputError(f"cannot write {path}: {problem.strerror}") from None


def apply(arguments: Sequence[str], output: Path | None, reading: Reading, as_json: bool) -> None:
    """Copy a file with the corrections of a worklist."""
    from shortlist.inputs import FORMATS, sniff
    from shortlist.inputs.correcting import Corrector
    from shortlist.inputs.tables import TableFormat

    if len(arguments) != 2 or output is None:
        raise InputError("name three files: shortlist audit apply FILE WORKLIST -o NEW-FILE")
    path = Path(arguments[0])
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    if output.exists() and output.samefile(path):
        raise InputError(f"{path} is not overwritten; name another file with -o")
    kind = FORMATS[reading.format or sniff(path)]
    options = replace(reading, id_column=None).columns() | reading.options()
    reader = kind.with_options(options, {})
    if not isinstance(reader, TableFormat):
        raise InputError(f"corrections are written to tables and JSON lines, not to {kind.name}")
    corrections = corrections_in(arguments[1], reading)
    corrector = Corrector(path, reader, corrections, reading.encoding)
    _write(output, lambda file: corrector.write(file, output.name))
    n = len(corrections)
    if as_json:
        print_json({"corrected": n, "file": str(output), "lost": corrector.lost})
        return
    if corrector.lost:
        say(f"{counted(corrector.lost, 'records')} of {path} could not be read and are left out")
    print(f"Corrected {counted(n, 'examples')}: {output}.")


def corrections_in(worklist: str, reading: Reading) -> dict[int, Correction]:
    """Return the corrections of a worklist by the numbers of their examples."""
    from shortlist.inputs import read
    from shortlist.inputs.correcting import Correction
    from shortlist.inputs.tables import ALL_OTHERS

    every: dict[str, Any] = {"text": [], "labels": [], "wrong": None, "keep": ALL_OTHERS}
    between = separator(reading)
    corrections: dict[int, Correction] = {}
    for batch in read(worklist, **every):
        for row in batch.kept or ():
            unit = next((unit for unit in UNITS if unit in row), None)
            if unit is None or LABELS not in row or CORRECTED not in row:
                raise InputError(
                    f"{worklist} is not a worklist of an audit; it has no columns line, labels and "
                    f"{CORRECTED}"
                )
            if not row[CORRECTED].strip():
                continue
            number = row[unit].strip()
            if not number.isdigit():
                raise InputError(f"{worklist}: expected the number of a {unit}, found {number!r}")
            corrections[int(number)] = Correction(
                *(
                    [label.strip() for label in cell.split(between) if label.strip()]
                    for cell in (row[LABELS], row[CORRECTED])
                )
            )
    if not corrections:
        raise InputError(f"{worklist} has no corrections: its column {CORRECTED} is empty")
    return corrections
