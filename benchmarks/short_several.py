"""Short texts with several labels each: Categorizer() beside words alone and LinearSVC, on sets made of other sets.

    python benchmarks/short_several.py DATA [--draws N] [--alone] [--packages FILE]

Library titles with some of the 50 and of the 300 most frequent subjects, the first twelve words of Reuters' articles,
titles of laws: of the folders finna, reuters21578 and eurlex57k of DATA, only training parts are read, 8,000 texts of
each at most. FILE is the index of a Debian archive, which holds a line on each package and its tags (such as
/var/lib/apt/lists/…_Packages, unpacked). A fifth is held out at random, N times; of packages, all that come of a fifth
of the sources. Prints a Markdown table of P@1 / P@3 / P@5 in per cent and processor seconds of training: Categorizer(),
the same without characters, and, but with --alone, a LinearSVC for each label on words, pairs and characters.
"""

import argparse
import gzip
import json
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
from short_texts import linear_svc
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer

import shortlist as sl

MOST = 8000  # texts of a set
DEPTHS = (1, 3, 5)


def titles(data, n_labels):
    """Library titles with some of the most frequent subjects: text, labels, and by what they are held out."""
    with gzip.open(data / "finna" / "finna.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").partition("\t") for line in islice(lines, 60_000)]
    counts = Counter(label for own, _, _ in rows for label in own.split())
    frequent = {label for label, _ in counts.most_common(n_labels)}
    found = [(title, [label for label in own.split() if label in frequent]) for own, _, title in rows]
    return [(title, own, i) for i, (title, own) in enumerate(found) if own]


def articles(data):
    parts = sl.read(data / "reuters21578", format="reuters", split="train")
    pairs = [(text, own) for b in parts for text, own in zip(b.texts, b.labels, strict=True) if own]
    return [(" ".join(text.split()[:12]), own, i) for i, (text, own) in enumerate(pairs)]


def laws(data):
    with open(data / "eurlex57k" / "train.jsonl", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, MOST)]
    return [(row["title"], row["labels"], i) for i, row in enumerate(rows)]


def packages(path):
    """What each package is, in a line, its tags and its source; what is said of several packages stands once."""
    found = {}
    for about in path.read_text(encoding="utf-8").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in about.replace("\n ", " ").split("\n") if ": " in line)
        tags = [tag for tag in fields.get("Tag", "").replace(" ", "").split(",") if tag]
        if tags:
            source = fields.get("Source", fields["Package"]).split()[0]
            found[fields["Description"], tuple(tags)] = (fields["Description"], tags, source)
    return list(found.values())


def split(rows, seed):
    random = np.random.default_rng(seed)
    chosen = [rows[i] for i in random.permutation(len(rows))[:MOST]]
    groups = sorted({group for _, _, group in chosen}, key=str)
    held_out = {groups[i] for i in random.permutation(len(groups))[: len(groups) // 5]}
    train, test = ([row[:2] for row in chosen if (row[2] in held_out) == out] for out in (False, True))
    return [list(one) for one in zip(*train, strict=True)], [list(one) for one in zip(*test, strict=True)]


def precisions(found, truth):
    right = np.array([[label in own for label in best] for best, own in zip(found, truth, strict=True)])
    return [100 * right[:, :depth].mean() for depth in DEPTHS]


def ours(train, test, text=None):
    began = time.process_time()
    model = sl.Categorizer(text=text).fit(*train)
    took = time.process_time() - began
    return [*precisions(model.rank(test[0], k=max(DEPTHS)).labels, test[1]), took]


def linear(train, test):
    texts, classifier = linear_svc()
    began = time.process_time()
    labels = MultiLabelBinarizer().fit(train[1])
    model = OneVsRestClassifier(classifier).fit(texts.fit_transform(train[0]), labels.transform(train[1]))
    took = time.process_time() - began
    best = np.argsort(-model.decision_function(texts.transform(test[0])), axis=1)[:, : max(DEPTHS)]
    return [*precisions(labels.classes_[best], test[1]), took]


def words():
    return sl.TextVectorizer(ngrams=2, prefix=5, composed=True, tf="log", idf="smooth")


def main(data, draws, alone, index):
    sets = {
        "Finna, 50 subjects": lambda: titles(data, 50),
        "Finna, 300 subjects": lambda: titles(data, 300),
        "Reuters, twelve words": lambda: articles(data),
        "EURLEX57K, titles": lambda: laws(data),
    }
    sets |= {"Debian, tags": lambda: packages(index)} if index else {}
    sl.Categorizer().fit(["a first text", "another one"], [["compiles"], ["loads", "runs"]]).rank("a text")
    rivals = {"Categorizer()": ours, "without characters": lambda *parts: ours(*parts, words())}
    rivals |= {} if alone else {"LinearSVC": linear}
    print("| set | to train | labels | " + " | ".join(f"{name} | s" for name in rivals) + " |")
    print("|---|" + "---|" * (2 + 2 * len(rivals)))
    for name, make in sets.items():
        rows, line = make(), []
        parts = [split(rows, seed) for seed in range(draws)]
        for rival in rivals.values():
            *found, took = np.mean([rival(*own) for own in parts], axis=0)
            line += [" / ".join(f"{one:.1f}" for one in found), f"{took:.2f}"]
        train = parts[0][0]
        n_labels = len({label for own in train[1] for label in own})
        print(f"| {name} | {len(train[0])} | {n_labels} | " + " | ".join(line) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help="without LinearSVC")
    parser.add_argument("--packages", type=Path, help="the index of a Debian archive")
    given = parser.parse_args()
    main(given.data, given.draws, given.alone, given.packages)
