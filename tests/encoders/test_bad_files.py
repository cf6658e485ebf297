"""Files that are damaged, hostile or of another model: one sentence each, and nothing is run
from them.
"""

import contextlib
import json
import shutil

import numpy as np
import pytest

from shortlist.encoders import load_encoder
from shortlist.errors import InputError
from tests.encoders.conftest import (
    HEADS,
    INNER,
    POSITIONS,
    WIDTH,
    WORDS,
    random_weights,
    tokenizer,
    write_json,
)

QUERY = "encoder.layer.1.attention.self.query.weight"


def refused(folder, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        load_encoder(str(folder))
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 700


def rewrite(folder, **changed):
    """Write the weights again, some of them changed, or left out where they are None."""
    from safetensors.numpy import save_file

    weights = {
        name: array for name, array in (random_weights() | changed).items() if array is not None
    }
    save_file(weights, folder / "model.safetensors")


@pytest.mark.parametrize("length", [0, 4, 8, 100, 10_000])
def test_truncated_safetensors(folder, length):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    refused(
        folder, r"tiny/model.safetensors is not a whole safetensors file: .*; get the file again"
    )


@pytest.mark.parametrize(
    "header",
    [
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 5000,
        b'{"x":{"dtype":"F32","shape":[1099511627776,1099511627776],"data_offsets":[0,4]}}',
        b'{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}',
        b'{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,99999999]}}',
        b'{"x":{"dtype":"PICKLE","shape":[1],"data_offsets":[0,4]}}',
    ],
)
def test_hostile_safetensors(folder, header):
    (folder / "model.safetensors").write_bytes(
        len(header).to_bytes(8, "little") + header + b"\0\0\0\0"
    )
    refused(
        folder,
        r"tiny/model.safetensors (is not a whole safetensors file|has no weights of a BERT network)",
    )


def test_a_header_that_claims_to_be_huge(folder):
    (folder / "model.safetensors").write_bytes((2**62).to_bytes(8, "little") + b"{}")
    refused(folder, "is not a whole safetensors file")


def with_value(value):
    array = random_weights()[QUERY].copy()
    array[3, 4] = value
    return array


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (None, f"has nothing as {QUERY}, .*: get the file again"),
        (with_value(np.nan), f"has numbers in {QUERY} that are not finite"),
        (with_value(-np.inf), f"has numbers in {QUERY} that are not finite"),
        (
            with_value(0).astype(np.float64),
            rf"has float64\[32, 32\] as {QUERY}, not float32 or float16",
        ),
        (with_value(0).astype(np.int8), rf"has int8\[32, 32\] as {QUERY}, not float32"),
        (
            with_value(0)[:-1].copy(),
            rf"has float32\[31, 32\] as {QUERY}, not float32 or float16\[32, 32\]",
        ),
        (
            with_value(0).ravel(),
            rf"has float32\[1024\] as {QUERY}, not float32 or float16\[32, 32\]",
        ),
    ],
)
def test_weights_that_do_not_fit(folder, array, sentence):
    rewrite(folder, **{QUERY: array})
    refused(folder, f"tiny/model.safetensors {sentence}")


@pytest.mark.parametrize(
    ("name", "shape", "sentence"),
    [
        (
            "embeddings.word_embeddings.weight",
            (0, WIDTH),
            r"has float32\[0, 32\] as embeddings.word_",
        ),
        (
            "embeddings.token_type_embeddings.weight",
            (0, WIDTH),
            r"has float32\[0, 32\] as embeddings.token_",
        ),
        ("embeddings.word_embeddings.weight", (25, 30), "4 heads cannot share evenly"),
        (
            "embeddings.position_embeddings.weight",
            (5, WIDTH),
            "has weights for texts of 5 tokens, and the limit is 20",
        ),
        (
            "encoder.layer.7.output.dense.bias",
            (WIDTH,),
            "has nothing as encoder.layer.2.attention.self.query.weight",
        ),
        ("encoder.layer.0.intermediate.dense.weight", (INNER + 1, WIDTH), "not float32 or float16"),
    ],
)
def test_networks_that_do_not_fit(folder, name, shape, sentence):
    rewrite(folder, **{name: np.zeros(shape, dtype=np.float32)})
    refused(folder, sentence)


