"""Short texts with one label each: a panel made of the training parts of sets that have something else.

    python benchmarks/many_intents.py DATA [--draws N] [--few N] [--one-by-one] [SET ...]

What people ask an assistant or a help desk has one of many labels, 50 to 130 examples each, and the sets of it that
are published (77 intents, 150 intents) have ten to fifteen thousand questions. Titles, subject lines and first words of
texts stand beside them, so that no rule is fitted to questions alone: what decides is the mean. DATA has the folders
short_texts, finna, 20newsgroups, reuters21578 and eurlex57k, of which only training parts are read; docstrings are
those of Python's library. A fifth of each set is held out at random, N times. With --few only so many of the texts of
each label are learned. Prints a Markdown table: P@1 in per cent of Categorizer(), of its learner with two passes, and
of LinearSVC as short_texts.py has it, and with --one-by-one of a Categorizer() that has seen one text after the other,
once; processor seconds of training.
"""

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
from few_examples import few
from short_texts import linear_svc, part, tried

import shortlist as sl
from shortlist.inputs.docstrings import docstrings

LETTERS = 200  # of a title, at most


def at_most(pairs, n_examples, n_labels=None, least=1):
    """So many texts of each label, in random order, of so many labels that have at least a number of them."""
    random = np.random.default_rng(0)
    counts = Counter(label for _, label in pairs)
    known = sorted(label for label in counts if counts[label] >= least)
    left = {known[i]: n_examples for i in random.permutation(len(known))[:n_labels]}
    chosen = []
    for i in random.permutation(len(pairs)):
        label = pairs[i][1]
        if left.get(label, 0) > 0:
            left[label] -= 1
            chosen.append(pairs[i])
    return chosen


def short(data, name):
    return list(zip(*part(data / "short_texts", name, "train"), strict=True))


def titles(data):
    """Library titles with one subject."""
    with gzip.open(data / "finna" / "finna.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").partition("\t") for line in lines]
    return [(title, own) for own, _, title in rows if " " not in own and len(title) < LETTERS]


def subjects(data):
    """Subject lines of postings, each once."""
    found = {}
    for path in sorted((data / "20newsgroups" / "20news-bydate-train").glob("*/*")):
        line = re.search(r"^Subject:\s*(?:re:\s*)*(.*)$", path.read_text(encoding="latin-1"), re.I | re.M)
        if line:
            found.setdefault(line[1].lower(), (line[1], path.parent.name))
    return list(found.values())


def laws(data):
    """Titles of laws, with the first of their concepts by name."""
    with open(data / "eurlex57k" / "train.jsonl", encoding="utf-8") as lines:
        own = [json.loads(line) for line in lines]
    return [(law["title"], min(law["labels"])) for law in own]


def documents(path, least=12, **options):
    """Texts of one label that have so many words, on one line."""
    pairs = [pair for batch in sl.read(path, **options) for pair in zip(batch.texts, batch.labels, strict=True)]
    lines = [(" ".join(text.split()), own[0]) for text, own in pairs if len(own) == 1]
    return [(line, label) for line, label in lines if line.count(" ") + 1 >= least]


def postings(data):
    folder = data / "20newsgroups" / "20news-bydate-train"
    return documents(folder, format="folders", encoding="latin-1", headers=False)[::2]


def news(data):
    return at_most(documents(data / "reuters21578", format="reuters", split="train"), 4000, least=10)


def sentences():
    """The first sentences of docstrings, each once, with their modules."""
    texts, modules = docstrings()
    firsts = [re.split(r"(?<=[.!?])\s|\n\s*\n", text.strip())[0][:LETTERS] for text in texts]
    return list(dict(zip(firsts, modules, strict=True)).items())


def cut(pairs, n_words):
    return [(" ".join(text.split()[:n_words]), label) for text, label in pairs]


SETS = {
    "hwu64, 130 a label": lambda data: at_most(short(data, "hwu64"), 130),
    "hwu64, 30 labels, 100 each": lambda data: at_most(short(data, "hwu64"), 100, 30),
    "Finna, 150 subjects, 50 to 100 titles": lambda data: at_most(titles(data), 100, 150, 50),
    "Finna, 77 subjects, 50 to 130 titles": lambda data: at_most(titles(data), 130, 77, 50),
    "EURLEX57K, titles, 100 a label": lambda data: at_most(laws(data), 100, least=100),
    "stackoverflow, 100 a label": lambda data: at_most(short(data, "stackoverflow"), 100),
    "stackoverflow, 250 a label": lambda data: at_most(short(data, "stackoverflow"), 250),
    "dbpedia, six words, 300 a label": lambda data: at_most(cut(short(data, "dbpedia"), 6), 300),
    "dbpedia, twelve words, 300 a label": lambda data: at_most(cut(short(data, "dbpedia"), 12), 300),
    "newsgroups, subject lines": subjects,
    "newsgroups, six words": lambda data: cut(postings(data), 6),
    "newsgroups, twelve words": lambda data: cut(postings(data), 12),
    "Reuters-21578, six words": lambda data: cut(news(data), 6),
    "Reuters-21578, twelve words": lambda data: cut(news(data), 12),
    "docstrings, first sentences": lambda data: at_most(sentences(), 150, least=20),
}


def split(pairs, seed):
    order = np.random.default_rng(seed).permutation(len(pairs))
    held_out, rest = np.split(order, [len(order) // 5])
    return [tuple(map(list, zip(*(pairs[i] for i in some), strict=True))) for some in (rest, held_out)]


class OneByOne(sl.Categorizer):
    def fit(self, texts, labels):
        for text, label in zip(texts, labels, strict=True):
            self.learn(text, label)
        return self


def main(data, names, draws, n_of_a_label, one_by_one):
    tools = {
        "Categorizer()": sl.Categorizer,
        "two passes": lambda: sl.Categorizer(sl.TunedIndex(passes=2)),
        "LinearSVC": linear_svc,
    } | ({"one by one": OneByOne} if one_by_one else {})
    print(f"| set | to train | labels | {' | '.join(tools)} | seconds |\n|---|{'--:|' * (3 + len(tools))}")
    rows = []
    for name in names or SETS:
        pairs = SETS[name](data)
        texts, labels = zip(*pairs, strict=True)
        sl.Categorizer().fit(list(texts), list(labels)).predict(texts)  # compiled and loaded before it is timed
        found = []
        for seed in range(draws):
            train, test = split(pairs, seed)
            train = few(train, n_of_a_label, seed) if n_of_a_label else train
            found.append([tried(tool(), train, test)[:2] for tool in tools.values()])
        right, seconds = np.mean(found, axis=0).T
        rows.append(right)
        figures = " | ".join(f"{100 * share:.1f}" for share in right)
        taken = " / ".join(f"{one:.2f}" for one in seconds)
        print(f"| {name} | {len(train[1]):,} | {len(set(train[1]))} | {figures} | {taken} |", flush=True)
    print(f"| mean | | | {' | '.join(f'{100 * share:.2f}' for share in np.mean(rows, axis=0))} | |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--few", type=int, help="texts of each label to learn, at most; all if it is not given")
    parser.add_argument("--one-by-one", action="store_true")
    parser.add_argument("sets", nargs="*", metavar="SET")
    given = parser.parse_intermixed_args()
    main(given.data, given.sets, given.draws, given.few, given.one_by_one)
