"""The first minute: processor time of the first and the second demo, of one ranking, of the help;
and where it goes.

    python -m benchmarks.start

The package is copied to an empty folder, so that the first demo compiles its loops. Prints a table,
and for a warm ``rank`` the modules that take longest to import. Best run in the environment that
``make demo`` makes: where the tools of the tests are installed, Numba and NumPy import some of
them, a tenth of a second in each command.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.running import arguments, row, show, table

# a user's folder has both kinds of compiled files
NOT_OURS = ("NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE")
PACKAGE = Path(__file__).parents[1] / "shortlist"


def spent(folder, *command, options=()):
    """Seconds of processor time that a command takes, and what it says on standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    kept = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    own = kept | {"PYTHONPATH": str(folder)}
    arguments = [sys.executable, "-P", *options, "-m", "shortlist", *map(str, command)]
    done = subprocess.run(
        arguments, cwd=folder, env=own, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def slowest(imports, n=8):
    """The packages that take longest to import, by what ``-X importtime`` says."""
    times = {}
    for own, name in re.findall(r"import time: +(\d+) \| +\d+ \| +(\S+)", imports):
        package = name.partition(".")[0]
        times[package] = times.get(package, 0) + int(own) / 1e6
    return sorted(times.items(), key=lambda one: -one[1])[:n]


def main():
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(PACKAGE, folder / "shortlist", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "some.jsonl").write_text(
            '{"text": "wheat rose", "labels": ["grain"]}\n{"text": "rates fell", "labels": ["money"]}\n'
        )
        show(table(["", "processor seconds"]))
        for name, command in {
            "a first demo, which compiles": ("demo",),
            "a second demo": ("demo",),
            "train on two texts": ("train", "some.jsonl"),
            "rank --text, first": ("rank", "some.shortlist", "--text", "corn and wheat"),
            "rank --text, again": ("rank", "some.shortlist", "--text", "corn and wheat"),
            "explain --text": ("explain", "some.shortlist", "--text", "wheat rose"),
            "--help": ("--help",),
        }.items():
            show(row(name, f"{spent(folder, *command)[0]:.2f}"))
        _, said = spent(
            folder, "rank", "some.shortlist", "--text", "wheat", options=("-X", "importtime")
        )
        print(
            "\nImports of rank, in seconds: "
            + ", ".join(f"{name} {seconds:.2f}" for name, seconds in slowest(said))
        )


if __name__ == "__main__":
    arguments(__doc__, data=False).parse_args()
    main()
