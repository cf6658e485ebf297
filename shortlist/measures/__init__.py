"""Measures of rankings, assigned labels and ratings. The registry lists them all; ``evaluate``
computes them.
"""

from shortlist.measures.assignments import HierarchicalF1, LabelTable, hierarchical_f1, per_label
from shortlist.measures.evaluation import (
    Evaluation,
    confusion,
    depth,
    evaluate,
    evaluate_documents,
    evaluate_ratings,
    propensities_for,
)
from shortlist.measures.positions import Positions, place_documents, place_labels
from shortlist.measures.rankings import Propensities, among_first_k, precision_recall
from shortlist.measures.registry import MEASURES, Measure, measure
from shortlist.measures.significance import Comparison, paired_bootstrap, wilcoxon

__all__ = [
    "MEASURES",
    "Comparison",
    "Evaluation",
    "HierarchicalF1",
    "LabelTable",
    "Measure",
    "Positions",
    "Propensities",
    "among_first_k",
    "confusion",
    "depth",
    "evaluate",
    "evaluate_documents",
    "evaluate_ratings",
    "hierarchical_f1",
    "measure",
    "paired_bootstrap",
    "per_label",
    "place_documents",
    "place_labels",
    "precision_recall",
    "propensities_for",
    "wilcoxon",
]
