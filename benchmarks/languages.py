"""Titles in Finnish, Swedish and other languages: words, the multilingual encoder, and both. P@1 in per cent.

    python -m benchmarks.languages DATA [--encoder NAME]

DATA has the folder finna. Titles of the library catalogue whose first subject is one of the 50 most frequent ones, with
that subject as their label: 5, 20 and 100 a label to learn (three draws), 1,000 others to rank.
"""

import argparse
import gzip
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.vectors import few
from shortlist import Categorizer
from shortlist.encoders import load_encoder

READ, LABELS, TESTED = 200_000, 50, 1_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="universal-sentence-encoder-multilingual")
    asked = parser.parse_args()
    with gzip.open(asked.data / "finna" / "finna.tsv.gz", "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in islice(lines, READ)]
    firsts = [(title, subjects.split()[0]) for subjects, title in pairs if subjects]
    frequent = {label for label, _ in Counter(label for _, label in firsts).most_common(LABELS)}
    found = [(title, label) for title, label in firsts if label in frequent]
    shuffled = [found[i] for i in np.random.default_rng(0).permutation(len(found))]
    test, train = shuffled[:TESTED], shuffled[TESTED:]
    encode = load_encoder(asked.encoder)
    print("| titles per label | words | meaning | both |\n|---|--:|--:|--:|")
    for n in (5, 20, 100):
        right = []
        for seed in range(3):
            some = [train[i] for i in few([label for _, label in train], n, seed)]
            right.append([accuracy(way, some, test, encode) for way in ("words", "meaning", "both")])
        print(f"| {n} | " + " | ".join(f"{100 * value:.1f}" for value in np.mean(right, axis=0)) + " |", flush=True)


def accuracy(way, train, test, encode):
    texts, labels = zip(*train, strict=True)
    asked, truth = zip(*test, strict=True)
    if way == "words":
        found = Categorizer().fit(texts, labels).rank(asked, 1)
    else:
        blank = way == "meaning"  # no words beside the vectors
        texts_of = (lambda some: [""] * len(some)) if blank else list
        model = Categorizer().fit(texts_of(texts), labels, vectors=encode(list(texts)))
        found = model.rank(texts_of(asked), 1, vectors=encode(list(asked)))
    return np.mean([own[0] == true for own, true in zip(found.labels, truth, strict=True)])


if __name__ == "__main__":
    main()
