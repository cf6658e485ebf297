"""What of the papers is where, and whether it was met: the page ``coverage.md`` of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from papers.coverage import PAPERS, Item
from papers.report.marks import (
    DIFFERS,
    MET,
    NO_VERDICT,
    ON_A_STAND_IN,
    UNDECIDED,
    by_place,
    mark,
)
from papers.report.numbers import Report, Section, in_words

TESTED = "tested"
NOT_RUN = "not in this run"
KINDS = {
    MET: "found on the paper's own data, or on none where none are needed",
    ON_A_STAND_IN: "found on the data that stand in for the paper's",
    TESTED: "no measurement, but an algorithm or a proof, which a test checks",
    UNDECIDED: "a difference is within the noise of our trials",
    DIFFERS: "something that the paper says was not found; results.md says what, and why as far as "
    "is known",
    NO_VERDICT: "a quick run",
    NOT_RUN: "the experiment was left out",
}


def to_coverage(report: Report) -> str:
    """The page: a table for each paper, a row for each of its parts."""
    sections = {section.name: section for section in report.sections}
    counts: Counter[str] = Counter()
    pages = []
    for paper, items in PAPERS.items():
        pages += [
            "",
            f"## Paper {paper}",
            "",
            "| section | what | where | mark | depends on |",
            "|---|---|---|---|---|",
        ]
        for item in items:
            marks = list(_marks(item, sections))
            counts.update(kind for _, kind in marks)
            for kind in dict.fromkeys(kind for _, kind in marks):
                where = ", ".join(where for where, other in marks if other == kind)
                what = f"{item.place}: {item.what}"
                pages.append(_row([item.section, what, where, f"**{kind}**", item.depends_on]))
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    head = [
        "# What of the papers is where",
        "",
        f"Made by `{report.command}` on {report.date}: {summary}.",
        "",
        *(f"- **{kind}**: {meaning}" for kind, meaning in KINDS.items() if counts[kind]),
        "",
        _work(report),
    ]
    return "\n".join([*head, *pages]) + "\n"


def _work(report: Report) -> str:
    """How much was done, how long it took, and what was done in part only."""
    seconds = sum(section.seconds for section in report.sections)
    part = [
        f"`{one.name}` {one.jobs} of {one.all_jobs}"
        for one in report.sections
        if one.jobs < one.all_jobs
    ]
    told = (
        f"{sum(one.jobs for one in report.sections):,} jobs, {in_words(seconds)} of processor "
        "time on one core."
    )
    return told + (
        f" Done in part, hence with fewer trials, jobs: {', '.join(part)}." if part else ""
    )


def _marks(item: Item, sections: dict[str, Section]) -> Iterator[tuple[str, str]]:
    """Where a part of a paper is, and its mark: once for each experiment."""
    for name in item.experiments:
        section = sections.get(name)
        claims = by_place(section.shown).get(item.place) if section else None
        if section is None or claims is None:
            yield f"`{name}`", NOT_RUN
        else:
            yield f"`{name}`", mark(claims, section.stands_in, section.is_quick)
    if not item.experiments:
        files = [
            f"[{path.rpartition('/')[2]}](../../{path})" for path in (item.code, item.tests) if path
        ]
        yield ", ".join(files), TESTED


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
