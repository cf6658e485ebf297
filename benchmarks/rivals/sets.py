"""The data sets as splits in the neutral format that protocol.py reads: made once, from the publishers' files."""

import json
from pathlib import Path

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


def finna(lines=None):
    def load(data):
        texts, labels = texts_of(data / "finna" / "finna.tsv.gz", format="tsv")
        texts, labels = texts[:lines], labels[:lines]
        return [keep(texts, labels, rows) for rows in split("finna", len(texts), 0)]

    return load


def austen(data):
    """Which word stands here? Each word of six novels with its context; a random tenth is the test part."""
    texts = [text for batch in read(data / "austen", format="books") for text in batch.texts]
    X, words, _ = word_contexts(texts)
    return [keep(X, [[word] for word in words], rows) for rows in split("austen", len(words), 0)]


# name: how it is loaded, seconds that each step of a job may take, whether a quick run includes it
SETS = {
    "newsgroups": (newsgroups, 60, True),
    "reuters": (reuters, 45, True),
    "rcv1": (rcv1, 45, True),
    "delicious": (mulan("delicious"), 45, True),
    "bibtex": (mulan("bibtex"), 30, True),
    "finna-100k": (finna(100_000), 150, True),
    "finna": (finna(), 360, False),
    "austen": (austen, 60, True),
}
TITLES = {
    "newsgroups": "20 Newsgroups, by date",
    "reuters": "Reuters-21578, ModApte, 90 topics",
    "rcv1": "RCV1, 15,000 documents (vectors)",
    "delicious": "Delicious (vectors)",
    "bibtex": "Bibtex (vectors)",
    "finna-100k": "Finna, the first 100,000 titles",
    "finna": "Finna, all titles",
    "austen": "Austen: which word stands here? (vectors)",
}


def make(name, data, cache, quick):
    """The folder of a split; made if it is not there."""
    folder = cache / "splits" / (name + "-quick" * quick)
    if (folder / "task.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    (train, train_labels), (test, test_labels) = SETS[name][0](data)
    train_rows = np.random.default_rng(SEED).permutation(len(train_labels))
    test_rows = np.arange(len(test_labels))
    if quick:
        test_rows = np.sort(np.random.default_rng(SEED).permutation(test_rows)[: QUICK[1]])
        train_rows = train_rows[: QUICK[0]]
    write(folder, "train", *keep(train, train_labels, train_rows))
    write(folder, "test", *keep(test, test_labels, test_rows))
    known = {label for i in train_rows for label in train_labels[i]}
    task = {"name": name, "kind": "vectors" if scipy.sparse.issparse(train) else "text", "labels": len(known),
            "several": any(len(labels) > 1 for labels in train_labels)}  # fmt: skip
    (folder / "task.json").write_text(json.dumps(task))
    return folder


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
