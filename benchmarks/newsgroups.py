"""20 Newsgroups, from raw text to ranked groups, beside scikit-learn in the same run and on one core.

    python benchmarks/newsgroups.py DATA

DATA is a folder that holds 20_newsgroups/<group>/<posting>. Prints a Markdown table; times are the best of a few.
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import shortlist as sl


def best(call, repeats=3):
    """Seconds of processor time of the fastest of a few calls, and what the last one gave."""
    seconds = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        result = call()
        seconds = min(seconds, time.process_time() - began)
    return seconds, result


def main(data: Path) -> None:
    texts, groups = [], []
    for path in sorted((data / "20_newsgroups").glob("*/*")):
        texts.append(path.read_text(encoding="latin-1").partition("\n\n")[2])
        groups.append(path.parent.name)
    groups = np.array(groups)
    order = np.random.default_rng(0).permutation(len(texts))
    train, test = order[: int(0.8 * len(texts))], order[int(0.8 * len(texts)) :]
    sl.Categorizer().learn("to compile", "or load").rank("the kernels")

    rows = []
    ours, _ = best(lambda: sl.TextVectorizer().fit_transform(texts))
    theirs, _ = best(lambda: CountVectorizer().fit_transform(texts), 1)
    rows.append(("texts to counts, all 19,997", "CountVectorizer", ours, theirs))

    text = sl.TextVectorizer(stop_words="english")
    X = text.fit_transform(texts)
    unit = scipy.sparse.csr_matrix(normalize(X))
    ours, learner = best(lambda: sl.FeatureFocus(margin=0.5).fit(X[train], groups[train]))
    theirs, svm = best(lambda: LinearSVC().fit(unit[train], groups[train]), 1)
    rows.append(("learning from counts, 15,997", "LinearSVC", ours, theirs))

    ours, _ = best(lambda: learner.rank(X[test], k=5))
    theirs, _ = best(lambda: svm.decision_function(unit[test]).argsort(axis=1)[:, -5:])
    rows.append(("ranking from counts, 4,000", "LinearSVC", ours, theirs))

    print("| step | shortlist, s | scikit-learn, s | | times faster |\n|---|---|---|---|---|")
    for step, rival, ours, theirs in rows:
        print(f"| {step} | {ours:.3f} | {theirs:.3f} | {rival} | {theirs / ours:.1f} |")
    r1 = learner.score(X[test], groups[test]), svm.score(unit[test], groups[test])
    print(f"\nR1 on the 4,000: shortlist {r1[0]:.3f}, LinearSVC {r1[1]:.3f}.")

    model = sl.Categorizer(sl.FeatureFocus(margin=0.5), text).fit([texts[i] for i in train], groups[train])
    some = [texts[i] for i in test]
    batch, _ = best(lambda: model.learner_._rank_rows(model.text_.rows(some), 5))
    from_rows, _ = best(lambda: learner.rank(X[test], k=5))
    singly, _ = best(lambda: [model.rank(one) for one in some])
    each = 1e6 / len(some)
    print(
        f"Ranking one posting takes {from_rows * each:.0f} µs from its counts in a batch, {batch * each:.0f} µs from "
        f"its text in a batch, {singly * each:.0f} µs from its text through Categorizer.rank."
    )


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(Path(sys.argv[1]))
