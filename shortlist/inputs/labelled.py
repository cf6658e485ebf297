"""Examples that can be learned from: those that have a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.reading import Stream


def with_labels(
    source: str, stream: Stream, batches: Iterable[Examples], option: str = "--label-column"
) -> Iterator[Examples]:
    """The same batches, refused where an example has no label; with --skip-bad such examples are left out."""
    seen = 0
    for batch in batches:
        if batch.labels is None:
            raise InputError(f"{source} has no labels; name their column with {option}, or another --format")
        for n, own in enumerate(batch.labels):
            if not own:
                sentence = f"{source}: example {seen + n + 1} has no label"
                if not stream.skip_bad:
                    raise InputError(f"{sentence}; give it one, or leave such examples out with --skip-bad")
                stream.skipped.add(sentence)
        seen += len(batch)
        yield batch if all(batch.labels) else batch.take([n for n, own in enumerate(batch.labels) if own])
