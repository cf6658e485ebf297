"""Where encoders are found: by known digests in folders and installed packages, never by
importing.
"""

import hashlib
import json
import shutil
import sys

import numpy as np
import pytest

from shortlist.encoders import finding, load_encoder
from shortlist.encoders.finding import EncoderSettings
from shortlist.errors import InputError
from tests.encoders.conftest import HEADS
from tests.reference import bert

MINILM = "all-MiniLM-L6-v2"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def known(folder, monkeypatch):
    """The tiny encoder as one of a known name; no place of this machine is looked at."""
    weights, tokenizer = (sha256(folder / name) for name in ("model.safetensors", "tokenizer.json"))
    entry = finding.KnownEncoder(
        weights, tokenizer, EncoderSettings("bert", "mean", 20, False, HEADS, 1e-12), "tiny-package"
    )
    monkeypatch.setattr(finding, "KNOWN_ENCODERS", {"tiny": entry})
    return folder


def package(site, folder, name="tiny_package"):
    """Install the encoder as a package that cannot be imported."""
    inside = site / name / "model"
    shutil.copytree(folder, inside)
    (site / name / "__init__.py").write_text("raise RuntimeError('imported')")
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    files = [
        path.relative_to(site).as_posix()
        for path in [site / name / "__init__.py", *inside.rglob("*.*")]
    ]
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    return inside


@pytest.mark.parametrize("name", ["tiny_package", "somebody_elses"])
def test_a_package_is_found_and_not_imported(known, tmp_path, monkeypatch, name):
    wanted = load_encoder(str(known))
    site = tmp_path / "site"
    package(site, known, name)
    monkeypatch.syspath_prepend(str(site))
    found = load_encoder("tiny")
    assert (found.name, found.digest) == ("tiny", wanted.digest)
    assert np.array_equal(found(["corn"]), wanted(["corn"]))
    assert name not in sys.modules


def test_a_folder_of_the_environment_is_looked_at(known, monkeypatch):
    with pytest.raises(
        InputError,
        match="encoder tiny are not installed: pip install tiny-package, or set SHORTLIST_E",
    ):
        load_encoder("tiny")
    wanted = load_encoder(str(known))
    monkeypatch.setenv("SHORTLIST_ENCODERS", f"/not/there:{known.parent}:{known}")
    assert load_encoder("tiny").digest == wanted.digest


def test_a_known_name_with_other_files_is_refused(known, tmp_path, monkeypatch):
    monkeypatch.setenv("SHORTLIST_ENCODERS", str(known))
    for name in ("model.safetensors", "tokenizer.json"):
        whole = (known / name).read_bytes()
        (known / name).write_bytes(whole + b" ")
        with pytest.raises(
            InputError,
            match=rf"tiny/{name} is not the published one of tiny \(its SHA-256 differs\)",
        ):
            load_encoder("tiny")
        (known / name).write_bytes(whole)
    load_encoder("tiny")


def test_a_right_package_is_taken_after_a_wrong_folder(known, tmp_path, monkeypatch):
    site = tmp_path / "site"
    package(site, known)
    monkeypatch.syspath_prepend(str(site))
    (known / "model.safetensors").write_bytes(b"other")
    monkeypatch.setenv("SHORTLIST_ENCODERS", str(known))
    assert load_encoder("tiny").settings["heads"] == HEADS


def test_a_known_name_trusts_no_settings_of_a_folder(known, monkeypatch):
    wanted = load_encoder(str(known)).digest
    (known / "config.json").write_text(json.dumps({"model_type": "bert", "num_attention_heads": 1}))
    (known / "modules.json").write_text("no JSON")
    monkeypatch.setenv("SHORTLIST_ENCODERS", str(known))
    assert load_encoder("tiny").digest == wanted


def test_other_names_in_folders_of_the_environment(known, monkeypatch):
    other = known.rename(known.with_name("other"))
    monkeypatch.setenv("SHORTLIST_ENCODERS", str(other.parent))
    assert load_encoder("other").name == "other"
    monkeypatch.delenv("SHORTLIST_ENCODERS")
    with pytest.raises(
        InputError,
        match="there is no encoder other: name a folder that holds one, or one of these: ti",
    ):
        load_encoder("other")


@pytest.fixture
def minilm():
    pytest.importorskip(
        "onnxruntime", reason="encoders run with onnxruntime: pip install '.[meaning]'"
    )
    try:
        return finding.find(MINILM)
    except InputError as problem:
        pytest.skip(str(problem))


def test_the_published_weights_give_the_vectors_of_the_formulas(minilm):
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    texts = ["wake me up at nine am on friday", "Why is the first call slow?", "Zürich", ""]
    own = Tokenizer.from_str(minilm.tokenizer.decode())
    own.no_padding()
    weights = load(minilm.weights)
    wanted = [bert.encode(weights, own.encode(text).ids, heads=12) for text in texts]
    encoder = load_encoder(MINILM)
    np.testing.assert_allclose(encoder(texts), wanted, atol=1e-5)
    assert encoder.dimension == 384
    near = encoder(
        [
            "A man is eating food.",
            "A man is eating a piece of bread.",
            "The girl is carrying a baby.",
        ]
    )
    np.testing.assert_allclose((near @ near.T)[0], [1, 0.7553, -0.1050], atol=1e-3)