def test_a_tokenizer_of_another_model(folder):
    tokenizer([*WORDS, "more", "words"]).save(str(folder / "tokenizer.json"))
    refused(
        folder,
        r"tokenizer.json has 27 tokens, and .*model.safetensors has weights for 25: they are not of the sam",
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"\xff\xfe", b'{"version": "1.0", "model": {"type": "Code"}}', b"[" * 9999],
)
def test_bad_tokenizers(folder, content):
    (folder / "tokenizer.json").write_bytes(content)
    refused(folder, "tiny/tokenizer.json is not a tokenizer: ")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_missing_files(folder, name):
    (folder / name).unlink()
    refused(folder, r"tiny has (neither model.safetensors nor model.onnx|no tokenizer.json)")


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        (
            "config.json",
            {"model_type": "mpnet"},
            "model_type 'mpnet', and .* only networks with 'bert' are read: export the model as "
            "model.onnx",
        ),
        ("config.json", {"model_type": "bert", "hidden_act": "relu"}, "hidden_act 'relu'"),
        (
            "config.json",
            {"model_type": "bert", "position_embedding_type": "relative_key"},
            "position_embedding_type 'relative_key'",
        ),
        (
            "config.json",
            {"model_type": "bert", "num_attention_heads": "4"},
            "num_attention_heads and layer_norm_eps",
        ),
        (
            "config.json",
            {"model_type": "bert", "num_attention_heads": 0},
            "num_attention_heads and layer_norm_eps",
        ),
        (
            "config.json",
            {"model_type": "bert", "num_attention_heads": 5},
            "which 5 heads cannot share evenly",
        ),
        ("config.json", [], "config.json must hold a JSON object"),
        ("modules.json", {"a": 1}, "modules.json must list modules"),
        (
            "modules.json",
            [{"type": "x.Transformer", "path": ""}],
            "has the modules Transformer; only",
        ),
        (
            "modules.json",
            [{"type": "x.Transformer", "path": "../.."}],
            "modules.json must list modules",
        ),
        (
            "1_Pooling/config.json",
            {"pooling_mode_max_tokens": True},
            "a pooling that is not supported; .*: mean, cls",
        ),
        ("1_Pooling/config.json", {"pooling_mode": "weighted"}, "a pooling that is not supported"),
        (
            "sentence_bert_config.json",
            {"max_seq_length": "long"},
            "the limit of tokens must be a whole number of at",
        ),
        (
            "sentence_bert_config.json",
            {"max_seq_length": 2},
            "the limit of tokens must be a whole number of at",
        ),
        (
            "sentence_bert_config.json",
            {"do_lower_case": "no"},
            "do_lower_case must be true or false",
        ),
        (
            "config_sentence_transformers.json",
            {"default_prompt_name": "query", "prompts": {"passage": "passage: "}},
            "has no prompt of the name 'query'",
        ),
    ],
)
def test_settings_that_are_not_supported(folder, file, content, sentence):
    write_json(folder / file, content)
    refused(folder, sentence)


@pytest.mark.parametrize("content", [b"", b"\xff", b"{", b"[" * 100_000])
def test_settings_that_are_no_json(folder, content):
    (folder / "modules.json").write_bytes(content)
    refused(folder, "modules.json cannot be read as JSON")


# Graphs that are given.


@pytest.fixture
def onnx_folder(folder):
    """The tiny encoder as an ONNX file, as other programs export it: with an attention mask."""
    import onnx

    from shortlist.encoders.network import graph_of, shape_of, weights_of

    weights = random_weights()
    shape = shape_of(weights, HEADS, 1e-12, "weights")
    arrays = weights_of(weights, shape, "weights")
    model = onnx.load_model_from_string(
        graph_of(shape, {name: array.shape for name, array in arrays.items()})
    )
    own = [one for one in model.graph.initializer if one.name not in arrays]
    del model.graph.initializer[:]
    model.graph.initializer.extend(
        [*own, *(onnx.numpy_helper.from_array(one, name) for name, one in arrays.items())]
    )
    for name in ("attention_mask", "token_type_ids"):
        model.graph.input.append(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["texts", "tokens"])
        )
    wanted = load_encoder(str(folder))(["corn harvest", ""])
    (folder / "model.safetensors").unlink()
    (folder / "onnx").mkdir()
    return folder, model, wanted


def write(folder, model):
    (folder / "onnx" / "model.onnx").write_bytes(model.SerializeToString())


def test_an_onnx_file_gives_the_same_vectors(onnx_folder):
    folder, model, wanted = onnx_folder
    write(folder, model)
    encoder = load_encoder(str(folder))
    np.testing.assert_allclose(encoder(["corn harvest", ""]), wanted, atol=1e-6)
    assert encoder.settings["network"] == "onnx"
    shutil.move(folder / "onnx" / "model.onnx", folder / "model.onnx")
    (folder / "config.json").write_text(
        json.dumps({"model_type": "other", "max_position_embeddings": POSITIONS})
    )
    assert load_encoder(str(folder)).digest == encoder.digest


