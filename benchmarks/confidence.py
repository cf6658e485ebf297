"""How sure is it? Probabilities, decisions and lists of labels with default settings, beside other ways to them.

    python benchmarks/confidence.py DATA [--minutes M | --without-rivals] [--most N] [--in-short] [SET ...]

DATA is a folder with the sets in their publishers' layout; the set "drift" is made up, and needs none: a stream whose
labels change their meaning half-way, learned a few texts at a time, with lists made before. Nothing is chosen on a test
part, except where a column says so. Prints a Markdown table for each question. LogisticRegression, calibrated by
CalibratedClassifierCV, gets the same features, where it would end within M minutes of processor time (10); MAPIE makes
its sets from it, where MAPIE is installed and each text has one label (confidence_rivals.py). With --most N no more
than N texts of a training part are learned, drawn at random. With --in-short there is one table for all sets, of ours
alone, as docs/how-sure.md has it.
"""

import contextlib
import io
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from confidence_rivals import Logistic, TooLong, offline
from rivals import sets

import shortlist as sl
from shortlist.arrays.validation import as_rows
from shortlist.models.confidence import F1, Precision
from shortlist.models.confidence.calibration import calibration_error, reliability
from shortlist.models.observing import FirstPass
from shortlist.models.text_batches import LabelBatches, default_text

DEPTH = 100  # labels of each ranking
WITHOUT, MINUTES, MOST, IN_SHORT = "--without-rivals", "--minutes", "--most", "--in-short"
TITLES = {
    "reuters": "Reuters-21578", "newsgroups": "20 Newsgroups, by date",
    "newsgroups-mixed": "20 Newsgroups, both parts mixed", "rcv1": "RCV1, 12,961", "bibtex": "Bibtex",
    "finna-100k": "Finna, 90,000", "eurlex57k": "EURLEX57K, all 45,000, on its dev part", "hwu64": "HWU64",
    "snips": "Snips", "stackoverflow": "StackOverflow", "dbpedia": "DBpedia",
}  # fmt: skip
PRECISIONS, COVERAGES = (0.90, 0.95, 0.99), (0.90, 0.95)
STEP = 25  # texts answered before they are observed or learned
WINDOW = 1000
MANY = 20_000  # texts: training on more is timed once


def jsonl(path):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [line["text"] for line in lines], [line["labels"] for line in lines]


def short(name):
    return lambda data: [jsonl(data / "short_texts" / f"{name}.{part}.jsonl") for part in ("train", "test")]


def newsgroups(data):
    folders = [data / "20newsgroups" / f"20news-bydate-{part}" for part in ("train", "test")]
    return [sets.texts_of(folder, format="folders", encoding="latin-1", headers=False) for folder in folders]


def mixed(parts):
    """Both parts together, of which a random one as large is tested on: nothing is later than anything else."""
    texts, labels = ([one for part in parts for one in part[a]] for a in (0, 1))
    order = np.random.default_rng(0).permutation(len(labels))
    chosen = np.split(order, [len(parts[0][1])])
    return [([texts[i] for i in own], [labels[i] for i in own]) for own in chosen]


SETS = {
    "reuters": sets.reuters,
    "newsgroups": newsgroups,
    "newsgroups-mixed": lambda data: mixed(newsgroups(data)),
    "rcv1": sets.rcv1,
    "bibtex": sets.mulan("bibtex"),
    "finna-100k": sets.finna,
    "eurlex57k": lambda data: [jsonl(data / "eurlex57k" / f"{part}.jsonl") for part in ("train", "dev")],
    **{name: short(name) for name in ("dbpedia", "hwu64", "snips", "stackoverflow")},
}


# Learning, as ``Categorizer.fit`` does it, or where a set has no texts, as ``RowCategorizer.fit`` does.


