"""Words, a vector, and both: P@1 in per cent on every seventh training text, which is held out.

    python -m benchmarks.vectors DATA VECTORS [SET ...]

DATA has the folder short_texts; VECTORS has for each set a file NAME.train.npy, by any encoder, with a row for each
line of NAME.train.jsonl, and NAME.labels.npy with a row for the name of each label, in sorted order. Beside ours
LogisticRegression(C=10) on the same vectors. None, 1, 5, 10 and 50 texts a label, five draws each, and all texts.
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.linear_model import LogisticRegression

from benchmarks.ablation import SHORT, loaded, precision
from shortlist import TunedIndex


def few(Y, n, seed):
    """n examples of each label, at most, in random order; all, if n is 0."""
    left, chosen = {}, []
    for i in np.random.default_rng(seed).permutation(len(Y)):
        left[Y[i][0]] = left.get(Y[i][0], n or len(Y)) - 1
        if left[Y[i][0]] >= 0:
            chosen.append(i)
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SHORT))
    given = parser.parse_args()
    print("| | words | vector | both | both, and names | LogisticRegression on the vector |\n|---|" + "--:|" * 5)
    for name in given.sets:
        X, Y, new, truth = loaded(given.data, name)
        V = np.load(given.vectors / f"{name}.train.npy").astype(np.float64)
        names = sorted({label for own in Y for label in own}), np.load(given.vectors / f"{name}.labels.npy")
        held_out = np.arange(len(V)) % 7 == 6
        V, new_V = V[~held_out], V[held_out]
        both, new_both = (scipy.sparse.hstack(pair).tocsr() for pair in ((V, X), (new_V, new)))
        named = TunedIndex(vector=V.shape[1])
        if not names[0][0].isdigit():  # a number is no name
            named.name_labels(*names)
            print(f"| {name}, no example | | | | {precision(named, new_both, truth)[0]:.1f} | |", flush=True)
        for n in (1, 5, 10, 50, 0):
            found = []
            for seed in range(5 if n else 1):
                some = few(Y, n, seed)
                own = [Y[i] for i in some]
                rival = LogisticRegression(C=10, max_iter=300).fit(V[some], [labels[0] for labels in own])
                found.append([
                    precision(TunedIndex().fit(X[some], own), new, truth)[0],
                    precision(TunedIndex().fit(V[some], own), new_V, truth)[0],
                    precision(TunedIndex(vector=V.shape[1]).fit(both[some], own), new_both, truth)[0],
                    precision(named.fit(both[some], own), new_both, truth)[0],
                    100 * np.mean([one in labels for one, labels in zip(rival.predict(new_V), truth, strict=True)]),
                ])  # fmt: skip
            figures = " | ".join(f"{one:.1f}" for one in np.mean(found, axis=0))
            print(f"| {name}, {f'{n} a label' if n else 'all'} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
