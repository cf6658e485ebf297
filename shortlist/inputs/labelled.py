"""Check that examples can be learned from: that they have labels, or that documents were judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.data.labels import NumberedLabels, label_counts
from shortlist.data.rows import Rows
from shortlist.data.texts import WithVectors, lengths_of
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples, stacked
from shortlist.inputs.reading import Stream
from shortlist.inputs.tables import named

# in cells of spreadsheets
ERRORS = {"#REF!", "#N/A", "#NAME?", "#VALUE!", "#DIV/0!", "#NULL!", "#NUM!"}
BROKEN = "has an empty text, or a spreadsheet's error for a text or a label"
SHORT = 30  # characters: longer texts are neither empty nor an error
TABLES = ("csv", "tsv", "numbers")  # formats whose first line names the columns


def teaching(
    task: str, source: str, stream: Stream, batches: Iterable[Examples], may_be_empty: bool = False
) -> Iterator[Examples]:
    """Yield the same batches; refuse them if a task cannot learn from them, or if there are
    none.
    """
    source = "standard input" if source == "-" else source
    option = "--target" if task == "ratings" else "--label-column"
    good = (
        judged(source, batches)
        if task == "documents"
        else with_labels(source, stream, batches, option)
    )
    found = may_be_empty
    for batch in good:
        found = True
        yield batch
    if not found:
        raise _empty(source, stream)


def judged(source: str, batches: Iterable[Examples]) -> Iterator[Examples]:
    """Yield the same batches; refuse documents without query or relevance."""
    for batch in batches:
        if batch.rows is None or batch.relevance is None or batch.query is None:
            raise InputError(
                f"{source} has no judged documents; they come as lines: relevance qid:query "
                "1:value …"
            )
        yield batch


def with_labels(
    source: str, stream: Stream, batches: Iterable[Examples], option: str = "--label-column"
) -> Iterator[Examples]:
    """Yield the same batches; refuse examples without label, or with --skip-bad leave them out."""
    seen, any_labels = 0, False
    for batch in batches:
        any_labels = any_labels or batch.labels is not None
        if batch.labels is None and batch.rows is not None and batch.query is not None:
            raise InputError(
                f"{source} holds documents of queries, which have no labels; train with --task "
                "documents"
            )
        if not (any_labels or stream.skip_bad):
            raise _without_labels(source, stream, option)
        good = ~broken(batch)
        for n in np.flatnonzero(~good).tolist():
            stream.skipped.add(f"{_place(source, batch, n)}: example {seen + n + 1} {BROKEN}")
        has_label = label_counts([[]] * len(batch) if batch.labels is None else batch.labels) > 0
        if batch.wrong is not None:  # a crossed-out label can be learned from
            has_label |= label_counts(batch.wrong) > 0
        if batch.complete is not None:  # and so can the fact that no label fits
            has_label |= np.array([one is True for one in batch.complete], dtype=np.bool_)
        for n in np.flatnonzero(~has_label & good).tolist():
            sentence = f"{_place(source, batch, n)}: example {seen + n + 1} has no label"
            if not stream.skip_bad:
                raise InputError(
                    f"{sentence}; give it one, or leave such examples out with --skip-bad; one "
                    "that no label fits has "
                    'an empty "wrong" and "complete": true'
                )
            stream.skipped.add(sentence)
        seen += len(batch)
        good &= has_label
        if good.any():
            yield batch if good.all() else batch.take(np.flatnonzero(good).tolist())
    if seen and not any_labels:
        raise _without_labels(source, stream, option)


def gathered(batches: Iterable[Examples]) -> Examples:
    """Return all texts or rows, with their labels, as one batch."""
    every = list(batches)
    labels: Any = NumberedLabels.stack([batch.labels or [] for batch in every])
    if every[0].texts is not None:
        return Examples(texts=stacked([batch.texts or [] for batch in every]), labels=labels)
    rows = Rows.stack([batch.rows for batch in every if batch.rows is not None])
    return Examples(rows=rows, labels=labels, feature_names=every[0].feature_names)


def broken(batch: Examples) -> NDArray[np.bool_]:
    """Mark the examples whose text is empty or a spreadsheet's error, or that have such an
    error as label.
    """
    found = np.zeros(len(batch), dtype=np.bool_)
    texts = batch.texts
    # with a vector, a text may be empty
    if texts is not None and not isinstance(texts, WithVectors):
        for n in np.flatnonzero(lengths_of(texts) <= SHORT).tolist():
            text = texts[n]
            own = (
                [one for one in text.values() if isinstance(one, str)]
                if isinstance(text, Mapping)
                else [str(text)]
            )
            found[n] = all(not one.strip() or one.strip() in ERRORS for one in own)
    if batch.labels is not None and not ERRORS.isdisjoint(
        map(str, NumberedLabels.of(batch.labels).names)
    ):
        found |= [not ERRORS.isdisjoint(map(str, labels)) for labels in batch.labels]
    return found


def _place(source: str, batch: Examples, n: int) -> str:
    return source if batch.places is None else batch.places.of(n)


def _empty(source: str, stream: Stream) -> InputError:
    if stream.skipped:
        return InputError(f"{source} has no examples but those that were left out")
    lines = (
        "lines below the one that names the columns" if stream.format in TABLES else "at least one"
    )
    return InputError(f"{source} has no examples; expected {lines}, in the format {stream.format}")


def _without_labels(source: str, stream: Stream, option: str) -> InputError:
    found = f" (it has {named(stream.progress.fields)})" if stream.progress.fields else ""
    what = "ratings" if option == "--target" else "labels"
    return InputError(
        f"{source} has no {what}{found}; name their column with {option}, or another --format"
    )
