"""The terminal: one file per verb. Nothing heavy is imported before a verb runs, so help answers at once."""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from collections.abc import Callable

import typer

from shortlist.cli import (
    annif,
    audit,
    backup,
    compare,
    demo,
    evaluate,
    explain,
    export,
    go_back,
    inspect,
    label_studio,
    labels,
    learn,
    mcp,
    people,
    promote,
    queue,
    rank,
    rehearse,
    serve,
    train,
    warmup,
    workspace,
)
from shortlist.cli.in_short import IN_SHORT
from shortlist.cli.lean import load_what_is_used, never_keep_large
from shortlist.cli.version import version
from shortlist.concurrency.prefetch import is_stuck
from shortlist.errors import ShortlistError

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Learn to rank from a stream: categories for a text, steps of a rating scale, documents for a query.",
)
app.callback()(version)
OF_MODELS = (train, learn, rank, explain, labels, evaluate, audit, compare, inspect)
OF_SERVERS = (serve, queue, people, export, rehearse, promote, go_back, backup, workspace)
FOR_OTHER_TOOLS = (mcp, annif, label_studio)
for verb in (*OF_MODELS, *OF_SERVERS, *FOR_OTHER_TOOLS, demo, warmup):
    name = verb.__name__.rpartition(".")[2]
    said = IN_SHORT[name.replace("_", "-")]
    app.command(context_settings=getattr(verb, "CONTEXT", None), short_help=said)(getattr(verb, name))

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # the disk is full, or broken


def main(command: Callable[[], object] = app) -> None:
    """Run the command line. Bad input is one line on standard error and exit code 2."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - None where whoever started us has closed it
    escape_what_has_no_bytes()
    load_what_is_used()
    never_keep_large()
    try:
        try:
            command()
        finally:
            sys.stdout.flush()  # what cannot be written is said here, and not by Python as it ends
    except ShortlistError as problem:
        print(f"shortlist: {problem}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # whoever read our output has seen enough
        drop_output()
    except OSError as problem:
        if problem.errno not in UNWRITABLE:
            raise
        drop_output()
        print(f"shortlist: cannot write the result: {problem.strerror}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("shortlist: stopped", file=sys.stderr)
        sys.exit(130)
    finally:
        if is_stuck():  # the user has stopped it: Python would go on waiting for a thread that waits for input
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)


def escape_what_has_no_bytes() -> None:
    """What the encoding of the output has no bytes for, such as half a surrogate pair, is written as JSON writes it."""

    def escaped(problem: UnicodeError) -> tuple[str, int]:
        assert isinstance(problem, UnicodeEncodeError)
        return json.dumps(problem.object[problem.start : problem.end])[1:-1], problem.end

    codecs.register_error("as-json", escaped)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="as-json")


def drop_output() -> None:
    """Lead what is still to be written to nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
