"""How much of an example is its words, and how much its vector.

Words and vector are both of unit length. Together they are to have unit length as well, as the steps of a tuned index
ask for: x·cos φ and v·sin φ. What words say is worth as much as they have been seen: if word f was seen #_f times,

    cos² φ = of_words·Σ_f min(1, (#_f + 1) / rare)·x[f]².

So where there are few examples the vector decides, and the more there are, the more the words do.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import kernel
from shortlist.arrays.rows import Rows
from shortlist.categories.index.lists import Index
from shortlist.categories.index.vectors import Beside


@kernel
def share_length(words: Rows, beside: Beside, i: int, index: Index, rare: int) -> None:
    """Multiply the words of example i by cos φ and its vector by sin φ, in place, where it has both."""
    first, last = words.indptr[i], words.indptr[i + 1]
    if beside.of_words == 0.0 or first == last:
        return
    known = 0.0
    for j in range(first, last):
        f = words.indices[j]
        times = 1 + (index.features[f]["seen"] if f < index.features.size else 0)
        known += words.data[j] * words.data[j] * (1.0 if times >= rare else times / rare)
    square = beside.of_words * min(1.0, known)
    of_words, of_vector = np.sqrt(square), np.sqrt(1.0 - square)
    for j in range(first, last):
        words.data[j] *= of_words
    for j in range(beside.rows.indptr[i], beside.rows.indptr[i + 1]):
        beside.rows.data[j] *= of_vector
