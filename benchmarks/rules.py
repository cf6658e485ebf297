"""What rules cost a request: 25,147 subjects of finna's titles, microseconds for one title whose rules are new, for one
whose rules were asked before, and for one of a batch.

python -m benchmarks.rules [titles to learn]
"""

from __future__ import annotations

import gzip
import os
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np

from shortlist import Categorizer, LabelVocabulary, Rules, read_vocabulary
from shortlist.concepts.vocabulary import Concept

ASKED, ROUNDS = 300, 3


def titles(n: int) -> tuple[list[str], list[list[str]]]:
    path = Path(os.environ["SHORTLIST_DATA"]) / "finna" / "finna.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in islice(lines, n)]
    return [title for _, title in pairs], [own.split() for own, _ in pairs]


def main() -> None:
    texts, labels = titles(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    folder = Path(os.environ["SHORTLIST_DATA"]) / "finna"
    names = read_vocabulary(folder / "finna-labels.tsv.gz")
    # The set has no hierarchy: one is made up, of a hundred kinds.
    every = [Concept(one.label, one.name, (), (f"kind {n % 100}",)) for n, one in enumerate(names)]
    kinds = [Concept(f"kind {n}", f"kind {n}") for n in range(100)]
    model = Categorizer().fit(texts[ASKED:], labels[ASKED:]).set_vocabulary(LabelVocabulary(every + kinds))
    known = [names.concepts[label].label for label in names.concepts]
    model.learner_._expect_labels([[label] for label in known if not model._knows(label)])
    print(f"{len(texts) - ASKED:,} titles learned, {len(model.classes_):,} labels")
    some = np.random.default_rng(0).permutation(model.classes_).tolist()
    ways = {
        "no rules": None,
        "only 100": Rules(only=some[:100]),
        "only 10,000": Rules(only=some[:10_000]),
        "all but 10": Rules(but=some[:10]),
        "below a concept of 250": Rules(below=["kind 7"]),
        "at most 1 of each of 3 kinds": Rules(at_most={"kind 1": 1, "kind 2": 1, "kind 3": 1}),
        "prior": Rules(prior=0.05),
    }
    took: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, rules in ways.items():  # in turns, so that all see the same machine
            times = [time.process_time()]
            for text in texts[:ASKED]:
                model._known_rules = None
                model.rank(text, 10, rules)
            times.append(time.process_time())
            for text in texts[:ASKED]:
                model.rank(text, 10, rules)
            times.append(time.process_time())
            model.rank(texts[:ASKED], 10, rules)
            times.append(time.process_time())
            took[name].append(tuple(np.diff(times).tolist()))
    model.set_rules(Rules(only=some[:10_000])).rank(texts[0], 10)
    began = time.process_time()
    for n, text in enumerate(texts[:ASKED]):
        model.rank(text, 10, Rules(but=some[n : n + 10]))
    beside = 1e6 * (time.process_time() - began) / ASKED
    for name, found in took.items():
        new, again, batch = (1e6 * np.min(found, axis=0) / ASKED).tolist()
        print(f"{name:30} new {new:7.0f} µs   again {again:5.0f} µs   in a batch {batch:5.1f} µs")
    print(f"all but 10, new each time, beside saved rules of only 10,000: {beside:.0f} µs")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main()
