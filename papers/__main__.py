"""``python -m papers``: run the papers' experiments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli import main
from shortlist.cli.options import Json
from shortlist.cli.terminal import print_json, print_table, say, say_when_compiling
from shortlist.errors import InputError

if TYPE_CHECKING:
    from papers.experiment import Experiment, Figure, Table
    from papers.report.numbers import Report, Section
    from papers.running import Outcome


def papers(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments, or all.", show_default=False)
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="Name the experiments and the data they need.")
    ] = False,
    data: Annotated[
        Path, typer.Option(help="The folder of the data sets, unpacked or as archives.")
    ] = Path("data"),
    out: Annotated[
        Path, typer.Option(help="The folder for results; what is done is kept there.")
    ] = Path("results"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer trials: minutes instead of half an hour.")
    ] = False,
    workers: Annotated[
        int, typer.Option(help="Processes; the numbers do not depend on it. -1 for all cores.")
    ] = -1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget what was kept of these experiments.")
    ] = False,
    kept: Annotated[
        bool, typer.Option("--kept", help="Run nothing: report what is kept, however few jobs.")
    ] = False,
    input: Annotated[
        Path | None,
        typer.Option(help="A file of one's own texts, or rows, with labels: paper 004's protocol."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random splits of --input.")] = 4,
    runs: Annotated[
        Path | None,
        typer.Option(help="Write judgements and runs of the first trial here, for trec_eval."),
    ] = None,
    fetch: Annotated[
        str | None, typer.Option(help="Download this data set to the data folder first.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run the papers' experiments on public data and put the results beside the published ones.

    Writes `results.html` (one page, with figures), `results.md`, `results.json`, and `coverage.md`,
    which tells what of the papers is where, and whether it was met. A run that was stopped goes on
    where it was; experiments may be run one by one, and `all --kept` puts what they left on one
    page. Data sets do not come with it; where one is missing, the message says where it can be had.
    """
    from papers import catalogue

    if show_list:
        _list(as_json)
        return
    if fetch:
        with _stopping("what was downloaded so far is kept"):
            _fetch(fetch, data)
    names = names or []
    if not names and not input:
        if fetch:
            return
        raise InputError("name experiments to run, or all; python -m papers --list names them")
    chosen = _for_data(catalogue.chosen(names), data, out)
    problems: list[str] = []
    if "all" in names:
        chosen, problems = _with_data(chosen, data, out)
    if input:
        from papers.index_own import experiment

        chosen.append(experiment(input, seed))
    command = " ".join(
        [
            "python -m papers",
            *names,
            *["--quick"] * quick,
            *["--kept"] * kept,
            *[f"--input {input} --seed {seed}"] * bool(input),
        ]
    )
    if runs:
        _write_runs(chosen, data, out, runs)
        return
    say_when_compiling()
    with _stopping(f"what was done so far is kept in {out / 'kept'}"):
        outcomes, known = _run(chosen, data, out, quick, workers, fresh, not kept)
    report = report_on(outcomes, known, command, quick)
    _write(report, out)
    if as_json:
        from papers.report.numbers import plain

        print_json(plain(report))
    else:
        for section in report.sections:
            _print(section)
        say(
            f"the page is {out / 'results.html'}; also results.md, results.json, coverage.md, and all "
            "tables as CSV and LaTeX in tables/"
        )
    for one in outcomes:
        if one.failures:
            jobs = (
                f"{len(one.failures)} of {len(one.failures) + len(one.results)} jobs of "
                f"{one.experiment.name}"
            )
            problems.append(
                f"{jobs} failed: {one.failures[0]} (traces are in {out / 'kept'}; what worked is "
                "kept)"
            )
    if problems:
        raise InputError("; ".join(problems))


@contextmanager
def _stopping(kept: str) -> Iterator[None]:
    """Say what is kept when the user stops the command."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"shortlist: stopped; {kept}, and the same command, run again, goes on from there")
        raise typer.Exit(130) from None


def _write_runs(chosen: list[Experiment], data: Path, out: Path, runs: Path) -> None:
    """Runs and judgements of each set of the experiments that rank documents."""
    from papers.documents import PROTOCOLS, write_runs
    from papers.finding import lay_out

    for experiment in chosen:
        sets = {str(job.get("set")) for job in experiment.jobs(True)}
        folder = lay_out(data, experiment.needs, out / "data")
        for name in sorted(sets & PROTOCOLS.keys()):
            for file in write_runs(folder, name, runs):
                say(f"wrote {file}")


def _list(as_json: bool) -> None:
    from papers.catalogue import CATALOGUE

    if as_json:
        print_json(
            [
                {
                    "name": one.name,
                    "paper": one.paper,
                    "title": one.title,
                    "needs": one.needs,
                    "stands_in": one.stands_in,
                    "original": one.original.needs if one.original else None,
                }
                for one in CATALOGUE.values()
            ]
        )
        return
    rows = []
    for one in CATALOGUE.values():
        better = f" (better: {', '.join(one.original.needs)})" if one.original else ""
        rows.append([one.name, one.paper, (", ".join(one.needs) or "nothing") + better, one.title])
    print_table("", ["experiment", "paper", "needs", "what it shows"], rows)


def _fetch(name: str, data: Path) -> None:
    from papers.fetching import fetch

    with _bar() as update:
        folder = fetch(name, data, update)
    say(f"{name} is in {folder}")


def _for_data(experiments: list[Experiment], data: Path, out: Path) -> list[Experiment]:
    """Each experiment on the paper's own data, where the data folder has them."""
    from papers.finding import look

    return [
        one.for_data(lambda name: look(data, name, out / "data") is not None) for one in experiments
    ]


