"""From a thousand classes to a million: the time to learn and to rank one example, the edges of a
feature, memory.

    python -m benchmarks.scale                                        # 10^3 to 10^6 classes, a million examples each
    python -m benchmarks.scale --classes 1000000 --examples 10000000  # the large one

The stream is made up as it is learned (benchmarks.myriad) and never held. Each number of classes runs
in a process of its own. Times are processor time, one thread, of the last fifth of the stream;
making the stream up is not counted.
"""

import argparse
import json
import subprocess
import sys

from benchmarks.rivals.protocol import peak
from benchmarks.running import arguments, show, table, timed

TESTED = 10_000


def one(n_classes, n_examples):
    """Learn and rank one stream in this process."""
    from benchmarks.myriad import many_labels
    from shortlist import TunedIndex
    from shortlist.data.batch import RowBatch

    learner, times = TunedIndex(), []
    for rows, labels in many_labels(n_classes, n_examples):
        _, seconds = timed(learner.learn_batch, RowBatch.of(rows, labels))
        times.append((rows.n_rows, seconds))
    last = times[-max(1, len(times) // 5) :]
    tested = list(many_labels(n_classes, TESTED, seed=1))
    ranked = min(sum(timed(learner.rank_rows, rows, 5)[1] for rows, _ in tested) for _ in range(3))
    return {
        "labels": n_classes,
        "examples": sum(n for n, _ in times),
        "edges": learner.n_edges_,
        "edges of an active feature": sum(
            learner.edges_touched(rows.to_matrix()) for rows, _ in tested
        )
        / len(tested),
        "learn, µs": 1e6 * sum(seconds for _, seconds in last) / sum(n for n, _ in last),
        "rank, µs": 1e6 * ranked / sum(rows.n_rows for rows, _ in tested),
        "R1": sum(learner.score_rows(*batch) for batch in tested) / len(tested),
        "memory, MB": peak() / 1e6,
    }


def main():
    parser = arguments(__doc__, data=False)
    parser.add_argument("--classes", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--examples", type=int, default=10**6)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(one(chosen.classes[0], chosen.examples)))
        return
    results = []
    for n_classes in chosen.classes:
        command = [
            "-m",
            "benchmarks.scale",
            "--one",
            "--classes",
            str(n_classes),
            "--examples",
            str(chosen.examples),
        ]
        results.append(
            json.loads(
                subprocess.run(
                    [sys.executable, *command], stdout=subprocess.PIPE, check=True
                ).stdout
            )
        )
    cells = [
        [f"{cell:,}" if isinstance(cell, int) else f"{cell:,.3g}" for cell in one.values()]
        for one in results
    ]
    show(table(list(results[0]), cells))


if __name__ == "__main__":
    main()
