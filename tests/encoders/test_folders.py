"""Folders of other families: what their settings say, weights beside an ONNX file, and tables that
model2vec has written.
"""

import json

import numpy as np
import pytest

from shortlist.encoders import load_encoder
from shortlist.encoders.finding import read_folder
from shortlist.errors import InputError
from tests.encoders.conftest import (
    HEADS,
    WIDTH,
    WORDS,
    random_weights,
    tokenizer,
    write_json,
)
from tests.encoders.test_bad_files import onnx_folder, refused, write  # noqa: F401 - a fixture
from tests.encoders.test_encoders import tokens_of
from tests.reference import bert

TEXTS = ["corn harvest", "the bank raised its rates", "wheat " * 40]


def test_the_last_token_and_a_prompt(folder):
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_lasttoken": True})
    plain = load_encoder(str(folder))
    assert "prompt" not in plain.settings
    write_json(
        folder / "config_sentence_transformers.json",
        {"prompts": {"query": "the grain ", "passage": "a "}, "default_prompt_name": "query"},
    )
    encoder = load_encoder(str(folder))
    assert encoder.digest != plain.digest
    assert encoder.settings["prompt"] == "the grain "
    np.testing.assert_allclose(
        encoder(TEXTS), plain([f"the grain {text}" for text in TEXTS]), atol=1e-6
    )
    wanted = [
        bert.encode(random_weights(), tokens_of(text), HEADS, pooling="lasttoken") for text in TEXTS
    ]
    np.testing.assert_allclose(plain(TEXTS), wanted, atol=1e-5)


def test_a_prompt_that_is_left_out_of_the_pooling_is_refused(folder):
    write_json(
        folder / "1_Pooling" / "config.json", {"pooling_mode": "mean", "include_prompt": False}
    )
    write_json(
        folder / "config_sentence_transformers.json",
        {"prompts": {"query": "query: "}, "default_prompt_name": "query"},
    )
    refused(folder, "leaves its prompt out of the pooling, .* sentence-transformers:")


@pytest.mark.parametrize(
    ("model_type", "config", "tokens"),
    [
        ("bert", {"max_position_embeddings": 24}, 24),
        ("xlm-roberta", {"max_position_embeddings": 514, "pad_token_id": 1}, 512),
        ("mpnet", {"max_position_embeddings": 514}, 512),
        ("roberta", {"max_position_embeddings": 30, "pad_token_id": 3}, 26),
        ("distilbert", {"max_position_embeddings": 512}, 512),
        ("modernbert", {"max_position_embeddings": 8192}, 999),
        ("other", {}, 999),
    ],
)
def test_limits_of_each_family(onnx_folder, model_type, config, tokens):  # noqa: F811
    folder, model, _ = onnx_folder
    write(folder, model)
    write_json(folder / "config.json", {"model_type": model_type} | config)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 999})
    assert read_folder(folder).settings.max_length == tokens


def test_networks_with_other_inputs(onnx_folder):  # noqa: F811
    """DistilBERT and MPNet take no types of tokens; decoders take positions."""
    import onnx

    folder, model, wanted = onnx_folder
    names = [node.name for node in model.graph.input]
    del model.graph.input[names.index("token_type_ids")]
    write(folder, model)
    np.testing.assert_allclose(load_encoder(str(folder))(["corn harvest", ""]), wanted, atol=1e-6)
    model.graph.input.append(
        onnx.helper.make_tensor_value_info(
            "position_ids", onnx.TensorProto.INT64, ["texts", "tokens"]
        )
    )
    write(folder, model)
    np.testing.assert_allclose(load_encoder(str(folder))(["corn harvest", ""]), wanted, atol=1e-6)