def test_pooled_output_of_an_onnx_file(onnx_folder):
    import onnx

    folder, model, wanted = onnx_folder
    hidden = model.graph.output[0].name
    model.graph.node.append(
        onnx.helper.make_node("ReduceMean", [hidden, "one"], ["sentence_embedding"], keepdims=0)
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1]), "one"))
    model.graph.output.append(
        onnx.helper.make_tensor_value_info("sentence_embedding", 1, ["texts", WIDTH])
    )
    write(folder, model)
    np.testing.assert_allclose(load_encoder(str(folder))(["corn harvest", ""]), wanted, atol=1e-6)


@pytest.mark.filterwarnings("ignore")  # of the quantizer
def test_a_quantized_onnx_file_gives_the_same_vectors_in_any_batch(onnx_folder):
    from onnxruntime.quantization import quantize_dynamic

    folder, model, wanted = onnx_folder
    write(folder, model)
    quantize_dynamic(folder / "onnx" / "model.onnx", folder / "model.onnx")
    texts = ["corn harvest", "", "the bank", "its rates", "wheat is near", "corn of the loan"]
    encoder = load_encoder(str(folder))
    made = encoder(texts)
    assert not np.array_equal(made[:2], wanted)
    np.testing.assert_allclose(made[:2], wanted, atol=0.1)
    assert np.array_equal(
        made, np.concatenate([load_encoder(str(folder))([text]) for text in texts])
    )


def test_weights_outside_of_an_onnx_file(onnx_folder):
    import onnx

    folder, model, _ = onnx_folder
    for where in ("../../secret", "/etc/passwd", "model.onnx_data"):
        changed = onnx.ModelProto()
        changed.CopyFrom(model)
        tensor = changed.graph.initializer[-1]
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=where)
        write(folder, changed)
        refused(folder, "onnx/model.onnx keeps weights in another file: save it as one file")
    inner = onnx.helper.make_node("Constant", [], ["hidden"], value=tensor)
    changed.CopyFrom(model)
    changed.graph.node.append(inner)
    write(folder, changed)
    refused(folder, "onnx/model.onnx keeps weights in another file")


def test_damaged_onnx_files(onnx_folder):
    folder, model, _ = onnx_folder
    whole = model.SerializeToString()
    for content in (
        b"",
        b"\xff" * 100,
        whole[: len(whole) // 2],
        whole[:1000],
        b"version https://git-lfs.github.com/spec",
    ):
        (folder / "onnx" / "model.onnx").write_bytes(content)
        refused(folder, "onnx/model.onnx is (not an ONNX file|refused by onnxruntime): ")


def test_onnx_files_of_something_else(onnx_folder):
    import onnx

    folder, model, _ = onnx_folder

    def tried(change, sentence):
        changed = onnx.ModelProto()
        changed.CopyFrom(model)
        change(changed.graph)
        write(folder, changed)
        refused(folder, sentence)

    def custom(graph):
        graph.node[0].domain, graph.node[0].op_type = "com.somebody", "Shell"

    def nan(graph):
        array = onnx.numpy_helper.to_array(graph.initializer[-1]).copy()
        array[:] = np.nan
        graph.initializer[-1].CopyFrom(
            onnx.numpy_helper.from_array(array, graph.initializer[-1].name)
        )

    def few_words(graph):
        (words,) = [one for one in graph.initializer if one.name == "words"]
        words.CopyFrom(
            onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(words)[:20], "words")
        )

    def huge(graph):
        graph.initializer[-1].dims[0] = 2**40

    def image(graph):
        graph.input[1].name = "pixels"

    tried(custom, "is refused by onnxruntime: ")
    tried(nan, "makes numbers that are not finite")
    tried(few_words, "cannot encode a text: ")
    tried(huge, "is refused by onnxruntime: ")
    tried(image, "takes input_ids, pixels, token_type_ids, not the tokens of a text")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_files_with_a_changed_byte_work_or_are_refused(onnx_folder, seed):
    """Of safetensors, ONNX and tokenizer, some bytes changed at random: a sentence or an
    encoder, nothing else.
    """
    folder, model, _ = onnx_folder
    write(folder, model)
    draw = np.random.default_rng(seed)
    if seed % 2:
        rewrite(folder)
    name = ("onnx/model.onnx", "model.safetensors", "tokenizer.json", "tokenizer.json")[seed % 4]
    content = bytearray((folder / name).read_bytes())
    for place in draw.integers(0, min(len(content), 3000), 3):
        content[place] = draw.integers(256)
    (folder / name).write_bytes(content)
    with contextlib.suppress(InputError):
        assert load_encoder(str(folder))(["corn"]).shape == (1, WIDTH)
