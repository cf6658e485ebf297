"""A folder of class folders: the text is a file, its label is the name of the folder that the file stands in.

20 Newsgroups comes so. Its files begin with the headers of a message, which name the class; ``headers=False`` gives
what stands after the first empty line. The Industry Sector pages come as sectors of industries: ``innermost=True``
takes the folder that the file itself stands in, not the outermost one, and ``html=True`` gives the text of web pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shortlist.errors import counted
from shortlist.inputs.examples import Examples, in_batches
from shortlist.inputs.format import Format
from shortlist.inputs.parsing.markup import page_text
from shortlist.inputs.source import Progress


@dataclass
class ClassFolders(Format):
    name = "folders"
    description = "a folder of class folders: each file is a text, the name of its folder is its label"
    carries = ("texts", "labels", "ids")
    obtained = "20 Newsgroups: http://qwone.com/~jason/20Newsgroups/ (encoding='latin-1', headers=False)"

    headers: bool = True
    innermost: bool = False
    html: bool = False

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return any(inner.is_dir() and not _hidden(inner) for inner in folder.iterdir())

    def files(self, folder: Path) -> list[Path]:
        return [path for path in self._all(folder) if not _leads_out(path, folder)]

    def _all(self, folder: Path) -> Iterator[Path]:
        for inner in sorted(folder.iterdir()):
            if inner.is_dir() and not _hidden(inner):
                yield from (path for path in sorted(inner.rglob("*")) if path.is_file() and not _hidden(path))

    def folder_examples(self, folder: Path, progress: Progress) -> Iterator[Examples]:
        links = sum(_leads_out(path, folder) for path in self._all(folder))
        if links:
            said = f"{counted(links, 'links')} to files outside of it were left out; copy them in"
            progress.notes.append(f"{folder}: {said}")
        return in_batches(("texts", "labels", "ids"), self._read(folder, progress), progress.batch)

    def _read(self, folder: Path, progress: Progress) -> Iterator[tuple[str, list[str], str]]:
        for path, text in self.whole_files(folder, progress):
            inside = path.relative_to(folder).parts
            if not self.headers:
                text = text.partition("\n\n")[2]
            if self.html:
                text = page_text(text)
            yield text, [inside[-2 if self.innermost else 0]], "/".join(inside)


def _leads_out(path: Path, folder: Path) -> bool:
    """Whether a file, or the class folder that it stands in, is a link to somewhere else."""
    inner = folder / path.relative_to(folder).parts[0]
    return not all(one.resolve().is_relative_to(folder.resolve()) for one in (path, inner))


def _hidden(path: Path) -> bool:
    return path.name.startswith(".")
