"""Whether a stream comes sorted by label: then rankings made before their examples say nothing of other texts.

In a file that is sorted by label the next example has the label of the last one, so that even a model that knows one
label is right. The share of the last WINDOW examples that have a label in common with the example before is held
against the share that two random examples would have, Σ p², by how often each label came so far. Where it is more than
halfway from there to 1 the stream is in a run: its rankings are not counted, and nothing is promised until it ends.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs
from shortlist.arrays.validation import MOST_AMOUNT, as_whole
from shortlist.labels import LabelSets

WINDOW = 64  # examples
LEAST = 16  # examples of it, before anything is said
HALFWAY = 0.5
TOO_COMMON = 0.9  # two random examples have a label in common so often that a run could not be told


class Runs:
    """Counts, along a stream, how often an example has a label of the one before it."""

    def __init__(self) -> None:
        self.now = False  # whether the stream is in a run
        self._same = 0  # a bit for each of the last examples: whether it had a label of the one before
        self._noted = 0  # examples, up to WINDOW
        self._last: frozenset[int] = frozenset()  # the labels of the last example
        self._squares = 0  # Σ count² over labels
        self._seen = 0  # examples
        self._several = False  # whether more than one label was seen

    def note(self, labels: LabelSets, order: Longs, counts: Longs) -> NDArray[np.bool_]:
        """For the examples of ``order``, each in its turn, whether the stream is in a run; ``counts`` has them all."""
        ids, ends = labels.ids.tolist(), labels.indptr.tolist()
        sets = [ids[ends[i] : ends[i + 1]] for i in order.tolist()]
        counted = {label: int(counts[label]) for label in set(chain.from_iterable(sets))}
        for label in chain.from_iterable(sets):  # back to what they were before these
            counted[label] -= 1
        found = []
        for own in sets:
            same = not self._last.isdisjoint(own)
            self._same = (self._same << 1 | same) & (1 << WINDOW) - 1
            self._noted = min(self._noted + 1, WINDOW)
            for label in own:
                self._squares += 2 * counted[label] + 1
                counted[label] += 1
            self._several = self._several or (bool(self._last) and not same)
            self._last = frozenset(own) or self._last
            self._seen += 1
            self.now = self._is_run()
            found.append(self.now)
        return np.array(found, dtype=np.bool_)

    def _is_run(self) -> bool:
        if self._noted < LEAST:
            return False
        if not self._several:  # one label so far
            return True
        expected = self._squares / self._seen**2
        share = self._same.bit_count() / self._noted
        return expected < TOO_COMMON and share > expected + HALFWAY * (1.0 - expected)

    # Model files.

    def to_settings(self) -> dict[str, Any]:
        return {
            "now": self.now, "same": f"{self._same:x}", "noted": self._noted, "last": sorted(self._last),
            "squares": self._squares, "seen": self._seen, "several": self._several,
        }  # fmt: skip

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Runs:
        runs = cls()
        runs.now, runs._several = bool(settings["now"]), bool(settings["several"])
        runs._same = int(str(settings["same"]), 16) & (1 << WINDOW) - 1
        runs._noted = as_whole(settings["noted"], "noted", most=WINDOW)
        runs._last = frozenset(as_whole(label, "last") for label in settings["last"])
        runs._squares = as_whole(settings["squares"], "squares", most=MOST_AMOUNT**2)
        runs._seen = as_whole(settings["seen"], "seen", most=MOST_AMOUNT)
        return runs
