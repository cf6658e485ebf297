"""What a search is worth: the usual model beside the one that `shortlist train --best` chooses, on the test part.

    python benchmarks/best.py DATA [--minutes M] [SET ...]

DATA has the folders short_texts, reuters21578 and mulan_arff. Each set's training part is searched, its test part is
ranked once by each of the two models. p is that of the difference on the test part, by a paired bootstrap.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "rivals"))
import sets

import shortlist as sl
from shortlist.arrays.validation import as_rows
from shortlist.inputs.examples import Examples
from shortlist.measures import evaluate, paired_bootstrap
from shortlist.models.row_categorizer import RowCategorizer
from shortlist.models.search import search
from shortlist.ranking import Ranking

MEASURES = ("P@1", "nDCG@5")


def load(data, name):
    """The examples of a set's training and test part."""
    parts = sets.SETS["finna" if name == "finna-100k" else name].load(data)
    if isinstance(parts[0][0], list):
        return [Examples(texts=texts, labels=labels) for texts, labels in parts]
    return [Examples(rows=as_rows(X), labels=labels) for X, labels in parts]


def new(examples, learner=None):
    """A model for such examples that has learned nothing."""
    if examples.texts is not None:
        return sl.Categorizer(learner)
    return RowCategorizer(sl.Categorizer(learner)._new_learner())


def measured(model, test):
    """The measures of a model on the test part, example by example."""
    ranking = Ranking.stack([model._rank_examples(test, 5)], 5)
    truth = model.learner_.label_numbers(test.labels)
    return evaluate(ranking, truth, MEASURES, n_labels=len(model.learner_.classes_), resamples=0)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("sets", nargs="*", default=[*sets.SHORT, "reuters", "bibtex"])
    options.add_argument("--minutes", type=float, default=10.0)
    chosen = options.parse_args()
    print(f"| set | {' | '.join(MEASURES)} | {', best | '.join(MEASURES)}, best | p | chosen | search, s | fit, s |")
    print("|---|" + "---|" * (2 * len(MEASURES) + 4))
    for name in chosen.sets:
        train, test = load(chosen.data, name)
        began = time.process_time()
        found = search(new(train), train, seconds=60 * chosen.minutes)
        searched = time.process_time() - began
        began = time.process_time()
        usual = new(train).fit_batches([train])
        seconds = time.process_time() - began
        ours, best = measured(usual, test), measured(found.model, test)
        own = "P@1" if found.measure == "R1" else found.measure
        p = paired_bootstrap(best.per_instance[own], ours.per_instance[own]).p_value
        values = " | ".join(f"{of[measure]:.4f}" for of in (ours, best) for measure in MEASURES)
        told = "–" if found.chosen == "the usual" else f"{p:.3f}"
        print(f"| {name} | {values} | {told} | {found.chosen} | {searched:.0f} | {seconds:.1f} |", flush=True)
        for row in found.table().rows:
            print("  ", row, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
