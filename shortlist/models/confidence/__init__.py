"""From ranking to deciding: how sure a ranking is, how many labels to list, which to assign, when to say nothing."""

from shortlist.models.confidence.abstention import Reason
from shortlist.models.confidence.aims import F1, Aim, Costs, Precision
from shortlist.models.confidence.confidence import Confidence

__all__ = ["F1", "Aim", "Confidence", "Costs", "Precision", "Reason"]
