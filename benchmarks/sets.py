"""The data sets of the benchmarks, read from the publishers' files under one folder.

Each function of a set gives its training and its test part as documents (texts, or a sparse matrix)
and label lists.
"""

import json

import numpy as np

from papers.corpora.contexts import word_contexts
from papers.index_data import split
from papers.rcv1 import subset
from shortlist import read_vocabulary
from shortlist.data.rows import Rows
from shortlist.inputs import read

SHORT = {
    "hwu64": "hwu64",
    "snips": "snips",
    "stackoverflow": "Stack Overflow",
    "dbpedia": "DBpedia",
}


def newsgroups(data):
    """As distributed: the whole posting, by date."""
    return [
        texts_of(
            data / "20newsgroups" / f"20news-bydate-{part}", format="folders", encoding="latin-1"
        )
        for part in ("train", "test")
    ]


def reuters(data):
    """ModApte, the documents with one of the 90 topics that have a training and a test document."""
    parts = [
        texts_of(data / "reuters21578", format="reuters", split=part) for part in ("train", "test")
    ]
    both = set.intersection(*({topic for own in labels for topic in own} for _, labels in parts))
    own = [
        [[topic for topic in topics if topic in both] for topics in labels] for _, labels in parts
    ]
    return [
        keep(texts, labels, range(len(labels)))
        for (texts, _), labels in zip(parts, own, strict=True)
    ]


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
    """Which word stands here? Each word of six novels with its context; a random tenth is the
    test part.
    """
    X, words, _ = word_contexts(texts_of(data / "austen", format="books")[0])
    return [keep(X, [[word] for word in words], rows) for rows in split("austen", len(words), 0)]


def short(name):
    """Short texts with one label each, the publisher's parts."""
    return lambda data: [
        jsonl(data / "short_texts" / f"{name}.{part}.jsonl") for part in ("train", "test")
    ]


def eurlex(data):
    """Laws in full text; tested on the dev part, since the test part is not distributed with it
    everywhere.
    """
    return [jsonl(data / "eurlex57k" / f"{part}.jsonl") for part in ("train", "dev")]


def short_texts(data, name, part="train"):
    """Texts, and the one label of each."""
    texts, labels = jsonl(data / "short_texts" / f"{name}.{part}.jsonl")
    return texts, [own[0] for own in labels]


def subjects(data, teach=0):
    """The vocabulary of EURLEX57K."""
    return read_vocabulary(data / "eurlex57k" / "labels.json", teach=teach)


def laws(data, part):
    """The records of a part of EURLEX57K."""
    with open(data / "eurlex57k" / f"{part}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def jsonl(path):
    """Texts, a title before them where there is one, and labels."""
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [f"{row.get('title', '')} {row['text']}".strip() for row in rows], [
        row["labels"] for row in rows
    ]


def texts_of(path, **options):
    batches = list(read(path, **options))
    return [text for batch in batches for text in batch.texts], [
        own for batch in batches for own in batch.labels or []
    ]


def vectors_of(path, **options):
    batches = list(read(path, **options))
    X = Rows.stack([batch.rows for batch in batches]).to_matrix()
    return X, [[str(label) for label in own] for batch in batches for own in batch.labels]


def keep(documents, labels, rows):
    """Some of the documents, each label once; those without labels have nothing to teach or to
    find.
    """
    rows = [i for i in rows if labels[i]]
    return some(documents, rows), [list(dict.fromkeys(labels[i])) for i in rows]


def some(documents, rows):
    return [documents[i] for i in rows] if isinstance(documents, list) else documents[rows]


def few(labels, n, seed):
    """Rows with n examples of each label, or all where there are fewer, in random order; every
    row if n is 0.
    """
    left, chosen = {}, []
    for i in np.random.default_rng(seed).permutation(len(labels)).tolist():
        left[labels[i]] = left.get(labels[i], n or len(labels)) - 1
        if left[labels[i]] >= 0:
            chosen.append(i)
    return chosen


def every_seventh(n):
    """The rows to learn from, and those that are held out."""
    held_out = np.arange(n) % 7 == 6
    return np.flatnonzero(~held_out).tolist(), np.flatnonzero(held_out).tolist()
