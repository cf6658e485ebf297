"""Does every correction improve? A model that goes on learning from a stream, beside training anew.

    python -m benchmarks.streams DATA [SET ...] [--orders 2] [--most 0] [--held-out] [--dressed]
    [--tables known nothing new swapped renamed merged]

DATA is the folder of the data sets. P@1 in per cent on the test part, or with --held-out on every
seventh training text, averaged over random orders; --most takes so many training texts only. With
--dressed each text also comes a second time, between a greeting and a signature, as mails do.

known    fit on 80 % of the texts, then the other 20 % as a stream: in batches of 50, one by one,
         the easiest first (by the score of the true label after fit), the hardest first; beside fit
         of all, and beside SGDClassifier, fitted on 80 % in five passes and then taught alike
nothing  all texts as a stream from nothing, beside fit of all and SGDClassifier in one pass
new      a fifth of the labels arrives after fit, 20 texts of each and no others: P@1 on the texts
         of new and of old labels, beside fit of the same texts
swapped  two of 16 labels (of fewer, two) swap their meaning in the stream: P@1 on these, and others
renamed  a third of the labels has new names in the stream, and nobody said so
merged   a third of the labels is merged, two and two, before the stream: P@1 at once, then after
         the stream, beside fit of all
"""

import copy

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

import shortlist as sl
from benchmarks.running import arguments, row, show, table
from benchmarks.sets import SHORT, every_seventh, newsgroups, reuters, short

SETS = {name: short(name) for name in SHORT} | {"newsgroups": newsgroups, "reuters": reuters}
BATCH, EACH = 50, 20
GREETINGS = [
    "Hello,",
    "Hi there,",
    "Dear team,",
    "Good morning,",
    "Dear Sir or Madam,",
    "Hello everybody, I hope this finds you well.",
    "To whom it may concern,",
    "",
]
SIGNATURES = [
    "Thanks, Anna",
    "Best regards, John Miller",
    "Kind regards, Maria Lopez, Sales Department, phone 555 0134",
    "Many thanks in advance",
    "Sincerely, Dr. Peter Brown, please consider the environment before printing this mail",
    "Sent from my phone",
    "Thank you very much for your help, have a nice day",
    "",
]


def dressed(texts):
    """Texts between greetings and signatures."""
    random = np.random.default_rng(0)
    return [f"{random.choice(GREETINGS)} {text} {random.choice(SIGNATURES)}" for text in texts]


class Online:
    """scikit-learn's SGDClassifier on hashed words and pairs, which is told all labels before."""

    def __init__(self, classes):
        self.words = HashingVectorizer(n_features=2**18, ngram_range=(1, 2))
        self.model = SGDClassifier(alpha=1e-5, random_state=0)
        self.classes = sorted(classes)

    def learn_many(self, texts, labels):
        labels = [own[0] for own in labels]
        self.model.partial_fit(self.words.transform(texts), labels, self.classes)
        return self

    def best(self, texts):
        return self.model.predict(self.words.transform(texts)).tolist()


class Task:
    """Training and test texts of a set in one order, the first 80 % of which are fitted."""

    def __init__(self, train, test, seed):
        (self.texts, self.labels), self.test = train, test
        self.random = np.random.default_rng(seed)
        order = self.random.permutation(len(self.texts)).tolist()
        cut = int(0.8 * len(order))
        self.first, self.then = order[:cut], order[cut:]
        self.names = sorted({label for own in self.labels for label in own})
        self.single = all(len(own) == 1 for own in self.labels)
        self.cache = {}

    def fitted(self, rows, names=None):
        """A model fitted on these rows, whose labels may have other names."""
        return sl.Categorizer().fit([self.texts[i] for i in rows], self.named(rows, names))

    def begun(self):
        """The model of the first 80 %."""
        if "begun" not in self.cache:
            self.cache["begun"] = self.fitted(self.first)
        return copy.deepcopy(self.cache["begun"])

    def right_of_all(self):
        """P@1 of fit of all."""
        if "all" not in self.cache:
            self.cache["all"] = self.right(self.fitted(self.first + self.then))
        return self.cache["all"]

    def named(self, rows, names=None):
        names = names or {}
        return [list({names.get(label, label): 0 for label in self.labels[i]}) for i in rows]

    def taught(self, model, rows, size=BATCH, names=None):
        """The model, after a stream of these rows."""
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            model.learn_many([self.texts[i] for i in some], self.named(some, names))
        return model

    def right(self, model, among=None, names=None):
        """P@1 on the test texts that have one of these labels, or on all."""
        texts, labels = self.test
        which = [i for i, own in enumerate(labels) if among is None or among & set(own)]
        texts = [texts[i] for i in which]
        best = model.best(texts) if isinstance(model, Online) else model.rank(texts, 1).labels[:, 0]
        true = [[(names or {}).get(label, label) for label in labels[i]] for i in which]
        return 100 * np.mean([label in own for label, own in zip(best, true, strict=True)])

    def chosen(self, n):
        known_first = sorted({label for i in self.first for label in self.labels[i]})
        return self.random.permutation(known_first)[: max(2, n)].tolist()


# The tables: the heads of their columns, and their figures.