def test_weights_beside_an_onnx_file(onnx_folder):  # noqa: F811
    import onnx

    folder, model, wanted = onnx_folder
    path = folder / "onnx" / "model.onnx"
    onnx.save_model(
        model, path, save_as_external_data=True, location="model.onnx_data", size_threshold=100
    )
    encoder = load_encoder(str(folder))
    np.testing.assert_allclose(encoder(["corn harvest", ""]), wanted, atol=1e-6)
    assert list(encoder.settings["external"]) == ["model.onnx_data"]
    data = folder / "onnx" / "model.onnx_data"
    whole = data.read_bytes()
    data.write_bytes(whole[:-4] + b"\0\0\0\x40")
    assert load_encoder(str(folder)).digest != encoder.digest
    data.write_bytes(whole[: len(whole) // 2])
    refused(folder, "onnx/model.onnx is refused by onnxruntime")
    data.unlink()
    refused(folder, "keeps weights in another file: .* or with model.onnx_data beside it")


def test_the_only_onnx_file_is_used_whatever_its_name(onnx_folder):  # noqa: F811
    folder, model, wanted = onnx_folder
    write(folder, model)
    (folder / "onnx" / "model.onnx").rename(folder / "onnx" / "model_fp32.onnx")
    np.testing.assert_allclose(load_encoder(str(folder))(["corn harvest", ""]), wanted, atol=1e-6)
    (folder / "onnx" / "model_int8.onnx").write_bytes(b"")
    refused(folder, "has neither model.safetensors nor model.onnx")


# Tables of model2vec.


@pytest.fixture
def table(tmp_path, folder):
    """A folder as model2vec writes it, and its vectors."""
    from safetensors.numpy import save_file

    made = tmp_path / "table"
    made.mkdir()
    vectors = np.random.default_rng(3).normal(size=(len(WORDS) + 5, 8)).astype(np.float32)
    save_file({"embeddings": vectors}, made / "model.safetensors")
    tokenizer().save(str(made / "tokenizer.json"))
    write_json(made / "config.json", {"model_type": "model2vec", "normalize": True})
    return made, vectors


def expected(rows, text):
    """The sum of the rows of the known tokens of a text, of unit length."""
    one = tokenizer()
    one.no_padding()
    one.enable_truncation(512)
    unknown = one.token_to_id("[UNK]")
    numbers = [n for n in one.encode(text, add_special_tokens=False).ids if n != unknown]
    total = rows[numbers].sum(axis=0)
    return total / (np.linalg.norm(total) or 1)


def test_a_table_of_model2vec_is_used_as_it_is(table):
    made, vectors = table
    encoder = load_encoder(str(made))
    texts = [*TEXTS, "unheard corn", "unheard", ""]
    np.testing.assert_allclose(
        encoder(texts), [expected(vectors, text) for text in texts], atol=1e-6
    )
    assert (encoder.dimension, encoder.settings["network"]) == (8, "static")
    assert encoder.digest.startswith("sha256:")
    with pytest.raises(InputError, match="is a static table already"):
        load_encoder(f"{made}:static")


def test_weights_rows_and_names_of_a_table(table):
    from safetensors.numpy import save_file

    made, vectors = table
    draw = np.random.default_rng(4)
    n = len(vectors)
    weights = draw.random(n)
    mapping = draw.integers(0, 6, n)
    arrays = {"embeddings": vectors[:6].astype(np.float16), "weights": weights, "mapping": mapping}
    save_file(arrays, made / "model.safetensors")
    rows = vectors[:6].astype(np.float16).astype(np.float32)[mapping] * weights[:, np.newaxis]
    np.testing.assert_allclose(
        load_encoder(str(made))(TEXTS), [expected(rows, text) for text in TEXTS], atol=1e-5
    )
    nested = made / "0_StaticEmbedding"
    nested.mkdir()
    save_file({"embedding.weight": vectors}, nested / "model.safetensors")
    (made / "tokenizer.json").rename(nested / "tokenizer.json")
    modules = [{"path": "0_StaticEmbedding", "type": "sentence_transformers.StaticEmbedding"}]
    write_json(made / "modules.json", modules)
    np.testing.assert_allclose(
        load_encoder(str(made))(TEXTS), [expected(vectors, text) for text in TEXTS], atol=1e-6
    )


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"other": np.zeros((25, 8), dtype=np.float32)}, "does not hold a table of model2vec"),
        ({"embeddings": np.zeros((3, 8), dtype=np.float32)}, "for the 25 tokens"),
        ({"embeddings": np.full((25, 8), np.nan, dtype=np.float32)}, "not finite"),
        (
            {
                "embeddings": np.zeros((4, 8), dtype=np.float32),
                "mapping": np.full(25, 4, dtype=np.int64),
            },
            "does not hold a table of model2vec",
        ),
        (
            {
                "embeddings": np.zeros((25, 8), dtype=np.float32),
                "weights": np.zeros((25, 8), dtype=np.float32),
            },
            "does not hold a table of model2vec",
        ),
    ],
)
def test_tables_that_do_not_fit(table, arrays, sentence):
    from safetensors.numpy import save_file

    made, _ = table
    save_file(arrays, made / "model.safetensors")
    refused(made, sentence)
    (made / "model.safetensors").write_bytes(b"nothing")
    refused(made, "is not a whole safetensors file")


def test_the_limit_of_a_table(table):
    made, vectors = table
    config = {"model_type": "model2vec", "max_length": 2}
    (made / "config.json").write_text(json.dumps(config))
    np.testing.assert_allclose(
        load_encoder(str(made))(["a bank loan"]), [expected(vectors, "a bank")], atol=1e-6
    )
    (made / "config.json").write_text(json.dumps(config | {"max_length": "long"}))
    refused(made, "max_length must be a positive whole number")


# Where it runs.


def test_a_session_runs_on_a_gpu_where_onnxruntime_can(folder, monkeypatch):
    """A stand-in for onnxruntime-gpu: there is no GPU where this is tested."""
    import onnxruntime

    made = []
    session = onnxruntime.InferenceSession

    class Session(session):
        def __init__(self, model, options, providers, **others):
            made.append(providers[0])
            self.on_gpu = providers[0] == "CUDAExecutionProvider" and works
            if providers[0] == "CUDAExecutionProvider" and not works:
                raise RuntimeError("no device")
            super().__init__(model, options, providers=["CPUExecutionProvider"], **others)

        def get_providers(self):
            on_gpu = ["CUDAExecutionProvider"] if self.on_gpu else []
            return [*on_gpu, "CPUExecutionProvider"]

    wanted = load_encoder(str(folder))
    assert wanted.device == "processor"
    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
    monkeypatch.setattr(
        onnxruntime,
        "get_available_providers",
        lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"],
    )
    works = True
    encoder = load_encoder(str(folder))
    assert (encoder.device, encoder.digest) == ("GPU (CUDA)", wanted.digest)
    np.testing.assert_allclose(encoder(TEXTS), wanted(TEXTS), atol=1e-3)
    assert made == ["CUDAExecutionProvider"]
    works = False
    encoder = load_encoder(str(folder))
    assert encoder.device == "processor"
    assert np.array_equal(encoder(TEXTS), wanted(TEXTS))
    assert encoder.dimension == WIDTH
