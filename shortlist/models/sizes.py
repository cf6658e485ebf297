"""How many bytes the parts of a model take at most, by which ``max_memory`` is kept (memory.py).

The room that arrays have to spare, copies while they grow, and those that saving makes are all counted as if they came
together.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Bytes for each part of a model, and for what a process takes beside it."""

    libraries: int  # with the loops that were compiled, and what is being read
    label: int
    word: int
    name_byte: int  # each byte of a word's or a label's name
    edge: int
    entry: int  # an entry of a text's row: column and count
    weight: int  # of a label for each number of a vector


# A word is 24 bytes in the index, 16 in the vocabulary and its counts; while rows are learned it needs no table. An
# edge is 12, in lists that have a quarter to spare. An entry is a column and a count, which take 1.7 bytes of a short
# text. A weight of a vector is 4, with a quarter to spare, and a copy while there come to be more, or when it is saved.
MOST = Sizes(libraries=360 * 10**6, label=400, word=200, name_byte=6, edge=60, entry=10, weight=14)
