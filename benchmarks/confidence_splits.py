"""Are promises kept where texts are exchangeable? Both parts of a set mixed and split at random, again and again.

    python benchmarks/confidence_splits.py DATA [--draws N] [SET ...]

Many sets are split by date, or their test part is small: what a promise comes to on one test part is chance, drift and
what the model does wrong, all in one. Here nothing is later than anything else, and chance is averaged out over N draws
(10). Each trains on as many texts as the training part has. Prints the mean over draws, and ± how far such a mean
varies (draws share texts, so it varies a little more than that). "Right" is of all decided texts of all draws. Macro-F1
is that of every other test text: by our threshold, by the one that is best on the test texts between them, and by the
one that is best on themselves, which nobody can know.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from confidence import COVERAGES, DEPTH, PRECISIONS, SETS, Test, fit, split_rows
from rivals import sets
from scipy import sparse

from shortlist.models.confidence import F1, Precision
from shortlist.models.confidence.calibration import calibration_error

USUAL = ("rcv1", "bibtex", "reuters", "newsgroups", "hwu64", "snips", "stackoverflow", "dbpedia")
DRAWS = "--draws"


def mixed(parts, seed):
    """Both parts together, split at random into parts as large."""
    labels = [own for part in parts for own in part[1]]
    order = np.random.default_rng(seed).permutation(len(labels))
    split = np.split(order, [len(parts[0][1])])
    if isinstance(parts[0][0], list):
        texts = [text for part in parts for text in part[0]]
        return [([texts[i] for i in own], [labels[i] for i in own]) for own in split]
    rows = sparse.vstack([part[0] for part in parts]).tocsr()
    return [(rows[own], [labels[i] for i in own]) for own in split]


def draw(parts, seed):
    """What lists cover; how many texts are decided at each precision, and how many of them rightly; errors; F1."""
    train, test = mixed(parts, seed)
    rows, test_rows, _ = split_rows(train, test)
    learner, confidence = fit(rows, train[1], isinstance(train[0], list))
    ranking = learner._rank_rows(test_rows, DEPTH)
    found = Test(ranking.ids, ranking.scores, learner.label_numbers(test[1]))
    chances = np.nan_to_num(confidence.probabilities(ranking.scores))
    best, right = chances[:, 0], found.hits[:, 0]
    covered = [found.covered(confidence.lengths(ranking.scores, share)).mean() for share in COVERAGES]
    possible = [np.isfinite(confidence.limit(share)) for share in COVERAGES]
    chosen = [best >= confidence.threshold(Precision(share, alone=True)) for share in PRECISIONS]
    return (
        np.where(possible, covered, np.nan), [own.mean() for own in chosen], [right[own].sum() for own in chosen],
        [own.sum() for own in chosen],
        [calibration_error(best, right), *macro_f1s(found, chances, confidence.threshold(F1("macro")))]
    )  # fmt: skip


def macro_f1s(found, chances, ours):
    """Of every other text: by our threshold, by the best one of the texts between them, and by their own best."""
    of_halves = []
    for half in (0, 1):
        some = np.arange(half, len(chances), 2)
        own = Test(found.ids[some], found.scores[some], found.truth.chosen(some))
        of_halves.append(lambda t, own=own, p=chances[some]: own.f1((p >= t) & (p > 0), "macro"))
    tries = np.unique(np.quantile(chances[:, :20], np.linspace(0.3, 1, 200)))
    tuned, reached = of_halves
    return reached(ours), reached(max(tries, key=tuned)), max(map(reached, tries))


def measure(name, data, draws):
    parts = [sets.keep(*part, range(len(part[1]))) for part in SETS[name](data)]
    found = [draw(parts, seed) for seed in range(draws)]
    covered, shares, right, decided, others = (np.array(own) * 1.0 for own in zip(*found, strict=True))
    lists = " ".join("impossible" if np.isnan(own).any() else of_draws(own) for own in covered.T)
    with np.errstate(invalid="ignore"):
        alone = " ".join(
            f"{100 * right[:, a].sum() / decided[:, a].sum():.1f} ± {deviation(right[:, a] / decided[:, a]):.1f} "
            f"({100 * shares[:, a].mean():.0f})" if decided[:, a].any() else "none" for a in range(len(PRECISIONS))
        )  # fmt: skip
    error, *f1s = others.mean(axis=0)
    shown = " ".join(f"{100 * f1:.1f}" for f1 in f1s)
    print(f"| {name} | {lists} | {alone} | {error:.3f} | {shown} |", flush=True)


def of_draws(shares):
    return f"{100 * shares.mean():.1f} ± {deviation(shares):.1f}"


def deviation(shares):
    """Of a mean over draws, in %."""
    known = shares[~np.isnan(shares)]
    return 100 * known.std(ddof=1) / np.sqrt(known.size) if known.size > 1 else np.nan


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    warnings.filterwarnings("ignore")
    folder, *given = sys.argv[1:]
    draws = 10
    if DRAWS in given:
        at = given.index(DRAWS)
        draws = int(given[at + 1])
        del given[at : at + 2]
    print(
        "| | lists at 90, 95 % cover | chosen alone at 90, 95, 99 %: right (share of texts) | calibration error | "
        "macro-F1: our threshold, one of other test texts, the best |\n|---|---|---|---|---|"
    )
    for one in given or USUAL:
        measure(one, Path(folder), draws)
