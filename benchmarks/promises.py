"""Do promises hold when the model decides, and people judge the rest and the spot checks?

    python -m benchmarks.promises DATA [SET ...] [--target 0.95] [--texts 6000] [--orders 2]
    [--ways checks nobody taught plain]

DATA is the folder of the data sets. A model is fitted on 2,000 texts of half of the labels. Then
texts arrive one by one: the model decides those it is sure of, people judge the others, and the
model learns from people. Columns: texts that arrived; decided, in per cent; right of these; the
same for the last third of the stream; spot checks; after how many checks deciding was paused for
the first time (counted from the change), and for which share of the texts it was paused.

What changes in the stream:
same     nothing
10, 50 % so many texts have labels that the model does not know
words    from the middle on, three words in ten are others
renamed  from the middle on, people call a third of the labels by other names
mix      labels come and go: each has its time in the stream

Ways:
checks   a share of the texts, drawn by chance, is judged by people whatever the model thinks; what
         the model decided is not learned
nobody   the same, but nobody judges any text: neither what is left over nor checks
plain    no spot checks; what the model decided is not learned
taught   no spot checks; the model learns what it decided alone

With --places instead: what a model promises, and what it holds on the test part: labels assigned at
a precision, and lists of a coverage; after fit, after a stream of checked and of unchecked texts,
after labels were renamed, merged (two and two), split or retired and a stream of 1,000 texts, with
vectors (100 components of the words), and with several labels (Reuters).
"""

import numpy as np

import shortlist as sl
from benchmarks.running import arguments, row, show, table
from benchmarks.sets import newsgroups, reuters, short
from benchmarks.vectors_made import lsa
from shortlist.confidence.spot_checks import share_to_draw

SETS = {name: short(name) for name in ("hwu64", "stackoverflow", "dbpedia")}
SETS["newsgroups"] = newsgroups
CHANGES = ["same", "10 %", "50 %", "words", "renamed", "mix"]
FITTED = 2000


