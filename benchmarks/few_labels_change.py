"""Streams in which a few labels change their meaning half-way: how soon they are known again.

    python benchmarks/few_labels_change.py [--draws N] DATA [SET ...]

The sets of many_intents.py, in random order, and the generated texts of drift.py with 20 topics. Some labels are drawn
at random, and from the middle of the stream on

    swap 2, swap 6   the texts of each of two (six) labels have the label of another of them;
    takes over       the texts of three labels have the label of another one each, which has its own as well;
    splits           the texts of three labels, which had the label of another one each, have a label of their own.

Each text is ranked, then learned, ten at a time. Prints a Markdown table, by set: P@1 of texts that have another label
than before, their first 20 of each label after the change, those after that, and P@1 of all texts that are as they
were, after the change; for Categorizer() and for one that goes through each example once.
"""

import argparse
from pathlib import Path

import numpy as np
from drift import generated
from many_intents import SETS

import shortlist as sl

BATCH, FIRST = 10, 20
LEARNERS = {"Categorizer()": sl.Categorizer, "each once": lambda: sl.Categorizer(sl.TunedIndex(passes=2))}


def swapped(n):
    def draw(known, random):
        some = list(random.permutation(known)[:n])
        return dict(zip(some, some[1:] + some[:1], strict=True)), {}

    return draw


def taken_over(known, random):
    some = list(random.permutation(known)[:6])
    return dict(zip(some[:3], some[3:], strict=True)), {}


def split_in_two(known, random):
    return {}, taken_over(known, random)[0]


CHANGES = {"swap 2": swapped(2), "swap 6": swapped(6), "takes over": taken_over, "splits": split_in_two}


def stream(pairs, draw, seed):
    """Texts, their labels, and whether each one has another label than it had before the change."""
    random = np.random.default_rng(seed)
    pairs = [pairs[i] for i in random.permutation(len(pairs))]
    after, before = draw(sorted({label for _, label in pairs}), random)
    half = len(pairs) // 2
    labels = [(before if i < half else after).get(label, label) for i, (_, label) in enumerate(pairs)]
    moved = [i >= half and label in (after or before) for i, (_, label) in enumerate(pairs)]
    return [text for text, _ in pairs], labels, np.array(moved)


def hits_of(model, texts, labels):
    hits = np.zeros(len(texts), dtype=bool)
    for first in range(0, len(texts), BATCH):
        some, own = texts[first : first + BATCH], labels[first : first + BATCH]
        if first:
            hits[first : first + BATCH] = [best == y for best, y in zip(model.predict(some), own, strict=True)]
        model.learn_many(some, own)
    return hits


def turns(labels, moved):
    """Of each text whose label has changed, how many of its new label have come before it."""
    seen, found = {}, np.full(len(labels), -1)
    for i in np.flatnonzero(moved):
        found[i] = seen.get(labels[i], 0)
        seen[labels[i]] = found[i] + 1
    return found


def measured(pairs, draw, seeds):
    found = []
    for seed in seeds:
        texts, labels, moved = stream(pairs, draw, seed)
        turn, others = turns(labels, moved), ~moved & (np.arange(len(labels)) >= len(labels) // 2)
        parts = (turn >= 0) & (turn < FIRST), turn >= FIRST, others
        hits = [hits_of(make(), texts, labels) for make in LEARNERS.values()]
        found.append([[own[part].mean() for part in parts] for own in hits])
    return 100 * np.mean(found, axis=0)


def of_topics(data):
    texts, labels, _ = generated(data, n=8_000, topics=20)
    half = len(texts) // 2
    back = {f"label{(t + 1) % 20}": f"label{t}" for t in range(20)}
    return list(zip(texts, [own[0] if i < half else back[own[0]] for i, own in enumerate(labels)], strict=True))


ALL = {"generated, 20 topics": of_topics} | SETS


def main(data, names, draws):
    print(f"| set | change | {' | | | '.join(LEARNERS)} | | |\n|---|---|{'--:|' * 3 * len(LEARNERS)}")
    rows = []
    for name in names or ALL:
        pairs = ALL[name](data)
        for change, draw in CHANGES.items():
            rows.append(measured(pairs, draw, range(draws)))
            print(f"| {name} | {change} | {' | '.join(f'{value:.1f}' for value in rows[-1].ravel())} |", flush=True)
    print(f"| mean | | {' | '.join(f'{value:.1f}' for value in np.mean(rows, axis=0).ravel())} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"one of: {'; '.join(ALL)}")
    options = parser.parse_args()
    unknown = set(options.sets) - set(ALL)
    if unknown:
        parser.error(f"{sorted(unknown)[0]} is not a set; take one of: {'; '.join(ALL)}")
    main(options.data, options.sets, options.draws)
