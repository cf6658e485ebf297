"""Vectors of texts: those of the formulas, the same for any order, batch and number of threads,
with no network.
"""

import copy
import json
import pickle
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import shortlist as sl
from shortlist.encoders import Encoder, load_encoder, load_same
from shortlist.errors import InputError
from tests.encoders.conftest import HEADS, WIDTH, WORDS, random_weights, tokenizer, write_json
from tests.reference import bert


def random_texts(n, seed=0, longest=30):
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(WORDS, draw.integers(0, longest))) for _ in range(n)]


def tokens_of(text, most=20):
    one = tokenizer()
    one.no_padding()
    one.enable_truncation(most)
    return one.encode(text).ids


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_are_those_of_the_formulas(folder, pooling):
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode": pooling})
    texts = [
        "",
        "the bank raised its rates",
        "Banks, loans!",
        "unheard of",
        " ".join(WORDS * 3),
        *random_texts(20),
    ]
    made = load_encoder(str(folder))(texts)
    wanted = [
        bert.encode(random_weights(), tokens_of(text), HEADS, pooling=pooling) for text in texts
    ]
    np.testing.assert_allclose(made, wanted, atol=1e-5)
    assert made.dtype == np.float32
    assert made.shape == (len(texts), WIDTH)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-6)


@pytest.mark.long
def test_any_order_batch_and_number_of_threads_gives_the_same_bits(folder):
    texts = random_texts(150)
    alone = np.concatenate([load_encoder(str(folder), threads=1)([text]) for text in texts])
    for threads in (1, 2, 3):
        assert np.array_equal(load_encoder(str(folder), threads=threads)(texts), alone)
    order = np.random.default_rng(1).permutation(len(texts))
    shuffled = load_encoder(str(folder))([texts[i] for i in order])
    assert np.array_equal(shuffled, alone[order])


def test_texts_are_encoded_once(folder, monkeypatch):
    encoder = load_encoder(str(folder))
    encode, encoded = encoder._engine.vectors, []
    monkeypatch.setattr(
        encoder._engine, "vectors", lambda texts: encoded.append(texts) or encode(texts)
    )
    first = encoder(["corn", "wheat", "corn"])
    assert encoded == [["corn", "wheat"]]
    assert np.array_equal(first[0], first[2])
    again = encoder(["wheat", "corn"])
    assert len(encoded) == 1
    assert np.array_equal(again, first[[1, 0]])
    again[:] = 0  # which is the caller's own
    assert np.array_equal(encoder(["wheat"]), first[1:2])


def test_memory_of_texts_is_bounded(folder, monkeypatch):
    monkeypatch.setattr("shortlist.encoders.encoder.MEMORY", 10 * (4 * WIDTH + 256))
    encoder = load_encoder(str(folder))
    for text in random_texts(40):
        encoder([text])
    encoder(random_texts(40, seed=1))
    assert len(encoder._remembered) == 10


