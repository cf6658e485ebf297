"""A tiny BERT network with random weights, laid out as sentence-transformers does: most tests
need no more.
"""

import json

import numpy as np
import pytest

WORDS = [
    "the",
    "a",
    "bank",
    "raised",
    "its",
    "rates",
    "corn",
    "wheat",
    "harvest",
    "export",
    "loan",
    "grain",
    "money",
    "storm",
    "is",
    "near",
    "to",
    "of",
    "and",
    "in",
]
WIDTH, INNER, LAYERS, POSITIONS, HEADS = 32, 48, 2, 24, 4


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Graphs and tables of a test are kept in a folder of its own, and no vectors are."""
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr("shortlist.encoders.finding.folders_of", lambda function: [folder])
    monkeypatch.delenv("SHORTLIST_ENCODERS", raising=False)
    monkeypatch.setenv("SHORTLIST_CACHE", "off")
    return folder


def random_weights():
    draw = np.random.default_rng(0)
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS) + 5, WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        own = f"encoder.layer.{layer}."
        norms += [f"{own}attention.output.LayerNorm", f"{own}output.LayerNorm"]
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{own}attention.{part}.weight"] = (WIDTH, WIDTH)
            shapes[f"{own}attention.{part}.bias"] = (WIDTH,)
        shapes |= {
            f"{own}intermediate.dense.weight": (INNER, WIDTH),
            f"{own}intermediate.dense.bias": (INNER,),
        }
        shapes |= {f"{own}output.dense.weight": (WIDTH, INNER), f"{own}output.dense.bias": (WIDTH,)}
    shapes |= {f"{name}.{part}": (WIDTH,) for name in norms for part in ("weight", "bias")}
    return {name: draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def tokenizer(words=WORDS):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "##s", *words]
    made = Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    made.enable_padding(length=16)  # which a file may ask for, and which is not wanted
    made.enable_truncation(5)
    return made


def write_json(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def folder(tmp_path):
    """The folder of a tiny encoder."""
    pytest.importorskip(
        "onnxruntime", reason="encoders run with onnxruntime: pip install '.[meaning]'"
    )
    pytest.importorskip("onnx", reason="graphs are made with onnx: pip install '.[meaning]'")
    pytest.importorskip(
        "tokenizers", reason="texts are tokenised with tokenizers: pip install '.[meaning]'"
    )
    from safetensors.numpy import save_file

    made = tmp_path / "tiny"
    made.mkdir()
    save_file(random_weights(), made / "model.safetensors")
    tokenizer().save(str(made / "tokenizer.json"))
    bert = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_attention_heads": HEADS,
        "layer_norm_eps": 1e-12,
    }
    write_json(made / "config.json", bert | {"max_position_embeddings": POSITIONS})
    kinds = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")
    modules = [
        {"path": path, "type": f"sentence_transformers.models.{kind}"} for kind, path in kinds
    ]
    write_json(made / "modules.json", modules)
    write_json(
        made / "1_Pooling" / "config.json",
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
    )
    write_json(made / "sentence_bert_config.json", {"max_seq_length": 20, "do_lower_case": False})
    return made
