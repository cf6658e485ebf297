"""The command line. Nothing heavy is imported before a command runs, so that help is fast."""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

from shortlist import __version__, own_process
from shortlist.cli import (
    demo,
    encode,
    groups,
    improve,
    models,
    rank,
    rehearse,
    serve,
    strike,
    train,
    warmup,
)
from shortlist.concurrency import is_stuck
from shortlist.errors import ShortlistError

# What each command does, in as few words as fit on a line of ``shortlist --help``.
COMMAND_GROUPS: dict[str, dict[Callable[..., None], str]] = {
    "Learn and rank": {
        train.train: "Learn from labelled examples and write a model file.",
        train.learn: "Teach a model file more examples.",
        rank.rank: "Rank the labels of texts, or assign labels to them.",
        rank.explain: "Show why a text gets a label.",
        models.labels: "List, rename, merge, split or retire labels of a model.",
        strike.strike: "Strike out a word that must not count.",
        models.inspect: "Show what a model file or a data file holds.",
        encode.encode: "Turn texts into vectors once, or serve an encoder.",
    },
    "Improve": {
        improve.evaluate: "Measure a model on examples that it has not learned.",
        improve.compare: "Compare learners on the same random splits.",
        improve.audit: "Find labels in a file that may be wrong.",
        groups.groups: "Group texts that may need a new label.",
        rehearse.rehearse: "Compare a new model with the one that is served.",
        rehearse.promote: "Serve the model of the last rehearsal.",
        rehearse.go_back: "Serve the model from before the last promotion.",
    },
    "Serve": {
        serve.serve: "Serve a model over HTTP, with a web page.",
        serve.queue: "Add texts to the queue of a server, or show it.",
        serve.people: "List and change who may use a server.",
        serve.export: "Write the examples that a server has learned.",
        rehearse.backup: "Copy the state of a running server to a new folder.",
    },
    "Connect": {
        serve.mcp: "Offer a server to assistants (Model Context Protocol).",
        serve.annif: "Run Annif with shortlist as one of its backends.",
        serve.label_studio: "Offer a server to Label Studio as its backend.",
    },
    "Set up": {
        demo.demo: "Learn from Python's own docstrings; no download.",
        warmup.warmup: "Compile the inner loops in advance.",
    },
}


class Grouped(TyperGroup):
    """Lists commands in groups in the help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group with a line for each command."""
        for name, group in COMMAND_GROUPS.items():
            with formatter.section(name):
                formatter.write_dl(
                    [(command.__name__.replace("_", "-"), help) for command, help in group.items()]
                )


app = typer.Typer(
    cls=Grouped,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help=(
        "Suggest labels for texts and learn from each correction. Also rates texts, and ranks "
        "search results."
    ),
)
for group in COMMAND_GROUPS.values():
    for command, short_help in group.items():
        settings = serve.ANNIF_CONTEXT if command is serve.annif else None
        app.command(context_settings=settings, short_help=short_help)(command)

LIBRARIES = ("numba", "numpy", "scipy", "scikit-learn")  # on which results and speed depend


def show_version(is_set: bool) -> None:
    """Print the versions that an error report should name, without importing the libraries."""
    if is_set:
        import platform
        from importlib.metadata import version

        print(f"shortlist {__version__}")
        print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}")
        print(", ".join(f"{name} {version(name)}" for name in LIBRARIES))
        raise typer.Exit


@app.callback()
def version(
    _: Annotated[
        bool,
        Option(
            "--version", callback=show_version, is_eager=True, help="Show the versions and stop."
        ),
    ] = False,
) -> None:
    """Suggest labels for texts and learn from each correction. Also rates texts, and ranks
    search results.
    """


CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # the disk is full, or broken


def main(command: Callable[[], object] = app) -> None:
    """Run the command line. Bad input is one line on standard error and exit code 2."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - None if the parent process closed it
    escape_what_has_no_bytes()
    own_process.take()
    try:
        try:
            command()
        finally:
            sys.stdout.flush()  # so that errors of writing are caught below
    except ShortlistError as problem:
        print(f"shortlist: {problem}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of the output has closed it
        drop_output()
    except OSError as problem:
        if problem.errno not in CANNOT_WRITE:
            raise
        drop_output()
        print(f"shortlist: cannot write the result: {problem.strerror}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("shortlist: stopped", file=sys.stderr)
        sys.exit(130)
    finally:
        if is_stuck():  # Python would wait for a thread that waits for input
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)


def escape_what_has_no_bytes() -> None:
    """Write characters that the output cannot encode, such as lone surrogates, as JSON escapes."""

    def escaped(problem: UnicodeError) -> tuple[str, int]:
        assert isinstance(problem, UnicodeEncodeError)
        return json.dumps(problem.object[problem.start : problem.end])[1:-1], problem.end

    codecs.register_error("as-json", escaped)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="as-json")


def drop_output() -> None:
    """Discard output that is still to be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
