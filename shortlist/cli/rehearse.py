"""shortlist rehearse, promote, go-back, backup"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options import Json, Reading, Settable, named_values, reads
from shortlist.cli.terminal import print_json, print_table, say, say_skipped, say_when_compiling
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.models.categorizer import Categorizer


State = Annotated[Path, typer.Argument(help="The folder that a server keeps what is learned in.")]


@reads
def rehearse(
    *,
    state: State,
    learner: Annotated[
        str | None, typer.Option(help="Another learner; the present one if not given.")
    ] = None,
    settings: Settable = None,
    data: Annotated[
        str | None,
        typer.Option(help="Labelled examples that the candidate learns before the journal."),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="A model file that is the candidate.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw both over time, in this file (.svg or .png).")
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

    def made(present: Categorizer) -> tuple[Categorizer, int]:
        candidate = opened(model) if model is not None else candidate_like(present, learner, values)
        if data is None:
            return candidate, 0
        stream = reading.open_for("categories", data, present)
        left_out = taught(candidate, data, stream)
        say_skipped(stream.skipped)
        return candidate, left_out

    with only_one(state):
        found = rehearsed(state, made)
    if plot is not None:
        from shortlist.report import plot_curves

        ends = [one["to"] for one in found["windows"]]
        curves = {
            name: (ends, [one[name] for one in found["windows"]])
            for name in ("present", "candidate")
        }
        plot_curves(plot, curves, "examples", "P@1", "P@1 over time")
    print_json(found) if as_json else show(state, found)


def show(state: Path, found: dict[str, Any]) -> None:
    columns = ["present", "candidate", "difference", "from", "to"]
    names = ["present", "candidate", "difference", "low", "high"]

    def row(one: dict[str, Any]) -> list[Any]:
        return [one[name] for name in names]

    n = counted(found["all"]["examples"], "examples")
    over_time = [[f"{one['from']:,}–{one['to']:,}", *row(one)] for one in found["windows"]]
    print_table(
        f"P@1 before learning, {n}",
        ["examples", *columns],
        [*over_time, ["all", *row(found["all"])]],
    )
    groups = [[one["group"], one["labels"], *row(one)] for one in found["groups"]]
    print_table(
        "Right labels found, by groups of labels", ["labels with", "labels", *columns], groups
    )
    if found["labels"]:
        labels = [[str(one["label"]), one["examples"], *row(one)] for one in found["labels"]]
        print_table("The labels that differ most", ["label", "examples", *columns], labels)
    if found["passed_over"]:
        n, first = counted(found["passed_over"], "examples"), found["passed"][0]
        why = f"the first is {first['number']}: {first['problem']}"
        say(
            f"the candidate cannot learn {n} of the journal, {why}; promote needs --force, and "
            "goes on without them"
        )
    if found["falls"]:
        say(
            f"the candidate falls for {', '.join(found['falls'])} by more than chance; promote "
            "needs --force"
        )
    elif not found["passed_over"]:
        say(f"no group falls by more than chance; shortlist promote {state} serves the candidate")


def say_passed(passed: dict[int, str]) -> None:
    """Say which examples of the journal a model that is served now cannot learn."""
    if passed:
        from shortlist.server.replica import in_words

        say(
            f"it cannot learn {counted(len(passed), 'examples')} of the journal: "
            f"{in_words(list(passed))}"
        )


FORCE = "Even where a group of labels falls, or examples of the journal cannot be learned."


def promote(
    state: State,
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False,
) -> None:
    """Serve the candidate of the last rehearsal from now on.

    The server must be stopped. What it has learned is learned anew by the candidate; the earlier
    model is kept for shortlist go-back.
    """
    from shortlist.server import promotion

    report, passed = promotion.promote(state, force)
    found = report["all"]
    say_passed(passed)
    print(
        f"The candidate is promoted: P@1 {found['candidate']:.4f}, and {found['present']:.4f} "
        "before. "
        f"Next: shortlist serve --state {state}; shortlist go-back {state} takes it back."
    )


def go_back(
    state: State,
    force: Annotated[
        bool, typer.Option("--force", help="Even where examples of the journal cannot be learned.")
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
    state: State,
    target: Annotated[Path, typer.Argument(help="The folder to make.", show_default=False)],
) -> None:
    """Copy the state folder of a server, which may be running, to a new folder.

    The copy can be served as it is: shortlist serve --state TARGET. A copy by other means may catch
    the journal in the middle of a write. It holds the people with the hashes of their tokens: keep
    it as safe as the folder itself.
    """
    from shortlist.server.backup import back_up

    back_up(state, target)
    print(f"Copied {state} to {target}. shortlist serve --state {target} serves the copy.")
