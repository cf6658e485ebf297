"""What it costs to know how sure a model is: processor time with and without, in one run.

    python benchmarks/confidence_cost.py DATA [SET ...]

DATA is a folder with the sets in their publishers' layout; the sets are those of confidence.py that hold texts. Prints
the least of some times of each verb, and how much longer it takes; beside it, how much longer if the learner is asked
ahead of each piece of a stream, as it is where it cannot rank on the way. ``rank`` ranks one text after the other.
"""

import sys
import time
from pathlib import Path

from confidence import SETS

import shortlist as sl
from shortlist.models import categorizer
from shortlist.models.observing import FirstPass, learn_rows

USUAL = ("hwu64", "snips", "dbpedia", "stackoverflow", "reuters")
REPEATS, ONE_BY_ONE = 3, 2000  # texts that are learned, or ranked, one by one
WITHOUT, ON_THE_WAY, AHEAD = WAYS = ("without", "on the way", "ahead")


class Blind(FirstPass):
    """Ranks nothing ahead."""

    def __call__(self, learner, rows, labels, order):
        yield order


def learn_blindly(learner, rows, labels, notes):
    learner._learn_rows(rows, labels)


def observing(way):
    categorizer.FirstPass, categorizer.learn_rows = (
        (Blind, learn_blindly) if way == WITHOUT else (FirstPass, learn_rows)
    )
    sl.TunedIndex.ranks_ahead = way == ON_THE_WAY


def one_by_one(model, texts, labels):
    for text, own in zip(texts, labels, strict=True):
        model.learn(text, own)


def verbs(texts, labels, new):
    """By its name, each verb as what is made ready and what is timed."""
    some, more = slice(ONE_BY_ONE), slice(ONE_BY_ONE, 2 * ONE_BY_ONE)

    def begun():
        return sl.Categorizer().learn_many(texts[some], labels[some])

    return {
        "fit": (sl.Categorizer, lambda model: model.fit(texts, labels)),
        "learn_many": (sl.Categorizer, lambda model: model.learn_many(texts, labels)),
        "learn": (begun, lambda model: one_by_one(model, texts[more], labels[more])),
        "rank": (lambda: sl.Categorizer().fit(texts, labels), lambda model: [model.rank(text) for text in new]),
    }


def measure(name, data):
    (texts, labels), (new, _) = SETS[name](data)
    for verb, (ready, work) in verbs(texts, labels, new[:ONE_BY_ONE]).items():
        taken = {way: [] for way in WAYS}
        for _ in range(REPEATS + 1):  # the first one compiles
            for way in WAYS:
                observing(way)
                model = ready()
                began = time.process_time()
                work(model)
                taken[way].append(time.process_time() - began)
        least = {way: min(taken[way][1:]) for way in WAYS}
        longer = [f"{100 * (least[way] / least[WITHOUT] - 1):+.1f} %" for way in (ON_THE_WAY, AHEAD)]
        print(
            f"| {name} | {verb} | {least[WITHOUT]:.3f} | {least[ON_THE_WAY]:.3f} | {' | '.join(longer)} |", flush=True
        )


if __name__ == "__main__":
    folder, *chosen = sys.argv[1:]
    print("| | | without, s | with, s | | if asked ahead |\n|---|---|---|---|---|---|")
    for one in chosen or USUAL:
        measure(one, Path(folder))
