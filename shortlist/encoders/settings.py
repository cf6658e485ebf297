"""What an encoder is made from: a folder as sentence-transformers lays it out, its files and its settings.

Nothing in the folder is run. What is used of a JSON file is checked. A folder that asks for something else than this
package does is refused: its vectors would differ from those that its makers meant.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.errors import InputError

POOLING = ("mean", "cls")
OLD_POOLING = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
ONNX_FILES = ("model.onnx", "onnx/model.onnx")
MOST_JSON = 10_000_000  # bytes
LEAST_TOKENS = 3  # of a limit: the first, the last, and one between them
MOST_TOKENS = 512  # of a text, where a folder names no limit
TO_ONNX = "export the model as model.onnx beside it"


class Settings(NamedTuple):
    """How weights are used: with the weights and the tokenizer, all that a vector depends on."""

    network: str  # bert: made from safetensors; onnx: a graph that was given; universal: see universal.py
    pooling: str  # of the vectors of the tokens: mean, or that of the first (cls)
    max_length: int  # tokens of a text; the rest is cut off
    lower_case: bool = False
    heads: int = 0  # of a BERT network: what its weights do not tell
    epsilon: float = 0.0


@dataclass(frozen=True)
class Source:
    """All that an encoder is made from: the bytes of two files, and how they are used."""

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
        """What its vectors depend on, for JSON."""
        return self.digests | self.settings._asdict()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None


def read_folder(folder: Path) -> Source:
    """The files and settings of a folder."""
    base, pooling = _modules(folder)
    config = _read_object(base / "config.json")
    onnx = next((base / name for name in ONNX_FILES if (base / name).is_file()), None)
    weights = base / "model.safetensors"
    unreadable = _not_bert(config)
    if onnx is not None and (unreadable or not weights.is_file()):
        weights = onnx
    elif not weights.is_file():
        raise InputError(f"{folder} has neither model.safetensors nor model.onnx: name the folder that holds the model")
    elif unreadable:
        raise InputError(f"{weights} is {unreadable}, and only BERT networks are read from safetensors: {TO_ONNX}")
    tokenizer = base / "tokenizer.json"
    if not tokenizer.is_file():
        raise InputError(f"{folder} has no tokenizer.json: save the model with its fast tokenizer")
    settings = _settings(base, config, pooling, onnx=weights == onnx)
    return Source(read_file(weights), read_file(tokenizer), settings, weights, tokenizer)


def _settings(base: Path, config: Mapping[str, Any], pooling: str, *, onnx: bool) -> Settings:
    own = _read_object(base / "sentence_bert_config.json")
    lower = own.get("do_lower_case", False)
    if not isinstance(lower, bool):
        raise InputError(f"{base / 'sentence_bert_config.json'}: do_lower_case must be true or false")
    most = _max_length(base, config, own)
    if onnx:
        return Settings("onnx", pooling, most, lower)
    heads, epsilon = config.get("num_attention_heads"), config.get("layer_norm_eps", 1e-12)
    if type(heads) is not int or heads < 1 or type(epsilon) not in (int, float) or not 0 <= epsilon < 1:
        raise InputError(f"{base / 'config.json'}: num_attention_heads and layer_norm_eps must be positive numbers")
    return Settings("bert", pooling, most, lower, heads, float(epsilon))


def _max_length(base: Path, config: Mapping[str, Any], own: Mapping[str, Any]) -> int:
    """How many tokens of a text are used: what the folder says, and no more than the network has positions for."""
    limits = [own.get("max_seq_length"), config.get("max_position_embeddings")]
    if limits[0] is None:
        limits[0] = _read_object(base / "tokenizer_config.json").get("model_max_length", MOST_TOKENS)
    try:
        most = int(min(limit for limit in limits if limit is not None))
    except (OverflowError, TypeError, ValueError):
        most = 0
    if most < LEAST_TOKENS:
        raise InputError(f"{base}: the limit of tokens must be a whole number of at least {LEAST_TOKENS}")
    return most


def _not_bert(config: Mapping[str, Any]) -> str:
    """What stands against making the network of a folder from its safetensors; nothing if it is a plain BERT."""
    kind, act = config.get("model_type"), config.get("hidden_act", "gelu")
    positions = config.get("position_embedding_type", "absolute")
    if kind != "bert":
        return f"of the type {kind!r}"
    if act != "gelu":
        return f"a network with the activation {act!r}"
    return "" if positions == "absolute" else f"a network with positions of the type {positions!r}"


def _modules(folder: Path) -> tuple[Path, str]:
    """The folder of the network, and the pooling; with no modules.json, as sentence-transformers does, the mean."""
    path = folder / "modules.json"
    if not path.is_file():
        return folder, "mean"
    modules: Any = _read_json(path)
    try:
        found = [(one["type"].rpartition(".")[2], folder / _inside(one["path"])) for one in modules]
        kinds = [kind for kind, _ in found]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"{path} must list modules, each with a type and a folder inside of this one") from None
    if kinds[:2] != ["Transformer", "Pooling"] or set(kinds[2:]) - {"Normalize"}:
        raise InputError(f"{path} has the modules {', '.join(kinds)}; only Transformer, Pooling, Normalize can be used")
    prompts = _read_object(folder / "config_sentence_transformers.json")
    if prompts.get("default_prompt_name") is not None:
        raise InputError(f"{folder} puts a prompt before every text, which is not supported: use another encoder")
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
        chosen = [name for name, value in config.items() if name.startswith("pooling_mode_") and value]
        stated = OLD_POOLING.get(chosen[0]) if len(chosen) == 1 else None
    if stated not in POOLING:
        raise InputError(f"{path} asks for a pooling that is not supported; it must be one of: {', '.join(POOLING)}")
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
