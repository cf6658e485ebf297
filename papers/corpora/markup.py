"""What the corpora in SGML share: records between two tags, and what stands inside a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shortlist.inputs.source import Source


def records(source: Source, tag: str) -> Iterator[tuple[int, str]]:
    """Each record from a line that begins with <tag to one that ends in </tag>, with the number of its first line."""
    opening, closing = re.compile(rf"<{tag}[ >]"), f"</{tag}>"
    lines: list[str] = []
    first, held = 0, 0
    for number, line in source.lines():
        if opening.match(line):
            if first:
                source.bad(first, 1, f"expected {closing} before the next <{tag}>, found none")
            lines, first, held = [], number, 0
        if first:
            held += len(line) + 1
            if held > source.progress.max_record:
                longest = source.progress.max_record
                source.bad(first, 1, f"expected a record of at most {longest} bytes, found a longer one")
                first = 0
                continue
            lines.append(line)
            if line.rstrip().endswith(closing):
                yield first, "\n".join(lines)
                first = 0
    if first:
        source.bad(first, 1, f"expected {closing} at the end of the record that begins here, found none")


def inside(record: str, tag: str) -> str:
    """What stands inside the first such tag; nothing where there is none."""
    opening = record.find(f"<{tag}")
    start = record.find(">", opening) + 1
    end = record.find(f"</{tag}>", start)
    return record[start:end] if opening >= 0 and start and end >= 0 else ""


def without(record: str, tags: tuple[str, ...]) -> str:
    """The record without these tags and what stands inside each; one that is not closed stays."""
    kept, at, open_to_the_end = [], 0, set()
    for opening in re.finditer(f"<({'|'.join(tags)})>", record):
        tag = opening[1]
        if opening.start() >= at and tag not in open_to_the_end:
            end = record.find(f"</{tag}>", opening.end())
            if end < 0:
                open_to_the_end.add(tag)  # then no later one is closed either; do not search again
            else:
                kept.append(record[at : opening.start()])
                at = end + len(f"</{tag}>")
    return "".join([*kept, record[at:]])
