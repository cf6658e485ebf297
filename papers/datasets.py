"""The public data sets of the experiments: what each is, where it is published, and how it is laid
out.

None of them comes with this library: most are free for research, not for redistribution. A data
folder holds each set as a folder or as an archive, under its publisher's name or ours.
``finding.py`` finds them there, ``fetching.py`` downloads what can be downloaded. The last four are
the papers' own sets, which were not at hand; where one is there, experiments take it instead of
what stands in for it. ``datasets.toml`` lists them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist.errors import InputError


@dataclass(frozen=True)
class Remote:
    """A file at the publisher's. ``digest`` is "sha256:…" or "md5:…"; empty where no digest of
    it is published.
    """

    url: str
    name: str
    digest: str = ""


@dataclass(frozen=True)
class DataSet:
    """A data set as its publisher offers it, and where the experiments expect it."""

    name: str
    what: str
    publisher: str
    address: str
    size: str  # of the download
    licence: str
    folder: str  # its name in a data folder
    marker: str  # a pattern of what stands in that folder, by which it is known
    files: str  # patterns of the files that are read
    # sha256 over the sorted paths and bytes of these files, as ``content_digest`` computes it
    digest: str = ""
    folders: tuple[str, ...] = ()  # other names of the folder
    archives: tuple[str, ...] = ()  # names of archives
    remotes: tuple[Remote, ...] = ()  # what to download; empty where there is no direct download
    by_hand: str = ""  # how to get it where there is none

    def is_in(self, folder: Path) -> bool:
        """Whether this folder holds it."""
        return any(folder.glob(self.marker))

    def missing(self, data: Path) -> str:
        """What to say where it is not there."""
        accepted = ", ".join(
            [f"{self.folder}/", *(f"{name}/" for name in self.folders), *self.archives]
        )
        if self.remotes:
            how = (
                f"Download it with: python -m papers --fetch {self.name} --data {data}; or put it "
                "there yourself"
            )
        else:
            how = f"{self.by_hand}; put it there"
        return (
            f"the data set {self.name} is not in {data}: {self.what}, published by "
            f"{self.publisher} at {self.address} "
            f"({self.size}; {self.licence}). {how}, as one of: {accepted}"
        )


def _from_toml(name: str, fields: dict[str, Any]) -> DataSet:
    remotes = tuple(Remote(**remote) for remote in fields.pop("remotes", ()))
    for key in ("folders", "archives"):
        fields[key] = tuple(fields.get(key, ()))
    return DataSet(name, remotes=remotes, **fields)


DATASETS = {
    name: _from_toml(name, fields)
    for name, fields in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    ).items()
}


def dataset(name: str) -> DataSet:
    """The data set of that name."""
    if name not in DATASETS:
        raise InputError(f"there is no data set {name!r}; there are {', '.join(DATASETS)}")
    return DATASETS[name]
