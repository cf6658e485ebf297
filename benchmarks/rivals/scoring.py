"""The one scorer of all tools: rankings as lines of label names, measured by shortlist.measures."""

import numpy as np
from protocol import K

from shortlist.labels import LabelIndex
from shortlist.measures import Propensities, evaluate
from shortlist.ranking import Ranking

MEASURES = ["P@1", "P@3", "P@5", "recall@5", "PSP@5", "micro-F1", "macro-F1", "MRR"]


def score(folder, ranked):
    """The measures of the rankings in a file, against the split in a folder."""
    train, test = (labels(folder / f"{part}.labels") for part in ("train", "test"))
    known = LabelIndex()
    learned = known.learn(train, len(train))
    truth = known.look_up(test, len(test))
    best = [line.split("\t") if line else [] for line in ranked.read_text(encoding="utf-8").split("\n")[:-1]]
    if len(best) != len(test):
        raise ValueError(f"{len(best)} rankings for {len(test)} documents")
    ids = np.full((len(best), K), -1, dtype=np.int32)
    for row, own in zip(ids, best, strict=True):
        row[: len(own)] = [known.number[label] for label in own]
    scores = np.where(ids >= 0, -np.arange(K, dtype=np.float64), np.nan)
    ranking, propensities = Ranking(ids, scores, known.names), Propensities.of(learned)
    return evaluate(ranking, truth, MEASURES, propensities=propensities, resamples=0).values


def labels(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
