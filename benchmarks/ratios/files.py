"""How fast files are read and tokenised, against what people use now."""

from __future__ import annotations

import csv
import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.ratios.ratio import Ratio, data, in_turn
from shortlist import TextVectorizer, read


def exhaust(path):
    for _ in read(path):
        pass


def tokenise(path):
    vectorizer = TextVectorizer()
    for batch in read(path):
        vectorizer.learn_rows(batch.texts)


def made_up_documents():
    """3,000 documents of some 1,200 letters each, words as frequent as in a language, with three labels each."""
    rng = np.random.default_rng(0)
    letters = rng.integers(ord("a"), ord("z") + 1, (20_000, 12), dtype=np.uint8)
    words = [bytes(one[:size]).decode() for one, size in zip(letters, rng.integers(2, 12, 20_000), strict=True)]
    picked = [rng.zipf(1.2, 180) % 20_000 for _ in range(3000)]
    return [(" ".join(words[i] for i in one), [f"label{i}" for i in rng.integers(0, 500, 3)]) for one in picked]


def write_tsv(path, examples):
    path.write_text("".join(f"{' '.join(labels)}\t{text}\n" for text, labels in examples))
    return path


def write_json_lines(path, examples):
    lines = (json.dumps({"text": text, "labels": labels}, ensure_ascii=False) + "\n" for text, labels in examples)
    path.write_text("".join(lines))
    return path


def in_thousands(examples):
    """What a user would do with a plain reader: gather batches."""
    while list(itertools.islice(examples, 1000)):
        pass


def with_json(path):
    with open(path, encoding="utf-8") as file:
        in_thousands((record["text"], record["labels"]) for record in map(json.loads, file))


def with_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        in_thousands((text, labels.split()) for labels, text in rows)


def counted_by_sklearn(path):
    """The same rows as ``tokenise`` gives, as people make them now."""
    with open(path, encoding="utf-8") as file:
        if path.suffix == ".jsonl":
            texts = [json.loads(line)["text"] for line in file]
        else:
            texts = [line.rstrip("\n").partition("\t")[2] for line in file]
    CountVectorizer().fit_transform(texts)


def times(path, *functions):
    """Of each function in turn, and how many MB/s that is."""
    found = in_turn(*(lambda one=one: one(path) for one in functions))
    size = path.stat().st_size / 1e6
    rates = (f"{one.__name__} {size / spent:.0f}" for one, spent in zip(functions, found, strict=True))
    print(f"  {path.name}, MB/s: {', '.join(rates)}")
    return found


def documents() -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        examples = made_up_documents()
        path = write_json_lines(Path(folder) / "documents.jsonl", examples)
        reading, plain, tokenising = times(path, exhaust, with_json, tokenise)
        yield Ratio("JSON lines, read: json.loads", reading, plain, 1.2)
        yield Ratio("JSON lines, read: the time to tokenise them", reading, tokenising, 2)
        path = write_tsv(Path(folder) / "documents.tsv", examples)
        reading, plain, tokenising = times(path, exhaust, with_csv, tokenise)
        yield Ratio("TSV, read: csv.reader", reading, plain, 1.5)
        yield Ratio("TSV, read: the time to tokenise it", reading, tokenising, 2)


def titles() -> Iterator[Ratio]:
    """Library titles, short and with several labels each."""
    examples = []
    for batch in read(data("finna", "finna") / "finna.tsv.gz"):
        examples += zip(batch.texts, batch.labels, strict=True)
        if len(examples) > 30_000:
            break
    with tempfile.TemporaryDirectory() as folder:
        path = write_json_lines(Path(folder) / "titles.jsonl", examples)
        reading, plain, tokenising, sklearn = times(path, exhaust, with_json, tokenise, counted_by_sklearn)
        yield Ratio("JSON lines, titles read: json.loads", reading, plain, 2)
        yield Ratio("JSON lines, titles tokenised: CountVectorizer", tokenising, sklearn, 3)
        path = write_tsv(Path(folder) / "titles.tsv", examples)
        reading, plain, tokenising, sklearn = times(path, exhaust, with_csv, tokenise, counted_by_sklearn)
        yield Ratio("TSV, titles read: csv.reader", reading, plain, 1)
        yield Ratio("TSV, titles tokenised: CountVectorizer", tokenising, sklearn, 3)


def svmlight() -> Iterator[Ratio]:
    def with_sklearn(path):
        load_svmlight_file(str(path), multilabel=True)

    rng = np.random.default_rng(0)
    matrix = scipy.sparse.random(1500, 40_000, 0.002, format="csr", random_state=rng)
    for digits in (17, 6):
        matrix.data = np.round(matrix.data, digits)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"random-{digits}.svm"
            dump_svmlight_file(matrix, rng.integers(0, 100, 1500), str(path), zero_based=False)
            yield Ratio(f"svmlight, {digits} digits: load_svmlight_file", *times(path, exhaust, with_sklearn), 5)