def fit(rows, Y, of_texts=True):
    """The fitted learner, and what it knows of itself."""
    honest, learner = FirstPass(whole=not of_texts), sl.TunedIndex()
    learner._fit_rows(rows, Y, watch=honest)
    return learner, honest.confidence()


def processor_time(work, repeats=3):
    """What it gives, and the least of some times that it took."""
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        found = work()
        taken.append(time.process_time() - began)
    return found, min(taken)


def split_rows(train, test):
    """The rows of both parts, read as a Categorizer reads texts, and how long it took to read the first."""
    if not isinstance(train[0], list):
        return as_rows(train[0]), as_rows(test[0]), 0.0
    text = default_text().settled(train[0], LabelBatches().add(train[1], len(train[1])).single)
    rows, reading = processor_time(lambda: text.fit_rows([train[0]]), 1)
    return rows, text.rows(test[0]), reading


class Test:
    """Rankings of the test part, and what is true of them."""

    def __init__(self, ids, scores, truth):
        self.ids, self.scores, self.truth = ids, scores, truth
        self.n_true = np.diff(truth.indptr)
        wide = max(int(ids.max()), int(truth.ids.max())) + 2
        row = np.repeat(np.arange(len(ids)), self.n_true)
        own = np.arange(len(ids))[:, None] * wide + ids
        self.hits = np.isin(own, row * wide + truth.ids) & (ids >= 0)
        self.deep = np.cumsum(self.hits, axis=1)

    def covered(self, lengths, some=slice(None)):
        """Whether the first so many labels of each, or of some, hold all true ones."""
        deep = self.deep[some]
        return np.where(lengths > 0, deep[np.arange(len(lengths)), lengths - 1], 0) == self.n_true[some]

    def f1(self, assigned, average):
        correct = assigned & self.hits
        if average == "micro":
            return 2 * correct.sum() / (assigned.sum() + self.n_true.sum())
        if average == "example":
            return np.mean(2 * correct.sum(axis=1) / (assigned.sum(axis=1) + self.n_true))
        wide = max(int(self.ids.max()), int(self.truth.ids.max())) + 1
        counts = [np.bincount(own, minlength=wide)
                  for own in (self.ids[correct], self.ids[assigned], self.truth.ids)]  # fmt: skip
        both = counts[1] + counts[2]
        return np.mean(2 * counts[0][both > 0] / both[both > 0])


def as_a_stream(confidence, found):
    """The same model, whose confidence observes each test text once it has been answered, in a random order."""
    order = np.random.default_rng(0).permutation(len(found.ids))
    chosen, covered = np.zeros(order.size, dtype=bool), np.zeros((len(COVERAGES), order.size), dtype=bool)
    for first in range(0, order.size, STEP):
        some = order[first : first + STEP]
        scores = np.ascontiguousarray(found.scores[some])
        chosen[some] = confidence.assigned(scores, Precision(0.95, alone=True))[:, 0]
        for a, coverage in enumerate(COVERAGES):
            covered[a, some] = found.covered(confidence.lengths(scores, coverage), some)
        confidence.observe(found.ids[some], scores, found.truth.chosen(some))
    return chosen, covered.mean(axis=1)


# Questions, one table each.


def alone(best, hits, thresholds):
    cells = []
    for threshold in thresholds:
        chosen = best >= threshold
        right = f"{100 * hits[chosen].mean():.1f}" if chosen.any() else "–"
        cells.append(f"{right} of {100 * chosen.mean():.0f}")
    return cells


def share_at(best, hits, precision):
    """The largest share of texts of which this share is right, by a threshold chosen on the test part."""
    order = np.argsort(-best, kind="stable")
    right = np.cumsum(hits[order]) / np.arange(1, hits.size + 1)
    return 100 * np.max(np.flatnonzero(right >= precision) + 1, initial=0) / hits.size


