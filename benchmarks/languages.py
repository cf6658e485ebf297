"""Finnish titles and German descriptions: words, the multilingual encoder, and both. P@1 in per
cent.

    python -m benchmarks.languages DATA [DEBIAN] [--encoder NAME]

DATA has the folder finna: titles of a library catalogue, most in Finnish or Swedish, whose first
subject is one of the 50 most frequent ones; that subject is their label. DEBIAN has two files of
Debian 12 (main): ``i18n/Translation-de.bz2`` and ``binary-amd64/Packages.xz``: the German one-line
description of one package of each source, and its section where at least 120 others have the same
one. 5, 20 and 100 of each label to learn (three draws), 1,000 others to rank.
"""

import bz2
import gzip
import lzma
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.running import arguments, per_cent_right, row, show, table
from benchmarks.sets import few
from shortlist import Categorizer, TunedIndex
from shortlist.encoders import load_encoder

READ, SUBJECTS, MEMBERS, TESTED = 200_000, 50, 121, 1_000


def main():
    parser = arguments(__doc__)
    parser.add_argument("debian", nargs="?", type=Path, metavar="DEBIAN")
    parser.add_argument("--encoder", default="universal-sentence-encoder-multilingual")
    asked = parser.parse_args()
    encode = load_encoder(asked.encoder)
    show(table(["", "words", "meaning", "both"]))
    compare("Finnish and Swedish", finna(asked.data), encode)
    if asked.debian:
        compare("German", german(asked.debian), encode)


def finna(data):
    with gzip.open(data / "finna" / "finna.tsv.gz", "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in islice(lines, READ)]
    firsts = [(title, subjects.split()[0]) for subjects, title in pairs if subjects]
    frequent = {label for label, _ in Counter(label for _, label in firsts).most_common(SUBJECTS)}
    return [(title, label) for title, label in firsts if label in frequent]


def german(folder):
    with lzma.open(folder / "Packages.xz", "rt", encoding="utf-8") as lines:
        packages = {one["Package"]: one for one in stanzas(lines)}
    described = {}  # by source: its packages have nearly the same description
    with bz2.open(folder / "Translation-de.bz2", "rt", encoding="utf-8") as lines:
        for one in stanzas(lines):
            package = packages.get(one["Package"], {"Section": ""})
            source = package.get("Source", one["Package"]).split()[0]
            described.setdefault(source, (one["Description-de"], package["Section"]))
    count = Counter(section for _, section in described.values())
    return [
        (text, section)
        for text, section in described.values()
        if section and count[section] >= MEMBERS
    ]


def stanzas(lines):
    """The stanzas of a Debian index, each with the first line of every field."""
    own = {}
    for line in lines:
        if line == "\n":
            yield own
            own = {}
        elif not line.startswith(" "):
            name, _, value = line.partition(":")
            own[name] = value.strip()
    if own:
        yield own


def compare(name, found, encode):
    shuffled = [found[i] for i in np.random.default_rng(0).permutation(len(found))]
    test, train = shuffled[:TESTED], shuffled[TESTED:]
    for n in (5, 20, 100):
        right = []
        for seed in range(3):
            some = [train[i] for i in few([label for _, label in train], n, seed)]
            right.append(
                [accuracy(way, some, test, encode) for way in ("words", "meaning", "both")]
            )
        show(row(f"{name}, {n} a label", *(f"{value:.1f}" for value in np.mean(right, axis=0))))


def accuracy(way, train, test, encode):
    texts, labels = map(list, zip(*train, strict=True))
    asked, truth = map(list, zip(*test, strict=True))
    if way == "meaning":  # no words beside the vectors
        found = TunedIndex().fit(encode(texts), labels).predict(encode(asked))
    else:
        model = Categorizer(encoder=encode if way == "both" else None).fit(texts, labels)
        found = model.rank(asked, 1).labels[:, 0]
    return per_cent_right(found, truth)


if __name__ == "__main__":
    main()
