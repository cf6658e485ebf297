"""fastText's format: ``__label__grain __label__trade wheat exports rose``.

As in fastText, every word that begins with the prefix is a label, wherever it stands; the other words are the text.
A line without labels is a text to be ranked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.format import Format
from shortlist.inputs.source import Source


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

    def examples(self, source: Source) -> Iterator[Examples]:
        if not isinstance(self.label_prefix, str) or not self.label_prefix.strip():
            raise InputError(f"label_prefix must be text such as '__label__', not {self.label_prefix!r}")
        for numbers, lines in source.line_blocks():
            batch: tuple[list[str], list[list[str]]] = [], []
            for number, line in zip(numbers, lines, strict=True):
                if line.strip():
                    self._read(source, number, line, batch)
            yield Examples(texts=batch[0], labels=batch[1])

    def _read(self, source: Source, number: int, line: str, batch: tuple[list[str], list[list[str]]]) -> None:
        prefix = self.label_prefix
        labels: list[str] = []
        rest = line.lstrip()
        while rest.startswith(prefix):
            word, _, rest = rest.partition(" ")
            labels.append(word[len(prefix) :])
            rest = rest.lstrip()
        if " " + prefix in rest or "\t" + prefix in rest:
            words = rest.split()
            labels += [word[len(prefix) :] for word in words if word.startswith(prefix)]
            rest = " ".join(word for word in words if not word.startswith(prefix))
        if "" in labels:
            found = line.split()
            column = line.index(prefix + " ") if prefix in found and prefix + " " in line else line.rindex(prefix)
            source.bad(number, column + len(prefix) + 1, f"expected a label after {prefix}, found none")
            return
        batch[0].append(rest)
        batch[1].append(labels)
