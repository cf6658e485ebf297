"""What the parts of TunedIndex bring, on validation parts: every seventh training example is held out.
No test part is read.

    python benchmarks/tuning.py DATA [SET ...]

DATA is a folder with the sets in their publishers' layout (shortlist reproduce --list). Prints a Markdown table of
P@1 / P@5 in per cent, and the seconds of processor time that learning from the rows took.
"""

import sys
import time
from pathlib import Path

import numpy as np

import shortlist as sl
from shortlist.arrays.rows import Rows
from shortlist.experiments.rcv1 import subset

WORDS = {"tf": "log", "idf": "smooth"}
PAIRS = WORDS | {"ngrams": 2, "prefix": 5}
CHARACTERS = WORDS | {"ngrams": 2, "min_length": 1, "characters": (3, 3)}
SHORT = ("hwu64", "snips", "stackoverflow", "dbpedia")
WIDE = {"min_weight": 0.005, "max_edges": 50}
VARIANTS = {
    "FeatureFocus(margin=0.3)": lambda: sl.FeatureFocus(margin=0.3),
    "FeatureFocus(margin=0.3, rare=20), wide": lambda: sl.FeatureFocus(margin=0.3, rare=20, **WIDE),
    "TunedIndex(step=0)": lambda: sl.TunedIndex(step=0),
    "TunedIndex(step=0.1)": lambda: sl.TunedIndex(step=0.1),
    "TunedIndex(passes=1)": lambda: sl.TunedIndex(passes=1),
    "TunedIndex()": sl.TunedIndex,
}


def texts(path, n=None, **options):
    batches = list(sl.read(path, **options))
    pairs = [(text, own) for b in batches for text, own in zip(b.texts, b.labels, strict=True) if own][:n]
    return [text for text, _ in pairs], [own for _, own in pairs]


def vectors(path):
    batches = list(sl.read(path))
    return Rows.stack([batch.rows for batch in batches]).to_matrix(), [own for b in batches for own in b.labels]


SETS = {
    "newsgroups": lambda data: texts(
        data / "20newsgroups" / "20news-bydate-train", format="folders", encoding="latin-1", headers=False
    ),
    "reuters": lambda data: texts(data / "reuters21578", format="reuters", split="train"),
    "rcv1": lambda data: subset(data)[1:],
    "bibtex": lambda data: vectors(data / "mulan_arff" / "bibtex-train.arff"),
    "delicious": lambda data: vectors(data / "mulan_arff" / "delicious-train.arff"),
    "finna": lambda data: texts(data / "finna" / "finna.tsv.gz", n=90_000, format="tsv"),
    **{name: lambda data, name=name: texts(data / "short_texts" / f"{name}.train.jsonl") for name in SHORT},
}


def main(data: Path, chosen: list[str]) -> None:
    results = {}
    for name in chosen or SETS:
        documents, labels = SETS[name](data)
        held_out = np.arange(len(labels)) % 7 == 6
        own = [labels[i] for i in np.flatnonzero(~held_out)]
        truth = [labels[i] for i in np.flatnonzero(held_out)]
        kinds = {"words": WORDS, "pairs and prefixes": PAIRS, "pairs and characters": CHARACTERS}
        for kind, settings in kinds.items():
            if kind == "pairs and characters" and name not in SHORT:
                continue
            if isinstance(documents, list):
                text = sl.TextVectorizer(**settings)
                train = text.fit_transform([documents[i] for i in np.flatnonzero(~held_out)])
                rest = text.transform([documents[i] for i in np.flatnonzero(held_out)])
            elif kind == "words":
                train, rest, kind = documents[~held_out], documents[held_out], "vectors"
            else:
                continue
            for variant, learner in VARIANTS.items():
                learner().fit(train[:50], own[:50])  # compiled before it is timed
                began = time.process_time()
                model = learner().fit(train, own)
                seconds = time.process_time() - began
                found = sl.evaluate(model.rank(rest, k=5), truth, ["P@1", "P@5"], resamples=0)
                p1, p5 = (100 * found[measure] for measure in ("P@1", "P@5"))
                results[variant, f"{name}, {kind}"] = f"{p1:.1f} / {p5:.1f}, {seconds:.2f} s"
                print(name, kind, variant, results[variant, f"{name}, {kind}"], file=sys.stderr)
    print(f"| | {' | '.join(f'`{variant}`' for variant in VARIANTS)} |\n|---|{'---|' * len(VARIANTS)}")
    for row in dict.fromkeys(row for _, row in results):
        print(f"| {row} | {' | '.join(results[variant, row] for variant in VARIANTS)} |")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(Path(sys.argv[1]), sys.argv[2:])
