"""What SGML and HTML share: records between two tags, what stands inside a tag, and the text of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from shortlist.inputs.source import Source

# Comments, scripts and styles, to their end or to the end of the page; then all other tags.
NOT_TEXT = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?[a-z!?][^<>]*>", re.DOTALL | re.I)
HTTP_HEADER = re.compile(r"\s*HTTP/\d\.\d [^\n]*\n(?:[\w-]+:[^\n]*\n|[ \t]+\S[^\n]*\n)*|(?:[\w-]+: [^\n]*\n)+\n")


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
    found = re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", record, re.DOTALL)
    return found[1] if found else ""


def page_text(page: str) -> str:
    """The text of a web page: without markup, and without the HTTP header that a crawler may have kept before it."""
    header = HTTP_HEADER.match(page)
    return " ".join(unescape(NOT_TEXT.sub(" ", page[header.end() :] if header else page)).split())
