"""Examples that can be learned from: those that have a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.reading import Stream
from shortlist.labels import label_counts


def with_labels(
    source: str, stream: Stream, batches: Iterable[Examples], option: str = "--label-column"
) -> Iterator[Examples]:
    """The same batches, refused where an example has no label; with --skip-bad such examples are left out."""
    seen = 0
    for batch in batches:
        if batch.labels is None:
            raise InputError(f"{source} has no labels; name their column with {option}, or another --format")
        has_label = label_counts(batch.labels) > 0
        for n in np.flatnonzero(~has_label).tolist():
            sentence = f"{source}: example {seen + n + 1} has no label"
            if not stream.skip_bad:
                raise InputError(f"{sentence}; give it one, or leave such examples out with --skip-bad")
            stream.skipped.add(sentence)
        seen += len(batch)
        yield batch if has_label.all() else batch.take(np.flatnonzero(has_label).tolist())