def beyond_chance(chances, hits):
    """The root of the mean squared error over bins, less what chance does to so few (Kumar, Liang and Ma 2019)."""
    bins = reliability(chances, hits)
    squares = sum(b.n * (b.right - b.probability) ** 2 - b.probability * (1 - b.probability) for b in bins)
    return np.sqrt(max(0.0, squares / max(1, sum(b.n for b in bins))))


def in_short(name, cells, error, least, lists, f1s):
    """The row of a set in the table for all sets. lists: what it covers in %, ± by chance, size; None if impossible."""
    right = [own.replace(" of ", " (") + ")" if own[0] != "–" else "none" for own in cells]
    right = "none" if set(right) == {"none"} else " ".join(right)
    made = [own for own in lists if own is not None]
    covers = " ".join("impossible" if own is None else f"{own[0]:.1f}" for own in lists)
    covers = f"{covers} ± {' '.join(f'{own[1]:.1f}' for own in made)}" if made else "impossible"
    sizes = " ".join("–" if own is None else f"{own[2]:.2f}" for own in lists) if made else "–"
    ours, most = (" ".join(f"{own[a]:.1f}" for own in f1s) for a in (0, 1))
    return f"| {TITLES[name]} | {right} | {error:.3f} ({least:.3f}) | {covers} | {sizes} | {ours} ({most}) |"


def expected_thresholds(best):
    """Those above which probabilities have the wanted mean: they are taken at their word."""
    falling = np.sort(best)[::-1]
    means = np.cumsum(falling) / np.arange(1, best.size + 1)
    return [falling[max(0, np.count_nonzero(means >= p) - 1)] for p in PRECISIONS]


