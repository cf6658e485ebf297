"""Rows that are kept as counts come back, weighed, as they would have been weighed at once."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import Categorizer, TextVectorizer
from shortlist.categories.checks import as_bytes
from shortlist.categories.index import learner
from shortlist.files.store import checksum
from shortlist.text.counted import CountedRows

TEXTS = ["wheat wheat corn", "", "corn " * 300 + "rye", "the bank", "wheat rye rye bank"]


@pytest.mark.parametrize(
    "options", [{}, {"tf": "log", "idf": "plain", "norm": "pivoted"}, {"idf": "smooth", "min_df": 2}]
)
def test_rows_chosen_in_any_order(options):
    text = TextVectorizer(**options)
    kept = text.fit_counts([TEXTS[:2], [], TEXTS[2:]])
    rows = text.fit_transform(TEXTS).toarray()
    assert np.array_equal(kept.all().to_matrix().toarray(), rows)
    for order in ([], [2], [4, 0, 1, 1, 3]):
        chosen = kept.chosen(np.array(order, dtype=np.int64))
        assert np.array_equal(chosen.to_matrix().toarray(), rows[order])
        assert chosen.data.dtype == np.float64


def test_counts_take_as_many_bytes_as_the_largest_needs():
    text = TextVectorizer()
    kept = CountedRows(lambda rows: rows)
    for n, size in ((255, 1), (256, 2), (3, 2), (70_000, 4)):
        kept.add(text.take_up(["corn " * n]))
        assert kept._counts.dtype.itemsize == size
    assert kept.all().data.tolist() == [255, 256, 3, 70_000]


def test_learning_in_pieces_changes_nothing(monkeypatch):
    random = np.random.default_rng(0)
    labels = [[f"label {c}"] for c in random.integers(0, 9, 500)]
    texts = [f"{own[0]} " + " ".join(f"w{w}" for w in random.zipf(1.4, 6)) for own in labels]
    whole = Categorizer().fit(texts, labels)
    monkeypatch.setattr(learner, "PIECE", 7)
    assert as_bytes(Categorizer().fit(texts, labels)) == as_bytes(whole)


SOME = st.lists(st.text(st.sampled_from("ab cdeé\u0301.1 "), max_size=30), max_size=40)


@given(SOME, st.integers(1, 3), st.sampled_from([2, 3]), st.booleans(), st.sampled_from([None, 16]))
@settings(max_examples=100, deadline=None)
def test_threads_number_and_count_as_one_does(texts, n_batches, n_jobs, pairs, hashed):
    own = {"ngrams": 2, "prefix": 2} if pairs else {}
    own |= {"composed": True, "idf": "smooth", "hashed": hashed}
    batches = [texts[i::n_batches] for i in range(n_batches)]
    one, many = TextVectorizer(**own), TextVectorizer(**own)
    with mock.patch("shortlist.texts.BLOCK", 20):
        rows, same = one.fit_counts(batches).all(), many.fit_counts(batches, n_jobs).all()
        ranked = one.rows(texts), many.rows(texts, n_jobs)
    for mine, theirs in ((rows, same), ranked):
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
    assert checksum(one.to_state()) == checksum(many.to_state())
