"""Few examples a label, and one example at a time, on short texts with one label each.

    python benchmarks/few_examples.py DATA [--validation] [SET ...]

DATA has the folder short_texts. Of each label 5, 10 and 50 training texts are drawn, three times; P@1 in per cent on
the test part, the mean of the three draws, beside LogisticRegression, LinearSVC and ComplementNB on tf-idf of words,
pairs and character n-grams of 2 to 4 inside words. Then all training texts: ``fit``, and ``learn`` of one after the
other. With --validation every seventh training text is tested on, and no test part is read.
"""

import sys
from pathlib import Path

import numpy as np
from short_texts import SETS, linear_svc, part
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline

import shortlist as sl

FEW, DRAWS = (5, 10, 50), 3


def with_the_same_features(classifier):
    return make_pipeline(linear_svc()[0], classifier)


TOOLS = {
    "Categorizer": sl.Categorizer,
    "LogisticRegression": lambda: with_the_same_features(LogisticRegression(C=10, max_iter=300)),
    "LinearSVC": linear_svc,
    "ComplementNB": lambda: with_the_same_features(ComplementNB()),
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


def right(model, test):
    return 100 * np.mean(np.asarray(model.predict(test[0])) == np.asarray(test[1]))


def main(folder, names, validation):
    parts = {}
    for name in names or SETS:
        train = part(folder, name, "train")
        if validation:
            last = np.arange(len(train[1])) % 7 == 6
            split = [([train[0][i] for i in some], [train[1][i] for i in some])
                     for some in (np.flatnonzero(~last), np.flatnonzero(last))]  # fmt: skip
        parts[name] = split if validation else (train, part(folder, name, "test"))
    print(f"| | {' | '.join(TOOLS)} |\n|---|{'--:|' * len(TOOLS)}")
    for name, (train, test) in parts.items():
        for n in FEW:
            draws = [few(train, n, seed) for seed in range(DRAWS)]
            found = [np.mean([right(tool().fit(*draw), test) for draw in draws]) for tool in TOOLS.values()]
            print(f"| {name}, {n} a label | {' | '.join(f'{p1:.1f}' for p1 in found)} |", flush=True)
    print("\n| | `fit` | one by one |\n|---|--:|--:|")
    for name, (train, test) in parts.items():
        streamed = sl.Categorizer()
        for i in np.random.default_rng(0).permutation(len(train[1])):
            streamed.learn(train[0][i], train[1][i])
        print(f"| {name} | {right(sl.Categorizer().fit(*train), test):.1f} | {right(streamed, test):.1f} |", flush=True)


if __name__ == "__main__":
    given = [one for one in sys.argv[2:] if one != "--validation"]
    main(Path(sys.argv[1]) / "short_texts", given, "--validation" in sys.argv)
