"""Planted wrong labels: how many of them an audit lists first, beside cleanlab, and how long both take.

    python benchmarks/audit.py DATA [SET ...] [--most 10000] [--cleanlab PYTHON]

Every label of a random 5 % of the texts is exchanged for another one of the set, at random; then the first 5 % of
the list should be these. Sets: hwu64, stackoverflow and dbpedia (folder short_texts of DATA) and newsgroups (the bydate
training part), the first 10,000 texts of their training parts, in random order. PYTHON is an interpreter that has
cleanlab, scikit-learn and numpy (an environment of its own); cleanlab is given probabilities of logistic regression on
words and pairs that occur twice, by five-fold cross-validation, and ranks by find_label_issues and by the label's own
probability. Times are of the processor, with all that it takes: vectors, training and ranking.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import shortlist as sl

SETS = ("hwu64", "stackoverflow", "dbpedia", "newsgroups")
SHARE = 0.05

THEIRS = """
import json, sys, time
import numpy as np
from cleanlab.filter import find_label_issues
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

given = json.load(open(sys.argv[1]))
texts, labels = given["texts"], np.unique(given["labels"], return_inverse=True)[1]
began = time.process_time()
X = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit_transform(texts)
chances = cross_val_predict(LogisticRegression(C=10, max_iter=100), X, labels, cv=5, method="predict_proba")
issues = find_label_issues(labels, chances, return_indices_ranked_by="self_confidence")
order = np.argsort(chances[np.arange(len(labels)), labels], kind="stable")
took = time.process_time() - began
print(json.dumps({"issues": issues.tolist(), "order": order.tolist(), "seconds": took}))
"""


def texts_of(data, name):
    if name == "newsgroups":
        source = sl.read(data / "20newsgroups" / "20news-bydate-train", encoding="latin-1")
    else:
        source = sl.read(data / "short_texts" / f"{name}.train.jsonl", **labels_of(data, name))
    both = (pair for batch in source for pair in zip(batch.texts, batch.labels, strict=True))
    pairs = [(str(text), own[0]) for text, own in both if own]
    order = np.random.default_rng(1).permutation(len(pairs))
    return [pairs[i] for i in order]


def labels_of(data, name):
    with open(data / "short_texts" / f"{name}.train.jsonl", encoding="utf-8") as lines:
        return {"labels": "labels" if "labels" in json.loads(next(lines)) else "label"}


def planted(labels, seed=0):
    """The labels with some exchanged, and which these are."""
    random, names = np.random.default_rng(seed), sorted(set(labels))
    chosen = random.permutation(len(labels))[: int(SHARE * len(labels))]
    exchanged = list(labels)
    for i in chosen:
        exchanged[i] = names[(names.index(labels[i]) + random.integers(1, len(names))) % len(names)]
    return exchanged, set(chosen.tolist())


def share_of(planted, listed):
    return 100 * len(planted & set(listed[: len(planted)])) / len(planted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--cleanlab")
    given = parser.parse_args()
    sl.Categorizer().audit([f"text {n}" for n in range(10)], ["a", "b"] * 5)  # compiles, or loads what was compiled
    print("| set | texts | labels | found, % | s | cleanlab, % | by probability, % | s |\n|---|" + "---|" * 7)
    for name in given.sets:
        texts, true = map(list, zip(*texts_of(given.data, name)[: given.most], strict=True))
        labels, wrong = planted(true)
        began = time.process_time()
        found = sl.Categorizer().audit(texts, labels, n=len(wrong))
        took = time.process_time() - began
        share = share_of(wrong, [one.number for one in found.doubts])
        row = [name, f"{len(texts):,}", len(set(labels)), f"{share:.1f}", f"{took:.1f}"]
        if given.cleanlab:
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump({"texts": texts, "labels": labels}, file)
                file.flush()
                command = [given.cleanlab, "-c", THEIRS, file.name]
                said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            theirs = json.loads(said.stdout)
            row += [f"{share_of(wrong, theirs[way]):.1f}" for way in ("issues", "order")] + [f"{theirs['seconds']:.1f}"]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
