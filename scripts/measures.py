"""The documentation page of the measures, from the registry: ``python scripts/measures.py >
docs/measures.md``.
"""

from __future__ import annotations

from shortlist.measures import MEASURES, Measure
from shortlist.measures.registry import Family

SECTIONS: dict[tuple[Family, ...], tuple[str, str]] = {
    ("categories", "documents"): (
        "Rankings of labels or of documents",
        "`evaluate(ranking, truth, [...])` for labels, `evaluate_documents(scores, relevance, "
        "query, [...])` for "
        "documents.",
    ),
    ("categories",): ("Rankings of labels only", "`evaluate(ranking, truth, [...])`"),
    ("documents",): (
        "Documents for queries only",
        "`evaluate_documents(scores, relevance, query, [...])`",
    ),
    ("ratings",): (
        "Ordered ratings",
        "`evaluate_ratings(predicted, truth, [...])`; `scale=[...]` names other steps.",
    ),
}

START = """\
# Measures

<!-- Made from the registry by `python scripts/measures.py > docs/measures.md`; a test compares the two. -->

```python
import shortlist as sl

ranking = categorizer.rank(texts, k=10)
found = sl.evaluate(ranking, label_lists, ["R1", "R5", "MRR", "P@5", "nDCG@5", "micro-F1"])
print(found.table())          # values with 95 % intervals, and how many examples were left out
found["R1"], found.intervals["R1"], found.per_instance["R1"], found.to_dict()
```

A name ends in its parameter: `P@5`, `R1`. Capitals do not matter. k is a whole number from 1. A measure that
looks at k labels refuses rankings that were cut shorter.

## Rules

- **Notation.** For one example y is the set of relevant items, Y the set of all items, s_r the score of item r and
  rank(r) its rank, 1 for the best. Formulas are for one example and are averaged over examples, unless they say
  otherwise.
- **Left out.** An example with nothing relevant is left out of the averages, counted and reported; only micro-F1 and
  macro-F1 count it. ROC also leaves out examples with nothing but relevant items.
- **Ties.** A ranking of labels is taken in the order in which it comes: learners break ties by first appearance of the
  label. The documents of a query are ordered by score, ties in the order given. ROC
  depends on scores only: a tie is half an error.
- **Cut rankings.** AP, MRR and nDCG give nothing for a relevant item that was not retrieved. For ROC (marked
  *complete*) all items that were not retrieved tie with each other below those that were. Cutting a ranking never
  makes it look better, except that ROC grants missing relevant items half of their pairs with missing others.
- **Labels never learned** count as relevant items that are never retrieved.
- **Intervals** are percentiles 2.5 and 97.5 of 1,000 bootstrap samples of the examples (`resamples`), the same samples
  for every measure, from `random_state`.
- **Empty positions.** Precision at k divides by k also where fewer labels were retrieved.
- **The papers' other measures** (losses, one-error, coverage, maxF1, HR, accuracy) are in `papers/measures.py`, beside
  the experiments of this repository.

"""

END = """\
## Differences from other libraries

- scikit-learn's `label_ranking_average_precision_score` is AP where no scores tie (it gives tied labels the worst of
  their ranks); it counts an example with nothing relevant as 1, which is left out here.
- `ndcg_score` averages over the orders of tied items, unless `ignore_ties=True`.
- `roc_auc_score` is ROC of one example, ties included.
- `f1_score` is micro-F1 and macro-F1 of the assigned labels. macro-F1 is over labels that are true or assigned at least
  once; over an indicator matrix scikit-learn also counts the other columns, as 0.
- trec_eval breaks ties by document name. Its `map`, `recip_rank`, `P` and `ndcg` are MAP, MRR, P@k and nDCG@k.
- The Extreme Classification Repository's `psprecision` and `psndcg` are PSP@k and PSnDCG@k.

## Curves, tables and tests

| function | gives |
|---|---|
| `precision_recall(positions)` | interpolated precision at recall levels 0 … 1, mean of examples (001, figure 6) |
| `among_first_k(positions)` | R_k for k = 1, 2, … |
| `per_label(ranking, truth)` | precision, recall, F1 and support of each label |
| `hierarchical_f1(assigned, truth, broader)` | hP, hR and hF: labels compared together with all that is broader |
| `confusion(predicted, truth)` | how often each rating was predicted as each |
| `wilcoxon(first, second)` | two-tailed Wilcoxon signed-rank test (paper 003) |
| `paired_bootstrap(first, second)` | 95 % interval of the mean difference, and a two-tailed p-value |

They stand in `shortlist.measures`. `positions` is `place_labels(ranking, truth)` or `place_documents(scores, relevance,
query)`; `first` and `second` are the `per_instance` values of two evaluations, or one value for each split.
`shortlist.report` draws the curves.

## Speed

Precision, recall, nDCG and AP of 100,000 rankings of 10 labels took 0.07 s, and 1.9 s with intervals from 1,000
bootstrap samples; scikit-learn took 5.3 s for the first 20,000 of them as dense matrices of 100 labels
(`make bench`; processor time, one core).
"""


HEAD = "| name | better | formula | meaning | paper | needs |"


def page() -> str:
    """The whole page."""
    parts = [START]
    for families, (title, how) in SECTIONS.items():
        lines = [f"## {title}", "", how, "", HEAD, "|---|---|---|---|---|---|"]
        lines += [
            _row(entry)
            for entry in MEASURES.values()
            if entry.families == families and is_of_the_package(entry)
        ]
        parts.append("\n".join(lines) + "\n\n")
    return "".join(parts) + END


def is_of_the_package(entry: Measure) -> bool:
    """Whether a measure is one of the package: those of the papers' tables join the registry
    with ``papers``.
    """
    return entry.compute.__module__.startswith("shortlist.")


def _row(entry: Measure) -> str:
    needs = ", ".join({"complete rankings": "*complete*"}.get(need, need) for need in entry.needs)
    cells = [f"`{entry.name}`", entry.better, entry.formula, entry.description, entry.paper, needs]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    print(page(), end="")