class Arrivals:
    """A model fitted on half of the labels, and the texts that arrive then."""

    def __init__(self, texts, labels, change, seed, most):
        random = np.random.default_rng(seed)
        names = sorted(set(labels))
        random.shuffle(names)
        half = len(names) if change in ("same", "words", "renamed", "mix") else len(names) // 2
        known = set(names[:half])
        order = random.permutation(len(texts)).tolist()
        of_known = [i for i in order if labels[i] in known]
        n_fitted = min(FITTED, len(of_known) // 3)
        fitted, rest = of_known[:n_fitted], of_known[n_fitted:]
        self.model = sl.Categorizer().fit([texts[i] for i in fitted], [labels[i] for i in fitted])
        share = {"10 %": 0.1, "50 %": 0.5}.get(change, 0.0)
        n = min(most, int(len(rest) / (1 - share)))
        unknown = [i for i in order if labels[i] not in known]
        n_unknown = min(int(share * n), len(unknown))
        rows = rest[: n - n_unknown] + unknown[:n_unknown]
        random.shuffle(rows)
        if change == "mix":
            time_of_label = {name: random.random() for name in names}
            moment = {i: time_of_label[labels[i]] + 0.3 * random.standard_normal() for i in rows}
            rows.sort(key=moment.__getitem__)
        self.texts = [texts[i] for i in rows]
        self.labels = [labels[i] for i in rows]
        self.changes_at = 0
        if change in ("words", "renamed"):
            self.changes_at = len(rows) // 2
        if change == "words":
            changed = {}
            for i in range(self.changes_at, len(rows)):
                words = self.texts[i].split()
                for word in words:
                    if word not in changed:
                        changed[word] = word if random.random() < 0.7 else f"{word[::-1]}q"
                self.texts[i] = " ".join(changed[word] for word in words)
        if change == "renamed":
            for i in range(self.changes_at, len(rows)):
                if names.index(self.labels[i]) % 3 == 0:
                    self.labels[i] = f"new {self.labels[i]}"


def run(arrivals, way, target):
    """What becomes of each text: whether it was decided, rightly, checked, paused."""
    model = arrivals.model
    outcomes = np.zeros((len(arrivals.texts), 4), dtype=bool)
    for i, (text, label) in enumerate(zip(arrivals.texts, arrivals.labels, strict=True)):
        checks = model.examined(target)
        outcomes[i, 3] = checks.paused
        if way in ("checks", "nobody") and sl.drawn_for_check(str(i), share_to_draw(checks)):
            outcomes[i, 2] = True
            if way == "checks":
                model.learn(text, [label], checked=True)
            continue
        decided = model.assign(text, precision=target)
        if decided:
            outcomes[i, 0] = True
            outcomes[i, 1] = decided[0] == label
            if way == "taught":
                model.learn(text, list(decided))
        elif way != "nobody":
            model.learn(text, [label])
    return outcomes


def figures(outcomes, changes_at):
    decided, right, checked, paused = outcomes.T
    late = slice(2 * len(outcomes) // 3, None)

    def share_right(part=slice(None)):
        n_decided = decided[part].sum()
        return f"{100 * right[part].sum() / n_decided:.1f}" if n_decided else "-"

    first_pause = "-"
    after = np.flatnonzero(paused[changes_at:])
    if after.size:
        first_pause = int(checked[changes_at : changes_at + after[0]].sum())
    if paused[:changes_at].any():
        first_pause = f"{first_pause} (before the change: {100 * paused[:changes_at].mean():.0f} %)"
    return [
        len(outcomes),
        f"{100 * decided.mean():.1f}",
        share_right(),
        f"{100 * decided[late].mean():.1f}",
        share_right(late),
        int(checked.sum()),
        first_pause,
        f"{100 * paused.mean():.0f}",
    ]


def held(model, texts, labels, target):
    """What is assigned and listed on a test part, in per cent."""
    assigned = model.assign(texts, precision=target)
    lists = model.shortlist(texts, target)
    n_assigned = sum(map(len, assigned))
    n_right = sum(len(set(own) & set(true)) for own, true in zip(assigned, labels, strict=True))
    covered = [set(true) <= set(own.labels) for own, true in zip(lists, labels, strict=True)]
    return [
        f"{100 * np.mean([len(own) > 0 for own in assigned]):.0f}",
        f"{100 * n_right / n_assigned:.1f}" if n_assigned else "-",
        f"{100 * np.mean(covered):.1f}",
        f"{np.mean([len(own) for own in lists]):.2f}",
    ]


def places(name, train, test, target):
    """The promises of one set, place by place."""
    texts, labels = train
    random = np.random.default_rng(0)
    order = random.permutation(len(texts)).tolist()
    cut = max(len(order) // 2, len(order) - 3000)

    def taken(rows, names=None):
        names = names or {}
        return (
            [texts[i] for i in rows],
            [list({names.get(label, label): 0 for label in labels[i]}) for i in rows],
        )

    def of_test(names=None, without=()):
        names = names or {}
        kept = [i for i, own in enumerate(test[1]) if not set(own) & set(without)]
        found = [list({names.get(label, label): 0 for label in test[1][i]}) for i in kept]
        return [test[0][i] for i in kept], found

    def say(what, model, names=None, without=()):
        show(row(f"{name}, {what}", *held(model, *of_test(names, without), target)))

    def begun():
        return sl.Categorizer().fit(*taken(order[:cut]))

    say("fit", begun())
    say("stream", begun().learn_many(*taken(order[cut:])))
    say("stream of checks", begun().learn_many(*taken(order[cut:]), checked=True))
    all_names = sorted({label for i in order[:cut] for label in labels[i]})
    third = all_names[::3]
    renamed = {label: f"new {label}" for label in third}
    merged = dict(zip(third[::2], third[1::2], strict=False))
    for what, names in (("renamed", renamed), ("merged", merged)):
        model = begun()
        for label, into in names.items():
            if what == "renamed":
                model.rename_label(label, into)
            else:
                model.merge_labels([label], into)
        say(what, model, names)
        say(f"{what}, then a stream", model.learn_many(*taken(order[cut:][:1000], names)), names)
    model = begun()
    model.retire_labels(third)
    say("retired", model, without=third)
    model = begun()
    for label in third:
        model.split_label(label, f"half of {label}")
    halves = [
        [f"half of {label}" if label in third and random.random() < 0.5 else label for label in own]
        for own in taken(order[cut:])[1]
    ]
    model.learn_many(taken(order[cut:])[0], halves)
    show(row(f"{name}, split, then a stream", *held(model, *of_test(without=third), target)))
    encode = lsa(texts)
    model = sl.Categorizer(encoder=encode).fit(*taken(order[:cut]))
    say("vectors", model)
    say("vectors, stream of checks", model.learn_many(*taken(order[cut:]), checked=True))


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS), metavar="SET")
    parser.add_argument("--target", type=float, default=0.95)
    parser.add_argument("--texts", type=int, default=6000)
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--changes", nargs="*", default=CHANGES)
    parser.add_argument("--ways", nargs="*", default=["checks", "plain", "taught"])
    parser.add_argument("--places", action="store_true")
    options = parser.parse_args()
    if options.places:
        show(table(["", "decided", "right", "covered", "mean size"]))
        for name in [*options.sets, "reuters"]:
            places(name, *(SETS | {"reuters": reuters})[name](options.data), options.target)
        return
    head = ["set, change, way", "texts", "decided", "right", "late: decided", "right"]
    show(table([*head, "checks", "paused after", "paused"]))
    for name in options.sets:
        (train, labels), (test, test_labels) = SETS[name](options.data)
        texts = [*train, *test]
        single = [own[0] for own in [*labels, *test_labels]]
        for change in options.changes:
            for way in options.ways:
                for seed in range(options.orders):
                    arrivals = Arrivals(texts, single, change, seed, options.texts)
                    cells = figures(run(arrivals, way, options.target), arrivals.changes_at)
                    show("| " + " | ".join(map(str, [f"{name}, {change}, {way}", *cells])) + " |\n")


if __name__ == "__main__":
    main()
