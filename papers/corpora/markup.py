"""What the corpora in SGML and HTML share: records between two tags, what stands inside a tag,
the text of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from shortlist.inputs.source import Source

# Comments, scripts and styles, to their end or to the end of the page; then all other tags.
NOT_TEXT = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?[a-z!?][^<>]*>", re.DOTALL | re.I
)
HTTP_HEADER = re.compile(
    r"\s*HTTP/\d\.\d [^\n]*\n(?:[\w-]+:[^\n]*\n|[ \t]+\S[^\n]*\n)*|(?:[\w-]+: [^\n]*\n)+\n"
)

ENDLESS = re.compile(r"&#[0-9]{4000,};?")  # no character, and a number that Python's int() refuses


def records(source: Source, tag: str) -> Iterator[tuple[int, str]]:
    """Each record from a line that begins with <tag to one that ends in </tag>, with the number
    of its first line.
    """
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
                source.bad(
                    first, 1, f"expected a record of at most {longest} bytes, found a longer one"
                )
                first = 0
                continue
            lines.append(line)
            if line.rstrip().endswith(closing):
                yield first, "\n".join(lines)
                first = 0
    if first:
        source.bad(
            first, 1, f"expected {closing} at the end of the record that begins here, found none"
        )


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


def unescaped(text: str) -> str:
    """The text with the characters that ``&amp;`` and ``&#233;`` stand for."""
    return unescape(ENDLESS.sub("\ufffd", text))


def page_text(page: str) -> str:
    """The text of a web page: without markup, and without the HTTP header that a crawler may
    have kept before it.
    """
    header = HTTP_HEADER.match(page)
    return " ".join(unescaped(NOT_TEXT.sub(" ", page[header.end() :] if header else page)).split())
