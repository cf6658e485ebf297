"""Whether a stream comes sorted by label: then calibration examples say nothing of other texts.

In a file that is sorted by label the next example has the label of the last one, so that even a
model that knows one label is right. Of the last WINDOW examples, the share that have a label in
common with the example before is compared with the share that two random examples would have, Σ
p², by how often each label came so far. Where it is more than halfway from there to 1 the stream
is in a run: its rankings are not counted, and nothing is promised until it ends. Examples without
labels ("none of these") say nothing of a sorted file, and many may come in a row.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Longs
from shortlist.data.labels import LabelSets
from shortlist.data.validation import MOST_AMOUNT, as_whole

RUN_WINDOW = 64  # examples
EVERY_BIT = (1 << RUN_WINDOW) - 1  # a bit for each of them
LEAST_EXAMPLES_OF_A_RUN = 16  # examples before a run is detected
HALFWAY = 0.5
# two random examples have a label in common so often that a run cannot be detected
TOO_COMMON = 0.9


class Runs(NamedTuple):
    """Counts, along a stream, how often an example has a label of the one before it."""

    same: int = 0  # a bit for each of the last examples: whether it had a label of the one before
    last: frozenset[int] = frozenset()  # the labels of the last example
    squares: int = 0  # Σ count² over labels
    seen: int = 0  # examples
    several: bool = False  # whether there was more than one label

    def after(
        self, labels: LabelSets, order: Longs, counts: Longs
    ) -> tuple[NDArray[np.bool_], Runs]:
        """For each example of ``order``, whether it is in a run; and the Runs then. ``counts``
        includes all of them.
        """
        ids = labels.ids.tolist()
        ends = labels.indptr.tolist()
        sets = [ids[ends[i] : ends[i + 1]] for i in order.tolist()]
        counted = {label: int(counts[label]) for label in set(chain.from_iterable(sets))}
        for label in chain.from_iterable(sets):  # the counts before these examples
            counted[label] -= 1
        are_in_run = []
        bits, last, squares, seen, several = self
        for labels_of_example in sets:
            if not labels_of_example:
                are_in_run.append(in_run(bits, squares, seen, several))
                continue
            same = not last.isdisjoint(labels_of_example)
            bits = (bits << 1 | same) & EVERY_BIT
            for label in labels_of_example:
                squares += 2 * counted[label] + 1
                counted[label] += 1
            several = several or (bool(last) and not same)
            last = frozenset(labels_of_example)
            seen += 1
            are_in_run.append(in_run(bits, squares, seen, several))
        return np.array(are_in_run, dtype=np.bool_), Runs(bits, last, squares, seen, several)

    @property
    def now(self) -> bool:
        """Whether the stream is in a run."""
        return in_run(self.same, self.squares, self.seen, self.several)

    def to_settings(self) -> dict[str, Any]:
        return {
            "now": self.now,
            "same": f"{self.same:x}",
            "noted": min(self.seen, RUN_WINDOW),
            "last": sorted(self.last),
            "squares": self.squares,
            "seen": self.seen,
            "several": self.several,
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Runs:
        same = int(str(settings["same"]), 16) & EVERY_BIT
        last = {as_whole(label, "last") for label in settings["last"]}
        squares = as_whole(settings["squares"], "squares", most=MOST_AMOUNT**2)
        seen = as_whole(settings["seen"], "seen", most=MOST_AMOUNT)
        return cls(same, frozenset(last), squares, seen, bool(settings["several"]))


def in_run(same: int, squares: int, seen: int, several: bool) -> bool:
    """Whether a stream is in a run, by the counts of ``Runs``."""
    if seen < LEAST_EXAMPLES_OF_A_RUN or not several:
        return seen >= LEAST_EXAMPLES_OF_A_RUN  # one label so far
    expected = squares / seen**2
    share = same.bit_count() / min(seen, RUN_WINDOW)
    return expected < TOO_COMMON and share > expected + HALFWAY * (1.0 - expected)
