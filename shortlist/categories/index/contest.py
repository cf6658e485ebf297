"""One label each: a contest between labels, in which a label is corrected by how it stands to the true one.

Where an example has one label, it is enough that the true label r leads: what a wrong label scores matters only where
it comes near. With l_c = 1.5 + s_c − s_r, by how much a wrong label c is short of staying 1.5 behind, the least change
of the weights after which none is short (the multiclass passive-aggressive step of Crammer, Dekel et al. 2006, with
all constraints at once) moves the labels with l_c > θ, for an example of length 1, by

    e_c = −(l_c − θ),    e_r = θ = Σ_c (l_c − θ),    that is    θ = Σ_{l_c > θ} l_c / (1 + |{c : l_c > θ}|).

It is made smaller where θ > 1. All who threaten r share what it is raised by, so an example whose label is wrong does
less harm than where the first of them bears it all. Still, where most labels cannot be foreseen a contest is mostly
noise: while more than half of the last 300 new examples did not have the true label in front, or examples have more
than one label, each label is corrected for itself (tuning.py). In a contest the surprise z is that of a wrong label
that leads, min(1, s_c − s_r)², so that the index is bold again after a change of what labels mean. Of the labels of an
example that has several, as a few may, the one that scores least contends.

Where ``fit`` has few examples of each label, most are missed because little has been learned, not because they cannot
be foreseen: labels contend from the first, and r shall lead by 2.

An example that was learned before, and whose label is still behind, is likely to have the wrong one: further passes
that went on raising it would learn mistakes by heart. By how much it is behind, so much less it teaches there, and
nothing where that is 1 or more. Where examples of each label are few, all have their whole say.
Where they are few in all, further passes score an example by what others have counted (others.py).

A word speaks against a label only through an edge, and edges are made by counting. In a contest the first of the wrong
labels is given edges too, from the features that have none to it and fewer than ``max_edges``, with next to no
weight; and edges are dropped for being light only where a feature has more than ``max_edges``.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, part

LEAD, WIDE_LEAD = 1.5, 2.0  # by which the true label shall lead; where a label has few examples
FASTER = 5.0 / 3.0  # η / step
HALF, RECENT = 0.5, 300.0  # missed: at most this share of so many examples
NOTHING = 1e-9  # the weight that an edge has for x = 1 if it was never counted


@part
def rivals(scores: Floats, change: Floats, bias: Floats, own: Ints, touched: Ints) -> tuple[int, float, int, float]:
    """The weakest true label and the strongest wrong one, with their scores; −1 and 0 where there is none.

    own: the true labels, of which change is 1, and 0 of all others; touched: the retrieved ones.
    """
    r, low = -1, 0.0
    for c in own:
        score = scores[c] + bias[c] if scores[c] != 0.0 else 0.0
        if r < 0 or score < low:
            r, low = c, score
    s, high = -1, 0.0
    for c in touched:
        score = scores[c] + bias[c]
        if change[c] == 0.0 and (s < 0 or score > high):
            s, high = c, score
    return r, low, s, high


@part
def contend(
    scores: Floats, change: Floats, bias: Floats, own: Ints, touched: Ints, r: int, low: float, s: int, lead: float
) -> None:
    """e_c into change, which is 1 for the true labels and 0 for all others; r, low and s as rivals found them."""
    theta, n, before = 0.0, 0, -1
    while n != before:
        before, n, total = n, 0, 0.0
        for c in touched:
            short = lead + (scores[c] + bias[c]) - low
            if change[c] == 0.0 and short > theta:
                total += short
                n += 1
        theta = total / (1.0 + n)
    scale = 1.0 / max(1.0, theta)
    if n > 0:
        for c in touched:
            short = lead + (scores[c] + bias[c]) - low
            if change[c] == 0.0 and short > theta:
                change[c] = np.float32(-scale * (short - theta))
    elif s < 0 or scores[r] == 0.0:
        theta = min(1.0, max(0.0, lead - low))  # nobody is there to contend with, or r itself is not
    for c in own:
        change[c] = 0.0
    change[r] = np.float32(scale * theta)


@part
def trust(contest: bool, z: float) -> float:
    """How far an example of surprise z is believed in a further pass: the less, the more its label is behind."""
    return 1.0 - np.sqrt(z) if contest else 1.0
