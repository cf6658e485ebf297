"""A network that onnxruntime runs, on a GPU if it can use one: texts to tokens, tokens to vectors.

Texts are encoded together only if they have the same number of tokens. Then nothing is padded, and
the vector of a text has the same bits on the processor for any order, batch and number of threads.
One thread computes a batch.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.concurrency import by_threads
from shortlist.encoders.bert_graph import GRAPH_VERSION, graph_of, shape_of, weights_of
from shortlist.encoders.finding import EncoderFiles, kept
from shortlist.errors import InputError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, OrtValue
    from tokenizers import Tokenizer

TEXTS_IN_BATCH = 32  # texts at a time
BATCH_TOKENS = 1024  # and tokens
INPUTS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
POOLED = "sentence_embedding"  # an output that needs no pooling, where a graph has it
CUDA = "CUDAExecutionProvider"
PROCESSOR = "CPUExecutionProvider"
MOST_LETTERS_OF_REASON = 200  # letters of the error of a library

Vectors = NDArray[np.float32]  # a row for each text or token


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turn any error of a library about a damaged, hostile or wrong file into one sentence."""
    try:
        yield
    except Exception as problem:
        reason = " ".join(str(problem).split())[:MOST_LETTERS_OF_REASON] or type(problem).__name__
        raise InputError(f"{what}: {reason}; get the file again, or use another encoder") from None


def n_tokens(tokenizer: Tokenizer) -> int:
    """The number of tokens: one more than the largest token number."""
    return 1 + max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)


def tokens_of(tokenizer: Tokenizer, texts: list[str], *, special: bool = True) -> list[list[int]]:
    """The numbers of the tokens of each text; with those that begin and end every text if
    ``special``.
    """
    if len(texts) == 1:  # without the threads of the library
        return [tokenizer.encode(texts[0], add_special_tokens=special).ids]
    encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=special)
    return [encoding.ids for encoding in encodings]


