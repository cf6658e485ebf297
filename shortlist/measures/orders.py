"""How well an order of labels is predicted: Kendall's τ and Spearman's ρ over the labels that the true order names.

A true order may be partial: labels that it does not name count for nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from shortlist.errors import InputError

Order = Sequence[Hashable]  # labels, best first


def kendall_tau(predicted: Sequence[Order], true: Sequence[Order]) -> float:
    """The mean over examples of (pairs in the true order − pairs in the wrong one) / all pairs.

    Parameters
    ----------
    predicted : sequence of orders
        Of each example, labels, best first: at least those that the true order names.
    true : sequence of orders
        Of each example, labels, best first: all or some. One of fewer than two labels counts for nothing.

    Returns
    -------
    float
        From −1 (all reversed) to 1 (all as they are); NaN if no true order has two labels.

    Examples
    --------
    >>> from shortlist import kendall_tau
    >>> kendall_tau([["a", "b", "c"]], [["a", "c", "b"]])
    0.3333333333333333
    """
    return _mean([_tau(places) for places in _places(predicted, true)])


def spearman_rho(predicted: Sequence[Order], true: Sequence[Order]) -> float:
    """The mean over examples of 1 − 6·Σ d² / (m³ − m), d being the differences of the places of m labels.

    Parameters
    ----------
    predicted : sequence of orders
        Of each example, labels, best first: at least those that the true order names.
    true : sequence of orders
        Of each example, labels, best first: all or some. One of fewer than two labels counts for nothing.

    Returns
    -------
    float
        From −1 to 1; far places count more than in Kendall's τ. NaN if no true order has two labels.

    Examples
    --------
    >>> from shortlist import spearman_rho
    >>> spearman_rho([["a", "b", "c"]], [["a", "c", "b"]])
    0.5
    """
    return _mean([_rho(places) for places in _places(predicted, true)])


def _tau(places: list[int]) -> float:
    values = np.array(places)
    after = np.triu_indices(values.size, 1)
    return float(np.sign(values[after[1]] - values[after[0]]).mean())


def _rho(places: list[int]) -> float:
    ranks, m = np.argsort(np.argsort(places)), len(places)
    return float(1 - 6 * ((ranks - np.arange(m)) ** 2).sum() / (m**3 - m))


def _places(predicted: Sequence[Order], true: Sequence[Order]) -> list[list[int]]:
    """Of each example with two labels and more: where the labels of the true order stand in the predicted one."""
    if len(predicted) != len(true):
        raise InputError(f"there are {len(predicted)} predicted orders and {len(true)} true ones")
    found = []
    for row, (guess, order) in enumerate(zip(predicted, true, strict=True)):
        place = {label: at for at, label in enumerate(guess)}
        missing = [label for label in order if label not in place]
        if missing:
            raise InputError(f"the predicted order of row {row} lacks {missing[0]!r}, which the true one has")
        if len(set(order)) < len(order):
            raise InputError(f"the true order of row {row} names a label twice")
        if len(order) > 1:
            found.append([place[label] for label in order])
    return found


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
