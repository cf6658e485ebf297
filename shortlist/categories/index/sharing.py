"""How much of a score is that of the words, and how much that of the vector, where an example has both.

Each learns by its own errors, so neither suffers from the other. What an example has of both is weighed by how often
each alone has put a wrong label first, of the last 300 examples that were new: with the shares m_w and m_v of these,

    s = (1 − α)·s_words + α·s_vector,    α = β·m_w² / (β·m_w² + m_v²).

So where there are few examples of many words the vector decides, and the more there are, the more the words do. Before
anything is known, both count the same: each begins as if it had missed once. β is 1, unless ``fit`` had few examples:
then it makes α what is best on examples held back (held_back.py), from where it goes on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.arrays.rows import Rows
from shortlist.categories.index.lists import Index

Missed = NDArray[np.int8]  # whether a wrong label was first: 1 or 0, and −1 where that is not said
NOBODY_ASKS: Missed = np.zeros(0, dtype=np.int8)
RECENT = 300.0  # examples that count; nobody is taken to miss less than one of so many
# Entries of misses: how many examples, the shares of them that each missed, and β.
N, OF_WORDS, OF_VECTORS, BETA = 0, 1, 2, 3
START = np.ones(4)


@kernel
def share_of_vector(misses: Floats) -> float:
    """α."""
    words, vectors = squares(misses)
    return words * misses[BETA] / (words * misses[BETA] + vectors)


def beta_for(misses: Floats, alpha: float) -> float:
    """The β with which the vector has the share α."""
    words, vectors = squares(misses)
    return alpha / (1.0 - alpha) * vectors / words


@kernel
def squares(misses: Floats) -> tuple[float, float]:
    """m_w² and m_v²."""
    words, vectors = max(misses[OF_WORDS], 1.0 / RECENT), max(misses[OF_VECTORS], 1.0 / RECENT)
    return words * words, vectors * vectors


def are_misses(misses: Floats) -> bool:
    """Whether these can be misses of a learner."""
    shares, beta = misses[OF_WORDS:BETA], misses[BETA:]
    fits = beta.size == 1 and bool((shares >= 0).all() and (shares <= 1).all() and 0 < beta[0] < np.inf)
    return fits and bool(1 <= misses[N] < np.inf)


@kernel
def note_misses(
    words: Rows, vectors: Rows, order: Longs, missed_by_words: Missed, missed_by_vectors: Missed, misses: Floats
) -> None:
    """Go on with misses by what was missed of the examples of ``order``, as far as they have words and a vector."""
    for t in range(order.size):
        i = order[t]
        has_both = words.indptr[i] < words.indptr[i + 1] and vectors.indptr[i] < vectors.indptr[i + 1]
        if has_both and missed_by_words[t] >= 0:
            misses[N] += 1.0
            weight = 1.0 / min(misses[N], RECENT)
            misses[OF_WORDS] += weight * (missed_by_words[t] - misses[OF_WORDS])
            misses[OF_VECTORS] += weight * (missed_by_vectors[t] - misses[OF_VECTORS])


@kernel
def weigh(words: Rows, vectors: Rows, alpha: float) -> None:
    """Multiply the words of each row by 1 − α and its vector by α, in place, where it has both."""
    for i in range(words.indptr.size - 1):
        if words.indptr[i] < words.indptr[i + 1] and vectors.indptr[i] < vectors.indptr[i + 1]:
            words.data[words.indptr[i] : words.indptr[i + 1]] *= 1.0 - alpha
            vectors.data[vectors.indptr[i] : vectors.indptr[i + 1]] *= alpha


def mixed(began: Floats, found: list[Floats]) -> Floats:
    """What learners have noted that began alike and went on apart: the mean of the shares, of all examples."""
    together: Floats = np.mean(found, axis=0)
    together[N] = began[N] + sum(float(one[N] - began[N]) for one in found)
    return together


# Models that were learned before had one error for both, and rows of both had unit length: x·cos φ and v·sin φ, where
# cos² φ = 0.6·Σ_f min(1, (#_f + 1) / rare)·x[f]² if word f was seen #_f times. They are weighed so still.

FORMER_SHARE = 0.6


@kernel
def weigh_as_before(words: Rows, vectors: Rows, index: Index, rare: int) -> None:
    """Multiply the words of each row by cos φ and its vector by sin φ, in place, where it has both."""
    for i in range(words.indptr.size - 1):
        first, last = words.indptr[i], words.indptr[i + 1]
        if first == last or vectors.indptr[i] == vectors.indptr[i + 1]:
            continue
        known = 0.0
        for j in range(first, last):
            f = words.indices[j]
            times = 1 + (index.features[f]["seen"] if f < index.features.size else 0)
            known += words.data[j] * words.data[j] * (1.0 if times >= rare else times / rare)
        square = FORMER_SHARE * min(1.0, known)
        words.data[first:last] *= np.sqrt(square)
        vectors.data[vectors.indptr[i] : vectors.indptr[i + 1]] *= np.sqrt(1.0 - square)
