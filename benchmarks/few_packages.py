"""Few examples of labels that differ in how often they come up: the sections of Debian's packages.

    python benchmarks/few_packages.py PACKAGES [TRANSLATION ...] [--few N] [--draws N]

PACKAGES is the index of a Debian archive (such as /var/lib/apt/lists/…_Packages, unpacked), which holds a line on each
package and its section; a TRANSLATION has these lines in another language (…_i18n_Translation-de), which is read in
their place. All packages of a fifth of the sources are held out at random; 2,000 of them are tested on, as they come:
the five most frequent of some fifty sections have two fifths of them. Learned are, of the others, N of each section,
and then as many as that is in all, drawn at random, as somebody has them who labels what comes. Prints Markdown tables:
P@1 in per cent, and its mean over sections, which all count the same there; of Categorizer and of those that
few_examples.py has beside it; and of LogisticRegression (C = 20) on the rows of Categorizer scaled to length 1. With ±
the standard error of how far each is ahead of Categorizer.
"""

import argparse
from pathlib import Path

import numpy as np
from few_examples import OTHERS, few
from short_texts import linear_svc
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

import shortlist as sl

MOST = 2000  # texts to test on


def described(path):
    """The fields of each package, each with its first line."""
    for about in path.read_text(encoding="utf-8").split("\n\n"):
        yield dict(line.split(": ", 1) for line in about.split("\n") if ": " in line and not line.startswith(" "))


def sections(index, translation=None):
    """What each package is, in a line, its section, and its source; what is said of several packages stands once."""
    kinds, lines = {}, {}
    for fields in described(index):
        if "Section" in fields:
            source = fields.get("Source", fields["Package"]).split()[0]
            kinds[fields["Package"]] = (fields["Section"].split("/")[-1], source)
            lines[fields["Package"]] = fields["Description"]
    if translation is not None:
        lines = {}
        for fields in described(translation):
            own = [line for name, line in fields.items() if name.startswith("Description-") and name[-3:] != "md5"]
            if own and fields["Package"] in kinds:
                lines[fields["Package"]] = own[0]
    found = {(line, kinds[package][0]): (line, *kinds[package]) for package, line in lines.items()}
    return list(found.values())


def split(rows, seed):
    """Those to learn and those to test on, in random order; each texts and labels."""
    random = np.random.default_rng(seed)
    sources = sorted({source for _, _, source in rows})
    held_out = {sources[i] for i in random.permutation(len(sources))[: len(sources) // 5]}
    rows = [rows[i] for i in random.permutation(len(rows))]
    train, test = ([row[:2] for row in rows if (row[2] in held_out) == out] for out in (False, True))
    return [list(one) for one in zip(*train, strict=True)], [list(one) for one in zip(*test[:MOST], strict=True)]


def shares(found, truth):
    """P@1, and its mean over labels."""
    right, truth = np.asarray(found) == np.asarray(truth), np.asarray(truth)
    return 100 * right.mean(), 100 * np.mean([right[truth == label].mean() for label in np.unique(truth)])


def tried(train, test):
    """Both shares of each tool."""
    (texts, labels), (new, truth) = train, test
    model = sl.Categorizer().fit(texts, labels)
    own, new_own = (normalize(model.text_.transform(some)) for some in (texts, new))
    features = linear_svc()[0].fit(texts)
    rows, new_rows = features.transform(texts), features.transform(new)
    found = {"Categorizer": model.predict(new)}
    found |= {name: tool().fit(rows, labels).predict(new_rows) for name, tool in OTHERS.items()}
    found["LogisticRegression, our rows"] = LogisticRegression(C=20, max_iter=300).fit(own, labels).predict(new_own)
    return {name: shares(one, truth) for name, one in found.items()}


def show(name, rows, n, draws):
    for drawn in (f"{n} of each section", "as many at random"):
        found = []
        for seed in range(draws):
            train, test = split(rows, seed)
            chosen = few(train, n, seed)
            if drawn == "as many at random":
                chosen = [part[: len(chosen[1])] for part in train]
            found.append(tried(chosen, test))
        values = np.array([[one[tool] for tool in found[0]] for one in found])  # draws, tools, shares
        ahead = values - values[:, :1]
        errors = ahead.std(axis=0, ddof=1) / np.sqrt(draws)
        for which, share in enumerate(("P@1", "mean over sections")):
            means = values[:, :, which].mean(axis=0)
            others = [f"{mean:.1f} ± {error:.1f}" for mean, error in zip(means[1:], errors[1:, which], strict=True)]
            print(f"| {name}, {drawn}, {share} | {means[0]:.1f} | {' | '.join(others)} |", flush=True)


def main(given):
    tools = ["Categorizer", *OTHERS, "LogisticRegression, our rows"]
    print(f"| | {' | '.join(tools)} |\n|---|{'--:|' * len(tools)}")
    for translation in given.translations or [None]:
        name = "English" if translation is None else translation.name.rpartition("-")[2]
        show(name, sections(given.packages, translation), given.few, given.draws)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", type=Path)
    parser.add_argument("translations", type=Path, nargs="*")
    parser.add_argument("--few", type=int, default=10)
    parser.add_argument("--draws", type=int, default=6)
    main(parser.parse_args())
