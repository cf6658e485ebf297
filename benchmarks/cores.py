"""What several cores bring, and what learning in shards costs in quality: on the titles of finna.

    python benchmarks/cores.py finna.tsv.gz            # both tables
    python benchmarks/cores.py finna.tsv.gz --times    # the second only

Quality is P@1 on a tenth of the titles, chosen at random and not learned. The index learners learn the first 200,000
titles with all their subjects; MMP and the Perceptrons, whose cost grows with the number of labels, those with one of
the 100 most frequent subjects. Times are wall-clock, the best of three, and need a machine that does nothing else. What
has threads of its own whatever n_jobs is (evaluating: reading, tokenising, intervals) is bound to one core and to two.
"""

import os
import sys
import time
from collections import Counter
from itertools import islice

import numpy as np

import shortlist as sl
from shortlist.labels import NumberedLabels
from shortlist.models.categorizer import rank_batches

TITLES = 200_000
FREQUENT = 100
SHARDS = (1, 2, 4, 8)
EVALUATED = 28  # batches, of about 2,300 titles each
MEASURES = ["R1", "R5", "MRR", "P@5", "nDCG@5"]  # those of ``shortlist evaluate``


def split(texts, labels):
    """Rows and labels to learn from, and those held out."""
    order = np.random.default_rng(1).permutation(len(texts))
    cut = len(texts) * 9 // 10
    text = sl.TextVectorizer(tf="log", idf="smooth", norm="l2")
    learned, held_out = order[:cut], order[cut:]
    rows = text.fit_rows([[texts[i] for i in learned]]), text.rows([texts[i] for i in held_out])
    return rows[0], [labels[i] for i in learned], rows[1], [labels[i] for i in held_out]


def quality(learner, rows, labels, tested, truth):
    return 100 * learner._fit_rows(rows, labels)._score_rows(tested, truth)


def seconds(call):
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return best


def evaluate(model, path):
    """What ``shortlist evaluate`` does with a model that is open: from text to measures with intervals."""
    rankings, truth = [], []
    for ranking, batch in rank_batches(model, islice(sl.read(path), EVALUATED), 200):
        rankings.append(ranking)
        truth.append(batch.labels)
    numbers = model.learner_.label_numbers(NumberedLabels.stack(truth))
    sl.evaluate(sl.Ranking.stack(rankings, 200), numbers, MEASURES)


def main(path, times_only):
    texts, labels = [], []
    for batch in sl.read(path):
        texts += batch.texts
        labels += batch.labels
        if len(texts) >= TITLES:
            break
    texts, labels = texts[:TITLES], labels[:TITLES]
    everything = split(texts, labels)
    counts = Counter(label for own in labels for label in own)
    frequent = {label for label, _ in counts.most_common(FREQUENT)}
    few = [(text, [label for label in own if label in frequent]) for text, own in zip(texts, labels, strict=True)]
    few = split(*zip(*((text, own) for text, own in few if own), strict=True))

    if not times_only:
        print_quality(everything, few)
    print_times(path, texts, labels, everything, few)


def print_quality(everything, few):
    print("| P@1, % | " + " | ".join(f"{n} shards" for n in SHARDS) + " |\n|---|" + "--:|" * len(SHARDS))
    for name, make, data in (
        ("TunedIndex()", lambda n: sl.TunedIndex(shards=n), everything),
        ("FeatureFocus(margin=0.3)", lambda n: sl.FeatureFocus(margin=0.3, shards=n), everything),
        ("FeatureFocus(margin=0.3, passes=3)", lambda n: sl.FeatureFocus(margin=0.3, passes=3, shards=n), everything),
        ("FeatureFocus(margin=0.3), frequent", lambda n: sl.FeatureFocus(margin=0.3, shards=n), few),
        ("MMP(), frequent", lambda n: sl.MMP(shards=n), few),
        ("MMP(passes=3), frequent", lambda n: sl.MMP(passes=3, shards=n), few),
        ("MMP(passes=3, hypothesis='averaged')", lambda n: sl.MMP(passes=3, hypothesis="averaged", shards=n), few),
        ("TopicPerceptron(passes=3), frequent", lambda n: sl.TopicPerceptron(passes=3, shards=n), few),
    ):
        print(f"| `{name}` | " + " | ".join(f"{quality(make(n), *data):.2f}" for n in SHARDS) + " |", flush=True)


def print_times(path, texts, labels, everything, few):
    rows, own, _, _ = everything
    sharded, tuned = sl.TunedIndex(shards=2), sl.TunedIndex()._fit_rows(rows, own)
    rocchio = sl.Rocchio()._fit_rows(*few[:2])
    jobs = {
        "learn 180,000 titles, TunedIndex(shards=2)": (sharded, lambda: sharded._fit_rows(rows, own)),
        "rank them, k=10, TunedIndex()": (tuned, lambda: tuned._rank_rows(rows, 10)),
        "add up sums, Rocchio": (rocchio, lambda: rocchio._fit_rows(*few[:2])),
    }
    print("\n| seconds | 1 | 2 | ratio |\n|---|--:|--:|--:|")
    for name, (model, call) in jobs.items():
        print_ratio(f"{name}, threads", [(model.set_params(n_jobs=n), seconds(call))[1] for n in (1, 2)])
    model = sl.Categorizer(sl.TunedIndex(n_jobs=-1)).fit(texts, labels)
    cores = sorted(os.sched_getaffinity(0))
    taken = [(os.sched_setaffinity(0, cores[:n]), seconds(lambda: evaluate(model, path)))[1] for n in (1, 2)]
    print_ratio(f"evaluate {EVALUATED} batches, from text to intervals, cores", taken)


def print_ratio(name, taken):
    print(f"| {name} | {taken[0]:.2f} | {taken[1]:.2f} | {taken[0] / taken[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], "--times" in sys.argv[2:])
