"""Words, a vector, and both: Categorizer beside scikit-learn's linear classifiers on the same three inputs, in one run.

    python benchmarks/vectors.py DATA VECTORS [--validation] [--alone] [--quick] [--few] [SET ...]

DATA has the folders short_texts, 20newsgroups and reuters21578. VECTORS has, made by whatever encoder, SET.train.npy
and SET.test.npy: a row for each text, in order. Of each label 5, 10 and 50 training texts are drawn, five times each,
the same for all tools; then all are taken. P@1 in per cent on the test part and the seconds of processor
time to fit, on average over the draws; the deviation of P@1 between draws; and by how much both together are ahead of
the better of the two alone, and of the better one of scikit-learn's on both, with the standard error of that.
scikit-learn has tf-idf of words (and of pairs and characters where texts are short), the vectors of unit length, and
both side by side. With --validation every seventh training text is tested on, and no test part is read. With --alone
only shortlist is run, with --quick LogisticRegression learns no more than 50 texts a label, with --few nobody does.
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
DRAWS = {5: 5, 10: 5, 50: 5}
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


def few(labels, n, draw=0):
    """The places of examples, n of each label as far as there are any; all if n is None. In random order."""
    seen, chosen = {}, []
    for place in np.random.default_rng(draw).permutation(len(labels)):
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


def tried(parts, n, name, rivals):
    """P@1 and seconds of each draw, tool and input: float64[draws, tools, 3, 2]."""
    texts, Y, V, new, truth, new_V = parts
    found = []
    for draw in range(DRAWS.get(n, 1)):
        chosen = few(Y, n, draw)
        some, own, own_V = [texts[i] for i in chosen], [Y[i] for i in chosen], V[chosen]
        tools = [list(ours(some, own_V, own, new, new_V, truth))]
        inputs = rows_of(some, own_V, new, new_V, name in SHORT) if rivals else ()
        tools += [list(theirs(rival(), inputs, own, truth)) for rival in rivals]
        found.append(tools)
    return np.array(found), len(chosen)


def figures(values):
    return ", ".join(f"{value:.1f}" for value in values)


def ahead(ours, others):
    """How far ahead of the best of the others, who have P@1 of [draws, others]; with the standard error."""
    lead = ours - others[:, others.mean(axis=0).argmax()]
    error = f" ± {lead.std(ddof=1) / np.sqrt(lead.size):.1f}" if lead.size > 1 else ""
    return f"{lead.mean():+.1f}{error}"


def main(data, folder, names, validation, alone, quick, only_few):
    warnings.simplefilter("ignore", ConvergenceWarning)  # 100 steps have to do for LogisticRegression
    sl.Categorizer().fit(["a b", "c d"], ["x", "y"], vectors=np.eye(2)).rank(["a"], vectors=[[1.0, 2.0]])
    sl.TunedVectors().fit(np.eye(2), ["x", "y"]).rank(np.eye(2))
    columns = ["set, examples a label", "words, vector, both", "deviation", "ahead of one alone", "fit, s"]
    rivals = {} if alone else {"LinearSVC": LinearSVC, "LogisticRegression": lambda: LogisticRegression(C=10)}
    columns += [title for name in rivals for title in (name, f"{name}, fit, s")] + ["ahead of scikit-learn"] * bool(
        rivals
    )
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for n in [n for n in SIZES if n in DRAWS or not only_few]:
        for name in names or SETS:
            own_rivals = list(rivals.values())[: 1 if quick and n is None else None]
            found, n_rows = tried(parts_of(data, folder, name, validation), n, name, own_rivals)
            right, seconds = found[..., 0], found[..., 1].mean(axis=0)
            both = right[:, 0, 2]
            deviation = figures(right[:, 0].std(axis=0, ddof=1)) if len(right) > 1 else ""
            cells = [figures(right[:, 0].mean(axis=0)), deviation, ahead(both, right[:, 0, :2])]
            cells.append(", ".join(f"{s:.2f}" for s in seconds[0]))
            for rival in range(1, len(rivals) + 1):
                known = rival < right.shape[1]
                cells.append(figures(right[:, rival].mean(axis=0)) if known else "")
                cells.append(", ".join(f"{s:.2f}" for s in seconds[rival]) if known else "")
            if rivals:
                cells.append(ahead(both, right[:, 1:, 2]))
            print(f"| {name}, {n or f'all {n_rows:,}'} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    given = [one for one in sys.argv[1:] if not one.startswith("--")]
    flags = [flag in sys.argv for flag in ("--validation", "--alone", "--quick", "--few")]
    main(Path(given[0]), Path(given[1]), given[2:], *flags)
