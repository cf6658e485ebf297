"""What a compact model file keeps: its size, what ranking with it finds, and how long it takes to open.

    python benchmarks/compact.py FILE [FILE ...]

A file of examples (whatever ``shortlist.read`` reads): each tenth is held out, the others are learned, and the model is
saved in both ways. A model file is only opened. Times are processor time and time by the clock, each the best of five.
"""

import sys
import tempfile
import time
from pathlib import Path

import shortlist as sl
from shortlist.files.store import is_model_file

TIMES = 5


def opened(path):
    """The model in a file; its size in MB, and the shortest times that it took to open, as cells of a table."""
    found = []
    for _ in range(TIMES):
        model, began, processor = None, time.perf_counter(), time.process_time()
        model = sl.load(path)
        found.append((time.process_time() - processor, time.perf_counter() - began))
    processor, clock = (min(times) for times in zip(*found, strict=True))
    return model, f"{path.stat().st_size / 1e6:.1f} | {processor:.2f} | {clock:.2f}"


def both_ways(path, folder):
    """Learn from examples; print a line for each way to save the model."""
    texts, labels = [], []
    for batch in sl.read(path):
        texts += list(batch.texts)
        labels += list(batch.labels)
    rest, truth = texts[9::10], labels[9::10]
    del texts[9::10], labels[9::10]
    model = sl.Categorizer().fit(texts, labels)
    for kind in ("plain", "compact"):
        model.save(folder / kind, compact=kind == "compact")
        again, cells = opened(folder / kind)
        found = sl.evaluate(again.rank(rest, k=5), again.learner_.label_numbers(truth), ["P@1", "P@5"], resamples=0)
        measures = f"{found['P@1']:.4f} | {found['P@5']:.4f}"
        print(f"| {path.name}, {len(texts):,} examples, {kind} | {cells} | {measures} |", flush=True)


def main(paths):
    print("| | MB | opening, processor s | by the clock, s | P@1 | P@5 |\n|---|--:|--:|--:|--:|--:|")
    for path in map(Path, paths):
        if path.is_file() and is_model_file(path):
            print(f"| {path.name} | {opened(path)[1]} | – | – |", flush=True)
        else:
            with tempfile.TemporaryDirectory() as folder:
                both_ways(path, Path(folder))


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(sys.argv[1:])
