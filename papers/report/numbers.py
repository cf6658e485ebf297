"""How numbers and the cells of a results table are written, in every kind of output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from papers.cells import Cell
from papers.experiment import Curve, Figure, Table

POINTS = 8  # of a curve
LEGEND = "ours ± spread (published, difference)"


@dataclass(frozen=True)
class Section:
    """One experiment as it is reported."""

    name: str
    paper: str
    title: str
    stands_in: str
    jobs: int
    seconds: float  # of processor time
    shown: list[Table | Figure]
    all_jobs: int = 0  # of a full run: more than were done in a quick one, or where some are kept
    is_quick: bool = False  # so that there is no verdict

    @property
    def work(self) -> str:
        """How many jobs were done, and how long they took."""
        done = f"{self.jobs} of {self.all_jobs}" if self.jobs < self.all_jobs else f"{self.jobs}"
        return f"{done} jobs, {in_words(self.seconds)} of processor time"


@dataclass(frozen=True)
class Report:
    """Everything that a run found, and where, when and with what it ran."""

    date: str
    command: str
    machine: dict[str, str]
    versions: dict[str, str]
    data: dict[str, str]  # what is known of each data set that was used
    sections: list[Section]


def number(value: float, like: float | None = None, sign: bool = False) -> str:
    """Three decimals below 10, fewer for larger numbers, none for an int; as many as ``like``
    would have.
    """
    if not math.isfinite(value):
        return "–"
    like = value if like is None else like
    size = abs(like)
    decimals = (
        0 if size >= 1000 or isinstance(like, int) else 1 if size >= 100 else 2 if size >= 10 else 3
    )
    return f"{value:{'+' if sign else ''},.{decimals}f}".replace("-", "−")


def parts(cell: Cell | str | None) -> tuple[str, str, str]:
    """A cell as three texts: ours with its spread, the published number, the difference. Empty
    where there is none.
    """
    if cell is None:
        return "", "", ""
    if isinstance(cell, str):
        return cell, "", ""
    scale = cell.ours if cell.ours is not None else cell.published
    ours = "–" if cell.ours is None else number(cell.ours, scale)
    if cell.ours is not None and cell.spread is not None and math.isfinite(cell.spread):
        ours += f" ± {number(cell.spread, scale)}"
    if cell.published is None:
        return ours, "", ""
    published = number(cell.published, scale)
    return (
        ours,
        published,
        "" if cell.ours is None else number(cell.ours - cell.published, scale, sign=True),
    )


def in_one(cell: Cell | str | None) -> str:
    """A cell in one line: 0.864 ± 0.005 (0.865, −0.001)."""
    ours, published, difference = parts(cell)
    return f"{ours} ({', '.join(filter(None, (published, difference)))})" if published else ours


def in_two(cell: Cell | str | None) -> str:
    """A cell in two lines: 0.864 ± 0.005, and below it 0.865  −0.001."""
    ours, published, difference = parts(cell)
    return f"{ours}\n{published}  {difference}".rstrip()


def explained(table: Table) -> str:
    """The note of a table whose cells have two lines, with what these are."""
    lines = legend(table).replace(" (published, difference)", "; below it published and difference")
    return ". ".join(filter(None, (lines[:1].upper() + lines[1:], table.note)))


def legend(table: Table) -> str:
    """What the parts of the cells are, where there is more than one part."""
    cells = [cell for row in table.rows.values() for cell in row.values() if isinstance(cell, Cell)]
    spread = any(cell.spread is not None for cell in cells)
    published = any(cell.published is not None for cell in cells)
    if not published:
        return "ours ± spread" if spread else ""
    return LEGEND if spread else LEGEND.replace(" ± spread", "")


def points(figure: Figure) -> tuple[list[str], list[list[str]]]:
    """A figure as a table: a row for each curve, its y at some x; bars are few, and all of
    theirs are shown.
    """
    x = (
        sorted(set.intersection(*(set(curve.x) for curve in figure.curves.values())))
        if figure.curves
        else []
    )
    if not x:
        return [], []
    n = len(x) if figure.bars else min(POINTS, len(x))
    some = [x[round(i * (len(x) - 1) / (n - 1 or 1))] for i in range(n)]
    head = [f"{figure.y} at {figure.x}", *(f"{one:,g}" for one in some)]
    return head, [
        [name, *(_at(curve, one) for one in some)] for name, curve in figure.curves.items()
    ]


def _at(curve: Curve, x: float) -> str:
    place = curve.x.index(x)
    if curve.low is None or curve.high is None:
        return number(curve.y[place])
    return f"{number(curve.y[place])} [{number(curve.low[place])}, {number(curve.high[place])}]"


def in_words(seconds: float) -> str:
    """A time: 12 s, 3 min 20 s."""
    whole = round(seconds)
    return (
        f"{seconds:.1f} s"
        if seconds < 10
        else f"{whole} s"
        if whole < 60
        else f"{whole // 60} min {whole % 60} s"
    )


def plain(report: Report) -> dict[str, object]:
    """The report as JSON can hold it; a number that is not finite becomes null."""
    from dataclasses import asdict

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): clean(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [clean(one) for one in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    whole = clean(asdict(report))
    for section in whole["sections"]:
        shown = section.pop("shown")
        section["tables"] = [one for one in shown if "rows" in one]
        section["figures"] = [one for one in shown if "curves" in one]
    return whole
