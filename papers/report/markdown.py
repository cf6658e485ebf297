"""A report as Markdown: the tables, and the figures as tables of some of their points."""

from __future__ import annotations

from collections.abc import Iterator

from papers.experiment import Figure, Table
from papers.report.marks import sentences
from papers.report.numbers import Report, Section, in_one, legend, points


def to_markdown(report: Report) -> str:
    """The whole page."""
    lines = [
        "# Results beside the published ones",
        "",
        f"Made by `{report.command}` on {report.date}.",
    ]
    for title, facts in (
        ("Machine", report.machine),
        ("Versions", report.versions),
        ("Data", report.data),
    ):
        if facts:
            lines += [
                "",
                f"{title}: " + "; ".join(f"{name} {value}" for name, value in facts.items()) + ".",
            ]
    for section in report.sections:
        lines += ["", *_section(section)]
    return "\n".join(lines) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.name}: {_cell(section.title)}"
    yield ""
    yield f"{_cell(section.paper)}; {section.work}."
    if section.stands_in:
        yield ""
        yield f"**Not the paper's data.** {section.stands_in}"
    for one in section.shown:
        yield ""
        yield from _table(one) if isinstance(one, Table) else _figure(one)
        for sentence in sentences(one, section.stands_in, section.is_quick):
            yield ""
            yield sentence


def _table(table: Table) -> Iterator[str]:
    yield f"### {_cell(table.title)}"
    yield ""
    yield _row([legend(table), *table.columns])
    yield "|---" * (len(table.columns) + 1) + "|"
    for name, cells in table.rows.items():
        yield _row([name, *(in_one(cells.get(column)) for column in table.columns)])
    if table.note:
        yield ""
        yield table.note


def _figure(figure: Figure) -> Iterator[str]:
    """A table with a row for each curve: its y at some x that all curves have."""
    yield f"### {_cell(figure.title)}"
    yield ""
    head, rows = points(figure)
    if rows:
        yield _row(head)
        yield "|---" * len(head) + "|"
        yield from map(_row, rows)
    if figure.note:
        yield ""
        yield figure.note


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """A text that cannot end a cell, a line or start a link or a tag."""
    for mark in ("\\", "|", "<", "[", "*", "_", "`"):
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())
