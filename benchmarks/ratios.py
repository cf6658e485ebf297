"""Running times beside those of other tools: ``make bench`` prints them as a table.

    python -m benchmarks.ratios                  # all
    python -m benchmarks.ratios files measures   # some comparisons

Both times of a ratio are taken within one run, so that a busy machine slows both. Times never
decide whether something is wrong, so nothing here fails because a machine is slow or busy; the exit
code is 1 only where a comparison could not run. Comparisons that need a data set that is absent are
left out, and say so.
"""

import csv
import itertools
import json
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse
import sklearn.metrics
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import shortlist as sl
from benchmarks.running import arguments
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from tests.conftest import unpacked

HEAD = f"{'ours: theirs':<56}{'ours, s':>10}{'theirs, s':>11}{'ratio':>9}{'aim':>10}  met"


class Absent(Exception):
    """A data set that a comparison needs is not there."""


class Ratio(NamedTuple):
    """How long we take, how long the other takes, and how many times as long it should take."""

    name: str
    ours: float  # seconds
    theirs: float
    aim: float

    def __str__(self):
        found = self.theirs / self.ours
        times = f"{self.ours:>10.4f}{self.theirs:>11.4f}{found:>9.2f}{self.aim:>10.2g}"
        return f"{self.name:<56}{times}  {'yes' if found >= self.aim else 'NO'}"


def in_turn(*calls, repeats=5):
    """The best time of each call in seconds of processor time, taken in turn, so that all fare
    alike.
    """
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for n, call in enumerate(calls):
            began = time.process_time()
            call()
            best[n] = min(best[n], time.process_time() - began)
    return best


