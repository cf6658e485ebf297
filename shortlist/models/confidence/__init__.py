"""From ranking to deciding: how sure a ranking is, how many labels to list, which to assign, when to say nothing."""

from shortlist.models.confidence.confidence import Confidence, Reason
from shortlist.models.confidence.thresholds import F1, Aim, Costs, Precision

__all__ = ["F1", "Aim", "Confidence", "Costs", "Precision", "Reason"]
