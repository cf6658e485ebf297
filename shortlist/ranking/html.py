"""Tables as notebooks show them: what ``_repr_html_`` of rankings, explanations, evaluations and models gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LEFT, RIGHT = "text-align:left", "text-align:right"


def html_table(heading: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A plain table without scripts or styles of its own; whatever stands in a cell is text, never markup."""
    cells = [list(row) for row in rows]
    numeric = [all(_is_number(row[n]) for row in cells) for n in range(len(heading))]
    styles = [RIGHT if right else LEFT for right in numeric]
    lines = [f'<th style="{style}">{escape(name)}</th>' for name, style in zip(heading, styles, strict=True)]
    body = ["".join(f'<td style="{s}">{_shown(v)}</td>' for v, s in zip(row, styles, strict=True)) for row in cells]
    above = f'<caption style="{LEFT}">{escape(caption)}</caption>' if caption else ""
    inside = "".join(f"<tr>{row}</tr>" for row in body)
    return f"<table>{above}<thead><tr>{''.join(lines)}</tr></thead><tbody>{inside}</tbody></table>"


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _shown(value: object) -> str:
    if value is None or value != value:  # nothing, or not a number
        return "–"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if _is_number(value) else escape(str(value))
