"""What it costs to know how sure a model is: processor time with and without, in one run.

    python benchmarks/confidence_cost.py DATA [--ranking] [SET ...]

DATA is a folder with the sets in their publishers' layout; the sets are those of confidence.py that hold texts. Prints
the least of some times of each verb of learning, and how much longer it takes; beside it, how much longer if the
learner is asked ahead of each piece of a stream, as it is where it cannot rank on the way. Of ranking, one text after
the other and all at once, it prints two times: of a model that does not know how sure it is, and of the same one that
does, and is asked for the probabilities of all it shows. Both are taken in turn, a hundred texts at a time where they
come one by one, and of each hundred the least time counts: on a busy machine medians of whole runs vary by more than
what is measured. With --ranking, only that.
"""

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from confidence import SETS

import shortlist as sl
from shortlist.models import categorizer
from shortlist.models.observing import FirstPass, Notes, learn_rows

USUAL = ("hwu64", "snips", "dbpedia", "stackoverflow", "reuters")
REPEATS, ONE_BY_ONE = 3, 2000  # texts that are learned, or ranked, one by one
TURNS, PIECE, AT_ONCE = 15, 100, 5  # of ranking; texts one by one, and how often it ranks all at once, in a turn
RANKING = "--ranking"
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


def verbs(texts, labels):
    """By its name, each verb of learning as what is made ready and what is timed."""
    some, more = slice(ONE_BY_ONE), slice(ONE_BY_ONE, 2 * ONE_BY_ONE)

    def begun():
        return sl.Categorizer().learn_many(texts[some], labels[some])

    return {
        "fit": (sl.Categorizer, lambda model: model.fit(texts, labels)),
        "learn_many": (sl.Categorizer, lambda model: model.learn_many(texts, labels)),
        "learn": (begun, lambda model: one_by_one(model, texts[more], labels[more])),
    }


def measure(name, data):
    (texts, labels), (new, _) = SETS[name](data)
    for verb, (ready, work) in ({} if RANKING in sys.argv else verbs(texts, labels)).items():
        taken = {way: [] for way in WAYS}
        for _ in range(REPEATS + 1):  # the first one compiles
            for way in WAYS:
                observing(way)
                model = ready()
                taken[way].append(processor_time(partial(work, model)))
        least = {way: min(taken[way][1:]) for way in WAYS}
        longer = [f"{100 * (least[way] / least[WITHOUT] - 1):+.1f} %" for way in (ON_THE_WAY, AHEAD)]
        print(
            f"| {name} | {verb} | {least[WITHOUT]:.3f} | {least[ON_THE_WAY]:.3f} | {' | '.join(longer)} |", flush=True
        )
    observing(ON_THE_WAY)
    measure_ranking(name, sl.Categorizer().fit(texts, labels), new[:ONE_BY_ONE])


def measure_ranking(name, model, texts):
    """Of each verb the work of a piece without and with probabilities, in turn."""
    pieces = [texts[first : first + PIECE] for first in range(0, len(texts), PIECE)]
    verbs = {
        "rank, one by one": [
            (lambda own=own: [model.rank(text) for text in own],
             lambda own=own: [model.rank(text).probabilities for text in own]) for own in pieces
        ],
        "rank, all at once": [
            (lambda: [model.rank(texts) for _ in range(AT_ONCE)],
             lambda: [model.rank(texts).probabilities for _ in range(AT_ONCE)])
        ],
    }  # fmt: skip
    knowing = model._notes
    for verb, works in verbs.items():
        taken = np.empty((TURNS + 1, len(works), 2))
        for turn, n in np.ndindex(taken.shape[:2]):
            for way, notes in enumerate((Notes(), knowing)):
                model._notes = notes
                taken[turn, n, way] = processor_time(works[n][way])
        without, known = taken[1:].min(axis=0).sum(axis=0)  # the first turn compiles
        print(
            f"| {name} | {verb} | {without:.3f} | {known:.3f} | {100 * (known / without - 1):+.1f} % | – |", flush=True
        )


def processor_time(work):
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    folder, *chosen = (argument for argument in sys.argv[1:] if argument != RANKING)
    print("| | | without, s | with, s | | if asked ahead |\n|---|---|---|---|---|---|")
    for one in chosen or USUAL:
        measure(one, Path(folder))