def measure(name, data, minutes, most):
    """Print the tables of a set; gives its row in the table for all sets."""
    train, test = (sets.keep(*part, range(len(part[1]))) for part in SETS[name](data))
    if len(train[1]) > most:
        train = sets.keep(*train, np.random.default_rng(0).permutation(len(train[1]))[:most].tolist())
    rows, test_rows, reading = split_rows(train, test)
    fit(rows.take(np.arange(200)), train[1][:200])  # compiled before it is timed
    repeats = 3 if rows.n_rows <= MANY else 1
    _, learning = processor_time(lambda: sl.TunedIndex()._fit_rows(rows, train[1]), repeats)
    of_texts = isinstance(train[0], list)
    (learner, confidence), longer = processor_time(lambda: fit(rows, train[1], of_texts), repeats)
    few, ranked = processor_time(lambda: learner._rank_rows(test_rows, 5))
    _, answered = processor_time(lambda: confidence.probabilities(few.scores))
    ranking = learner._rank_rows(test_rows, DEPTH)
    found = Test(ranking.ids, ranking.scores, learner.label_numbers(test[1]))
    chance = np.nan_to_num(confidence.probabilities(ranking.scores))
    best, hits = chance[:, 0], found.hits[:, 0]

    print(f"\n## {name}: {rows.n_rows} texts, {len(learner.classes_)} labels, {len(test[1])} test texts; "
          f"honest examples {confidence.window.length}; P@1 {100 * hits.mean():.1f}")  # fmt: skip
    share = 100 * (longer - learning) / (learning + reading)
    print(f"processor time: training + {share:.1f} % ({learning + reading:.2f} s), ranking without reading the texts "
          f"+ {100 * answered / ranked:.1f} % where probabilities are asked for")  # fmt: skip

    thresholds = [confidence.threshold(Precision(p, alone=True)) for p in PRECISIONS]
    print("\n| chosen alone, % right of % of texts | 90 | 95 | 99 | share at 90/95/99 chosen on the test part |")
    print("|---|---|---|---|---|")
    ours, of_ours = [share_at(best, hits, p) for p in PRECISIONS], alone(best, hits, thresholds)
    print(f"| shortlist | {' | '.join(of_ours)} | {' '.join(f'{v:.1f}' for v in ours)} |")
    errors = {"shortlist": calibration_error(best, hits)}
    rivals = None
    if minutes:
        errors |= {name: calibration_error(*own) for name, own in offline(rows, train[1], test_rows, test[1]).items()}
        try:
            other = Logistic(rows, train[1], test_rows, test[1], COVERAGES, minutes)
        except TooLong as reason:
            print(f"\n{reason}")
        else:
            cells = alone(other.best, other.hits, expected_thresholds(other.best))
            theirs = [share_at(other.best, other.hits, p) for p in PRECISIONS]
            print(f"| LogisticRegression | {' | '.join(cells)} | {' '.join(f'{v:.1f}' for v in theirs)} |"
                  f"\n\nits P@1 {100 * other.hits.mean():.1f}, training and ranking {other.seconds:.0f} s")  # fmt: skip
            errors["LogisticRegression"], rivals = calibration_error(other.best, other.hits), other.sets
    draws = np.random.default_rng(0)
    least = np.mean([calibration_error(best, draws.random(best.size) < best) for _ in range(20)])
    ten = [calibration_error(chance[:, j], found.hits[:, j]) for j in range(min(10, chance.shape[1]))]
    sure = [np.mean([calibration_error(p, draws.random(p.size) < p) for _ in range(5)]) for p in chance[:, :10].T]
    beyond = [beyond_chance(chance[:, j], found.hits[:, j]) for j in range(min(10, chance.shape[1]))]
    surplus = " ".join(f"{100 * own:+.1f}" for own in (chance - found.hits)[:, :10].mean(axis=0))
    pooled = calibration_error(chance[:, :10].ravel(), found.hits[:, :10].ravel())
    print(f"\nECE of the best label: {', '.join(f'{key} {value:.3f}' for key, value in errors.items())}"
          f" (a perfect one, by chance: {least:.3f})\nECE, mean over the ten best positions: {np.mean(ten):.4f}"
          f" (a perfect one: {np.mean(sure):.4f}); over all their labels together: {pooled:.4f}\n"
          f"beyond chance, root of mean squares: best label {beyond[0]:.4f}, mean over the ten {np.mean(beyond):.4f}\n"
          f"probabilities less share right, in points, place by place: {surplus}")  # fmt: skip

    print(
        "\n| all true labels listed | covers % | ± by chance | mean size | fixed k as good on the test part | MAPIE |"
    )
    print("|---|---|---|---|---|---|")
    lists, f1s = [], []
    for a, coverage in enumerate(COVERAGES):
        lengths = confidence.lengths(ranking.scores, coverage)
        covered = found.covered(lengths).mean()
        fixed = [k for k in range(1, chance.shape[1] + 1) if (found.deep[:, k - 1] == found.n_true).mean() >= covered]
        reached = "" if np.isfinite(confidence.limit(coverage)) else f" (not reached within {DEPTH})"
        other = "–" if rivals is None else f"{100 * rivals[a][0]:.1f} by {rivals[a][1]:.2f}"
        both = 1 / lengths.size + 1 / (confidence.window.length + 2)  # of test texts and of honest examples
        chance_of = 100 * np.sqrt(coverage * (1 - coverage) * both)
        lists.append(None if reached else (100 * covered, chance_of, lengths.mean()))
        print(f"| {100 * coverage:.0f} | {100 * covered:.1f}{reached} | {chance_of:.1f} | {lengths.mean():.2f} | "
              f"{fixed[0] if fixed else '–'} | {other} |")  # fmt: skip

    print("\n| F1 of assignments | by honest examples | by the threshold best on the test part |\n|---|---|---|")
    tries = np.unique(np.quantile(chance[:, :20], np.linspace(0.3, 1, 400)))
    for average in ("micro", "macro", "example"):
        reached = found.f1(confidence.assigned(ranking.scores, F1(average)), average)
        most = max(found.f1((chance >= t) & (chance > 0), average) for t in tries)
        print(f"| {average} | {100 * reached:.1f} | {100 * most:.1f} |")
        f1s.append((100 * reached, 100 * most))
    assigned = confidence.assigned(ranking.scores, Precision(0.95))
    right = 100 * found.hits[assigned].mean() if assigned.any() else np.nan
    recall = 100 * assigned[found.hits].sum() / found.n_true.sum()
    print(f"\nassigned at precision 95: {right:.1f} % right, recall {recall:.1f} %")
    chosen, covered = as_a_stream(confidence, found)
    right = f"{100 * hits[chosen].mean():.1f}" if chosen.any() else "–"
    print(f"as a stream: chosen alone at 95: {right} of {100 * chosen.mean():.0f}; "
          f"lists at 90 and 95 cover {100 * covered[0]:.1f} and {100 * covered[1]:.1f} %", flush=True)  # fmt: skip
    return in_short(name, of_ours, errors["shortlist"], least, lists, f1s[:2])


