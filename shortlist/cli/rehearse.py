"""shortlist rehearse, promote, go-back, backup"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from shortlist.cli.options import Json, Reading, Settable, named_values, reads
from shortlist.cli.terminal import print_json, print_table, say, say_skipped, say_when_compiling
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.models.categorizer import Categorizer


StateFolder = Annotated[Path, Argument(help="The folder that a server keeps what is learned in.")]


@reads
def rehearse(
    *,
    state: StateFolder,
    learner: Annotated[
        str | None, Option(help="Another learner; the present one if not given.")
    ] = None,
    settings: Settable = None,
    data: Annotated[
        str | None,
        Option(help="Labelled examples that the candidate learns before the journal."),
    ] = None,
    model: Annotated[Path | None, Option(help="A model file that is the candidate.")] = None,
    plot: Annotated[
        Path | None, Option(help="Draw both over time, in this file (.svg or .png).")
    ] = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Replay what a server has learned with its present model and with a candidate, side by side.

    Each example is ranked before it is learned, by both. The candidate has the present settings but
    those of --learner and --set. What the present model had learned before it was served is not in
    the journal: give the same examples by --data, and none that are in the journal; its columns are
    those that the model was trained from, unless they are named. The server may go on meanwhile.
    shortlist promote serves the candidate.
    """
    from shortlist.server.candidates import candidate_like, opened, taught
    from shortlist.server.rehearsals import only_one, rehearsed
    from shortlist.server.snapshots import check_state

    say_when_compiling()
    check_state(state)
    values = named_values("--set", settings)
    if model is not None and (learner or settings or data):
        raise InputError("--model is a whole candidate; leave out --learner, --set and --data")

    def make_candidate(present: Categorizer) -> tuple[Categorizer, int]:
        candidate = opened(model) if model is not None else candidate_like(present, learner, values)
        if data is None:
            return candidate, 0
        stream = reading.open_for("categories", data, present)
        n_left_out = taught(candidate, data, stream)
        say_skipped(stream.skipped)
        return candidate, n_left_out

    with only_one(state):
        report = rehearsed(state, make_candidate)
    if plot is not None:
        from shortlist.report import plot_curves

        windows = report["windows"]
        ends = [window["to"] for window in windows]
        curves = {
            name: (ends, [window[name] for window in windows]) for name in ("present", "candidate")
        }
        plot_curves(plot, curves, "examples", "P@1", "P@1 over time")
    if as_json:
        print_json(report)
    else:
        show(state, report)


def show(state: Path, report: dict[str, Any]) -> None:
    columns = ["present", "candidate", "difference", "from", "to"]

    def row(part: dict[str, Any]) -> list[Any]:
        return [part[name] for name in ("present", "candidate", "difference", "low", "high")]

    over_time = [[f"{part['from']:,}–{part['to']:,}", *row(part)] for part in report["windows"]]
    over_time.append(["all", *row(report["all"])])
    n_examples = counted(report["all"]["examples"], "examples")
    print_table(f"P@1 before learning, {n_examples}", ["examples", *columns], over_time)
    groups = [[group["group"], group["labels"], *row(group)] for group in report["groups"]]
    print_table(
        "Right labels found, by groups of labels", ["labels with", "labels", *columns], groups
    )
    if report["labels"]:
        labels = [
            [str(label["label"]), label["examples"], *row(label)] for label in report["labels"]
        ]
        print_table("The labels that differ most", ["label", "examples", *columns], labels)
    if report["passed_over"]:
        first = report["passed"][0]
        say(
            f"the candidate cannot learn {counted(report['passed_over'], 'examples')} of the "
            f"journal, the first is {first['number']}: {first['problem']}; promote needs --force, "
            "and goes on without them"
        )
    if report["falls"]:
        say(
            f"the candidate falls for {', '.join(report['falls'])} by more than chance; promote "
            "needs --force"
        )
    elif not report["passed_over"]:
        say(f"no group falls by more than chance; shortlist promote {state} serves the candidate")


def say_passed(passed: dict[int, str]) -> None:
    """Say which examples of the journal a model that is served now cannot learn."""
    if passed:
        from shortlist.server.replica import in_words

        say(
            f"it cannot learn {counted(len(passed), 'examples')} of the journal: "
            f"{in_words(list(passed))}"
        )


PROMOTE_ANYWAY = "Even where a group of labels falls, or examples of the journal cannot be learned."


def promote(
    state: StateFolder,
    force: Annotated[bool, Option("--force", help=PROMOTE_ANYWAY)] = False,
) -> None:
    """Serve the candidate of the last rehearsal from now on.

    The server must be stopped. What it has learned is learned anew by the candidate; the earlier
    model is kept for shortlist go-back.
    """
    from shortlist.server import promotion

    report, passed = promotion.promote(state, force)
    mean = report["all"]
    say_passed(passed)
    print(
        f"The candidate is promoted: P@1 {mean['candidate']:.4f}, and {mean['present']:.4f} "
        f"before. Next: shortlist serve --state {state}; shortlist go-back {state} takes it back."
    )


def go_back(
    state: StateFolder,
    force: Annotated[
        bool, Option("--force", help="Even where examples of the journal cannot be learned.")
    ] = False,
) -> None:
    """Serve the model from before the last promotion again.

    The server must be stopped. Nothing that it has learned is lost: the earlier model learns it
    anew. Going back again serves the promoted one.
    """
    from shortlist.server import promotion

    say_passed(promotion.go_back(state, force))
    print(f"The earlier model is back. Next: shortlist serve --state {state}")


def backup(
    state: StateFolder,
    target: Annotated[Path, Argument(help="The folder to make.", show_default=False)],
) -> None:
    """Copy the state folder of a server, which may be running, to a new folder.

    The copy can be served as it is: shortlist serve --state TARGET. A copy by other means may catch
    the journal in the middle of a write. It holds the people with the hashes of their tokens: keep
    it as safe as the folder itself.
    """
    from shortlist.server.backup import back_up

    back_up(state, target)
    print(f"Copied {state} to {target}. shortlist serve --state {target} serves the copy.")
