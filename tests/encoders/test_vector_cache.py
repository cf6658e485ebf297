"""Vectors on disk: made once, found by every process, bounded, and never needed."""

import sqlite3
import threading

import numpy as np
import pytest

from shortlist.encoders import load_encoder
from shortlist.encoders.vector_cache import VectorCache, cache_folder
from shortlist.errors import InputError

TEXTS = [f"corn harvest {n}" for n in range(30)]
DIGEST = "sha256:1"


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """The folder of the cache."""
    monkeypatch.setenv("SHORTLIST_CACHE", str(tmp_path / "vectors"))
    monkeypatch.delenv("SHORTLIST_CACHE_SIZE", raising=False)
    return tmp_path / "vectors"


def keys(n, first=0):
    return [f"{number:016}".encode() for number in range(first, first + n)]


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 8)).astype(np.float32)


def counting(encoder, monkeypatch):
    """The encoder, and a list of what its network is asked for."""
    asked = []
    encode = encoder._engine.vectors
    monkeypatch.setattr(
        encoder._engine, "vectors", lambda texts: asked.extend(texts) or encode(texts)
    )
    return encoder, asked


def test_a_second_process_encodes_nothing_twice(folder, cached, monkeypatch):
    wanted = load_encoder(str(folder))(TEXTS)
    encoder, asked = counting(load_encoder(str(folder)), monkeypatch)
    assert np.array_equal(encoder([*TEXTS[::-1], "new"])[:-1], wanted[::-1])
    assert asked == ["new"]
    (file,) = cached.glob("*.sqlite")
    assert file.stat().st_mode & 0o077 == 0
    assert b"corn" not in file.read_bytes()


def test_encoders_do_not_share_vectors(folder, cached, monkeypatch):
    load_encoder(str(folder))(TEXTS)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    encoder, asked = counting(load_encoder(str(folder)), monkeypatch)
    encoder(TEXTS)
    assert asked == TEXTS


def test_static_tables_are_not_worth_a_cache(folder, cached):
    load_encoder(f"{folder}:static")(TEXTS)
    assert not cached.exists()


def test_it_can_be_turned_off(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("SHORTLIST_CACHE", "off")
    assert cache_folder() is None
    assert load_encoder(str(folder))._cache is None
    monkeypatch.delenv("SHORTLIST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "shortlist" / "vectors"


def test_it_is_bounded_and_the_oldest_make_room(cached, monkeypatch):
    monkeypatch.setenv("SHORTLIST_CACHE_SIZE", "1MB")
    cache = VectorCache(cached, "x", DIGEST, 8)
    most = 1_000_000 // (4 * 8 + 64)
    for first in range(0, 12_000, 3000):
        cache.add(keys(3000, first), rows(3000))
    assert len(cache.find(keys(12_000))) == most
    assert set(cache.find(keys(12_000))) == set(keys(12_000)[-most:])
    monkeypatch.setenv("SHORTLIST_CACHE_SIZE", "a lot")
    with pytest.raises(InputError, match="SHORTLIST_CACHE_SIZE must be a number of bytes"):
        VectorCache(cached, "x", DIGEST, 8)


def test_vectors_of_another_encoder_behind_the_same_name_go(cached):
    VectorCache(cached, "x", DIGEST, 8).add(keys(5), rows(5))
    assert len(VectorCache(cached, "x", DIGEST, 8).find(keys(5))) == 5
    assert VectorCache(cached, "x", "sha256:2", 8).find(keys(5)) == {}
    assert VectorCache(cached, "x", DIGEST, 8).find(keys(5)) == {}


@pytest.mark.parametrize(
    "content", [b"not a database" * 1000, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_file_is_made_again(cached, content):
    cache = VectorCache(cached, "x", DIGEST, 8)
    cache.add(keys(5), rows(5))
    (file,) = cached.glob("*.sqlite")
    for path in cached.iterdir():
        path.unlink()
    file.write_bytes(content)
    again = VectorCache(cached, "x", DIGEST, 8)
    assert again.find(keys(5)) == {}
    again.add(keys(5), rows(5))
    again.add(keys(5), rows(5))
    assert len(again.find(keys(5))) == 5


def test_vectors_that_cannot_be_right_are_made_again(cached):
    cache = VectorCache(cached, "x", DIGEST, 8)
    cache.add(keys(4), rows(4))
    (file,) = cached.glob("*.sqlite")
    wrong = [b"", np.full(8, np.nan, dtype="<f4").tobytes(), "text"]
    with sqlite3.connect(file) as connection:
        for key, value in zip(keys(3), wrong, strict=True):
            connection.execute("UPDATE vectors SET vector = ? WHERE text = ?", [value, key])
    connection.close()
    assert not set(keys(2)) & set(VectorCache(cached, "x", DIGEST, 8).find(keys(2)))
    assert keys(4)[3] in VectorCache(cached, "x", DIGEST, 8).find(keys(4, 3))


def test_a_folder_that_cannot_be_written_is_passed_over(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SHORTLIST_CACHE", str(tmp_path / "file"))
    assert load_encoder(str(folder))(TEXTS).shape[0] == len(TEXTS)


def test_several_threads_and_writers(cached):
    caches = [VectorCache(cached, "x", DIGEST, 8) for _ in range(3)]
    wanted = rows(300)

    def work(cache, first):
        for start in range(first, 300, 30):
            cache.add(keys(30, start), wanted[start : start + 30])
            cache.find(keys(300))

    threads = [
        threading.Thread(target=work, args=(cache, first)) for cache in caches for first in (0, 30)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = VectorCache(cached, "x", DIGEST, 8).find(keys(300))
    assert len(found) == 300
    assert all(np.array_equal(found[key], row) for key, row in zip(keys(300), wanted, strict=True))
