"""fastText's format: ``__label__grain __label__trade wheat exports rose``.

As in fastText, every word that begins with the prefix is a label, wherever it stands; the other words are the text.
A line without labels is a text to be ranked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.format import Format
from shortlist.inputs.source import Source

WORD = re.compile(r"(\S+)\s*")


@dataclass
class FastText(Format):
    name = "fasttext"
    description = "fastText: words that begin with __label__ are labels, the rest of the line is the text"
    carries = ("texts", "labels")
    endings = (".ft", ".fasttext")

    label_prefix: str = "__label__"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.endswith(cls.endings) or head.lstrip().startswith("__label__")

    @property
    def by_line(self) -> bool:
        return True

    def examples(self, source: Source) -> Iterator[Examples]:
        if not isinstance(self.label_prefix, str) or not self.label_prefix.strip():
            raise InputError(f"label_prefix must be text such as '__label__', not {self.label_prefix!r}")
        for numbers, lines in source.line_blocks():
            texts, labels, own_numbers = [], [], []
            for number, line in zip(numbers, lines, strict=True):
                if line.strip():
                    text, own = self._parted(line)
                    if "" in own:
                        bare = re.search(rf"(?<!\S){re.escape(self.label_prefix)}(?!\S)", line)
                        column = bare.end() + 1 if bare else 1
                        source.bad(number, column, f"expected a label after {self.label_prefix}, found none")
                    else:
                        texts.append(text)
                        labels.append(own)
                        own_numbers.append(number)
            yield Examples(texts=texts, labels=labels, places=Places(source.name, own_numbers))

    def _parted(self, line: str) -> tuple[str, list[str]]:
        """The text and the labels of a line."""
        prefix = self.label_prefix
        labels: list[str] = []
        line, at = line.strip(), 0
        while line.startswith(prefix, at) and (word := WORD.match(line, at)):
            labels.append(line[at + len(prefix) : word.end(1)])
            at = word.end()
        rest = line[at:]
        if prefix in rest:  # there may be a label further on
            words = rest.split()
            late = [word[len(prefix) :] for word in words if word.startswith(prefix)]
            if late:
                return " ".join(word for word in words if not word.startswith(prefix)), labels + late
        return rest, labels


# Plain lines: one text on each line, without labels.


@dataclass
class PlainLines(Format):
    name = "lines"
    description = "plain text, one example on each line, without labels"
    carries = ("texts",)
    endings = (".txt", ".text")

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return bool(head) and "\0" not in head  # the last to be asked: whatever is text

    @property
    def by_line(self) -> bool:
        return True

    def examples(self, source: Source) -> Iterator[Examples]:
        for block in source.line_blocks():
            yield Examples(texts=block.lines)
