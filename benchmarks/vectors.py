"""Words, a vector, and both: Categorizer beside scikit-learn's linear classifiers on the same three inputs, in one run.

    python benchmarks/vectors.py DATA VECTORS [--validation] [--alone] [--quick] [SET ...]

DATA has the folders short_texts, 20newsgroups and reuters21578. VECTORS has, made by whatever encoder, SET.train.npy
and SET.test.npy: a row for each text, in order. Of each label 5, 10 and 50 training texts are drawn, then all are
taken; P@1 in per cent on the test part, and the seconds of processor time to fit. scikit-learn has tf-idf of words (and
of pairs and characters where texts are short), the vectors of unit length, and both side by side. With --validation
every seventh training text is tested on, and no test part is read. With --alone only shortlist is run,
with --quick LogisticRegression learns no more than 50 texts a label.
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from short_texts import SETS as SHORT
from short_texts import part
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_union
from sklearn.preprocessing import MultiLabelBinarizer, normalize
from sklearn.svm import LinearSVC

import shortlist as sl

SIZES = (5, 10, 50, None)
LONG = {
    "newsgroups": lambda data, which: read(
        data / "20newsgroups" / f"20news-bydate-{which}", format="folders", encoding="latin-1", headers=False
    ),
    "reuters": lambda data, which: read(data / "reuters21578", format="reuters", split=which),
}
SETS = (*SHORT, *LONG)


def read(path, **options):
    pairs = [(text, own) for b in sl.read(path, **options) for text, own in zip(b.texts, b.labels, strict=True) if own]
    return [text for text, _ in pairs], [own for _, own in pairs]


def load(data, name, which):
    """Texts and their label lists."""
    if name in LONG:
        return LONG[name](data, which)
    texts, labels = part(data / "short_texts", name, which)
    return texts, [[label] for label in labels]


def few(labels, n):
    """The places of examples, n of each label as far as there are any; all if n is None. In random order."""
    seen, chosen = {}, []
    for place in np.random.default_rng(0).permutation(len(labels)):
        if n is None or any(seen.get(label, 0) < n for label in labels[place]):
            chosen.append(place)
            for label in labels[place]:
                seen[label] = seen.get(label, 0) + 1
    return chosen


def right(best, truth):
    return 100 * np.mean([label in own for label, own in zip(best, truth, strict=True)])


def ours(texts, V, Y, new, new_V, truth):
    """P@1 and the seconds of fitting: words, vector, both."""
    for learn, rank in (
        (lambda: sl.Categorizer().fit(texts, Y), lambda model: model.rank(new, 1)),
        (lambda: sl.TunedVectors().fit(V, Y), lambda model: model.rank(new_V, 1)),
        (lambda: sl.Categorizer().fit(texts, Y, vectors=V), lambda model: model.rank(new, 1, vectors=new_V)),
    ):
        began = time.process_time()
        model = learn()
        taken = time.process_time() - began
        yield right(rank(model).labels[:, 0], truth), taken


def theirs(classifier, inputs, Y, truth):
    several = any(len(own) > 1 for own in Y)
    for X, new in inputs:
        began = time.process_time()
        if several:
            binarizer = MultiLabelBinarizer()
            if isinstance(classifier, LogisticRegression):
                classifier = LogisticRegression(C=10, solver="liblinear")
            model = OneVsRestClassifier(classifier).fit(X, binarizer.fit_transform(Y))
            names = binarizer.classes_
        else:
            model = classifier.fit(X, [own[0] for own in Y])
            names = model.classes_
        taken = time.process_time() - began
        scores = model.decision_function(new)
        best = names[(scores > 0).astype(int)] if scores.ndim == 1 else names[scores.argmax(axis=1)]
        yield right(best, truth), taken


def rows_of(texts, V, new, new_V, short):
    """scikit-learn's three inputs, to learn from and to answer."""
    parts = [TfidfVectorizer(ngram_range=(1, 2 if short else 1), sublinear_tf=True)]
    if short:
        parts.append(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True))
    union = make_union(*parts)
    words = normalize(union.fit_transform(texts)), normalize(union.transform(new))
    vectors = normalize(V), normalize(new_V)
    both = [scipy.sparse.csr_matrix(scipy.sparse.hstack(pair)) for pair in zip(words, vectors, strict=True)]
    return words, vectors, both


def parts_of(data, folder, name, validation):
    """Texts, labels and vectors to learn from, then those to answer."""
    texts, Y = load(data, name, "train")
    V = np.load(folder / f"{name}.train.npy").astype(np.float64)
    if not validation:
        return texts, Y, V, *load(data, name, "test"), np.load(folder / f"{name}.test.npy").astype(np.float64)
    held, kept = (np.flatnonzero((np.arange(len(Y)) % 7 == 6) == answer) for answer in (True, False))
    chosen = [([texts[i] for i in some], [Y[i] for i in some], V[some]) for some in (kept, held)]
    return *chosen[0], *chosen[1]


def main(data, folder, names, validation, alone, quick):
    warnings.simplefilter("ignore", ConvergenceWarning)  # 100 steps have to do for LogisticRegression
    sl.Categorizer().fit(["a b", "c d"], ["x", "y"], vectors=np.eye(2)).rank(["a"], vectors=[[1.0, 2.0]])
    sl.TunedVectors().fit(np.eye(2), ["x", "y"]).rank(np.eye(2))
    rivals = [] if alone else ["LinearSVC", "LinearSVC, fit, s", "LogisticRegression", "LogisticRegression, fit, s"]
    columns = ["set, examples a label", "words, vector, both", "fit, s", *rivals]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for n in SIZES:
        for name in names or SETS:
            texts, Y, V, new, truth, new_V = parts_of(data, folder, name, validation)
            chosen = few(Y, n)
            some, own, own_V = [texts[i] for i in chosen], [Y[i] for i in chosen], V[chosen]
            tools = [ours(some, own_V, own, new, new_V, truth)]
            if not alone:
                inputs = rows_of(some, own_V, new, new_V, name in SHORT)
                tools.append(theirs(LinearSVC(), inputs, own, truth))
                if n or not quick:
                    tools.append(theirs(LogisticRegression(C=10), inputs, own, truth))
            cells = []
            for tool in tools:
                found = list(tool)
                cells += [", ".join(f"{p:.1f}" for p, _ in found), ", ".join(f"{s:.2f}" for _, s in found)]
            cells += [""] * (len(columns) - 1 - len(cells))
            print(f"| {name}, {n or f'all {len(chosen):,}'} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if not one.startswith("--")]
    flags = [flag in sys.argv for flag in ("--validation", "--alone", "--quick")]
    main(Path(given[0]), Path(given[1]), given[2:], *flags)
