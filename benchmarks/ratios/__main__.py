"""Running times beside those of other tools, or of ourselves on less work: ``make bench`` prints them as a table.

    python -m benchmarks.ratios               # all
    python -m benchmarks.ratios files ratings # those whose module or function has one of these names

Times never decide whether something is wrong, so nothing here fails because a machine is slow or busy; the exit code
is 1 only where a comparison could not run. Comparisons that need a data set that is absent are left out, and say so.
"""

from __future__ import annotations

import sys
import traceback

from benchmarks.ratios import files, learning, measuring, starting, texts
from benchmarks.ratios.ratio import Absent, Ratio

COMPARISONS = [
    starting.starting, files.documents, files.titles, files.svmlight, texts.single_texts, texts.newsgroups,
    texts.contexts, measuring.measures, learning.ratings, learning.newsgroups, learning.two_threads, learning.queries,
    learning.search_of_places,
]  # fmt: skip
HEAD = f"{'ours: theirs':<56}{'ours, s':>10}{'theirs, s':>11}{'ratio':>9}{'aim':>15}  met"


def line(ratio: Ratio) -> str:
    aim = f"{ratio.least:.2g}" + (f" to {ratio.most:.3g}" if ratio.most < float("inf") else " or more")
    times = f"{ratio.ours:>10.4f}{ratio.theirs:>11.4f}{ratio.found:>9.2f}"
    return f"{ratio.name:<56}{times}{aim:>15}  {'yes' if ratio.met else 'NO'}"


def main(chosen: list[str]) -> int:
    """Run the chosen comparisons; the number of those that could not run."""
    print(HEAD)
    found: list[Ratio] = []
    failed = 0
    for compare in COMPARISONS:
        names = {compare.__module__.rpartition(".")[2], compare.__name__}
        if chosen and not names & set(chosen):
            continue
        try:
            for ratio in compare():
                found.append(ratio)
                print(line(ratio), flush=True)
        except Absent as reason:
            print(f"{compare.__name__}: left out, {reason}")
        except Exception:
            failed += 1
            traceback.print_exc()
            print(f"{compare.__name__}: could not run")
    print(f"{sum(ratio.met for ratio in found)} of {len(found)} as aimed for, {failed} could not run")
    return failed


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    sys.exit(1 if main(sys.argv[1:]) else 0)
