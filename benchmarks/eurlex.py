"""EURLEX57K: title and body as fields, frequent labels held back, names that teach.

    python -m benchmarks.eurlex DATA fields|tame|teach [--most N]

fields: title and body as fields beside one text and the title alone; P@1, P@3, P@5, seconds to
learn, µs to rank a law. tame: what --tame does to P@1, P@3, P@5 and to recall@5 of labels of few
examples; titles only. teach: recall@5 of labels by their number of training examples, with and
without names that teach; titles only.

The training part is learned, the development part ranked; for tame, 10,000 laws of the training
part are learned and 2,000 others of it ranked. --most learns so many laws only.
"""

from collections import Counter

import numpy as np

from benchmarks.running import arguments, row, show, table, timed
from benchmarks.sets import laws, subjects
from shortlist import Categorizer, Rules

K = 5
POWERS = (0.0, 0.05, 0.1)
# examples of a label
GROUPS = {"none": (0, 0), "1 to 5": (1, 5), "6 to 50": (6, 50), "more": (51, 10**9)}
HELD_OUT, SEED = 0.1, 7
FORMS = {
    "one text": lambda law: law["text"],
    "title and body": lambda law: {"title": law["title"], "body": law["text"]},
    "title alone": lambda law: law["title"],
}


def fields(data, most):
    train, test = laws(data, "train")[:most], laws(data, "dev")
    labels, truth = labels_of(train), labels_of(test)
    Categorizer().learn({"a": "compile the loops", "b": "first"}, ["x"]).rank(
        {"a": "loops", "b": ""}
    )
    show(table(["", "P@1", "P@3", "P@5", "learn, s", "rank, µs"]))
    for name, form in FORMS.items():
        model, learned = timed(Categorizer().fit, [form(law) for law in train], labels)
        ranking, ranked = timed(model.rank, [form(law) for law in test], K)
        figures = [f"{value:.4f}" for value in precisions(ranking.labels, truth)]
        show(row(name, *figures, f"{learned:.1f}", f"{1e6 * ranked / len(test):.0f}"))


def tame(data, most):
    every = laws(data, "train")
    order, n_held = (
        np.random.default_rng(SEED).permutation(len(every)).tolist(),
        int(HELD_OUT * len(every)),
    )
    train = [every[i] for i in order[n_held:][: most or 10_000]]
    held = [every[i] for i in order[:n_held][:2_000]]
    labels, truth = labels_of(train), labels_of(held)
    counts = Counter(label for own in labels for label in own)
    model = Categorizer().fit(titles(train), labels)
    show(table(["", "P@1", "P@3", "P@5", "recall@5, 1 to 5 examples", "6 to 20"]))
    for power in POWERS:
        ranked = model.rank(titles(held), K, Rules(tame=power)).labels
        figures = [f"{100 * value:.2f}" for value in precisions(ranked, truth)]
        figures += [f"{recall(ranked, truth, counts, *ends):.3f}" for ends in ((1, 5), (6, 20))]
        show(row(f"`--tame {power}`" if power else "as it is", *figures))


def teach(data, most):
    train, test = laws(data, "train")[:most], laws(data, "dev")
    labels, truth = labels_of(train), labels_of(test)
    counts = Counter(label for own in labels for label in own)
    found = []
    for taught in (0, 5):
        names = subjects(data, taught)
        model = Categorizer().set_vocabulary(names).fit(titles(train), labels)
        ranked = model.rank(titles(test), K).labels
        found.append([f"{recall(ranked, truth, counts, *ends):.3f}" for ends in GROUPS.values()])
    show(
        table(
            ["examples of the subject", "without", "`--teach 5`"], zip(GROUPS, *found, strict=True)
        )
    )


def titles(some):
    return [law["title"] for law in some]


def labels_of(some):
    return [law["labels"] for law in some]


def precisions(ranked, truth):
    """P@1, P@3 and P@5."""
    right = np.array(
        [[label in own for label in best] for best, own in zip(ranked, truth, strict=True)]
    )
    return [right[:, :k].mean() for k in (1, 3, K)]


def recall(ranked, truth, counts, least, most):
    """Recall@5 of the labels with so many examples, at most five being looked for in a law."""
    rare = [{label for label in own if least <= counts[label] <= most} for own in truth]
    hits = [
        len(own & set(best)) / min(len(own), K)
        for best, own in zip(ranked, rare, strict=True)
        if own
    ]
    return np.mean(hits) if hits else np.nan


def main():
    parser = arguments(__doc__)
    parser.add_argument("what", choices=("fields", "tame", "teach"))
    parser.add_argument("--most", type=int, metavar="N")
    asked = parser.parse_args()
    {"fields": fields, "tame": tame, "teach": teach}[asked.what](asked.data, asked.most)


if __name__ == "__main__":
    main()
