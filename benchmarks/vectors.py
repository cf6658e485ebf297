"""Words, a vector, and both: P@1 in per cent on every seventh training text, which is held out.

    python -m benchmarks.vectors DATA VECTORS [SET ...]

DATA has the folder short_texts; VECTORS has for each set a file NAME.train.npy, by any encoder,
with a row for each line of NAME.train.jsonl, and NAME.labels.npy with a row for the name of each
label, in sorted order. Beside ours LogisticRegression(C=10) on the same vectors. None, 1, 5, 10 and
50 texts a label, five draws each, and all texts.
"""

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.running import arguments, per_cent_right, row, show, table
from benchmarks.sets import SHORT, every_seventh, few, short_texts
from shortlist import Categorizer, LabelVocabulary, TunedIndex


class Set:
    """One set: what is learned, and what is held out."""

    def __init__(self, data, vectors, name):
        texts, labels = short_texts(data, name)
        vectors_of, classes = (
            np.load(vectors / f"{name}.train.npy").astype(np.float64),
            sorted(set(labels)),
        )
        self.names = (
            {} if classes[0].isdigit() else {label: f"name of {label}" for label in classes}
        )
        self.known = dict(zip(texts, vectors_of, strict=True)) | {"": np.zeros(vectors_of.shape[1])}
        if self.names:
            self.known |= zip(
                self.names.values(), np.load(vectors / f"{name}.labels.npy"), strict=True
            )
        train, test = every_seventh(len(texts))
        self.train = [(texts[i], labels[i]) for i in train]
        self.tested, self.truth = [texts[i] for i in test], [labels[i] for i in test]

    def encode(self, texts):
        return np.array([self.known[text] for text in texts])

    def named(self, some):
        """How often a model of words, vectors and the names of labels is right."""
        model = Categorizer(encoder=self.encode).set_vocabulary(
            LabelVocabulary.from_names(self.names)
        )
        return self.ranked(model.fit(*zip(*some, strict=True)) if some else model)

    def ranked(self, model, vectors=None):
        return per_cent_right(model.rank(self.tested, 1, vectors=vectors).labels[:, 0], self.truth)

    def ways(self, some):
        texts, labels = zip(*some, strict=True)
        V, new = self.encode(texts), self.encode(self.tested)
        yield self.ranked(Categorizer().fit(texts, labels))
        yield per_cent_right(TunedIndex().fit(V, labels).predict(new), self.truth)
        yield self.ranked(Categorizer().fit(texts, labels, vectors=V), new)
        yield self.named(some) if self.names else np.nan
        yield per_cent_right(
            LogisticRegression(C=10, max_iter=300).fit(V, labels).predict(new), self.truth
        )


def main():
    parser = arguments(__doc__)
    parser.add_argument("vectors", type=Path, metavar="VECTORS")
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SHORT))
    given = parser.parse_args()
    show(
        table(
            ["", "words", "vector", "both", "both, and names", "LogisticRegression on the vector"]
        )
    )
    for name in given.sets:
        of = Set(given.data, given.vectors, name)
        if of.names:
            show(row(f"{name}, no example", "", "", "", f"{of.named([]):.1f}", ""))
        for n in (1, 5, 10, 50, 0):
            draws = [
                few([label for _, label in of.train], n, seed) for seed in range(5 if n else 1)
            ]
            found = np.mean([list(of.ways([of.train[i] for i in draw])) for draw in draws], axis=0)
            figures = ["" if np.isnan(one) else f"{one:.1f}" for one in found]
            show(row(f"{name}, {n} a label" if n else f"{name}, all", *figures))


if __name__ == "__main__":
    main()
