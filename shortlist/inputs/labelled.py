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
from shortlist.inputs.tables import names_in_words

SPREADSHEET_ERRORS = {"#REF!", "#N/A", "#NAME?", "#VALUE!", "#DIV/0!", "#NULL!", "#NUM!"}
LONGEST_ERROR = 30  # characters: longer texts are neither empty nor an error
WITH_FIRST_LINE = (
    "csv",
    "tsv",
    "spreadsheet",
    "numbers",
)  # formats whose first line names the columns


def teaching(
    task: str, source: str, stream: Stream, batches: Iterable[Examples], may_be_empty: bool = False
) -> Iterator[Examples]:
    """Yield the same batches; refuse them if a task cannot learn from them, or if there are
    none.
    """
    if source == "-":
        source = "standard input"
    option = "--target" if task == "ratings" else "--label-column"
    if task == "documents":
        checked = judged(source, batches)
    else:
        checked = with_labels(source, stream, batches, option)
    is_empty = True
    for batch in checked:
        is_empty = False
        yield batch
    if is_empty and not may_be_empty:
        raise _no_examples(source, stream)


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
    n_seen = 0
    any_labels = False
    for batch in batches:
        any_labels = any_labels or batch.labels is not None
        if batch.labels is None and batch.rows is not None and batch.query is not None:
            raise InputError(
                f"{source} holds documents of queries, which have no labels; train with --task "
                "documents"
            )
        if not any_labels and not stream.skip_bad:
            raise _without_labels(source, stream, option)
        is_broken = broken(batch)
        good = _teaches(batch) & ~is_broken
        for n in np.flatnonzero(~good).tolist():
            place = source if batch.places is None else batch.places.of(n)
            example = f"{place}: example {n_seen + n + 1}"
            if is_broken[n]:
                stream.skipped.add(
                    f"{example} has an empty text, or a spreadsheet's error for a text or a label"
                )
            elif stream.skip_bad:
                stream.skipped.add(f"{example} has no label")
            else:
                raise InputError(
                    f"{example} has no label; give it one, or leave such examples out with "
                    '--skip-bad; one that no label fits has an empty "wrong" and "complete": true'
                )
        n_seen += len(batch)
        if good.all():
            yield batch
        elif good.any():
            yield batch.take(np.flatnonzero(good).tolist())
    if n_seen and not any_labels:
        raise _without_labels(source, stream, option)


def _teaches(batch: Examples) -> NDArray[np.bool_]:
    """Mark the examples with a label, with a crossed-out one, or which no label fits."""
    teaches = np.zeros(len(batch), dtype=np.bool_)
    for labels in (batch.labels, batch.wrong):
        if labels is not None:
            teaches |= label_counts(labels) > 0
    if batch.complete is not None:
        teaches |= [complete is True for complete in batch.complete]
    return teaches


def gathered(batches: Iterable[Examples]) -> Examples:
    """Return all texts or rows, with their labels, as one batch."""
    parts = list(batches)
    labels: Any = NumberedLabels.stack([batch.labels or [] for batch in parts])
    if parts[0].texts is not None:
        return Examples(texts=stacked([batch.texts or [] for batch in parts]), labels=labels)
    rows = Rows.stack([batch.rows for batch in parts if batch.rows is not None])
    return Examples(rows=rows, labels=labels, feature_names=parts[0].feature_names)


def broken(batch: Examples) -> NDArray[np.bool_]:
    """Mark the examples whose text is empty or a spreadsheet's error, or that have such an
    error as label.
    """
    is_broken = np.zeros(len(batch), dtype=np.bool_)
    texts = batch.texts
    # with a vector, a text may be empty
    if texts is not None and not isinstance(texts, WithVectors):
        for n in np.flatnonzero(lengths_of(texts) <= LONGEST_ERROR).tolist():
            text = texts[n]
            fields = text.values() if isinstance(text, Mapping) else [str(text)]
            stripped = {field.strip() for field in fields if isinstance(field, str)}
            is_broken[n] = stripped <= SPREADSHEET_ERRORS | {""}
    if batch.labels is not None:
        names = NumberedLabels.of(batch.labels).names
        if not SPREADSHEET_ERRORS.isdisjoint(map(str, names)):
            is_broken |= [
                not SPREADSHEET_ERRORS.isdisjoint(map(str, labels)) for labels in batch.labels
            ]
    return is_broken


def _no_examples(source: str, stream: Stream) -> InputError:
    if stream.skipped:
        return InputError(f"{source} has no examples but those that were left out")
    expected = "at least one"
    if stream.format in WITH_FIRST_LINE:
        expected = "lines below the one that names the columns"
    return InputError(
        f"{source} has no examples; expected {expected}, in the format {stream.format}"
    )


def _without_labels(source: str, stream: Stream, option: str) -> InputError:
    fields = stream.progress.fields
    kind = "ratings" if option == "--target" else "labels"
    sentence = f"{source} has no {kind}"
    if fields:
        sentence += f" (it has {names_in_words(fields)})"
    return InputError(f"{sentence}; name their column with {option}, or another --format")
