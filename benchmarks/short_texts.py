"""Short texts with one label each: Categorizer() beside LinearSVC on words, pairs and characters, in one run.

    python benchmarks/short_texts.py DATA [SET ...]

DATA has the folder short_texts: hwu64, snips, stackoverflow and dbpedia, each in parts to train and to test.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

import shortlist as sl

SETS = ("hwu64", "snips", "stackoverflow", "dbpedia")


def part(folder, name, which):
    with open(folder / f"{name}.{which}.jsonl", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    own = [row.get("labels", row.get("label")) for row in rows]
    return [row["text"] for row in rows], [label[0] if isinstance(label, list) else label for label in own]


def linear_svc():
    """What anyone tries first."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    return make_pipeline(make_union(words, characters), LinearSVC())


def tried(model, train, test):
    """P@1, and the processor time that training and answering take."""
    began = time.process_time()
    model.fit(*train)
    fitted = time.process_time()
    right = np.mean(np.asarray(model.predict(test[0])) == np.asarray(test[1]))
    return right, fitted - began, time.process_time() - fitted


def main(data, names):
    folder = Path(data) / "short_texts"
    sl.Categorizer().fit(["a first text", "another one"], ["compiles", "loads"]).predict(["a text"])
    print("| set | P@1 | LinearSVC | fit, s | LinearSVC | times as fast | predict, s | LinearSVC |\n|---|" + "---|" * 7)
    for name in names or SETS:
        train, test = part(folder, name, "train"), part(folder, name, "test")
        ours, theirs = tried(sl.Categorizer(), train, test), tried(linear_svc(), train, test)
        print(
            f"| {name} | {ours[0]:.3f} | {theirs[0]:.3f} | {ours[1]:.2f} | {theirs[1]:.2f} | {theirs[1] / ours[1]:.0f} "
            f"| {ours[2]:.3f} | {theirs[2]:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(sys.argv[1], sys.argv[2:])
