"""The one scorer of all tools: rankings as lines of label names, measured by shortlist.measures."""

import json

import numpy as np

from benchmarks.rivals.protocol import K
from shortlist.data.labels import LabelIndex
from shortlist.data.ranking import Ranking
from shortlist.measures import evaluate

MEASURES = ["P@1", "P@5", "micro-F1", "macro-F1"]


def score(folder, files):
    """The measures of the rankings in files, one for each draw, against the split in a folder:
    their means.
    """
    every, draws = labels(folder / "train.labels"), folder / "draws.json"
    draws = json.loads(draws.read_text()) if draws.exists() else [range(len(every))]
    found = []
    for rows, path in zip(draws, files, strict=True):
        known = LabelIndex()
        known.learn([every[i] for i in rows], len(rows))
        test = labels(folder / "test.labels")
        truth = known.look_up(test, len(test))
        best = [
            line.split("\t") if line else []
            for line in path.read_text(encoding="utf-8").split("\n")[:-1]
        ]
        if len(best) != len(test):
            raise ValueError(f"{len(best)} rankings for {len(test)} documents")
        ids = np.full((len(best), K), -1, dtype=np.int32)
        for row, own in zip(ids, best, strict=True):
            row[: len(own)] = [known.number[label] for label in own]
        scores = np.where(ids >= 0, -np.arange(K, dtype=np.float64), np.nan)
        found.append(
            evaluate(Ranking(ids, scores, known.names), truth, MEASURES, resamples=0).values
        )
    means = {measure: float(np.mean([one[measure] for one in found])) for measure in MEASURES}
    spread = float(np.std([one["P@1"] for one in found], ddof=1)) if len(found) > 1 else None
    return means | ({"spread": spread} if spread is not None else {})


def labels(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
