"""The data sets as splits in the neutral format that protocol.py reads, made once."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.sets import (
    SHORT,
    austen,
    eurlex,
    few,
    finna,
    keep,
    mulan,
    newsgroups,
    rcv1,
    reuters,
    short,
)

SEED = 9  # of the order of the training documents
QUICK = (2_000, 300)  # the most training and test documents of a quick run
QUICK_LIMIT = 6  # seconds, of its jobs
DRAWS = 3  # of few examples


@dataclass(frozen=True)
class Set:
    """A data set: how it is loaded, the seconds that a job may take, and what is done with it."""

    title: str
    load: Any
    limit: int
    kind: str = "labels"  # or "few", "stream", "ratings", "documents"
    examples: int = 0  # few: of each label; stream: documents, 0 for all


FEW = (5, 10, 50)
SETS = (
    {
        "newsgroups": Set("20 Newsgroups", newsgroups, 180),
        "reuters": Set("Reuters-21578", reuters, 180),
        "rcv1": Set("RCV1 (vectors)", rcv1, 60),
        "bibtex": Set("Bibtex (vectors)", mulan("bibtex"), 60),
    }
    | {name: Set(title, short(name), 300) for name, title in SHORT.items()}
    | {
        "finna": Set("Finna, 100,000 titles", finna, 60),
    }
    | {
        f"{name}-{n}": Set(title, short(name), 120, "few", n)
        for name, title in SHORT.items()
        for n in FEW
    }
    | {
        "stream-hwu64": Set("hwu64", short("hwu64"), 60, "stream"),
        "stream-stackoverflow": Set("Stack Overflow", short("stackoverflow"), 60, "stream", 10_000),
        "stream-newsgroups": Set("20 Newsgroups", newsgroups, 60, "stream", 5_000),
        "ratings-line": Set("line", None, 60, "ratings"),
        "ratings-saddle": Set("saddle", None, 60, "ratings"),
        "ratings-movielens": Set("MovieLens", None, 60, "ratings"),
        "documents-ohsumed": Set("OHSUMED", None, 120, "documents"),
        "documents-cranfield": Set("Cranfield", None, 120, "documents"),
        "delicious": Set("Delicious (vectors)", mulan("delicious"), 60),
        "austen": Set("Austen (vectors)", austen, 60),
        "eurlex": Set("EURLEX57K", eurlex, 180),
    }
)


def make(name, data, cache, quick):
    """The folder of a split; made if it is not there."""
    folder, given = cache / "splits" / (name + "-quick" * quick), SETS[name]
    if (folder / "task.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    (train, train_labels), (test, test_labels) = given.load(data)
    train_rows = np.random.default_rng(SEED).permutation(len(train_labels))
    test_rows = np.arange(len(test_labels))
    if quick:
        test_rows = np.sort(np.random.default_rng(SEED).permutation(test_rows)[: QUICK[1]])
        train_rows = train_rows[: QUICK[0]]
    if given.kind == "stream" and given.examples:
        train_rows = train_rows[: given.examples]
    train, train_labels = keep(train, train_labels, train_rows)
    write(folder, "train", train, train_labels)
    write(folder, "test", *keep(test, test_labels, test_rows))
    if given.kind == "few":
        draws = [
            few([own[0] for own in train_labels], given.examples, seed)
            for seed in range(1 if quick else DRAWS)
        ]
        (folder / "draws.json").write_text(json.dumps(draws))
    task = {
        "name": name,
        "kind": "vectors" if scipy.sparse.issparse(train) else "text",
        "labels": len({label for own in train_labels for label in own}),
        "several": any(len(own) > 1 for own in train_labels),
        "stream": given.kind == "stream",
    }
    (folder / "task.json").write_text(json.dumps(task))
    return folder


def counts(folder):
    """What is in a split, for the page."""
    task = json.loads((folder / "task.json").read_text())
    train, test = (
        (folder / f"{part}.labels").read_text(encoding="utf-8").splitlines()
        for part in ("train", "test")
    )
    each = sum(len(own.split("\t")) for own in train) / len(train)
    found = {
        "train": len(train),
        "test": len(test),
        "labels": task["labels"],
        "each": round(each, 2),
    }
    draws = folder / "draws.json"
    return found | ({"draws": len(json.loads(draws.read_text()))} if draws.exists() else {})


def write(folder: Path, part, documents, labels):
    if scipy.sparse.issparse(documents):
        matrix = scipy.sparse.csr_matrix(documents)
        matrix.sort_indices()
        scipy.sparse.save_npz(folder / f"{part}.npz", matrix, compressed=False)
    else:
        lines = [" ".join(text.split()) + "\n" for text in documents]
        (folder / f"{part}.txt").write_text("".join(lines), encoding="utf-8")
    (folder / f"{part}.labels").write_text(
        "".join("\t".join(own) + "\n" for own in labels), encoding="utf-8"
    )
