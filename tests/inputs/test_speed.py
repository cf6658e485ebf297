"""How fast files are read, against what people use now, in one run. ``pytest -s`` shows the figures."""

import csv
import itertools
import json
import os
import time

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

from shortlist import TextVectorizer
from shortlist.arrays.rows import Rows
from shortlist.inputs import read

pytestmark = pytest.mark.speed


def rates(path, **functions):
    """The rate of each function in MB/s of one processor: the best of five, taken in turn, so that all fare alike."""
    times = {name: [] for name in functions}
    for _ in range(5):
        for name, function in functions.items():
            start = time.process_time()
            function(path)
            times[name].append(time.process_time() - start)
    found = {name: os.path.getsize(path) / min(spent) / 1e6 for name, spent in times.items()}
    print(path.name, {name: f"{rate:.0f} MB/s" for name, rate in found.items()})
    return found


def exhaust(path):
    for _ in read(path):
        pass


def tokenise(path):
    vectorizer = TextVectorizer()
    for batch in read(path):
        vectorizer.learn_rows(batch.texts)


@pytest.fixture(scope="module")
def documents():
    """3,000 documents of some 1,200 letters each, words as frequent as in a language, with three labels each."""
    rng = np.random.default_rng(0)
    letters = rng.integers(ord("a"), ord("z") + 1, (20_000, 12), dtype=np.uint8)
    words = [bytes(one[:size]).decode() for one, size in zip(letters, rng.integers(2, 12, 20_000), strict=True)]
    picked = [rng.zipf(1.2, 180) % 20_000 for _ in range(3000)]
    return [
        (" ".join(words[i] for i in one), [f"label{i}" for i in rng.integers(0, 500, 3)])
        for one in picked
    ]  # fmt: skip


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


def test_json_lines(documents, tmp_path):
    path = write_json_lines(tmp_path / "documents.jsonl", documents)
    found = rates(path, reading=exhaust, json=with_json, tokenised=tokenise)
    assert found["reading"] > 1.2 * found["json"]
    assert found["reading"] > 2 * found["tokenised"]  # it is not reading that takes the time


def test_tsv(documents, tmp_path):
    path = write_tsv(tmp_path / "documents.tsv", documents)
    found = rates(path, reading=exhaust, csv=with_csv, tokenised=tokenise)
    assert found["reading"] > 1.5 * found["csv"]
    assert found["reading"] > 2 * found["tokenised"]


@pytest.mark.data
def test_titles(data_folder, tmp_path):
    examples = []
    for batch in read(data_folder("finna", "finna") / "finna.tsv.gz"):
        examples += zip(batch.texts, batch.labels, strict=True)
        if len(examples) > 30_000:
            break
    path = write_json_lines(tmp_path / "titles.jsonl", examples)
    found = rates(path, reading=exhaust, json=with_json, tokenised=tokenise, sklearn=counted_by_sklearn)
    assert found["reading"] > 2 * found["json"]
    assert found["tokenised"] > 3 * found["sklearn"]
    path = write_tsv(tmp_path / "titles.tsv", examples)
    found = rates(path, reading=exhaust, csv=with_csv, tokenised=tokenise, sklearn=counted_by_sklearn)
    assert found["reading"] > found["csv"]
    assert found["tokenised"] > 3 * found["sklearn"]


@pytest.mark.parametrize("digits", [6, 17])
def test_svmlight_is_read_at_five_times_the_rate_of_scikit_learn(digits, tmp_path):
    from scipy.sparse import random

    rng = np.random.default_rng(0)
    matrix = random(1500, 40_000, 0.002, format="csr", random_state=rng)
    if digits < 17:
        matrix.data = np.round(matrix.data, digits)
    path = tmp_path / f"random-{digits}.svm"
    dump_svmlight_file(matrix, rng.integers(0, 100, 1500), str(path), zero_based=False)

    def ours(path):
        batches = list(read(path))
        return Rows.stack([batch.rows for batch in batches]), [label for batch in batches for label in batch.labels]

    def theirs(path):
        return load_svmlight_file(str(path), multilabel=True)

    mine, other = ours(path)[0].to_matrix(), theirs(path)[0]
    assert (mine != other).nnz == 0
    found = rates(path, reading=ours, sklearn=theirs)
    assert found["reading"] > 5 * found["sklearn"]
