"""Texts that are lines, or files of their own.

fastText's format is ``__label__grain __label__trade wheat exports rose``: as in fastText, every
word that begins with the prefix is a label, wherever it stands; the other words are the text. A
line without labels is a text to be ranked.

In a folder of class folders a text is a file, and its label is the name of the folder that the file
stands in. 20 Newsgroups comes so. Its files begin with the headers of a message, which name the
class; ``headers=False`` gives what stands after the first empty line. ``innermost=True`` takes the
folder that the file itself stands in, not the outermost one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shortlist.errors import InputError, counted
from shortlist.inputs.examples import ExamplePlaces, Examples, in_batches
from shortlist.inputs.source import Format, Progress, Source


@dataclass
class FastText(Format):
    name = "fasttext"
    description = (
        "fastText: words that begin with __label__ are labels, the rest of the line is the text"
    )
    carries = ("texts", "labels")
    endings = (".ft", ".fasttext")
    by_line = True

    label_prefix: str = "__label__"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.endswith(cls.endings) or head.lstrip().startswith("__label__")

    def examples(self, source: Source) -> Iterator[Examples]:
        if not isinstance(self.label_prefix, str) or not self.label_prefix.strip():
            raise InputError(
                f"label_prefix must be text such as '__label__', not {self.label_prefix!r}"
            )
        bare_prefix = re.compile(rf"(?<!\S){re.escape(self.label_prefix)}(?!\S)")
        for block in source.line_blocks():
            texts = []
            labels = []
            numbers = []
            for number, line in zip(*block, strict=True):
                if not line.strip():
                    continue
                bare = bare_prefix.search(line)
                if bare:
                    expected = f"expected a label after {self.label_prefix}, found none"
                    source.bad(number, bare.end() + 1, expected)
                    continue
                text, line_labels = self._parted(line)
                texts.append(text)
                labels.append(line_labels)
                numbers.append(number)
            yield Examples(texts=texts, labels=labels, places=ExamplePlaces(source.name, numbers))

    def _parted(self, line: str) -> tuple[str, list[str]]:
        """Return the text and the labels of a line."""
        labels = []
        words = []
        for word in line.split():
            if word.startswith(self.label_prefix):
                labels.append(word.removeprefix(self.label_prefix))
            else:
                words.append(word)
        return " ".join(words) if labels else line.strip(), labels


@dataclass
class PlainLines(Format):
    name = "lines"
    description = "plain text, one example on each line, without labels"
    carries = ("texts",)
    endings = (".txt", ".text")
    by_line = True

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return bool(head) and "\0" not in head  # the last format tried: any text

    def examples(self, source: Source) -> Iterator[Examples]:
        for _, lines in source.line_blocks():
            yield Examples(texts=lines)


@dataclass
class ClassFolders(Format):
    name = "folders"
    description = (
        "a folder of class folders: each file is a text, the name of its folder is its label"
    )
    carries = ("texts", "labels", "ids")
    obtained = (
        "20 Newsgroups: http://qwone.com/~jason/20Newsgroups/ (encoding='latin-1', headers=False)"
    )

    headers: bool = True
    innermost: bool = False

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return any(inner.is_dir() and not _hidden(inner) for inner in folder.iterdir())

    def files(self, folder: Path) -> list[Path]:
        return [path for path in self._all(folder) if not _leads_out(path, folder)]

    def _all(self, folder: Path) -> Iterator[Path]:
        for inner in sorted(folder.iterdir()):
            if inner.is_dir() and not _hidden(inner):
                for path in sorted(inner.rglob("*")):
                    if path.is_file() and not _hidden(path):
                        yield path

    def folder_examples(self, folder: Path, progress: Progress) -> Iterator[Examples]:
        links = sum(_leads_out(path, folder) for path in self._all(folder))
        if links:
            progress.notes.append(
                f"{folder}: {counted(links, 'links')} to files outside of it were left out; copy "
                "them in"
            )
        return in_batches(("texts", "labels", "ids"), self._read(folder, progress), progress.batch)

    def _read(self, folder: Path, progress: Progress) -> Iterator[tuple[str, list[str], str]]:
        for path, source in self.opened(folder, progress):
            text = source.whole()
            if text is None:
                continue
            inside = path.relative_to(folder).parts
            if not self.headers:
                text = text.partition("\n\n")[2]
            yield text, [inside[-2 if self.innermost else 0]], "/".join(inside)


def _leads_out(path: Path, folder: Path) -> bool:
    """Whether a file, or its class folder, is a link to another place."""
    inner = folder / path.relative_to(folder).parts[0]
    root = folder.resolve()
    return not (path.resolve().is_relative_to(root) and inner.resolve().is_relative_to(root))


def _hidden(path: Path) -> bool:
    return path.name.startswith(".")
