"""The data sets as splits in the neutral format that protocol.py reads: made once, from the publishers' files."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from papers.corpora.contexts import word_contexts
from papers.index_data import split
from papers.rcv1 import subset
from shortlist.arrays.rows import Rows
from shortlist.inputs import read

SEED = 9  # of the order of the training documents
QUICK = (2_000, 300)  # the most training and test documents of a quick run
QUICK_LIMIT = 6  # seconds, of its jobs
DRAWS = 3  # of few examples


def newsgroups(data):
    """As distributed: the whole posting, by date."""
    return [texts_of(data / "20newsgroups" / f"20news-bydate-{part}", format="folders", encoding="latin-1")
            for part in ("train", "test")]  # fmt: skip


def reuters(data):
    """ModApte, the documents with one of the 90 topics that have a training and a test document."""
    parts = [texts_of(data / "reuters21578", format="reuters", split=part) for part in ("train", "test")]
    both = set.intersection(*({topic for own in labels for topic in own} for _, labels in parts))
    own = [[[topic for topic in topics if topic in both] for topics in labels] for _, labels in parts]
    return [keep(texts, labels, [i for i, topics in enumerate(labels) if topics])
            for (texts, _), labels in zip(parts, own, strict=True)]  # fmt: skip


def rcv1(data):
    """15,000 documents without repeats, all their topics; a random tenth is the test part."""
    _, X, topics = subset(data)
    return [keep(X, topics, rows) for rows in split("rcv1", len(topics), 0)]


def mulan(name):
    def load(data):
        folder = data / "mulan_arff"
        xml = folder / f"{name}_{name}.xml"
        parts = [folder / f"{name}-{part}.arff" for part in ("train", "test")]
        return [vectors_of(path, format="arff", xml=xml) for path in parts]

    return load


def finna(data, lines=100_000):
    """The first titles of a library catalogue; a random tenth is the test part."""
    texts, labels = texts_of(data / "finna" / "finna.tsv.gz", format="tsv")
    texts, labels = texts[:lines], labels[:lines]
    return [keep(texts, labels, rows) for rows in split("finna", len(texts), 0)]


def austen(data):
    """Which word stands here? Each word of six novels with its context; a random tenth is the test part."""
    texts = [text for batch in read(data / "austen", format="books") for text in batch.texts]
    X, words, _ = word_contexts(texts)
    return [keep(X, [[word] for word in words], rows) for rows in split("austen", len(words), 0)]


def short(name):
    """Short texts with one label each, the publisher's parts."""

    def load(data):
        return [jsonl(data / "short_texts" / f"{name}.{part}.jsonl") for part in ("train", "test")]

    return load


def eurlex(data):
    """Laws in full text; tested on the dev part, since the test part is not distributed with it everywhere."""
    return [jsonl(data / "eurlex57k" / f"{part}.jsonl") for part in ("train", "dev")]


@dataclass(frozen=True)
class Set:
    """A data set: how it is loaded, the seconds that a job may take, and what is done with it."""

    title: str
    load: Any
    limit: int
    kind: str = "labels"  # or "few", "stream", "ratings", "documents"
    examples: int = 0  # few: of each label; stream: documents, 0 for all


SHORT = {"hwu64": "hwu64", "snips": "snips", "stackoverflow": "Stack Overflow", "dbpedia": "DBpedia"}
FEW = (5, 10, 50)
SETS = {
    "newsgroups": Set("20 Newsgroups", newsgroups, 180),
    "reuters": Set("Reuters-21578", reuters, 180),
    "rcv1": Set("RCV1 (vectors)", rcv1, 60),
    "bibtex": Set("Bibtex (vectors)", mulan("bibtex"), 60),
} | {name: Set(title, short(name), 300) for name, title in SHORT.items()} | {
    "finna": Set("Finna, 100,000 titles", finna, 60),
} | {
    f"{name}-{n}": Set(title, short(name), 120, "few", n) for name, title in SHORT.items() for n in FEW
} | {
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
}  # fmt: skip


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
        draws = [few(train_labels, given.examples, seed) for seed in range(1 if quick else DRAWS)]
        (folder / "draws.json").write_text(json.dumps(draws))
    task = {"name": name, "kind": "vectors" if scipy.sparse.issparse(train) else "text",
            "labels": len({label for own in train_labels for label in own}),
            "several": any(len(own) > 1 for own in train_labels), "stream": given.kind == "stream"}  # fmt: skip
    (folder / "task.json").write_text(json.dumps(task))
    return folder


def few(labels, n, seed):
    """Rows with n examples of each label, or all where there are fewer, in random order."""
    left, chosen = {own[0]: n for own in labels}, []
    for i in np.random.default_rng(seed).permutation(len(labels)).tolist():
        if left[labels[i][0]] > 0:
            left[labels[i][0]] -= 1
            chosen.append(i)
    return chosen


def counts(folder):
    """What is in a split, for the page."""
    task = json.loads((folder / "task.json").read_text())
    train, test = ((folder / f"{part}.labels").read_text(encoding="utf-8").splitlines() for part in ("train", "test"))
    each = sum(len(own.split("\t")) for own in train) / len(train)
    found = {"train": len(train), "test": len(test), "labels": task["labels"], "each": round(each, 2)}
    draws = folder / "draws.json"
    return found | ({"draws": len(json.loads(draws.read_text()))} if draws.exists() else {})


def jsonl(path):
    """Texts, a title before them where there is one, and labels."""
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [f"{row.get('title', '')} {row['text']}".strip() for row in rows], [row["labels"] for row in rows]


def texts_of(path, **options):
    batches = list(read(path, **options))
    return [text for batch in batches for text in batch.texts], [own for batch in batches for own in batch.labels]


def vectors_of(path, **options):
    batches = list(read(path, **options))
    X = Rows.stack([batch.rows for batch in batches]).to_matrix()
    return X, [[str(label) for label in own] for batch in batches for own in batch.labels]


def keep(documents, labels, rows):
    """Some of the documents, each label once; those without labels have nothing to teach or to find."""
    rows = [i for i in rows if labels[i]]
    some = documents[rows] if scipy.sparse.issparse(documents) else [documents[i] for i in rows]
    return some, [list(dict.fromkeys(labels[i])) for i in rows]


def write(folder: Path, part, documents, labels):
    if scipy.sparse.issparse(documents):
        matrix = scipy.sparse.csr_matrix(documents)
        matrix.sort_indices()
        scipy.sparse.save_npz(folder / f"{part}.npz", matrix, compressed=False)
    else:
        lines = [" ".join(text.split()) + "\n" for text in documents]
        (folder / f"{part}.txt").write_text("".join(lines), encoding="utf-8")
    (folder / f"{part}.labels").write_text("".join("\t".join(own) + "\n" for own in labels), encoding="utf-8")
