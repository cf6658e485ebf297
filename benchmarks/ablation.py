"""What each rule of TunedIndex is worth: P@1 in per cent without it, on the given sets.

    python -m benchmarks.ablation DATA [--rules RULE ...] [--sets SET ...]

DATA is a folder with the sets in their publishers' layout. Every seventh training example is held
out (of EURLEX57K the dev part); no test part is read. Texts are read as Categorizer() reads them.
Each rule is switched off in a process of its own, with a cache of compiled loops of its own. Kinds
of lines: all examples; 5, 10 and 50 of each label; a third of the labels wrong; a stream, one
example after the other; a change of what all labels mean half-way through a stream (P@1 on each
example before it is learned, in the second half). Writes lines of JSON to standard error and a
Markdown table.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from benchmarks.running import arguments, show, table, timed
from benchmarks.sets import SHORT, eurlex, every_seventh, few, short, some, texts_of, vectors_of
from papers.corpora.contexts import word_contexts
from papers.rcv1 import subset

ROOM = "shortlist.learners.index"
# sets with several labels a text
SEVERAL = ("reuters", "rcv1", "bibtex", "delicious", "finna", "eurlex")
# Of each rule: constants of modules that switch it off, and parameters of TunedIndex.
RULES = {
    "all rules": {},
    "labels corrected each on its own": {"training.SINGLE": -1.0},
    "margin of 1": {"training.MARGIN": 1.0},
    "misranked examples trusted in full": {"training.DOUBT": 0.0},
    "no biases": {"training.BIAS_RATE": 0.0},
    "one pass": {"passes": 1},
    "no buffer of past examples": {"replay_buffer.AGAIN": 0},
    "full steps in a stream": {"training.LEAST_PACE": 1.0},
    "a buffer of 4,096": {"replay_buffer.SLOTS": 4096},
    "lists of 50 edges": {"max_edges": 50},
    "lists of 250 edges": {"max_edges": 250},
    "no least share": {"min_weight": 0.0},
    "rare features vote in full": {"rare": 0},
    "step of 0.3": {"step": 0.3},
    "counts alone": {"step": 0.0},
}
NAMES = [
    "newsgroups",
    "reuters",
    "rcv1",
    "bibtex",
    "delicious",
    "finna",
    "eurlex",
    "austen",
    *SHORT,
]
LINES = [
    *NAMES,
    *(f"{name}, {n} a label" for name in SHORT for n in (5, 10, 50)),
    *(f"{name}, 30 % wrong" for name in SHORT),
    *(f"{name}, stream" for name in (*SHORT, "newsgroups", "reuters")),
    *(f"{name}, change" for name in ("hwu64", "stackoverflow", "newsgroups")),
]


def texts(path, n=None, **options):
    """Texts that have labels, the first n of them."""
    documents, labels = texts_of(path, **options)
    which = [i for i, own in enumerate(labels) if own][:n]
    return [documents[i] for i in which], [labels[i] for i in which]


def austen(data):
    X, words, _ = word_contexts(texts_of(data / "austen", format="books")[0])
    order = np.random.default_rng(0).permutation(len(words))[:150_000]
    return X[order], [[words[i]] for i in order]


SETS = {
    "newsgroups": lambda data: texts(
        data / "20newsgroups" / "20news-bydate-train",
        format="folders",
        encoding="latin-1",
        headers=False,
    ),
    "reuters": lambda data: texts(data / "reuters21578", format="reuters", split="train"),
    "rcv1": lambda data: subset(data)[1:],
    "bibtex": lambda data: vectors_of(data / "mulan_arff" / "bibtex-train.arff"),
    "delicious": lambda data: vectors_of(data / "mulan_arff" / "delicious-train.arff"),
    "finna": lambda data: texts(data / "finna" / "finna.tsv.gz", n=90_000, format="tsv"),
    "austen": austen,
    **{name: lambda data, name=name: short(name)(data)[0] for name in SHORT},
}


def loaded(data, name):
    """Rows and labels to learn from, and to try on."""
    from shortlist.data.labels import numbered
    from shortlist.models.text_batches import default_text

    if name == "eurlex":
        (documents, Y), (new, truth) = eurlex(data)
    else:
        every, labels = SETS[name](data)
        (documents, Y), (new, truth) = (
            (some(every, rows), [list(labels[i]) for i in rows])
            for rows in every_seventh(len(labels))
        )
    if isinstance(documents, list):
        reader = default_text().settled(
            documents[:1000], numbered(Y[:1000], len(Y[:1000])).sets.recurring
        )
        return reader.fit_transform(documents), Y, reader.transform(new), truth
    return documents, Y, new, truth


def precision(model, X, truth):
    """P@1 and P@5 in per cent."""
    found = model.rank(X, k=5).labels.tolist()
    hits = np.array(
        [[label in own for label in one] for one, own in zip(found, truth, strict=True)]
    )
    return 100 * hits[:, 0].mean(), 20 * hits.sum(axis=1).mean()


def tried(kind, learner, X, Y, new, truth):
    """P@1 and P@5 of a line, and the processor seconds of ``fit``."""
    random = np.random.default_rng(0)
    if kind.endswith("a label"):
        found = []
        for seed in range(3):
            chosen = few([own[0] for own in Y], int(kind.split()[0]), seed)
            found.append(precision(learner().fit(X[chosen], [Y[i] for i in chosen]), new, truth))
        return (*np.mean(found, axis=0), 0.0)
    if kind == "30 % wrong":
        names = sorted({label for own in Y for label in own})
        Y = [[names[random.integers(len(names))]] if random.random() < 0.3 else own for own in Y]
    if kind == "stream":
        order, model = random.permutation(len(Y)), learner()
        for first in range(0, len(Y), 500):
            some = order[first : first + 500]
            model.partial_fit(X[some], [Y[i] for i in some])
        return (*precision(model, new, truth), 0.0)
    if kind == "change":
        order, model, hits = random.permutation(len(Y)), learner(), []
        names = sorted({own[0] for own in Y})
        other = dict(zip(names, names[1:] + names[:1], strict=True))
        for first in range(0, len(Y), 50):
            some = order[first : first + 50]
            own = [[other[Y[i][0]]] if first >= len(Y) // 2 else Y[i] for i in some]
            if first >= len(Y) // 2:
                hits += [
                    label == one[0] for label, one in zip(model.predict(X[some]), own, strict=True)
                ]
            model.partial_fit(X[some], own)
        return 100 * np.mean(hits), 0.0, 0.0
    model, seconds = timed(learner().fit, X, Y)
    return (*precision(model, new, truth), seconds)


def measure(data, rule, lines):
    """One rule, in this process: a line of JSON for each line of the table."""
    settings = RULES[rule]
    for name, value in settings.items():
        module, _, constant = name.rpartition(".")
        if module:
            setattr(importlib.import_module(f"{ROOM}.{module}"), constant, value)
    from shortlist import TunedIndex

    parameters, name = {key: value for key, value in settings.items() if "." not in key}, None
    for line in sorted(lines, key=lambda line: NAMES.index(line.split(", ")[0])):
        if name != line.split(", ")[0]:
            name = line.split(", ")[0]
            X, Y, new, truth = loaded(data, name)
            TunedIndex(**parameters).fit(X[:50], Y[:50])  # compiled before it is timed
        found = tried(line.partition(", ")[2], lambda: TunedIndex(**parameters), X, Y, new, truth)
        print(
            json.dumps(
                {"rule": rule, "line": line, "found": [round(float(one), 2) for one in found]}
            ),
            flush=True,
        )


def main():
    parser = arguments(__doc__)
    parser.add_argument("--rules", nargs="*", choices=RULES, default=list(RULES))
    parser.add_argument("--sets", nargs="*", choices=NAMES, default=NAMES)
    parser.add_argument("--here", metavar="RULE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    lines = [line for line in LINES if line.split(", ")[0] in given.sets]
    if given.here:
        measure(given.data, given.here, lines)
        return
    lines = {line: {} for line in lines}
    for rule in given.rules:
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "benchmarks.ablation", str(given.data), "--here", rule]
            command += ["--sets", *given.sets]
            done = subprocess.run(
                command,
                env=os.environ | {"NUMBA_CACHE_DIR": cache},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        for found in map(json.loads, done.stdout.splitlines()):
            lines[found["line"]][rule] = found["found"]
        sys.stderr.write(done.stdout)
    cells = [
        [line, *(f"{found[rule][0]:.1f}" for rule in given.rules)] for line, found in lines.items()
    ]
    show(table(["", *given.rules], cells) + "\n" + summary(lines, given.rules[1:]))


def summary(lines, rules):
    """The change of P@1 without each rule: its mean over lines, and where it is largest."""
    several = [line for line in lines if line.split(", ")[0] in SEVERAL]
    kinds = list(lines), [line for line in lines if line not in several], several
    rows = []
    for rule in rules:
        change = {line: found[rule][0] - found["all rules"][0] for line, found in lines.items()}
        means = [np.mean([change[line] for line in kind]) if kind else np.nan for kind in kinds]
        ends = [
            f"{change[end]:+.1f} {end}"
            for end in (best(change, key=change.get) for best in (min, max))
        ]
        rows.append((means, [rule, *(f"{mean:+.2f}" for mean in means), *ends]))
    head = [
        f"mean of {len(lines)} lines",
        f"{len(kinds[1])} with one label each",
        f"{len(several)} with several",
    ]
    cells = [cells for _, cells in sorted(rows, key=lambda row: row[0][0])]
    return table(["without it, or with", *head, "largest loss", "largest gain"], cells)


if __name__ == "__main__":
    main()
