"""Titles in Finnish, Swedish and other languages: words, the multilingual encoder, and both. P@1 in per cent.

    python -m benchmarks.languages DATA [--encoder NAME]

DATA has the folder finna. Titles of the library catalogue whose first subject is one of the 50 most frequent ones, with
that subject as their label: 5, 20 and 100 a label to learn (three draws), 1,000 others to rank.
"""

import gzip
from collections import Counter
from itertools import islice

import numpy as np

from benchmarks.running import arguments, per_cent_right, row, show, table
from benchmarks.sets import few
from shortlist import Categorizer
from shortlist.encoders import load_encoder

READ, LABELS, TESTED = 200_000, 50, 1_000


def main():
    parser = arguments(__doc__)
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
    show(table(["titles per label", "words", "meaning", "both"]))
    for n in (5, 20, 100):
        right = []
        for seed in range(3):
            some = [train[i] for i in few([label for _, label in train], n, seed)]
            right.append([accuracy(way, some, test, encode) for way in ("words", "meaning", "both")])
        show(row(n, *(f"{value:.1f}" for value in np.mean(right, axis=0))))


def accuracy(way, train, test, encode):
    texts, labels = map(list, zip(*train, strict=True))
    asked, truth = map(list, zip(*test, strict=True))
    vectors, own = (None, None) if way == "words" else (encode(texts), encode(asked))
    if way == "meaning":  # no words beside the vectors
        texts, asked = [""] * len(texts), [""] * len(asked)
    model = Categorizer().fit(texts, labels, vectors=vectors)
    return per_cent_right(model.rank(asked, 1, vectors=own).labels[:, 0], truth)


if __name__ == "__main__":
    main()
