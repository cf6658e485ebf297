"""From a thousand classes to a million: the time to learn and to rank one example, the edges of a feature, memory.

    python benchmarks/scale.py                                        # 10^3 to 10^6 classes, a million examples each
    python benchmarks/scale.py --classes 1000000 --examples 10000000  # the large one
    python benchmarks/scale.py --figure docs/figures/scale.png
    python benchmarks/scale.py --merge --classes 100000 --examples 500000   # two learners of so many examples each

The stream is made up as it is learned (papers.myriad) and never held. Each number of classes runs in a
process of its own. Times are processor time, one thread, of the last fifth of the stream; making the stream up is not
counted. Prints a Markdown table.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

TESTED = 10_000


def one(n_classes: int, n_examples: int) -> dict:
    """Learn and rank one stream in this process."""
    from papers.myriad import many_labels
    from shortlist import TunedIndex

    learner = TunedIndex()
    seen, times = 0, []
    for rows, labels in many_labels(n_classes, n_examples):
        began = time.process_time()
        learner._learn_rows(rows, labels)
        times.append((rows.n_rows, time.process_time() - began))
        seen += rows.n_rows
        if len(times) % 200 == 0:
            print(f"{n_classes:,} classes: {seen:,} examples, {learner.n_edges_:,} edges", file=sys.stderr, flush=True)
    last = times[-max(1, len(times) // 5) :]
    tested = list(many_labels(n_classes, TESTED, seed=1))
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        for rows, _ in tested:
            learner._rank_rows(rows, 5)
        best = min(best, time.process_time() - began)
    features = learner.times_seen()
    status = Path("/proc/self/status")
    held = re.search(r"VmHWM:\s+(\d+)", status.read_text()) if status.exists() else None
    return {
        "classes": n_classes,
        "examples": seen,
        "classes seen": len(learner.label_counts_),
        "features seen": int((features > 0).sum()),
        "edges": learner.n_edges_,
        "edges of a feature": learner.n_edges_ / max(1, int((features > 0).sum())),
        "edges of an active feature": sum(learner.edges_touched(rows.to_matrix()) for rows, _ in tested) / len(tested),
        "learn, µs": 1e6 * sum(seconds for _, seconds in last) / sum(n for n, _ in last),
        "rank, µs": 1e6 * best / sum(rows.n_rows for rows, _ in tested),
        "R1": sum(learner._score_rows(*batch) for batch in tested) / len(tested),
        "memory, MB": int(held[1]) * 1024 / 1e6 if held else float("nan"),
    }


def merge(n_classes: int, n_examples: int) -> None:
    """Merge two learners of different streams, and say what it took."""
    from papers.myriad import many_labels
    from shortlist import TunedIndex

    learners = []
    for seed in (0, 1):
        learners.append(TunedIndex())
        for rows, labels in many_labels(n_classes, n_examples, seed):
            learners[-1]._learn_rows(rows, labels)
    edges = [learner.n_edges_ for learner in learners]
    TunedIndex().merge(TunedIndex().fit([[1.0]], ["a first merge compiles"]))
    sizes = [sum(array.nbytes for array in learner.to_state().all_arrays().values()) for learner in learners]
    began = time.process_time()
    merged = learners[0].merge(learners[1])
    seconds = time.process_time() - began
    print(
        f"{edges[0]:,} and {edges[1]:,} edges ({sizes[0] / 1e6:,.0f} and {sizes[1] / 1e6:,.0f} MB) became "
        f"{merged.n_edges_:,} in {seconds:.2f} s: {1e9 * seconds / sum(edges):.0f} ns for each"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--classes", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    options.add_argument("--examples", type=int, default=10**6)
    options.add_argument("--figure", type=Path)
    options.add_argument("--merge", action="store_true", help="measure a merge instead")
    options.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.merge:
        merge(chosen.classes[0], chosen.examples)
        return
    if chosen.one:
        print(json.dumps(one(chosen.classes[0], chosen.examples)))
        return
    results = []
    for n_classes in chosen.classes:
        command = [sys.executable, __file__, "--one", "--classes", str(n_classes), "--examples", str(chosen.examples)]
        results.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
    print("| " + " | ".join(results[0]) + " |\n|" + "--:|" * len(results[0]))
    for result in results:
        cells = [f"{value:,}" if isinstance(value, int) else f"{value:,.3g}" for value in result.values()]
        print("| " + " | ".join(cells) + " |")
    if chosen.figure:
        draw(results, chosen.figure)


def draw(results: list[dict], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (times, edges) = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    classes = [result["classes"] for result in results]
    for name in ("learn, µs", "rank, µs"):
        times.plot(classes, [result[name] for result in results], marker="o", label=name.partition(",")[0])
    for name in ("edges of a feature", "edges of an active feature"):
        edges.plot(classes, [result[name] for result in results], marker="o", label=name)
    times.set_ylabel("µs for one example")
    for axes in (times, edges):
        axes.set_xscale("log")
        axes.set_xlabel("classes")
        axes.set_ylim(bottom=0)
        axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main()