class Network:
    """A network and its tokenizer: texts to vectors that are not yet scaled to unit length."""

    is_slow = True
    _batch = TEXTS_IN_BATCH

    def __init__(self, source: EncoderFiles, threads: int | None) -> None:
        self._where = source.where
        self._settings = source.settings
        self._threads = threads or os.cpu_count() or 1
        self.tokenizer = self.read_tokenizer(source)
        self.n_tokens = n_tokens(self.tokenizer)
        self._weights: list[OrtValue] = []  # the session points into these
        self.session = self._open(source)
        self.device = device_of(self.session)
        self.inputs = [node.name for node in self.session.get_inputs()]
        self._outputs = [node.name for node in self.session.get_outputs()]
        # a trial
        self.dimension = self.pooled(np.array([[0, self.n_tokens - 1, 0]], dtype=np.int64)).shape[1]
        self.tokenizer.enable_truncation(source.settings.max_length)

    @staticmethod
    def read_tokenizer(source: EncoderFiles) -> Tokenizer:
        """The tokenizer of a file, which pads nothing and cuts nothing off."""
        from tokenizers import Tokenizer

        with refusing(f"{source.where_tokenizer} is not a tokenizer"):
            tokenizer = Tokenizer.from_str(source.tokenizer.decode())
            tokenizer.no_padding()
            tokenizer.no_truncation()
            tokenizer.encode("a")
        return tokenizer

    def _open(self, source: EncoderFiles) -> InferenceSession:
        """A session on the graph of a file, or on one that is made from its weights."""
        if source.settings.network == "onnx":
            session = self._from_onnx(source)
        else:
            session = self._from_bert(source)
        inputs = [node.name for node in session.get_inputs()]
        if set(inputs) - INPUTS or "input_ids" not in inputs:
            raise InputError(
                f"{self._where} takes {', '.join(inputs)}, not the tokens of a text: use another "
                "encoder"
            )
        return session

    def _from_bert(self, source: EncoderFiles) -> InferenceSession:
        """A session on a graph that is made from safetensors."""
        from onnxruntime import OrtValue
        from safetensors.numpy import load

        with refusing(f"{source.where} is not a whole safetensors file"):
            arrays = {
                name.removeprefix("bert."): array for name, array in load(source.weights).items()
            }
        shape = shape_of(arrays, source.settings.heads, source.settings.epsilon, source.where)
        weights = weights_of(arrays, shape, source.where)
        sizes = {name: array.shape for name, array in weights.items()}
        if self.n_tokens > sizes["words"][0]:
            raise InputError(
                f"{source.where_tokenizer} has {self.n_tokens:,} tokens, and {source.where} has "
                "weights for "
                f"{sizes['words'][0]:,}: they are not of the same model"
            )
        if source.settings.max_length > sizes["positions"][0]:
            raise InputError(
                f"{source.where} has weights for texts of {sizes['positions'][0]} tokens, and the "
                "limit is "
                f"{source.settings.max_length}: correct max_seq_length in sentence_bert_config.json"
            )
        key = "-".join(map(str, (GRAPH_VERSION, *shape, sizes["words"][0], sizes["positions"][0])))
        # not copied
        self._weights = [OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
        model = kept(f"bert-{key}.onnx", lambda: graph_of(shape, sizes))
        return open_session(model, source.where, list(weights), self._weights)

    def _from_onnx(self, source: EncoderFiles) -> InferenceSession:
        """A session on a graph from a file, if all of its weights are in it."""
        import onnx

        with refusing(f"{source.where} is not an ONNX file"):
            messages = list(_messages_in(onnx.load_model_from_string(source.weights)))
        external = onnx.TensorProto.EXTERNAL
        for message in messages:
            if getattr(message, "data_location", 0) == external:
                _check_external(message, source)
        if any("Dynamic" in str(getattr(message, "op_type", "")) for message in messages):
            # a quantized network scales numbers by the largest of all texts in the batch
            self._batch = 1
        return open_session(source.weights, source.where, files=source.external)

    def vectors(self, texts: list[str]) -> Vectors:
        """A vector for each text."""
        plain = [self._settings.prompt + text.strip() for text in texts]
        if self._settings.lower_case:
            plain = [text.lower() for text in plain]
        tokens = tokens_of(self.tokenizer, plain)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)

        def encode(batch: list[int]) -> None:
            vectors[batch] = self.pooled(np.array([tokens[i] for i in batch], dtype=np.int64))

        lengths = [len(numbers) for numbers in tokens]
        list(by_threads(encode, batches(lengths, self._batch), self._threads))
        return vectors

    def characters_read(self, text: str) -> int:
        """How many characters of a text its vector is made of; the others are cut off."""
        prompt = self._settings.prompt
        encoding = self.tokenizer.encode(prompt + text.strip())
        if not encoding.overflowing:
            return len(text)
        n_before = len(text) - len(text.lstrip())
        return max(0, n_before + max(end for _, end in encoding.offsets) - len(prompt))

    def vectors_of_tokens(self) -> Vectors:
        """A vector for each token, as a text of this one alone."""
        around = self.tokenizer.encode("").ids  # tokens that begin and end every text
        begin = around[: len(around) // 2]
        end = around[len(around) // 2 :]

        def encode(first: int) -> Vectors:
            batch = range(first, min(first + self._batch, self.n_tokens))
            return self.pooled(np.array([[*begin, token, *end] for token in batch], dtype=np.int64))

        return np.concatenate(
            list(by_threads(encode, range(0, self.n_tokens, self._batch), self._threads))
        )

    def pooled(self, tokens: NDArray[np.int64]) -> Vectors:
        """The vectors of texts of the same number of tokens (int64[texts, tokens])."""
        if not tokens.size:  # empty texts, from a tokenizer without begin and end tokens
            return np.zeros((len(tokens), self.dimension), dtype=np.float32)
        with refusing(f"{self._where} cannot encode a text"):
            vectors = np.asarray(self._run(tokens))
            if vectors.ndim == 3 and vectors.shape[:2] == tokens.shape:
                vectors = self._pool(vectors)
            is_matrix = vectors.ndim == 2 and len(vectors) == len(tokens) and vectors.size > 0
            if vectors.dtype != np.float32 or not is_matrix:
                raise ValueError(
                    f"it makes {vectors.dtype}{list(vectors.shape)} of {len(tokens)} texts, not "
                    "vectors"
                )
            if not np.isfinite(vectors).all():
                raise ValueError("it makes numbers that are not finite")
        return vectors

    def _pool(self, of_tokens: NDArray[Any]) -> NDArray[Any]:
        """The vector of each text, from those of its tokens; nothing is padded."""
        if self._settings.pooling == "cls":
            return of_tokens[:, 0]
        if self._settings.pooling == "lasttoken":
            return of_tokens[:, -1]
        return of_tokens.mean(axis=1)

    def _run(self, tokens: NDArray[np.int64]) -> NDArray[Any]:
        arrays = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
            "position_ids": np.tile(np.arange(tokens.shape[1]), (len(tokens), 1)),
        }
        output = POOLED if POOLED in self._outputs else self._outputs[0]
        return self.session.run([output], {name: arrays[name] for name in self.inputs})[0]


def batches(lengths: list[int], most: int) -> Iterator[list[int]]:
    """Numbers of texts of the same length, at most ``most`` at a time, the longest first."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
    for length, same in itertools.groupby(order, key=lengths.__getitem__):
        together = list(same)
        size = max(1, min(most, BATCH_TOKENS // max(1, length)))
        yield from (together[first : first + size] for first in range(0, len(together), size))


def _messages_in(message: Any) -> Iterator[Any]:
    """All messages inside of one in the format of Protocol Buffers, however deep."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for inner in [value] if hasattr(value, "ListFields") else value:
            if hasattr(inner, "ListFields"):
                yield inner
                yield from _messages_in(inner)


def _check_external(tensor: Any, source: EncoderFiles) -> None:
    """Refuse weights in a file that is not beside the graph."""
    locations = [entry.value for entry in tensor.external_data if entry.key == "location"]
    if len(locations) != 1 or locations[0] not in source.external:
        raise InputError(
            f"{source.where} keeps weights in another file: save it as one file, with all its "
            f"weights, or with {source.where.name}_data beside it"
        )


def open_session(
    model: bytes,
    where: Path,
    names: Sequence[str] = (),
    values: Sequence[OrtValue] = (),
    files: Mapping[str, bytes] | None = None,
) -> InferenceSession:
    """A session, in the thread that calls it, with no operators but those of onnxruntime.

    ``names`` and ``values``: weights as arrays; ``files``: weights in files, by their names. It
    runs on a GPU if onnxruntime has the provider for it and this machine has one.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    # shapes vary: less memory, no more time
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.add_session_config_entry("session.load_model_format", "ONNX")
    options.log_severity_level = 4  # errors are raised; there is no need to print them as well
    with refusing(f"{where} is refused by onnxruntime"):
        if names:
            options.add_external_initializers(list(names), list(values))
        if files:
            options.add_external_initializers_from_files_in_memory(
                list(files), list(files.values()), [len(data) for data in files.values()]
            )
        if CUDA in onnxruntime.get_available_providers():
            with suppress(Exception):  # without a GPU, or without the libraries of CUDA
                return onnxruntime.InferenceSession(
                    model, options, providers=[CUDA, PROCESSOR], enable_fallback=False
                )
        return onnxruntime.InferenceSession(
            model, options, providers=[PROCESSOR], enable_fallback=False
        )


def device_of(session: InferenceSession) -> str:
    """Where a session runs, for people."""
    return "GPU (CUDA)" if CUDA in session.get_providers() else "processor"