def files():
    """How fast files are read, against what people use now."""
    rng = np.random.default_rng(0)
    words = [
        "".join(map(chr, rng.integers(ord("a"), ord("z") + 1, size)))
        for size in rng.integers(2, 12, 20_000)
    ]
    texts = [" ".join(words[i] for i in rng.zipf(1.2, 180) % 20_000) for _ in range(3000)]
    labels = [[f"label{i}" for i in rng.integers(0, 500, 3)] for _ in texts]
    matrix = scipy.sparse.random(1500, 40_000, 0.002, format="csr", random_state=rng)

    def exhaust(path):
        return lambda: [None for _ in sl.read(path)]

    def in_thousands(examples):  # what a user would do with a plain reader: gather batches
        while list(itertools.islice(examples, 1000)):
            pass

    def with_json():
        with open(lines, encoding="utf-8") as file:
            in_thousands((record["text"], record["labels"]) for record in map(json.loads, file))

    def with_csv():
        with open(tsv, encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            in_thousands((text, own.split()) for own, text in rows)

    with tempfile.TemporaryDirectory() as folder:
        lines, tsv, svm = (Path(folder) / name for name in ("some.jsonl", "some.tsv", "some.svm"))
        both = list(zip(texts, labels, strict=True))
        lines.write_text(
            "".join(json.dumps({"text": text, "labels": own}) + "\n" for text, own in both)
        )
        tsv.write_text("".join(f"{' '.join(own)}\t{text}\n" for text, own in both))
        dump_svmlight_file(matrix, rng.integers(0, 100, 1500), str(svm), zero_based=False)
        yield Ratio("JSON lines, read: json.loads", *in_turn(exhaust(lines), with_json), 1.2)
        yield Ratio("TSV, read: csv.reader", *in_turn(exhaust(tsv), with_csv), 1.5)
        times = in_turn(exhaust(svm), lambda: load_svmlight_file(str(svm), multilabel=True))
        yield Ratio("svmlight: load_svmlight_file", *times, 5)


def newsgroups():
    """Counting words, learning and ranking on 20 Newsgroups."""
    chosen = os.environ.get("SHORTLIST_DATA")
    root = Path(chosen) if chosen else unpacked("20newsgroups-original")
    if root is None or not (root / "20_newsgroups").exists():
        raise Absent(
            "the data set 20_newsgroups is absent; set SHORTLIST_DATA to the folder that holds it"
        )
    paths = sorted((root / "20_newsgroups").glob("*/*"))
    texts = [path.read_text(encoding="latin-1").partition("\n\n")[2] for path in paths]
    groups = [path.parent.name for path in paths]
    sl.TextVectorizer().fit_transform(texts[:100])  # compiled
    (ours,) = in_turn(lambda: sl.TextVectorizer().fit_transform(texts), repeats=3)
    (theirs,) = in_turn(lambda: CountVectorizer().fit_transform(texts), repeats=1)
    yield Ratio("20 Newsgroups, counted: CountVectorizer", ours, theirs, 8)
    X, y = sl.TextVectorizer(stop_words="english").fit_transform(texts), np.array(groups)
    sl.FeatureFocus().fit(X[:100], y[:100])  # compiled
    unit = scipy.sparse.csr_matrix(normalize(X))
    (ours,) = in_turn(lambda: sl.FeatureFocus(margin=0.5).fit(X, y), repeats=3)
    (theirs,) = in_turn(lambda: LinearSVC().fit(unit, y), repeats=1)
    yield Ratio("20 Newsgroups, FeatureFocus: LinearSVC", ours, theirs, 8)
    model, some = sl.Categorizer().fit(texts[::10], groups[::10]), texts[1:20000:100]
    model.rank(some)
    times = in_turn(lambda: [model.rank(text) for text in some], lambda: model.rank(some))
    yield Ratio("ranked one by one: the same in a batch", *times, 0.1)


def measures():
    """Measures against scikit-learn's, which take dense matrices of rows × labels.

    100 labels flatter it: with a million it could hold none of this, and sparse rankings do not
    notice. It gets only the first fifth of the rows, and should take twenty times as long all the
    same.
    """
    n, fifth, n_labels, k = 100_000, 20_000, 100, 10
    names = ["P@10", "recall@10", "nDCG@10", "AP"]
    rng = np.random.default_rng(0)
    scores = np.zeros((n, n_labels))  # of what is not retrieved
    ids = rng.permuted(np.tile(np.arange(n_labels, dtype=np.int32), (n, 1)), axis=1)[:, :k]
    best = np.sort(rng.random((n, k)), axis=1)[:, ::-1]
    np.put_along_axis(scores, ids.astype(np.int64), best, axis=1)
    # three true labels in each row, all of them retrieved
    true = np.ascontiguousarray(ids[:, [0, 3, 7]])
    truth = np.zeros((n, n_labels), dtype=np.int8)
    np.put_along_axis(truth, true.astype(np.int64), 1, axis=1)
    ranking = Ranking(np.ascontiguousarray(ids), np.ascontiguousarray(best), range(n_labels))
    sets = LabelSets(np.arange(0, 3 * n + 1, 3), true.ravel())

    def scikit_learn():
        some, given = truth[:fifth], scores[:fifth] > 0
        sklearn.metrics.precision_score(some, given, average="samples")
        sklearn.metrics.recall_score(some, given, average="samples")
        sklearn.metrics.ndcg_score(some, scores[:fifth], k=k, ignore_ties=True)
        sklearn.metrics.label_ranking_average_precision_score(some, scores[:fifth])

    def ours():
        sl.evaluate(ranking, sets, names, resamples=0)

    ours()  # compiled
    (fast,), (slow,) = in_turn(ours), in_turn(scikit_learn, repeats=1)
    yield Ratio("four measures of 100,000 rankings: sklearn, 20,000", fast, slow, 20)
    (intervals,) = in_turn(lambda: sl.evaluate(ranking, sets, names), repeats=1)
    yield Ratio("the same with intervals: sklearn without, 20,000", intervals, slow, 1)


COMPARISONS = {one.__name__: one for one in (files, newsgroups, measures)}


def main():
    """Run the chosen comparisons; the number of those that could not run."""
    parser = arguments(__doc__, data=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMPARISONS))
    chosen = parser.parse_args().names or list(COMPARISONS)
    print(HEAD)
    failed = 0
    for name in chosen:
        compare = COMPARISONS[name]
        try:
            for ratio in compare():
                print(ratio, flush=True)
        except Absent as reason:
            print(f"{name}: left out, {reason}")
        except Exception:
            failed += 1
            traceback.print_exc()
            print(f"{name}: could not run")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
