"""A network that onnxruntime runs: texts to tokens, tokens to vectors, on the processor, with no network access.

Texts are encoded together only if they have the same number of tokens. Then nothing is padded, and a vector is made of
the numbers of its own text alone, added in the same order however many texts are beside it: the same bits for any
order, batch and number of threads. Threads take batches, and one thread computes a batch.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.concurrency import by_threads
from shortlist.encoders import graph
from shortlist.encoders.finding import Source
from shortlist.encoders.kept import kept
from shortlist.errors import InputError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, OrtValue
    from tokenizers import Tokenizer

BATCH = 32  # texts at a time
BATCH_TOKENS = 1024  # and tokens
INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
POOLED = "sentence_embedding"  # an output that needs no pooling, where a graph has it
MOST_SAID = 200  # letters of what a library says

Vectors = NDArray[np.float32]  # a row for each text or token
Progress = Callable[[int, int], None]  # how many texts or tokens are encoded so far, of how many
Told = Callable[[int], None]  # how many more are encoded


def counting(progress: Progress | None, total: int) -> Told:
    """What adds up how many are done, and tells it."""
    done = 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, total)

    return told


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """One sentence, whatever a library says about a file that is damaged, hostile or of something else."""
    try:
        yield
    except Exception as problem:
        said = " ".join(str(problem).split())[:MOST_SAID] or type(problem).__name__
        raise InputError(f"{what}: {said}; get the file again, or use another encoder") from None


def n_tokens(tokenizer: Tokenizer) -> int:
    """How many tokens there are: one more than the largest number of one."""
    return 1 + max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)


class Network:
    """A network and its tokenizer: texts to vectors that are not yet scaled to unit length."""

    _batch = BATCH

    def __init__(self, source: Source, threads: int | None) -> None:
        self._where, self._settings = source.where, source.settings
        self._threads = threads or os.cpu_count() or 1
        self.tokenizer = self.read_tokenizer(source)
        self.n_tokens = n_tokens(self.tokenizer)
        self._weights: list[OrtValue] = []  # which the session points into
        self._session = self._open(source)
        self._inputs = [one.name for one in self._session.get_inputs()]
        self._outputs = [one.name for one in self._session.get_outputs()]
        self.dimension = self._try()
        self.tokenizer.enable_truncation(source.settings.max_length)

    @staticmethod
    def read_tokenizer(source: Source) -> Tokenizer:
        """The tokenizer of a file, which pads nothing and cuts nothing off."""
        from tokenizers import Tokenizer

        with refusing(f"{source.where_tokenizer} is not a tokenizer"):
            tokenizer = Tokenizer.from_str(source.tokenizer.decode())
            tokenizer.no_padding()
            tokenizer.no_truncation()
            tokenizer.encode("a")
        return tokenizer

    def _open(self, source: Source) -> InferenceSession:
        """A session on the graph of a file, or on one that is made from its weights."""
        session = self._from_onnx(source) if source.settings.network == "onnx" else self._from_bert(source)
        inputs = [one.name for one in session.get_inputs()]
        if set(inputs) - INPUTS or "input_ids" not in inputs:
            raise InputError(f"{self._where} takes {', '.join(inputs)}, not the tokens of a text: use another encoder")
        return session

    def _from_bert(self, source: Source) -> InferenceSession:
        """A session on a graph that is made from safetensors."""
        from onnxruntime import OrtValue
        from safetensors.numpy import load

        with refusing(f"{source.where} is not a whole safetensors file"):
            arrays = {name.removeprefix("bert."): array for name, array in load(source.weights).items()}
        shape = graph.shape_of(arrays, source.settings.heads, source.settings.epsilon, source.where)
        weights = graph.weights_of(arrays, shape, source.where)
        sizes = {name: array.shape for name, array in weights.items()}
        if self.n_tokens > sizes["words"][0]:
            raise InputError(
                f"{source.where_tokenizer} has {self.n_tokens:,} tokens, and {source.where} has weights for "
                f"{sizes['words'][0]:,}: they are not of the same model"
            )
        if source.settings.max_length > sizes["positions"][0]:
            raise InputError(
                f"{source.where} has weights for texts of {sizes['positions'][0]} tokens, and the limit is "
                f"{source.settings.max_length}: correct max_seq_length in sentence_bert_config.json"
            )
        key = "-".join(map(str, (graph.VERSION, *shape, sizes["words"][0], sizes["positions"][0])))
        self._weights = [OrtValue.ortvalue_from_numpy(array) for array in weights.values()]  # not copied
        model = kept(f"bert-{key}.onnx", lambda: graph.graph_of(shape, sizes))
        return open_session(model, source.where, list(weights), self._weights)

    def _from_onnx(self, source: Source) -> InferenceSession:
        """A session on a graph from a file, if all of its weights are in it."""
        import onnx

        with refusing(f"{source.where} is not an ONNX file"):
            parts = list(_inside(onnx.load_model_from_string(source.weights)))
        if any(getattr(one, "data_location", 0) == onnx.TensorProto.EXTERNAL for one in parts):
            raise InputError(f"{source.where} keeps weights in another file: save it as one file, with all its weights")
        if any("Dynamic" in str(getattr(one, "op_type", "")) for one in parts):
            self._batch = 1  # it is quantized, and scales numbers by the largest of all texts that it is given
        return open_session(source.weights, source.where)

    def _try(self) -> int:
        """Encode a text of the first and last tokens; gives how many numbers a vector has."""
        made = self.pooled(np.array([[0, self.n_tokens - 1, 0]], dtype=np.int64))
        return int(made.shape[1])

    def vectors(self, texts: list[str], told: Told) -> Vectors:
        """A vector for each text."""
        tokens = self._tokens(texts)
        made = np.empty((len(texts), self.dimension), dtype=np.float32)

        def encode(some: list[int]) -> int:
            made[some] = self.pooled(np.array([tokens[i] for i in some], dtype=np.int64))
            return len(some)

        for n in by_threads(encode, batches([len(one) for one in tokens], self._batch), self._threads):
            told(n)
        return made

    def vectors_of_tokens(self, told: Told) -> Vectors:
        """A vector for each token, as a text of this one alone."""
        around = self.tokenizer.encode("").ids  # what stands before and after every text
        before, after = around[: len(around) // 2], around[len(around) // 2 :]

        def encode(first: int) -> Vectors:
            some = range(first, min(first + self._batch, self.n_tokens))
            return self.pooled(np.array([[*before, token, *after] for token in some], dtype=np.int64))

        made = []
        for some in by_threads(encode, range(0, self.n_tokens, self._batch), self._threads):
            made.append(some)
            told(len(some))
        return np.concatenate(made)

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        plain = [text.strip().lower() if self._settings.lower_case else text.strip() for text in texts]
        if len(plain) == 1:  # without the threads of the library
            return [self.tokenizer.encode(plain[0]).ids]
        return [one.ids for one in self.tokenizer.encode_batch_fast(plain)]

    def pooled(self, tokens: NDArray[np.int64]) -> Vectors:
        """The vectors of texts of the same number of tokens (int64[texts, tokens])."""
        if not tokens.size:  # a tokenizer that puts nothing around a text, and empty texts
            return np.zeros((len(tokens), self.dimension), dtype=np.float32)
        with refusing(f"{self._where} cannot encode a text"):
            found = np.asarray(self._run(tokens))
            if found.ndim == 3 and found.shape[:2] == tokens.shape:
                found = found[:, 0] if self._settings.pooling == "cls" else found.mean(axis=1)
            if found.dtype != np.float32 or found.ndim != 2 or len(found) != len(tokens) or not found.size:
                raise ValueError(f"it makes {found.dtype}{list(found.shape)} of {len(tokens)} texts, not vectors")
            if not np.isfinite(found).all():
                raise ValueError("it makes numbers that are not finite")
        return found

    def _run(self, tokens: NDArray[np.int64]) -> NDArray[Any]:
        given = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        output = POOLED if POOLED in self._outputs else self._outputs[0]
        return self._session.run([output], {name: given[name] for name in self._inputs})[0]


def batches(lengths: list[int], most: int) -> Iterator[list[int]]:
    """Numbers of texts that have the same length, so many at a time, the longest first."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
    for length, same in itertools.groupby(order, key=lengths.__getitem__):
        together = list(same)
        size = max(1, min(most, BATCH_TOKENS // max(1, length)))
        yield from (together[first : first + size] for first in range(0, len(together), size))


def _inside(message: Any) -> Iterator[Any]:
    """All messages inside of one in the format of Protocol Buffers, however deep."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            for one in [value] if hasattr(value, "ListFields") else value:
                if hasattr(one, "ListFields"):
                    yield one
                    yield from _inside(one)


def open_session(
    model: bytes, where: Path, names: Sequence[str] = (), values: Sequence[OrtValue] = ()
) -> InferenceSession:
    """A session on the processor, in the thread that calls it, with no operators but those of onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # shapes vary: less memory, no more time
    options.add_session_config_entry("session.load_model_format", "ONNX")
    options.log_severity_level = 4  # errors are raised; there is no need to print them as well
    with refusing(f"{where} is refused by onnxruntime"):
        if names:
            options.add_external_initializers(list(names), list(values))
        processor = ["CPUExecutionProvider"]
        return onnxruntime.InferenceSession(model, options, providers=processor, enable_fallback=False)
