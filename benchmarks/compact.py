"""What a compact model file keeps: its size, what ranking with it finds, and how long both kinds take to open.

    python benchmarks/compact.py FILE [FILE ...]        # examples: whatever ``shortlist.read`` reads

Each tenth example is held out; the others are learned. Times are processor time and time by the clock, best of five.
"""

import sys
import tempfile
import time
from pathlib import Path

import shortlist as sl

TIMES = 5


def opened(path):
    """The model in a file, and the shortest times that it took to open."""
    found = []
    for _ in range(TIMES):
        model, began, processor = None, time.perf_counter(), time.process_time()
        model = sl.load(path)
        found.append((time.process_time() - processor, time.perf_counter() - began))
    return model, *(min(times) for times in zip(*found, strict=True))


def main(paths):
    print("| examples | file | MB | P@1 | P@5 | opening, processor s | by the clock, s |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for path in map(Path, paths):
        texts, labels = [], []
        for batch in sl.read(path):
            texts += list(batch.texts)
            labels += list(batch.labels)
        rest, truth = texts[9::10], labels[9::10]
        del texts[9::10], labels[9::10]
        model = sl.Categorizer().fit(texts, labels)
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("plain", "compact"):
                file = Path(folder) / kind
                model.save(file, compact=kind == "compact")
                again, processor, clock = opened(file)
                numbers = again.learner_.label_numbers(truth)
                found = sl.evaluate(again.rank(rest, k=5), numbers, ["P@1", "P@5"], resamples=0)
                size = file.stat().st_size / 1e6
                print(
                    f"| {path.name}, {len(texts):,} | {kind} | {size:.1f} | {found['P@1']:.4f} | {found['P@5']:.4f} "
                    f"| {processor:.2f} | {clock:.2f} |", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
