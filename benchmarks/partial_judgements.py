"""Learning from people who judge only the labels that they are shown.

    python -m benchmarks.partial_judgements DATA [--skip 37000] [--start 1500] [--more 5000]
    [--tested 1500]

Titles of EURLEX57K, in the order of the file. The first are learned with all their labels, as a
library's old records are. Then titles come one after the other: each is ranked, some labels are
shown and judged, right or wrong, and the judgement is learned. Ways of doing that, each from the
same start: no further learning; the five best labels; the ten that the page shows; the five best,
and the person adds one label that is right and was not shown, and says "these are all the labels"
where they are; every text with all its labels. All but the ten also where the vocabulary's names
have taught the start, so that labels never seen can be shown. What comes last is only ranked.
"""

import shortlist as sl
from benchmarks.running import arguments, row, show, table
from benchmarks.sets import laws, subjects

SHOWN, ON_THE_PAGE = 5, 10  # labels
TOGETHER = 50  # texts that are ranked before any of them is learned


# What is said of a text, of which some labels were shown: which are right, which are wrong, and
# whether that is all.


def all_labels(shown, own):
    return own, [], True


def judged(shown, own):
    return [c for c in shown if c in own], [c for c in shown if c not in own], False


def one_added(shown, own):
    right, wrong, _ = judged(shown, own)
    right += [c for c in own if c not in shown][:1]
    return right, wrong, len(right) == len(set(own))


# how many labels are shown, what is said of them, and whether that is also tried where names teach
WAYS = {
    "nothing more": (SHOWN, None, True),
    "the five best labels": (SHOWN, judged, True),
    "the ten best, as on the page": (ON_THE_PAGE, judged, False),
    'five, one missing label added, "these are all the labels" where true': (
        SHOWN,
        one_added,
        True,
    ),
    "all labels": (SHOWN, all_labels, True),
}


def go_on(model, examples, n_shown, judge):
    """Rank, judge, learn."""
    for first in range(0, len(examples), TOGETHER):
        texts, labels = map(list, zip(*examples[first : first + TOGETHER], strict=True))
        shown = [[label for label, _ in one] for one in model.rank(texts, n_shown)]
        said = [judge(*pair) for pair in zip(shown, labels, strict=True)]
        model.learn_many(texts, *map(list, zip(*said, strict=True)))


def measured(model, tested):
    """P@1 and P@5 in per cent."""
    texts, labels = zip(*tested, strict=True)
    hits, first = 0, 0
    for ranking, own in zip(model.rank(list(texts), SHOWN), labels, strict=True):
        found = [label in own for label, _ in ranking]
        hits, first = hits + sum(found), first + any(found[:1])
    return f"{100 * first / len(tested):.1f}", f"{100 * hits / SHOWN / len(tested):.1f}"


def main():
    parser = arguments(__doc__)
    parser.add_argument("--skip", type=int, default=37_000)
    parser.add_argument("--start", type=int, default=1_500)
    parser.add_argument("--more", type=int, default=5_000)
    parser.add_argument("--tested", type=int, default=1_500)
    given = parser.parse_args()
    every = [*laws(given.data, "train"), *laws(given.data, "dev")]
    some = every[given.skip : given.skip + given.start + given.more + given.tested]
    examples = [(law["title"], law["labels"]) for law in some if law["labels"]]
    start, more, tested = (
        examples[: given.start],
        examples[given.start : -given.tested],
        examples[-given.tested :],
    )
    show(table(["judged", "P@1", "P@5", "with names, P@1", "P@5"]))
    for name, (n_shown, judge, with_names) in WAYS.items():
        figures = []
        for teach in (0, 5)[: 1 + with_names]:
            names = subjects(given.data, teach) if teach else None
            model = sl.Categorizer().set_vocabulary(names).fit(*map(list, zip(*start, strict=True)))
            if judge:
                go_on(model, more, n_shown, judge)
            figures += measured(model, tested)
        show(row(name, *figures, *[""] * (4 - len(figures))))


if __name__ == "__main__":
    main()
