"""What of the papers is where, and whether it was met: the page ``coverage.md`` of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from papers.coverage import PAPERS, Item
from papers.experiment import Claim
from papers.report.marks import DIFFERS, MET, ON_A_STAND_IN, by_place, mark
from papers.report.numbers import Report, in_words

TESTED, NOT_RUN = "tested", "not in this run"
LEGEND = (
    f"**{MET}**: found on the paper's own data, or on none where none are needed; "
    f"**{ON_A_STAND_IN}**: found on the "
    f"data that stand in for the paper's; **{DIFFERS}**: something that the paper says was not "
    "found; results.md says "
    f"what, and why as far as is known; **{TESTED}**: no measurement, but an algorithm or a proof, "
    "which a test checks."
)


def to_coverage(report: Report) -> str:
    """The page: a table for each paper, a row for each of its parts."""
    found = {
        section.name: (section.stands_in, by_place(section.shown)) for section in report.sections
    }
    counts: Counter[str] = Counter()
    pages = []
    for paper, items in PAPERS.items():
        pages += [
            "",
            f"## Paper {paper}",
            "",
            "| section | what | where | mark |",
            "|---|---|---|---|",
        ]
        for item in items:
            marks = list(_marks(item, found))
            counts.update(kind for _, kind in marks)
            for kind in dict.fromkeys(kind for _, kind in marks):
                where = ", ".join(where for where, own in marks if own == kind)
                pages.append(
                    _row([item.section, f"{item.place}: {item.what}", where, f"**{kind}**"])
                )
    kinds = [kind for kind in (MET, ON_A_STAND_IN, TESTED, DIFFERS, NOT_RUN) if counts[kind]]
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in kinds)
    head = [
        "# What of the papers is where",
        "",
        f"Made by `{report.command}` on {report.date}: {summary}.",
        "",
        LEGEND,
    ]
    head += ["", _work(report)]
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


def _marks(
    item: Item, found: dict[str, tuple[str, dict[str, list[Claim]]]]
) -> Iterator[tuple[str, str]]:
    """Where a part of a paper is, and its mark: once for each experiment."""
    for name in item.experiments:
        stands_in, claims = found.get(name, ("", {}))
        own = claims.get(item.place)
        if own is None:
            yield f"`{name}`", NOT_RUN
        else:
            yield f"`{name}`", mark(own, stands_in)
    if not item.experiments:
        files = [
            f"[{path.rpartition('/')[2]}](../../{path})" for path in (item.code, item.tests) if path
        ]
        yield ", ".join(files), TESTED


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
