"""Iterative parameter mixing (McDonald, Hall and Mann 2010, figure 3): Perceptrons that learn apart, averaged.

In each pass every shard starts from the same prototypes and learns its own rows; the mean of what they arrive at is
where the next pass starts. Prototypes are linear in what they store (prototypes.py), so the mean of the stored weights
is the mean of the prototypes, of labels too that some shard has never met.

The moments, from which the average over time is made, need one thought: of S shards, what one of them did with its t-th
row happened at time + S·t in the time of all. A shard has noted Σ (time + t)·change; stretched, that is
S·(what it noted) − (S − 1)·time·(Σ change).
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats
from shortlist.categories.prototypes.weights import Prototypes, pack


def mixed(parts: list[Prototypes], began: Prototypes, time: int, n_labels: int) -> Prototypes:
    """The mean of prototypes that learned apart, each from where they all ``began`` at that time."""
    n, size = len(parts), max(part.background.size for part in parts)
    every = [part.for_features(size) for part in (*parts, began)]
    entries = [one.entries() for one in every]
    key = np.concatenate([feature * n_labels + label for feature, label, _, _ in entries])
    found, at = np.unique(key, return_inverse=True)

    def summed(values: list[Floats], factors: list[float]) -> Floats:
        scaled = np.concatenate([factor * value for factor, value in zip(factors, values, strict=True)])
        return np.bincount(at, scaled, minlength=found.size).astype(np.float64, copy=False)

    mean, change, noted = [1 / n] * n + [0.0], [1 / n] * n + [-1.0], [1.0] * n + [1.0 - n]
    weights = [weight for _, _, weight, _ in entries]
    moment = summed([moment for _, _, _, moment in entries], noted) - (n - 1) * time * summed(weights, change)
    backgrounds, moments = [one.background for one in every], [one.background_moment for one in every]
    background_moment = _weighted(noted, moments) - (n - 1) * time * _weighted(change, backgrounds)
    feature, label = np.divmod(found, max(n_labels, 1))
    return pack(feature, label, summed(weights, mean), moment, _weighted(mean, backgrounds), background_moment)


def _weighted(factors: list[float], values: list[Floats]) -> Floats:
    """The sum of values times factors, added up in their order: a product of matrices would round as it likes."""
    total = np.zeros_like(values[0])
    for factor, value in zip(factors, values, strict=True):
        total += factor * value
    return total
