"""Plain books: each ``.txt`` file is one text, whole, for learning which word stands in which
context.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shortlist.inputs.examples import Examples, in_batches
from shortlist.inputs.source import Format, Progress, Source


@dataclass
class Books(Format):
    name = "books"
    description = "a book, or a folder of books in .txt files: each file is one whole text"
    carries = ("texts", "ids")

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return any(folder.glob("*.txt*")) and not any(inner.is_dir() for inner in folder.iterdir())

    def files(self, folder: Path) -> list[Path]:
        return sorted(path for path in folder.glob("*.txt*") if path.is_file())

    def examples(self, source: Source) -> Iterator[Examples]:
        text = source.whole()
        if text:
            yield Examples(texts=[text], ids=[Path(source.name).name])

    def folder_examples(self, folder: Path, progress: Progress) -> Iterator[Examples]:
        texts = ((source.whole(), path.name) for path, source in self.opened(folder, progress))
        books = ((text, name) for text, name in texts if text is not None)
        return in_batches(("texts", "ids"), books, progress.batch)
