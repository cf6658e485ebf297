"""A folder of class folders: the text is a file, its label is the name of the folder that the file stands in.

20 Newsgroups comes so. Its files begin with the headers of a message, which name the class; ``headers=False`` gives
what stands after the first empty line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shortlist.inputs.examples import Examples, in_batches
from shortlist.inputs.format import Format
from shortlist.inputs.source import Progress


@dataclass
class ClassFolders(Format):
    name = "folders"
    description = "a folder of class folders: each file is a text, the name of its folder is its label"
    carries = ("texts", "labels", "ids")
    obtained = "20 Newsgroups: http://qwone.com/~jason/20Newsgroups/ (encoding='latin-1', headers=False)"

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
        return in_batches(("texts", "labels", "ids"), self._read(folder, progress), progress.batch)

    def _read(self, folder: Path, progress: Progress) -> Iterator[tuple[str, list[str], str]]:
        for path, text in self.whole_files(folder, progress):
            inside = path.relative_to(folder).parts
            yield text if self.headers else text.partition("\n\n")[2], [inside[0]], "/".join(inside)


def _hidden(path: Path) -> bool:
    return path.name.startswith(".")
