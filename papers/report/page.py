"""A report as one HTML page that needs nothing else: tables, figures, and what they were made
with.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from papers.experiment import Figure, Table
from papers.report.figures import to_svg
from papers.report.marks import sentences
from papers.report.numbers import Report, Section, explained, parts

CSS = """
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fdfdfc; --faint: #6a6f76; --line: #d8dade; --mark: #fff4d6 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6e9; --paper: #16181b; --faint: #9aa0a8; --line: #373b41; --mark: #3a3218 } }
body { color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, sans-serif; max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem }
h2 code { font-size: 0.85em } h3 { margin-top: 2rem; font-size: 1.05rem }
p.faint, dl, figcaption, small { color: var(--faint) } dl { display: grid; grid-template-columns: max-content 1fr;
  gap: 0 1rem; font-size: 0.9rem } dt { font-weight: 600 } dd { margin: 0 }
nav a { margin-right: 0.8rem; white-space: nowrap } a { color: inherit }
.instead { background: var(--mark); padding: 0.6rem 0.9rem; border-radius: 4px }
div.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 0.25rem 0.8rem; text-align: right; vertical-align: top; border-bottom: 1px solid var(--line);
  white-space: nowrap } th:first-child { text-align: left; font-weight: 500 } small { display: block }
figure { margin: 1.5rem 0; max-width: 42rem } svg { width: 100%; height: auto }
"""


def to_html(report: Report) -> str:
    """The whole page."""
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        "<title>shortlist: results beside the published "
        f"ones</title><style>{CSS}</style></head><body>",
        "<h1>Results beside the published ones</h1>",
        f"<p>Made by <code>{escape(report.command)}</code> on {escape(report.date)}.</p>",
        "<dl>",
    ]
    for title, facts in (
        ("Machine", report.machine),
        ("Versions", report.versions),
        ("Data", report.data),
    ):
        for n, (name, value) in enumerate(facts.items()):
            lines.append(
                f"<dt>{title if not n else ''}</dt><dd>{escape(name)}: {escape(value)}</dd>"
            )
    lines += ["</dl>", "<nav>", *_contents(report.sections), "</nav>"]
    for section in report.sections:
        lines += _section(section)
    return "\n".join([*lines, "</body></html>"]) + "\n"


def _contents(sections: list[Section]) -> Iterator[str]:
    for section in sections:
        yield f'<a href="#{escape(section.name)}">{escape(section.name)}</a>'


def _section(section: Section) -> Iterator[str]:
    name = escape(section.name)
    yield f'<section id="{name}"><h2>{escape(section.title)} <code>{name}</code></h2>'
    yield f'<p class="faint">{escape(section.paper)}; {section.work}.</p>'
    if section.stands_in:
        yield f'<p class="instead"><b>Not the paper’s data.</b> {escape(section.stands_in)}</p>'
    for one in section.shown:
        yield from _table(one) if isinstance(one, Table) else _figure(one)
        for sentence in sentences(one, section.stands_in, section.is_quick):
            yield f'<p class="faint">{escape(sentence)}</p>'
    yield "</section>"


def _table(table: Table) -> Iterator[str]:
    yield f'<h3>{escape(table.title)}</h3><div class="wide"><table>'
    yield (
        "<thead><tr><th></th>"
        + "".join(f"<th>{escape(column)}</th>" for column in table.columns)
        + "</tr></thead>"
    )
    for name, cells in table.rows.items():
        yield f"<tr><th>{escape(name)}</th>"
        for column in table.columns:
            ours, published, difference = parts(cells.get(column))
            below = (
                f"<small>{escape(f'{published}  {difference}'.strip())}</small>"
                if published
                else ""
            )
            yield f"<td>{escape(ours)}{below}</td>"
        yield "</tr>"
    yield "</table></div>"
    if note := explained(table):
        yield f'<p class="faint">{escape(note)}</p>'


def _figure(figure: Figure) -> Iterator[str]:
    caption = f"<b>{escape(figure.title)}</b> {escape(figure.note)}"
    yield f"<figure>{to_svg(figure)}<figcaption>{caption}</figcaption></figure>"