def _with_data(
    experiments: list[Experiment], data: Path, out: Path
) -> tuple[list[Experiment], list[str]]:
    """The experiments whose data sets are there; and of each that is not, what to say."""
    from papers.datasets import dataset
    from papers.finding import look

    needs = sorted({name for one in experiments for name in one.needs})
    missing = {name for name in needs if look(data, name, out / "data") is None}
    there = [one for one in experiments if not missing.intersection(one.needs)]
    left_out = ", ".join(one.name for one in experiments if one not in there)
    sentences = "; ".join(dataset(name).missing(data) for name in sorted(missing))
    return there, [f"left out {left_out}: {sentences}"] if missing else []


def _run(
    chosen: list[Experiment],
    data: Path,
    out: Path,
    quick: bool,
    workers: int,
    fresh: bool,
    compute: bool,
) -> tuple[list[Outcome], dict[str, str]]:
    """All experiments' outcomes, and what is known of the data sets."""
    import os

    from papers.datasets import DATASETS
    from papers.finding import content_digest, lay_out
    from papers.running import run

    needs = sorted({name for one in chosen for name in one.needs})
    folder = lay_out(data, needs, out / "data")
    digests = {
        name: content_digest(folder / DATASETS[name].folder, DATASETS[name].files) for name in needs
    }
    known = {}
    for name, digest in digests.items():
        expected = DATASETS[name].digest
        same = "as checked" if digest == expected else "not the files that were measured before"
        known[name] = f"{digest[:12]} ({same if expected else 'never measured before'})"
    cores = os.cpu_count() or 1
    with _bar() as update:
        outcomes = run(
            chosen,
            folder,
            out,
            quick=quick,
            workers=cores if workers == -1 else workers,
            fresh=fresh,
            compute=compute,
            digests=digests,
            progress=update,
        )
    return outcomes, known


@contextmanager
def _bar() -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar on standard error if that is a terminal; a function that moves it."""
    if not sys.stderr.isatty():
        yield lambda what, done, of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    done = TextColumn("{task.completed:,.0f} of {task.total:,.0f}")
    shown = TextColumn("{task.description}", markup=False), BarColumn(), done, TimeRemainingColumn()
    with Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("preparing", total=0)
        yield lambda what, done, of: bar.update(
            task, completed=done, total=of or 0, description=what
        )


def report_on(
    outcomes: list[Outcome], known: dict[str, str], command: str, is_quick: bool = False
) -> Report:
    import datetime
    import os
    import platform
    from importlib.metadata import version

    from papers.report.numbers import Report, Section
    from shortlist import __version__

    sections = [
        Section(
            one.experiment.name,
            one.experiment.paper,
            one.experiment.title,
            one.experiment.stands_in,
            len(one.results),
            one.seconds,
            shown,
            len(one.experiment.jobs(False)),
            is_quick,
        )
        for one in outcomes
        if not one.failures and (shown := _shown(one)) is not None
    ]
    packages = ("numpy", "scipy", "numba", "scikit-learn", "polars")
    return Report(
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        command=command,
        machine={
            "processor": _processor(),
            "cores": str(os.cpu_count()),
            "system": platform.system(),
        },
        versions={"shortlist": __version__, "Python": platform.python_version()}
        | {p: version(p) for p in packages},
        data=known,
        sections=sections,
    )


def _shown(outcome: Outcome) -> list[Table | Figure] | None:
    """The tables and figures of an experiment; None where only a part of its jobs is kept, and
    that is too few.
    """
    from papers.report.comparisons import compared_in, comparisons

    if not outcome.results:
        return None
    try:
        shown = outcome.experiment.show(outcome.results)
        contrasts = compared_in(shown)
        return [*shown, *[comparisons(contrasts)] * bool(contrasts)]
    except (ArithmeticError, LookupError, TypeError, ValueError):
        if len(outcome.results) == outcome.jobs:
            raise
        kept = f"{len(outcome.results)} of {outcome.jobs} jobs"
        say(f"left out {outcome.experiment.name}: {kept} are kept, which is too few for its tables")
        return None


def _processor() -> str:
    """What the machine computes with, as far as it says."""
    import platform

    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(
            line.partition(":")[2].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _write(report: Report, out: Path) -> None:
    import json

    from papers.report.coverage import to_coverage
    from papers.report.exports import exports
    from papers.report.markdown import to_markdown
    from papers.report.numbers import plain
    from papers.report.page import to_html

    pages = {
        "coverage.md": to_coverage(report),
        "results.json": json.dumps(plain(report), ensure_ascii=False, indent=1),
        "results.md": to_markdown(report),
        "results.html": to_html(report),
    }
    pages |= {f"tables/{name}": text for name, text in exports(report)}
    try:
        (out / "tables").mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"cannot write to {out}: {problem.strerror}") from None


def _print(section: Section) -> None:
    from papers.experiment import Table
    from papers.report.marks import sentences
    from papers.report.numbers import explained, in_two, in_words, points

    print(f"\n{section.name}: {section.title} ({in_words(section.seconds)} of processor time)")
    if section.stands_in:
        print(f"Not the paper's data. {section.stands_in}")
    for one in section.shown:
        if isinstance(one, Table):
            rows = [
                [name, *(in_two(cells.get(c)) for c in one.columns)]
                for name, cells in one.rows.items()
            ]
            print_table(one.title, ["", *one.columns], rows)
        else:
            head, rows = points(one)
            print_table(one.title, head, rows)
        said = explained(one) if isinstance(one, Table) else one.note
        print(
            "\n".join(
                [*filter(None, (said, *sentences(one, section.stands_in, section.is_quick))), ""]
            )
        )


if __name__ == "__main__":
    main(lambda: typer.run(papers))
