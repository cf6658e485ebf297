"""What the benchmarks share beside data: options, processor time, tables in Markdown."""

import argparse
import time
from pathlib import Path

import numpy as np


def arguments(description, *, data=True):
    """A parser with the text of a module as its help; DATA is the folder of the data sets."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if data:
        parser.add_argument("data", type=Path, metavar="DATA", help="folder of the data sets")
    return parser


def timed(call, *given, **options):
    """What a call returns, and the seconds of processor time that it took."""
    began = time.process_time()
    result = call(*given, **options)
    return result, time.process_time() - began


def per_cent_right(found, truth):
    """P@1 in per cent: the first label of each text beside its only true one."""
    return 100 * np.mean([own == true for own, true in zip(found, truth, strict=True)])


def row(*cells):
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |\n"


def table(head, rows=()):
    """Markdown; the first column is text, the others are figures."""
    return "".join(row(*line) for line in [head, ["---"] + ["--:"] * (len(head) - 1), *rows])


def show(text):
    """Print a row, or the head of a table, as soon as it is measured."""
    print(text, end="", flush=True)
