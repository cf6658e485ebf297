"""Every table as CSV, a line for each number, and as LaTeX with booktabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from papers.cells import Cell
from papers.experiment import Table
from papers.report.numbers import Report, in_one

COLUMNS = ("row", "column", "ours", "spread", "low", "high", "trials", "published", "text")
LATEX = str.maketrans(
    {symbol: f"\\{symbol}" for symbol in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "^": r"\^{}",
        "~": r"\~{}",
        "<": "$<$",
        ">": "$>$",
        "±": r"$\pm$",
        "−": "$-$",
        "δ": r"$\delta$",
        "≤": r"$\le$",
        "∞": r"$\infty$",
        "×": r"$\times$",
    }
)


def exports(report: Report) -> Iterator[tuple[str, str]]:
    """(file name, text) of every table, twice."""
    for section in report.sections:
        tables = [shown for shown in section.shown if isinstance(shown, Table)]
        for n, table in enumerate(tables, 1):
            yield f"{section.name}-{n}.csv", to_csv(table)
            yield f"{section.name}-{n}.tex", to_latex(table)


def to_csv(table: Table) -> str:
    """A line for each cell; low and high are a 95 % interval of the mean over trials."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, row in table.rows.items():
        for column, cell in row.items():
            if isinstance(cell, Cell):
                low, high = cell.interval or (None, None)
                numbers = (cell.ours, cell.spread, low, high, len(cell.values) or None)
                writer.writerow([name, column, *numbers, cell.published, None])
            else:
                writer.writerow([name, column, *[None] * 6, cell])
    return text.getvalue()


def to_latex(table: Table) -> str:
    """A tabular, with ours ± spread and the published number in parentheses."""
    lines = [
        rf"% {table.title}",
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        _latex_row(["", *table.columns]),
        r"\midrule",
    ]
    for name, row in table.rows.items():
        lines.append(_latex_row([name, *(in_one(row.get(column)) for column in table.columns)]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cell.translate(LATEX) for cell in cells) + r" \\"
