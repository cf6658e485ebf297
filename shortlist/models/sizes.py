"""How many bytes the parts of a model take: what training holds at its peak, and the most that it can come to.

A plan is made of the first, which is counted from the code; a bound is kept by the second, in which the room that
arrays have to spare, copies while they grow, and those that saving makes are all counted as if they came together.
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
# Few examples are learned in parts too (index/held_back.py), which have weights of their own, and sums of as many
# bytes: that is 13 of the 14, as it comes when nothing grows and nothing is saved. What else a part has, words and
# edges, does not come to more than their copies do.
USUAL = Sizes(libraries=215 * 10**6, label=300, word=56, name_byte=1, edge=16, entry=2, weight=9)
MOST = Sizes(libraries=360 * 10**6, label=400, word=200, name_byte=6, edge=60, entry=10, weight=14)
