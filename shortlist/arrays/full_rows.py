"""Rows without a gap, as vectors are: their columns are 0, 1, 2, … to the last, and need not be looked up.

Whether a row is full is seen in the row alone, however wide the others are and in whichever form they were given: so a
dense matrix and its sparse form teach the same. A sum over a full row is added up in eight parts, by column modulo 8,
and then the parts: always in that order, which lets a processor add several at a time and leaves no choice to it.
"""

from shortlist.arrays.kernels import Floats, Ints, dot, step

PARTS = 8


@step
def is_full(indices: Ints) -> bool:
    """Whether these columns, which ascend, are 0, 1, 2, … to the last."""
    return indices.size > 0 and indices[indices.size - 1] == indices.size - 1


@step
def inner(indices: Ints, data: Floats, dense: Floats) -> float:
    """Inner product of a row (indices int32[m], data float64[m]) with a dense vector; in parts where it is full."""
    if not is_full(indices):
        return dot(indices, data, dense)
    a = b = c = d = e = f = g = h = 0.0
    j = 0
    while j + PARTS <= data.size:  # a range of such steps takes longer to begin than a short row to add up
        a += data[j] * dense[j]
        b += data[j + 1] * dense[j + 1]
        c += data[j + 2] * dense[j + 2]
        d += data[j + 3] * dense[j + 3]
        e += data[j + 4] * dense[j + 4]
        f += data[j + 5] * dense[j + 5]
        g += data[j + 6] * dense[j + 6]
        h += data[j + 7] * dense[j + 7]
        j += PARTS
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    while j < data.size:
        total += data[j] * dense[j]
        j += 1
    return total
