"""Labels found by a part of their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.models.categorizer import Categorizer


class LabelSearch:
    """All labels of a model, found by any part of their names. Labels only ever arrive, so the list is extended."""

    def __init__(self, model: Categorizer) -> None:
        self.model = model
        self._names: list[Any] = []
        self._folded: list[str] = []

    def find(self, wanted: str, first: int, n: int) -> dict[str, Any]:
        """Some of the labels that contain these letters: exact ones first, then by beginning, then by frequency."""
        counts = self.model.label_counts_
        if len(self._names) < counts.size:
            self._names = self.model.classes_.tolist()
            self._folded += [str(name).casefold() for name in self._names[len(self._folded) :]]
        part = wanted.casefold()
        hits = [i for i, name in enumerate(self._folded) if part in name] if part else list(range(len(self._names)))
        near = np.zeros(len(hits), dtype=np.int64)
        if part:
            near[:] = [(self._folded[i] != part) + (not self._folded[i].startswith(part)) for i in hits]
        chosen = [hits[i] for i in np.lexsort((-counts[hits], near))[first : first + n]] if hits else []
        labels = [{"label": self._names[i], "examples": int(counts[i])} for i in chosen]
        return {"labels": labels, "found": len(hits)}
