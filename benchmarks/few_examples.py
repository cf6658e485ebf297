"""Few examples a label, and one example at a time, on short texts with one label each.

    python benchmarks/few_examples.py DATA [--validation] [--few | --one-by-one] [SET ...]

DATA has the folder short_texts. Of each label 5, 10 and 50 training texts are drawn, several times, the same for all
tools; P@1 in per cent on the test part, the mean of the draws, beside LogisticRegression, LinearSVC and ComplementNB on
tf-idf of words, pairs and character n-grams of 2 to 4 inside words; and by how much Categorizer is ahead of the one of
them that is best on average, with the standard error of that. Then all training texts: ``fit``, and ``learn`` of one
after the other, once. With --validation every seventh training text is tested on, and no test part is read. With --few
or --one-by-one only one of the two tables is made.
"""

import argparse
from pathlib import Path

import numpy as np
from short_texts import SETS, linear_svc, part
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

import shortlist as sl

DRAWS = {5: 12, 10: 12, 50: 6}  # of so many texts a label
OTHERS = {
    "LogisticRegression": lambda: LogisticRegression(C=10, max_iter=300),
    "LinearSVC": LinearSVC,
    "ComplementNB": ComplementNB,
}


def few(train, n, seed):
    """n texts of each label, or all where there are fewer, in random order."""
    texts, labels = train
    left, chosen = dict.fromkeys(labels, n), []
    for i in np.random.default_rng(seed).permutation(len(labels)):
        if left[labels[i]] > 0:
            left[labels[i]] -= 1
            chosen.append(i)
    return [texts[i] for i in chosen], [labels[i] for i in chosen]


def right(model, X, truth):
    return 100 * np.mean(np.asarray(model.predict(X)) == np.asarray(truth))


def tried(train, test):
    """P@1 of Categorizer and of the others, whose features are the same."""
    (texts, labels), (new, truth) = train, test
    features = linear_svc()[0].fit(texts)
    rows, new_rows = features.transform(texts), features.transform(new)
    others = [right(tool().fit(rows, labels), new_rows, truth) for tool in OTHERS.values()]
    return [right(sl.Categorizer().fit(texts, labels), new, truth), *others]


def parts_of(folder, name, validation):
    train = part(folder, name, "train")
    if not validation:
        return train, part(folder, name, "test")
    last = np.arange(len(train[1])) % 7 == 6
    return [([train[0][i] for i in some], [train[1][i] for i in some])
            for some in (np.flatnonzero(~last), np.flatnonzero(last))]  # fmt: skip


def show_few(parts):
    print(f"| | draws | Categorizer | {' | '.join(OTHERS)} | ahead |\n|---|{'--:|' * (3 + len(OTHERS))}")
    for name, (train, test) in parts.items():
        for n, draws in DRAWS.items():
            found = np.array([tried(few(train, n, seed), test) for seed in range(draws)])
            means = found.mean(axis=0)
            ahead = found[:, 0] - found[:, 1 + np.argmax(means[1:])]
            lead = f"{ahead.mean():+.1f} ± {ahead.std(ddof=1) / np.sqrt(draws):.1f}"
            print(f"| {name}, {n} a label | {draws} | {' | '.join(f'{p1:.1f}' for p1 in means)} | {lead} |", flush=True)


def show_one_by_one(parts):
    print("\n| | `fit` | one by one |\n|---|--:|--:|")
    for name, (train, test) in parts.items():
        streamed = sl.Categorizer()
        for i in np.random.default_rng(0).permutation(len(train[1])):
            streamed.learn(train[0][i], train[1][i])
        print(
            f"| {name} | {right(sl.Categorizer().fit(*train), *test):.1f} | {right(streamed, *test):.1f} |", flush=True
        )


def main(given):
    folder = given.data / "short_texts"
    parts = {name: parts_of(folder, name, given.validation) for name in given.sets or SETS}
    if not given.one_by_one:
        show_few(parts)
    if not given.few:
        show_one_by_one(parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--validation", action="store_true")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--few", action="store_true")
    only.add_argument("--one-by-one", action="store_true")
    parser.add_argument("sets", nargs="*", metavar="SET")
    main(parser.parse_intermixed_args())
