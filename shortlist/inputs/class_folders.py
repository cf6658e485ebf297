"""A folder of class folders: the text is a file, its label is the name of the folder that the file stands in.

20 Newsgroups comes so. Its files begin with the headers of a message, which name the class; ``headers=False`` gives
what stands after the first empty line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shortlist.inputs.examples import Examples
from shortlist.inputs.format import Format
from shortlist.inputs.source import Progress, Source


@dataclass
class ClassFolders(Format):
    name = "folders"
    description = "a folder of class folders: each file is a text, the name of its folder is its label"
    carries = ("texts", "labels", "ids")

    headers: bool = True

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return any(inner.is_dir() and not _hidden(inner) for inner in folder.iterdir())

    def files(self, folder: Path) -> list[Path]:
        return [
            path
            for inner in sorted(folder.iterdir())
            if inner.is_dir() and not _hidden(inner)
            for path in sorted(inner.rglob("*"))
            if path.is_file() and not _hidden(path)
        ]

    def folder_examples(self, folder: Path, progress: Progress) -> Iterator[Examples]:
        files = self.files(folder)
        progress.bytes_total = sum(path.stat().st_size for path in files)
        batch, held = Examples(texts=[], labels=[], ids=[]), 0
        for path in files:
            source = Source(path, progress)
            try:
                source.decode_as(self.encoding)
                text = source.whole()
            finally:
                source.close()
            if text is None:
                continue
            if not self.headers:
                text = text.partition("\n\n")[2]
            label, *inner = path.relative_to(folder).parts
            batch.texts.append(text)  # type: ignore[union-attr]
            batch.labels.append([label])  # type: ignore[union-attr]
            batch.ids.append("/".join([label, *inner]))  # type: ignore[union-attr]
            held += len(text)
            if held >= progress.batch:
                yield batch
                batch, held = Examples(texts=[], labels=[], ids=[]), 0
        if batch.texts:
            yield batch


def _hidden(path: Path) -> bool:
    return path.name.startswith(".")
