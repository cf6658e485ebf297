"""Every kind of learner on three sets, in one run: what docs/which-learner.md shows.

    python benchmarks/learners.py DATA [SET ...]

P@1 (one label each) or nDCG@5 (several) on the test part, and the processor time from texts or rows to a model.
"""

import sys
import time
from pathlib import Path

from best import load, measured, new

import shortlist as sl
from papers.comparators.one_versus_rest import OneVersusRest

LEARNERS = {
    "TunedIndex()": sl.TunedIndex(),
    "FeatureFocus(margin=0.3)": sl.FeatureFocus(margin=0.3),
    "IndependentIndex()": sl.IndependentIndex(),
    "MMP(step='passive-aggressive', margin=1, hypothesis='averaged', passes=5)": sl.MMP(
        step="passive-aggressive", margin=1.0, hypothesis="averaged", passes=5
    ),
    "MMP()": sl.MMP(),
    "TopicPerceptron(hypothesis='averaged', passes=5)": sl.TopicPerceptron(hypothesis="averaged", passes=5),
    "Rocchio()": sl.Rocchio(),
    "OneVersusRest()": OneVersusRest(),
    "FrequencyBaseline()": sl.FrequencyBaseline(),
}
SETS = ("hwu64", "reuters", "bibtex")


def tried(learner, train, test, measure):
    """The measure on the test part, and the time to learn."""
    began = time.process_time()
    model = new(train, learner).fit_batches([train])
    seconds = time.process_time() - began
    return measured(model, test)[measure], seconds


def main(data, names):
    names = names or SETS
    parts = {name: load(Path(data), name) for name in names}
    several = {name: any(len(own) > 1 for own in train.labels) for name, (train, _) in parts.items()}
    measures = {name: "nDCG@5" if several[name] else "P@1" for name in names}
    print("| learner | " + " | ".join(f"{name}, {measures[name]} | s" for name in names) + " |")
    print("|---|" + "---|" * (2 * len(names)))
    for called, learner in LEARNERS.items():
        cells = []
        for name, (train, test) in parts.items():
            few = list(range(50))
            tried(learner, train.take(few), test.take(few), measures[name])  # compiled
            value, seconds = tried(learner, train, test, measures[name])
            cells += [f"{value:.3f}", f"{seconds:.2f}"]
        print(f"| `{called}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(sys.argv[1], sys.argv[2:])
