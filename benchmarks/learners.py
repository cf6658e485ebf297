"""Every kind of learner on three sets, in one run: what docs/which-learner.md shows.

    python -m benchmarks.learners DATA [SET ...]

P@1 (one label each) or nDCG@5 (several) on the test part, and the processor time from texts or rows
to a model.
"""

import shortlist as sl
from benchmarks import sets
from benchmarks.running import arguments, row, show, table, timed

LEARNERS = {
    "TunedIndex()": sl.TunedIndex(),
    "FeatureFocus(margin=0.3)": sl.FeatureFocus(margin=0.3),
    "IndependentIndex()": sl.IndependentIndex(),
    "MMP(step='passive-aggressive', margin=1, hypothesis='averaged', passes=5)": sl.MMP(
        step="passive-aggressive", margin=1.0, hypothesis="averaged", passes=5
    ),
    "MMP()": sl.MMP(),
    "TopicPerceptron(hypothesis='averaged', passes=5)": sl.TopicPerceptron(
        hypothesis="averaged", passes=5
    ),
    "Rocchio()": sl.Rocchio(),
    "FrequencyBaseline()": sl.FrequencyBaseline(),
}
SETS = {"hwu64": sets.short("hwu64"), "reuters": sets.reuters, "bibtex": sets.mulan("bibtex")}


def tried(learner, train, test, measure):
    """The measure on the test part, and the time to learn."""
    kind = sl.Categorizer if isinstance(train[0], list) else sl.RowCategorizer
    model, seconds = timed(kind(learner).fit, *train)
    truth = model.learner_.label_numbers(test[1])
    return sl.evaluate(model.rank(test[0], 5), truth, [measure])[measure], seconds


def main():
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SETS), help=", ".join(SETS))
    given = parser.parse_args()
    parts = {name: SETS[name](given.data) for name in given.sets}
    measures = {
        name: "nDCG@5" if any(len(own) > 1 for own in train[1]) else "P@1"
        for name, (train, _) in parts.items()
    }
    show(
        table(["learner"] + [cell for name in parts for cell in (f"{name}, {measures[name]}", "s")])
    )
    for called, learner in LEARNERS.items():
        cells = []
        for name, (train, test) in parts.items():
            # compiled
            tried(
                learner, *([some[:50] for some in part] for part in (train, test)), measures[name]
            )
            value, seconds = tried(learner, train, test, measures[name])
            cells += [f"{value:.3f}", f"{seconds:.2f}"]
        show(row(f"`{called}`", *cells))


if __name__ == "__main__":
    main()
