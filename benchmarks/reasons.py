"""What are marked words worth? A stream of texts, each taught with the words that decide, or without.

    python -m benchmarks.reasons DATA [SET ...] [--each 1 5 10] [--orders 3] [--held-out]
    [--promise 50] [--encoder NAME]

DATA is the folder of the data sets. Each order takes so many texts of each label. A model of all
training texts marks one or two words of each: those that vote most for the label of the text beside
the best other one. In *one in five wrong* a fifth of the texts have random words marked. P@1 in per
cent on the test part, or with --held-out on every seventh training text, mean of all orders.

The second table: how many texts are decided at a precision of 95 %, and how many of them are right,
after --promise texts of each label.
"""

import numpy as np

import shortlist as sl
from benchmarks.running import arguments, row, show, table
from benchmarks.sets import SHORT, every_seventh, few, newsgroups, short

SETS = {name: short(name) for name in SHORT} | {"newsgroups": newsgroups}
MOST_TESTED = 4000
KINDS = ("no marks", "marks", "one in five wrong")
PRECISION = 0.95


def word_votes(model, text, label):
    """The votes of the words of a text, by their places; parts of words vote for the word."""
    why = model.explain(text, label)
    places = {}
    for (name, _), spans in zip(why.votes, why.spans, strict=True):
        if str(name).isalnum():
            places |= dict.fromkeys(spans, 0.0)
    for (_, vote), spans in zip(why.votes, why.spans, strict=True):
        for start, end in spans:
            for first, last in places:
                if first < end and start < last:
                    places[first, last] += vote / len(spans)
    return places


def marks(model, text, label):
    """One or two words that speak for a label beside the best other one."""
    others = [other for other, _ in model.rank(text, 2) if other != label]
    votes = word_votes(model, text, label)
    against = word_votes(model, text, others[0]) if others else {}
    totals = {}
    for place, vote in votes.items():
        word = text[slice(*place)].lower()
        totals[word] = totals.get(word, 0.0) + vote - against.get(place, 0.0)
    best = sorted(totals, key=lambda word: -totals[word])[:2]
    return [word for word in best if totals[word] > 0.5 * max(totals[best[0]], 1e-9)]


def random_marks(text, random):
    words = [word.strip(".,;:!?()\"'<>") for word in text.split()]
    words = [word for word in words if word.isalnum()]
    return random.choice(words, size=min(2, len(words)), replace=False).tolist()


class Taught:
    """Marked texts of one set in one order."""

    def __init__(self, train, teacher, n, seed):
        texts, labels = train
        random = np.random.default_rng(seed)
        self.rows = few(labels, n, seed)
        self.texts = [texts[i] for i in self.rows]
        self.labels = [labels[i] for i in self.rows]
        self.because = {"no marks": [[]] * len(self.rows)}
        right = [marks(teacher, *pair) for pair in zip(self.texts, self.labels, strict=True)]
        self.because["marks"] = right
        self.because["one in five wrong"] = [
            random_marks(text, random) if random.random() < 0.2 else own
            for text, own in zip(self.texts, right, strict=True)
        ]

    def model(self, kind, encoder):
        model = sl.Categorizer(encoder=encoder)
        return model.learn_many(self.texts, self.labels, because=self.because[kind])


def right(model, test):
    best = model.rank(test[0], 1).labels[:, 0]
    return 100 * np.mean([label == own for label, own in zip(best, test[1], strict=True)])


def promised(model, test):
    """The share of the texts that are decided, and of those that are decided rightly."""
    assigned = model.assign(test[0], precision=PRECISION)
    decided = [(own, label) for own, label in zip(assigned, test[1], strict=True) if own]
    share_right = np.mean([own[0] == label for own, label in decided]) if decided else np.nan
    return [100 * len(decided) / len(test[0]), 100 * share_right]


def parts(data, name, held_out):
    """Training and test texts with their one label."""
    train, test = ((texts, [own[0] for own in labels]) for texts, labels in SETS[name](data))
    if held_out:
        learned, tested = every_seventh(len(train[0]))
        order = np.random.default_rng(0).permutation(len(train[0]))
        test = tuple([part[order[i]] for i in tested] for part in train)
        train = tuple([part[order[i]] for i in learned] for part in train)
    return train, tuple(part[:MOST_TESTED] for part in test)


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SETS), help=", ".join(SETS))
    parser.add_argument("--each", type=int, nargs="*", default=[1, 5, 10])
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--promise", type=int, default=50)
    parser.add_argument("--encoder")
    given = parser.parse_args()
    lines = []
    promises = []
    for name in given.sets:
        train, test = parts(given.data, name, given.held_out)
        teacher = sl.Categorizer().fit(*train)
        for n in given.each:
            orders = [Taught(train, teacher, n, seed) for seed in range(given.orders)]
            figures = [
                np.mean([right(taught.model(kind, given.encoder), test) for taught in orders])
                for kind in KINDS
            ]
            lines.append([f"{name}, {n} a label", *(f"{figure:.2f}" for figure in figures)])
            show(row(*lines[-1]))
        if given.promise:
            orders = [Taught(train, teacher, given.promise, seed) for seed in range(given.orders)]
            cells = []
            for kind in KINDS:
                figures = [promised(taught.model(kind, given.encoder), test) for taught in orders]
                cells += [f"{figure:.1f}" for figure in np.nanmean(figures, axis=0)]
            promises.append([name, *cells])
            show(row(*promises[-1]))
    if lines:
        show("\n" + table(["P@1", *KINDS], lines))
    if promises:
        heads = [f"{what}, {kind}" for kind in KINDS for what in ("decided", "right")]
        show("\n" + table([f"{100 * PRECISION:.0f} %", *heads], promises))


if __name__ == "__main__":
    main()
