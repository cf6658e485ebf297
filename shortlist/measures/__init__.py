"""Ranking + truth -> numbers. The registry lists every measure; ``evaluate`` computes them."""

from shortlist.measures import losses, ranks  # noqa: F401 — importing a file enters its measures
from shortlist.measures.evaluation import Evaluation, evaluate, evaluate_documents
from shortlist.measures.registry import MEASURES, Measure, measure

__all__ = ["MEASURES", "Evaluation", "Measure", "evaluate", "evaluate_documents", "measure"]
