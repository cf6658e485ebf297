"""Judgements that leave something open: of an example some labels are right, some are wrong, the others nobody judged.

Where nothing is said, all labels of an example that are not right are wrong: the judgement is complete.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Ints, Longs, part
from shortlist.arrays.rows import copy_rows, offsets_of


class Partial(NamedTuple):
    """What was crossed out of examples whose judgements are not complete.

    Of example i that is ids[indptr[i]:indptr[i+1]], each once, and nothing where it is complete. Where all examples
    are complete, all three arrays are empty.
    """

    complete: NDArray[np.bool_]
    indptr: Longs
    ids: Ints

    @classmethod
    def of(cls, complete: NDArray[np.bool_], lists: list[list[int]]) -> Partial:
        """From the numbers of the labels that were crossed out; what a complete judgement says of them is left out."""
        kept = [[] if whole else list(dict.fromkeys(own)) for whole, own in zip(complete, lists, strict=True)]
        indptr = np.append(0, np.cumsum([len(own) for own in kept])).astype(np.int64)
        return cls(complete, indptr, np.array([c for own in kept for c in own], dtype=np.int32)).or_nothing()

    def or_nothing(self) -> Partial:
        return NOTHING_PARTIAL if self.complete.all() else self

    def chosen(self, which: Longs) -> Partial:
        """That of those examples, in that order."""
        if self.complete.size == 0:
            return self
        return Partial(self.complete[which], *chosen_runs(self.indptr, self.ids, which)).or_nothing()

    @classmethod
    def stack(cls, parts: list[Partial], sizes: list[int]) -> Partial:
        """That of all parts, which have so many examples, one part after the other."""
        if not any(part.complete.size for part in parts):
            return NOTHING_PARTIAL
        said = [
            part if part.complete.size else cls(np.ones(n, dtype=np.bool_), np.zeros(n + 1, dtype=np.int64), part.ids)
            for part, n in zip(parts, sizes, strict=True)
        ]
        return cls(np.concatenate([part.complete for part in said]), *stacked_runs([part[1:] for part in said]))

    def among_known(self, indptr: Longs, ids: Ints, before: int) -> Partial:
        """As a learner takes it that knew so many labels before, whose numbers are those of their first appearance.

        Of an unknown label that was crossed out there is nothing to correct. Who has judged all that are known has
        judged completely. What is known by an example does not depend on the examples behind it.
        """
        n, right, wrong = self.complete.size, np.diff(indptr), np.diff(self.indptr)
        known = np.full(n, before)
        np.maximum.at(known, np.repeat(np.arange(n), right), ids + 1)
        known = np.maximum.accumulate(known)
        example = np.repeat(np.arange(n), wrong)
        kept = (self.ids >= 0) & (self.ids < known[example])
        complete = self.complete | (right + np.bincount(example[kept], minlength=n) == known)
        kept &= ~complete[example]
        starts = np.append(0, np.cumsum(np.bincount(example[kept], minlength=n)))
        return Partial(complete, starts.astype(np.int64), self.ids[kept]).or_nothing()


NOTHING_PARTIAL = Partial(np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))


def chosen_runs(indptr: Longs, ids: Ints, which: Longs) -> tuple[Longs, Ints]:
    """Those of the runs ids[indptr[i]:indptr[i+1]], in that order."""
    starts = offsets_of(indptr, which)
    chosen = np.empty(starts[-1], dtype=np.int32)
    copy_rows(indptr, ids, which, starts, chosen)
    return starts, chosen


def stacked_runs(parts: list[tuple[Longs, Ints]]) -> tuple[Longs, Ints]:
    """All runs of all parts, one part after the other."""
    counts = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(indptr) for indptr, _ in parts)])
    return np.cumsum(counts), np.concatenate([np.zeros(0, dtype=np.int32), *(ids for _, ids in parts)])


@part
def is_complete(partial: Partial, i: int) -> bool:
    """Whether all labels of example i were judged."""
    return partial.complete.size == 0 or partial.complete[i]