# Drift.


def changing(n, seed, topics=30):
    """Texts of words that mostly belong to their topics; half-way, each topic takes the label of the next one."""
    draws = np.random.default_rng(seed)
    for i in range(n):
        topic = int(draws.integers(topics))
        own = [topic if draws.random() < 0.35 else int(draws.integers(topics)) for _ in range(12)]
        text = " ".join(f"t{one}w{int(40 * draws.random() ** 2)}" for one in own)
        yield text, f"label {topic if 2 * i < n else (topic + 1) % topics}"


def drift(n=12_000, seeds=3):
    print(f"\n## drift: {n} texts, of which the labels change their meaning half-way; windows of {WINDOW}")
    print("\n| lists at | seed | covered %, window by window | mean size |\n|---|---|---|---|")
    for seed in range(seeds):
        texts, labels = zip(*changing(n, seed), strict=True)
        model, sizes, covered = sl.Categorizer(), np.zeros((len(COVERAGES), n)), np.zeros((len(COVERAGES), n))
        for first in range(0, n, STEP):
            some = slice(first, min(n, first + STEP))
            for a, coverage in enumerate(COVERAGES if first else ()):
                lists = [[label for label, _ in one] for one in model.shortlist(texts[some], coverage)]
                sizes[a, some] = [len(one) for one in lists]
                covered[a, some] = [label in one for label, one in zip(labels[some], lists, strict=True)]
            model.learn_many(texts[some], labels[some])
        for a, coverage in enumerate(COVERAGES):
            windows = [slice(first, first + WINDOW) for first in range(WINDOW, n, WINDOW)]
            shown = [" ".join(f"{scale * own[a, one].mean():.1f}" for one in windows)
                     for own, scale in ((covered, 100), (sizes, 1))]  # fmt: skip
            print(f"| {100 * coverage:.0f} | {seed} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    warnings.filterwarnings("ignore")
    folder, *given = (argument for argument in sys.argv[1:] if argument not in (WITHOUT, IN_SHORT))
    short_only = IN_SHORT in sys.argv
    numbers = {MINUTES: 0.0 if short_only or WITHOUT in sys.argv else 10.0, MOST: np.inf}
    for option in [option for option in numbers if option in given]:
        at = given.index(option)
        numbers[option] = float(given[at + 1])
        del given[at : at + 2]
    if short_only:
        print(
            "| | chosen alone at 90, 95, 99 %: right (share of texts) "
            "| calibration error, best label (of a perfect one) | lists at 90, 95 % cover | mean size "
            "| micro-F1, macro-F1 (with the threshold best on the test part) |\n"
            "|---|---|---|---|---|---|"
        )
    for one in given or (SETS if short_only else [*SETS, "drift"]):
        if one == "drift":
            drift()
            continue
        with contextlib.redirect_stdout(io.StringIO() if short_only else sys.stdout):
            row = measure(one, Path(folder), numbers[MINUTES], int(min(numbers[MOST], 1e12)))
        if short_only:
            print(row, flush=True)
