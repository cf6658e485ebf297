"""Measures of labels that stand in a hierarchy: a near miss counts for what it shares with the truth.

Each set of labels is taken together with all that is broader, and two sets are compared so (Kiritchenko, Matwin,
Nock and Famili, 2006): of the labels assigned, with the broader ones, hP is the share that is true or broader than
something true; hR is the share of those that was assigned; hF is their harmonic mean. Sums go over all examples.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from shortlist.arrays.given_labels import Label

Broader = Mapping[Label, Iterable[Label]]


class HierarchicalF1(NamedTuple):
    """hP, hR and hF; 0 where nothing is assigned, or nothing true."""

    precision: float
    recall: float
    f1: float


def hierarchical_f1(
    assigned: Iterable[Iterable[Label]], truth: Iterable[Iterable[Label]], broader: Broader
) -> HierarchicalF1:
    """Precision, recall and F1 of labels assigned, all that is broader included.

    Parameters
    ----------
    assigned, truth : iterables of label lists
        The labels that each example is given, and those that it has.
    broader : mapping of a label to the labels directly above it
        A label may have several, and may be missing. What leads back to itself is counted once.

    Returns
    -------
    HierarchicalF1

    Examples
    --------
    >>> from shortlist.measures import hierarchical_f1
    >>> hierarchical_f1([["rye"], ["oats"]], [["oats"], ["oats"]], {"rye": ["grain"], "oats": ["grain"]}).f1
    0.75
    """
    above: dict[Hashable, frozenset[Label]] = {}

    def with_broader(labels: Iterable[Label]) -> set[Label]:
        found: set[Label] = set()
        for label in labels:
            if label not in above:
                above[label] = upwards(label, broader)
            found |= above[label]
        return found

    n_shared = n_assigned = n_true = 0
    for given, own in zip(assigned, truth, strict=True):
        one, other = with_broader(given), with_broader(own)
        n_shared += len(one & other)
        n_assigned += len(one)
        n_true += len(other)
    precision, recall = n_shared / max(n_assigned, 1), n_shared / max(n_true, 1)
    return HierarchicalF1(precision, recall, 2 * n_shared / max(n_assigned + n_true, 1))


def upwards(label: Label, broader: Broader) -> frozenset[Label]:
    """A label and all that is broader, however far up."""
    found, waiting = {label}, [label]
    while waiting:
        new = [above for above in broader.get(waiting.pop(), ()) if above not in found]
        found.update(new)
        waiting += new
    return frozenset(found)
