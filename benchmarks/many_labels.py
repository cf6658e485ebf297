"""Many labels each: Categorizer() and TunedIndex() on EURLEX57K and Delicious.

    python benchmarks/many_labels.py DATA [--validation] [SET ...]

DATA has the folders eurlex57k and mulan_arff. Of EURLEX57K the dev part is tested on, since its test part is not
distributed with it everywhere. With --validation every tenth training example is held out, and no other part is read.
Prints a Markdown table: P@1, P@3, P@5 and the processor seconds of learning, and microseconds of ranking one example.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

import shortlist as sl
from shortlist.arrays.rows import Rows

MEASURES = ["P@1", "P@3", "P@5"]


def laws(path):
    with open(path, encoding="utf-8") as lines:
        own = [json.loads(line) for line in lines]
    return [law["title"] + "\n" + law["text"] for law in own], [law["labels"] for law in own]


def vectors(path):
    batches = list(sl.read(path))
    X = Rows.stack([batch.rows for batch in batches]).to_matrix()
    labels = [own for batch in batches for own in batch.labels]
    some = [i for i, own in enumerate(labels) if own]
    return X[some], [labels[i] for i in some]


SETS = {
    "EURLEX57K": (laws, "eurlex57k/train.jsonl", "eurlex57k/dev.jsonl", sl.Categorizer),
    "Delicious": (vectors, "mulan_arff/delicious-train.arff", "mulan_arff/delicious-test.arff", sl.TunedIndex),
}


def held_out(documents, labels):
    """What is trained on, and every tenth example, which is not."""
    last = np.arange(len(labels)) % 10 == 9
    parts = [np.flatnonzero(~last), np.flatnonzero(last)]
    some = [[documents[i] for i in part] if isinstance(documents, list) else documents[part] for part in parts]
    return [(own, [labels[i] for i in part]) for own, part in zip(some, parts, strict=True)]


def main(data, chosen, validation):
    print("| set | to train | to test | P@1 | P@3 | P@5 | fit, s | rank, µs |\n|---|" + "--:|" * 7)
    for name in chosen or SETS:
        read, train_path, test_path, model = SETS[name]
        train = read(data / train_path)
        train, test = held_out(*train) if validation else (train, read(data / test_path))
        model().fit(train[0][:50], train[1][:50]).rank(test[0][:5])  # compiled before it is timed
        began = time.process_time()
        learned = model().fit(*train)
        fitted = time.process_time()
        ranking = learned.rank(test[0], k=5)
        each = 1e6 * (time.process_time() - fitted) / len(test[1])
        found = sl.evaluate(ranking, test[1], MEASURES, resamples=0)
        figures = " | ".join(f"{found[measure]:.3f}" for measure in MEASURES)
        sizes = f"{len(train[1]):,} | {len(test[1]):,}"
        print(f"| {name} | {sizes} | {figures} | {fitted - began:.1f} | {each:.0f} |", flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    given = [one for one in sys.argv[2:] if one != "--validation"]
    main(Path(sys.argv[1]), given, "--validation" in sys.argv)
