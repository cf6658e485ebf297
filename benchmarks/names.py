"""What the names of labels bring with an encoder: P@1 in per cent, means of three draws.

    python -m benchmarks.names DATA [--encoder all-MiniLM-L6-v2]

DATA has the folders short_texts, 20newsgroups and reuters21578. First: 1, 5 and 20 texts of each
label learned with and without names, of newsgroups and Reuters the first 1,500 letters; of Reuters
the texts with one of the topics that have
15. Then a half of the labels of hwu64 and snips is known by name alone and of each other label 5,
    20 and 100 texts are
learned: for texts of the unused labels P@1 and how often the right label is among the first five,
and P@1 for the others. Every seventh training text is held out, and 1,000 of these at most are
ranked.
"""

from collections import Counter

import numpy as np

from benchmarks.running import arguments, per_cent_right, row, show, table
from benchmarks.sets import every_seventh, few, newsgroups, reuters, short_texts
from shortlist import Categorizer, LabelVocabulary
from shortlist.encoders import load_encoder
from shortlist.models.encoding import names_of

LETTERS, RANKED, MEMBERS, DRAWS = 1500, 1000, 15, 3


def single(part):
    """The texts with one label, cut short."""
    pairs = [(text[:LETTERS], own[0]) for text, own in zip(*part, strict=True) if len(own) == 1]
    count = Counter(label for _, label in pairs)
    return [(text, label) for text, label in pairs if count[label] >= MEMBERS]


SETS = {
    "newsgroups": lambda data: single(newsgroups(data)[0]),
    "reuters": lambda data: single(reuters(data)[0]),
    "hwu64": lambda data: list(zip(*short_texts(data, "hwu64"), strict=True)),
    "snips": lambda data: list(zip(*short_texts(data, "snips"), strict=True)),
}


class Remembering:
    """An encoder that encodes no text twice."""

    def __init__(self, name):
        self.encoder, self.known = load_encoder(name), {}

    def __call__(self, texts):
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.known |= zip(new, self.encoder(new), strict=True)
        return np.array([self.known[text] for text in texts])


def parted(pairs):
    """What may be learned, and what is ranked."""
    train, test = every_seventh(len(pairs))
    ranked = np.random.default_rng(0).permutation(test)[:RANKED]
    return [pairs[i] for i in train], [pairs[i] for i in ranked]


def drawn(train, n, seed):
    return [train[i] for i in few([label for _, label in train], n, seed)]


def with_and_without(train, test, n, encode):
    asked, truth = zip(*test, strict=True)
    found = []
    for seed in range(DRAWS):
        texts, labels = zip(*drawn(train, n, seed), strict=True)
        plain = Categorizer().fit(texts, labels, vectors=encode(texts))
        named = Categorizer(encoder=encode).fit(texts, labels)
        ranked = plain.rank(asked, 1, vectors=encode(asked)), named.rank(asked, 1)
        found.append([per_cent_right(one.labels[:, 0], truth) for one in ranked])
    return np.mean(found, axis=0)


def half_unused(train, test, n, encode):
    labels = sorted({label for _, label in train})
    names = LabelVocabulary.from_names({label: names_of(None, label)[0] for label in labels})
    asked, truth = zip(*test, strict=True)
    found = []
    for seed in range(DRAWS):
        unused = set(np.random.default_rng(seed).permutation(labels)[: len(labels) // 2].tolist())
        some = drawn([pair for pair in train if pair[1] not in unused], n, seed)
        model = Categorizer(encoder=encode).set_vocabulary(names).fit(*zip(*some, strict=True))
        hits = model.rank(asked, 5).labels == np.array(truth, dtype=object)[:, None]
        new = np.array([label in unused for label in truth])
        found.append([hits[new, 0].mean(), hits[new].any(axis=1).mean(), hits[~new, 0].mean()])
    return 100 * np.mean(found, axis=0)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    asked = parser.parse_args()
    encode = Remembering(asked.encoder)
    sets = {name: parted(read(asked.data)) for name, read in SETS.items()}
    show(table(["", "words and vector", "and names"]))
    for name, (train, test) in sets.items():
        for n in (1, 5, 20):
            figures = with_and_without(train, test, n, encode)
            show(row(f"{name}, {n} a label", *(f"{value:.1f}" for value in figures)))
    show(
        "\n"
        + table(["half of the labels unused", "texts of these", "in the first five", "other texts"])
    )
    for name in ("hwu64", "snips"):
        for n in (5, 20, 100):
            show(
                row(
                    f"{name}, {n} a label",
                    *(f"{value:.1f}" for value in half_unused(*sets[name], n, encode)),
                )
            )


if __name__ == "__main__":
    main()