def known(task):
    model, then = task.begun(), task.then
    figures = {"fitted 80 %": task.right(model)}
    scores = []
    for i, ranked in zip(then, model.rank([task.texts[i] for i in then], 20), strict=True):
        scores.append(max((s for label, s in ranked if label in task.labels[i]), default=-np.inf))
    by_ease = [then[i] for i in np.argsort(-np.array(scores), kind="stable")]
    figures["then learned"] = task.right(task.taught(model, then))
    figures["one by one"] = task.right(task.taught(task.begun(), then, size=1))
    figures["easiest first"] = task.right(task.taught(task.begun(), by_ease))
    figures["hardest first"] = task.right(task.taught(task.begun(), by_ease[::-1]))
    figures["fit of all"] = task.right_of_all()
    if task.single:
        online = Online(task.names)
        for _ in range(5):
            task.taught(online, task.random.permutation(task.first).tolist(), 1000)
        figures["SGD, 80 %"] = task.right(online)
        figures["then learned by it"] = task.right(task.taught(online, then))
    return figures


def nothing(task):
    every = task.first + task.then
    figures = {"stream": task.right(task.taught(sl.Categorizer(), every))}
    figures["fit of all"] = task.right_of_all()
    if task.single:
        figures["SGD, stream"] = task.right(task.taught(Online(task.names), every))
    return figures


def new(task):
    late = set(task.chosen(len(task.names) // 5))
    old = set(task.names) - late
    before = [i for i in task.first if not late & set(task.labels[i])]
    count, then = dict.fromkeys(late, 0), []
    for i in task.first + task.then:
        own = late & set(task.labels[i])
        if own and min(count[label] for label in own) < EACH:
            then.append(i)
            for label in own:
                count[label] += 1
    then = task.random.permutation(then).tolist()
    model, anew = task.taught(task.fitted(before), then), task.fitted(before + then)
    return {
        "new labels": task.right(model, late),
        "old labels": task.right(model, old),
        "fit of the same, new": task.right(anew, late),
        "old": task.right(anew, old),
    }


def swapped(task):
    pairs = task.chosen(2 * (len(task.names) // 16))
    names = dict(zip(pairs[::2], pairs[1::2], strict=True))
    names |= {there: here for here, there in names.items()}
    model = task.taught(task.begun(), task.then, names=names)
    others = set(task.names) - set(names)
    return {
        "swapped": task.right(model, set(names), names),
        "others": task.right(model, others),
    }


def renamed(task):
    names = {label: f"{label}, new" for label in task.chosen(len(task.names) // 3)}
    model = task.taught(task.begun(), task.then, names=names)
    others = set(task.names) - set(names)
    return {"renamed": task.right(model, set(names), names), "others": task.right(model, others)}


def merged(task):
    pairs = task.chosen(2 * (len(task.names) // 6))
    names = dict(zip(pairs[::2], pairs[1::2], strict=True))
    model, into = task.begun(), set(names.values())
    for label, other in names.items():
        model.merge_labels([label, other], other)
    best = model.rank(task.test[0], 1).labels[:, 0].tolist()
    true = [{names.get(label, label) for label in own} for own in task.test[1]]
    figures = {"P@1": task.right(model, names=names)}
    figures["assigned, % of true"] = (
        100 * sum(label in into for label in best) / max(1, sum(bool(own & into) for own in true))
    )
    figures["fitted 80 %, merged"] = task.right(task.fitted(task.first, names), names=names)
    figures["then learned"] = task.right(task.taught(model, task.then, names=names), names=names)
    every = task.first + task.then
    figures["fit of all, merged"] = task.right(task.fitted(every, names), names=names)
    return figures


TABLES = {
    "known": known,
    "nothing": nothing,
    "new": new,
    "swapped": swapped,
    "renamed": renamed,
    "merged": merged,
}


def parts(data, name, most, held_out):
    """Training and test texts with their labels."""
    (texts, labels), test = SETS[name](data)
    chosen = np.random.default_rng(0).permutation(len(texts))[: most or None].tolist()
    learned = chosen
    if held_out:
        taken, tested = every_seventh(len(chosen))
        learned = [chosen[i] for i in taken]
        rows = [chosen[i] for i in tested]
        test = [texts[i] for i in rows], [labels[i] for i in rows]
    return ([texts[i] for i in learned], [labels[i] for i in learned]), test


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SETS), help=", ".join(SETS))
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--dressed", action="store_true")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    given = parser.parse_args()
    found = {name: {} for name in given.tables}
    for name in given.sets:
        plain = parts(given.data, name, given.most, given.held_out)
        kinds = {name: plain}
        if given.dressed:
            kinds[f"{name}, dressed"] = [(dressed(texts), labels) for texts, labels in plain]
        for called, (train, test) in kinds.items():
            tasks = [Task(train, test, seed) for seed in range(given.orders)]
            for measured in given.tables:
                figures = [TABLES[measured](task) for task in tasks]
                mean = {key: np.mean([one[key] for one in figures]) for key in figures[0]}
                found[measured][called] = mean
                cells = [f"{key} {value:.2f}" for key, value in mean.items()]
                show(row(f"{measured}: {called}", *cells))
    for measured, lines in found.items():
        columns = max(lines.values(), key=len)
        rows = [
            [called, *(f"{line[key]:.2f}" if key in line else "" for key in columns)]
            for called, line in lines.items()
        ]
        means = [np.mean([line[key] for line in lines.values() if key in line]) for key in columns]
        show("\n" + table([measured, *columns], [*rows, ["mean", *(f"{m:.2f}" for m in means)]]))


if __name__ == "__main__":
    main()
