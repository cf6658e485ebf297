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
"""

import numpy as np

import shortlist as sl
from benchmarks.running import arguments, show, table
from benchmarks.sets import newsgroups, short
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


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS), metavar="SET")
    parser.add_argument("--target", type=float, default=0.95)
    parser.add_argument("--texts", type=int, default=6000)
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--changes", nargs="*", default=CHANGES)
    parser.add_argument("--ways", nargs="*", default=["checks", "plain", "taught"])
    options = parser.parse_args()
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
