"""Words, a vector, and both: P@1 in per cent on every seventh training text, which is held out.

    python -m benchmarks.vectors DATA VECTORS [SET ...]

DATA has the folder short_texts; VECTORS has for each set a file NAME.train.npy, by any encoder, with a row for each
line of NAME.train.jsonl, and NAME.labels.npy with a row for the name of each label, in sorted order. Beside ours
LogisticRegression(C=10) on the same vectors. None, 1, 5, 10 and 50 texts a label, five draws each, and all texts.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from shortlist import Categorizer, LabelVocabulary, TunedIndex

SETS = ("hwu64", "snips", "stackoverflow", "dbpedia")


def few(Y, n, seed):
    """n examples of each label, at most, in random order; all, if n is 0."""
    left, chosen = {}, []
    for i in np.random.default_rng(seed).permutation(len(Y)):
        left[Y[i]] = left.get(Y[i], n or len(Y)) - 1
        if left[Y[i]] >= 0:
            chosen.append(i)
    return chosen


class Set:
    """One set: what is learned, and what is held out."""

    def __init__(self, data: Path, vectors: Path, name: str) -> None:
        lines = (data / "short_texts" / f"{name}.train.jsonl").read_text(encoding="utf-8").splitlines()
        pairs = [(row["text"], row.get("label") or row["labels"][0]) for row in map(json.loads, lines)]
        vectors_of = np.load(vectors / f"{name}.train.npy").astype(np.float64)
        labels = sorted({label for _, label in pairs})
        self.names = {} if labels[0].isdigit() else {label: f"name of {label}" for label in labels}
        self.known = dict(zip([text for text, _ in pairs], vectors_of, strict=True))
        self.known |= {"": np.zeros(vectors_of.shape[1])} | dict(
            zip(self.names.values(), np.load(vectors / f"{name}.labels.npy"), strict=False)
        )
        held_out = np.arange(len(pairs)) % 7 == 6
        self.train = [pair for pair, out in zip(pairs, held_out, strict=True) if not out]
        self.test = [pair for pair, out in zip(pairs, held_out, strict=True) if out]

    def encode(self, texts):
        return np.array([self.known[text] for text in texts])

    def right(self, found) -> float:
        return 100 * np.mean([own == true for own, (_, true) in zip(found, self.test, strict=True)])

    def learned(self, some, *, names: bool = False):
        """A model of words and vectors."""
        model = Categorizer(encoder=self.encode)
        if names:
            model.set_vocabulary(LabelVocabulary.from_names(self.names))
        return model.fit(*zip(*some, strict=True)) if some else model

    def ranked(self, model) -> float:
        return self.right(model.rank([text for text, _ in self.test], 1).labels[:, 0])

    def ways(self, some):
        texts, labels = zip(*some, strict=True)
        V, new = self.encode(texts), self.encode([text for text, _ in self.test])
        yield self.ranked(Categorizer().fit(texts, labels))
        yield self.right(TunedIndex().fit(V, labels).predict(new))
        yield self.ranked(self.learned(some))
        yield self.ranked(self.learned(some, names=True)) if self.names else np.nan
        yield self.right(LogisticRegression(C=10, max_iter=300).fit(V, labels).predict(new))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SETS))
    given = parser.parse_args()
    print("| | words | vector | both | both, and names | LogisticRegression on the vector |\n|---|" + "--:|" * 5)
    for name in given.sets:
        of = Set(given.data, given.vectors, name)
        if of.names:
            print(f"| {name}, no example | | | | {of.ranked(of.learned([], names=True)):.1f} | |", flush=True)
        for n in (1, 5, 10, 50, 0):
            draws = [few([label for _, label in of.train], n, seed) for seed in range(5 if n else 1)]
            found = np.mean([list(of.ways([of.train[i] for i in draw])) for draw in draws], axis=0)
            figures = " | ".join("" if np.isnan(one) else f"{one:.1f}" for one in found)
            print(f"| {name}, {f'{n} a label' if n else 'all'} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