def test_several_threads_may_call_it(folder):
    encoder, texts = load_encoder(str(folder)), random_texts(60)
    wanted, found = load_encoder(str(folder))(texts), {}
    callers = [
        threading.Thread(target=lambda i=i: found.update({i: encoder(texts)})) for i in range(4)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(found) == 4
    assert all(np.array_equal(one, wanted) for one in found.values())


def test_no_text_and_texts_that_are_none(folder):
    encoder = load_encoder(str(folder))
    assert encoder([]).shape == (0, WIDTH)
    assert encoder(["\ud800 corn", "\x00", "\n"]).shape == (3, WIDTH)
    with pytest.raises(InputError, match=r"takes a list of texts, not one text"):
        encoder("corn")
    with pytest.raises(InputError, match="threads must be at least 1, not 0"):
        load_encoder(str(folder), threads=0)
    with pytest.raises(InputError, match=r"texts\[1\] must be a text, not int"):
        encoder(["corn", 3])


def test_the_digest_is_that_of_what_vectors_depend_on(folder, tmp_path):
    first = load_encoder(str(folder))
    assert json.loads(json.dumps(first.settings)) == first.settings
    moved = folder.rename(tmp_path / "moved")
    second = load_encoder(str(moved))
    assert (second.name, second.digest) == (str(moved), first.digest)
    assert first.digest.startswith("sha256:")
    write_json(moved / "sentence_bert_config.json", {"max_seq_length": 19})
    assert load_encoder(str(moved)).digest != first.digest
    with pytest.raises(InputError, match="is not the one that was used before"):
        load_same(str(moved), first.digest)


def test_another_process_loads_it_again(folder):
    encoder = load_encoder(str(folder))
    again = pickle.loads(pickle.dumps(encoder))
    assert np.array_equal(again(["corn"]), encoder(["corn"]))
    assert copy.deepcopy(encoder) is encoder


def test_graphs_are_kept_checked_and_not_needed(folder, cache, monkeypatch):
    wanted = load_encoder(str(folder))(["corn"])
    (graph,) = cache.iterdir()
    whole = graph.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(
            "shortlist.encoders.network.graph_of", lambda *shape: pytest.fail("it was made again")
        )
        assert np.array_equal(load_encoder(str(folder))(["corn"]), wanted)
    for damaged in (b"", whole[:-1], whole[:50] + b"\x00" + whole[51:]):
        graph.write_bytes(damaged)
        assert np.array_equal(load_encoder(str(folder))(["corn"]), wanted)
        assert graph.read_bytes() == whole
    monkeypatch.setattr(
        "shortlist.encoders.finding.folders_of", lambda function: [cache / "not there"]
    )
    assert np.array_equal(load_encoder(str(folder))(["corn"]), wanted)


def test_float16_and_names_with_a_prefix_are_read(folder):
    from safetensors.numpy import save_file

    halves = {name: array.astype(np.float16) for name, array in random_weights().items()}
    save_file(
        {f"bert.{name}": array for name, array in halves.items()}, folder / "model.safetensors"
    )
    wanted = bert.encode(halves, tokens_of("corn harvest"), HEADS)
    np.testing.assert_allclose(load_encoder(str(folder))(["corn harvest"])[0], wanted, atol=1e-5)


def test_nothing_is_connected_to(folder, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    load_encoder(str(folder))(["corn"])
    load_encoder(f"{folder}:static")(["corn"])
    with pytest.raises(InputError, match="there is no encoder sentence-transformers/none"):
        load_encoder("sentence-transformers/none")


def test_importing_the_room_imports_no_library_of_the_extra():
    code = (
        "import sys, shortlist.encoders; print({'onnx', 'onnxruntime', 'tokenizers', 'torch'} & "
        "set(sys.modules))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "set()"


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers"])
def test_missing_packages_are_named(missing, monkeypatch):
    monkeypatch.setattr(
        "shortlist.encoders.encoder.find_spec", lambda name: None if name == missing else name
    )
    with pytest.raises(
        InputError, match=rf"encoder x needs {missing}; .*pip install '.\[meaning\]'"
    ):
        load_encoder("x")


# Static tables.


def test_a_static_table_adds_up_its_tokens(folder, cache):
    encoder = load_encoder(f"{folder}:static")
    assert len(encoder._engine.table) == len(WORDS) + 5
    assert isinstance(encoder, Encoder)
    assert encoder.digest != load_encoder(str(folder)).digest
    corn, wheat, both = (
        encoder._engine.vectors([text])[0] for text in ("corn", "wheat", "corn wheat")
    )
    np.testing.assert_allclose(both, corn + wheat, atol=1e-6)
    made = encoder(["corn wheat", "", "unknown", "corn", "[SEP]"])
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), [1, 0, 0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(made[3], corn / np.linalg.norm(corn), atol=1e-6)


def test_a_static_table_keeps_what_is_near(folder):
    """With all components and equal weights, distances of tokens are those of the network's
    vectors of them.
    """
    network = load_encoder(str(folder))._engine
    table = load_encoder(f"{folder}:static", threads=2)._engine.table
    vectors = network.vectors_of_tokens()
    p = 1 / np.arange(1, len(vectors) + 1)
    rows = table / (1e-4 / (1e-4 + p / p.sum()))[:, np.newaxis]
    wanted = np.linalg.norm(vectors[5] - vectors[5:], axis=1)
    found = np.linalg.norm(rows[5] - rows[5:], axis=1)
    np.testing.assert_allclose(found[1:] / found[1], wanted[1:] / wanted[1], rtol=2e-3)


def test_a_static_table_is_made_once_and_for_any_number_of_threads(folder, cache, monkeypatch):
    load_encoder(f"{folder}:static", threads=1)
    (table,) = cache.glob("static-*")
    bytes_of_one = table.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(
            "shortlist.encoders.network.Network.vectors_of_tokens",
            lambda self: pytest.fail("made again"),
        )
        load_encoder(f"{folder}:static")
    table.unlink()
    load_encoder(f"{folder}:static", threads=3)
    assert table.read_bytes() == bytes_of_one


def test_a_static_table_gives_the_same_bits_in_any_batch(folder):
    encoder, texts = load_encoder(f"{folder}:static"), random_texts(50)
    alone = np.concatenate([load_encoder(f"{folder}:static")([text]) for text in texts])
    assert np.array_equal(encoder(texts), alone)


def test_it_says_where_a_text_is_cut_off(folder):
    encoder = load_encoder(str(folder))
    assert encoder.characters_read("the bank raised its rates") == 25
    text = "  " + " ".join(["bank"] * 40)
    n_read = encoder.characters_read(text)
    assert n_read == 2 + 18 * 5 - 1  # 20 tokens, with those that begin and end it
    one, other = encoder([text, text[:n_read]])
    assert np.array_equal(one, other)
    model = sl.Categorizer(encoder=str(folder)).learn_many(["the bank", "its rates"], ["a", "b"])
    assert model.explain(text, "a").encoded == n_read
    assert model.explain("the bank", "a").encoded is None
    assert sl.Categorizer().learn("bank", "a").explain(text, "a").encoded is None
