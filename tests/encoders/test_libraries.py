"""Encoders of other libraries: by stand-ins everywhere, and by the libraries where installed."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest

from shortlist.encoders import libraries, load_encoder
from shortlist.errors import InputError


def vectors(texts):
    return np.array([[len(text), text.count("e"), 1.0] for text in texts])


class Model:
    """Stands for a model of any of the libraries."""

    device = "cpu"
    asked = None

    def __init__(self, name, **options):
        Model.asked = (name, options)
        if name == "unknown/name":
            raise OSError(f"{name} is not here\nand more lines")

    @classmethod
    def from_pretrained(cls, path):
        return cls(path)

    def encode(self, texts, **options):
        return vectors(texts)

    def embed(self, texts):
        yield from vectors(texts)


@pytest.fixture
def stand_ins(monkeypatch):
    names = {
        "sentence_transformers": "SentenceTransformer",
        "model2vec": "StaticModel",
        "fastembed": "TextEmbedding",
    }
    for module, kind in names.items():
        made = ModuleType(module)
        made.__spec__ = ModuleSpec(module, None)
        setattr(made, kind, Model)
        monkeypatch.setitem(sys.modules, module, made)
    hub = ModuleType("huggingface_hub")
    hub.snapshot_download = lambda name, local_files_only: f"{name} {local_files_only}"
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setattr(libraries.metadata, "version", lambda name: "1.0")
    monkeypatch.delenv("SHORTLIST_DOWNLOAD", raising=False)


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("library", libraries.LIBRARY_ENCODERS)
def test_models_are_read_and_downloaded_only_where_that_is_allowed(library, monkeypatch):
    encoder = load_encoder(f"{library}:some/name")
    wanted = vectors(["corn", "the bank"])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(encoder(["corn", "the bank"]), wanted, atol=1e-6)
    assert (encoder.name, encoder.dimension) == (f"{library}:some/name", 3)
    assert encoder.digest.startswith("vectors:3:")
    name, options = Model.asked
    assert "True" in name or options["local_files_only"] is True
    monkeypatch.setenv("SHORTLIST_DOWNLOAD", "yes")
    load_encoder(f"{library}:some/name")
    name, options = Model.asked
    assert "False" in name or options["local_files_only"] is False


@pytest.mark.usefixtures("stand_ins")
def test_what_a_library_refuses_is_one_sentence():
    with pytest.raises(InputError, match="cannot be opened: unknown/name is not here and more"):
        load_encoder("sentence-transformers:unknown/name")


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("wrong", [np.full((1, 3), np.nan), np.zeros((2, 3)), np.zeros(3)])
def test_vectors_that_cannot_be_used(wrong, monkeypatch):
    monkeypatch.setattr(Model, "encode", lambda self, texts, **options: wrong)
    with pytest.raises(InputError, match="cannot encode a text"):
        load_encoder("sentence-transformers:some/name")


@pytest.mark.parametrize("library", libraries.LIBRARY_ENCODERS)
def test_a_library_that_is_not_installed_is_named(library, monkeypatch):
    monkeypatch.setattr(libraries, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=f"needs {library}: pip install {library}"):
        load_encoder(f"{library}:some/name")


def test_sentence_transformers_itself(folder):
    pytest.importorskip("sentence_transformers", reason="it is not installed")
    texts = ["corn harvest", "the bank raised its rates"]
    encoder = load_encoder(f"sentence-transformers:{folder}")
    np.testing.assert_allclose(encoder(texts), load_encoder(str(folder))(texts), atol=1e-5)


def test_model2vec_itself(tmp_path):
    model2vec = pytest.importorskip("model2vec", reason="it is not installed")
    from tests.encoders.conftest import WORDS, tokenizer

    rows = np.random.default_rng(0).normal(size=(len(WORDS) + 5, 8)).astype(np.float32)
    plain = tokenizer()
    plain.no_padding()
    model2vec.StaticModel(rows, plain, normalize=True).save_pretrained(tmp_path / "table")
    texts = ["corn harvest", "the bank raised its rates", "wheat " * 900, ""]
    ours = load_encoder(str(tmp_path / "table"))(texts)
    its = load_encoder(f"model2vec:{tmp_path / 'table'}")(texts)
    np.testing.assert_allclose(ours, its, atol=1e-5)
