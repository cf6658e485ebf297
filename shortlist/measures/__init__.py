"""Ranking + truth -> numbers. The registry lists every measure; ``evaluate`` computes them.

Importing a file enters its measures into the registry, in the order in which the documentation shows them.
"""

# isort: off
from shortlist.measures import rankings, assignments, propensity, ratings  # noqa: F401 — in this order

# isort: on
from shortlist.measures.assignments import HierarchicalF1, LabelTable, hierarchical_f1, per_label
from shortlist.measures.evaluation import (
    Evaluation,
    depth,
    evaluate,
    evaluate_documents,
    evaluate_ratings,
    propensities_for,
)
from shortlist.measures.positions import Positions, place_documents, place_labels
from shortlist.measures.propensity import Propensities
from shortlist.measures.rankings import among_first_k, precision_recall, progressive
from shortlist.measures.ratings import confusion
from shortlist.measures.registry import MEASURES, Measure, measure
from shortlist.measures.significance import Comparison, paired_bootstrap, sign_test, wilcoxon

__all__ = [
    "MEASURES", "Comparison", "Evaluation", "HierarchicalF1", "LabelTable", "Measure", "Positions", "Propensities",
    "among_first_k", "confusion", "depth", "evaluate", "evaluate_documents", "evaluate_ratings", "hierarchical_f1",
    "measure", "paired_bootstrap", "per_label", "place_documents", "place_labels", "precision_recall",
    "progressive", "propensities_for", "sign_test", "wilcoxon",
]  # fmt: skip
