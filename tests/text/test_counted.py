"""Rows that are kept as counts come back, weighed, as they would have been weighed at once."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import Categorizer, TextVectorizer
from shortlist.data.rows import Rows
from shortlist.files.store import checksum
from shortlist.learners.index import index_learner
from shortlist.text.counts import CountedRows
from tests.contract import as_bytes

TEXTS = ["wheat wheat corn", "", "corn " * 300 + "rye", "the bank", "wheat rye rye bank"]


@pytest.mark.parametrize(
    "options",
    [{}, {"tf": "log", "idf": "plain", "norm": "pivoted"}, {"idf": "smooth", "min_df": 2}],
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


COLUMNS = st.lists(st.integers(0, 2**31 - 2), max_size=20, unique=True).map(sorted)
COUNTS = st.sampled_from([1, 1, 1, 2, 127, 128, 16_383, 16_384, 2**31, 2**53])


@given(
    st.lists(
        COLUMNS.flatmap(lambda own: st.tuples(st.just(own), st.lists(COUNTS, min_size=20))),
        max_size=9,
    ),
    st.data(),
)
@settings(max_examples=80, deadline=None)
def test_any_columns_and_counts_come_back(rows, data):
    lengths = [len(columns) for columns, _ in rows]
    indptr = np.cumsum([0, *lengths])
    indices = np.array([column for columns, _ in rows for column in columns], dtype=np.int32)
    counts = np.array(
        [count for columns, own in rows for count in own[: len(columns)]], dtype=np.float64
    )
    given_rows = Rows(indptr, indices, counts, 2**31 - 1)
    cut = data.draw(st.integers(0, len(rows)))
    kept = CountedRows(lambda rows: rows)
    # the second does not begin at 0
    for some in (given_rows.block(0, cut), given_rows.block(cut, len(rows))):
        kept.add(some)
    assert (kept.n_rows, kept.n_entries, kept.lengths().tolist()) == (
        len(rows),
        indices.size,
        lengths,
    )
    assert all(np.array_equal(a, b) for a, b in zip(kept.all(), given_rows, strict=True))
    which = np.array(
        data.draw(st.lists(st.sampled_from(range(len(rows))), max_size=9)) if rows else [],
        dtype=np.int64,
    )
    assert all(
        np.array_equal(a, b)
        for a, b in zip(kept.chosen(which), given_rows.take(which), strict=True)
    )


def test_what_is_common_takes_five_bytes():
    kept = CountedRows(lambda rows: rows)
    kept.add(
        Rows(np.array([0, 3, 5]), np.array([40, 41, 90, 63, 127], dtype=np.int32), np.ones(5), 200)
    )
    assert kept._columns.itemsize + kept._counts.itemsize == 5


def test_columns_that_are_kept():
    kept = CountedRows(lambda rows: rows)
    kept.add(
        Rows(
            np.array([0, 3, 3, 5]),
            np.array([0, 2, 5, 1, 5], dtype=np.int32),
            np.array([1, 2, 3, 4, 5.0]),
            6,
        )
    )
    kept.keep_columns(np.array([False, True, True, False, False, True]))
    assert (kept.n_features, kept.n_entries) == (3, 4)
    assert kept.all().to_matrix().toarray().tolist() == [[0, 2, 3], [0, 0, 0], [4, 0, 5]]


def test_many_rows_change_nothing(monkeypatch):
    """Then memory is given back."""
    few = TextVectorizer(idf="smooth").fit(TEXTS)
    monkeypatch.setattr("shortlist.text.vectorizer.MANY_ENTRIES", 2)
    many = TextVectorizer(idf="smooth")
    kept = many.fit_counts([TEXTS])
    assert np.array_equal(kept.all().to_matrix().toarray(), few.transform(TEXTS).toarray())


def test_learning_in_pieces_changes_nothing(monkeypatch):
    random = np.random.default_rng(0)
    labels = [[f"label {c}"] for c in random.integers(0, 9, 500)]
    texts = [f"{own[0]} " + " ".join(f"w{w}" for w in random.zipf(1.4, 6)) for own in labels]
    whole = Categorizer().fit(texts, labels)
    monkeypatch.setattr(index_learner, "ROWS_AT_A_TIME", 7)
    assert as_bytes(Categorizer().fit(texts, labels)) == as_bytes(whole)


SOME = st.lists(st.text(st.sampled_from("ab cdeé\u0301.1 "), max_size=30), max_size=40)


@given(
    SOME, st.integers(1, 3), st.sampled_from([2, 3, 8]), st.booleans(), st.sampled_from([None, 16])
)
@settings(max_examples=100, deadline=None)
def test_threads_number_and_count_as_one_does(texts, n_batches, n_jobs, pairs, hashed):
    own = {"ngrams": 2, "prefix": 2} if pairs else {}
    own |= {"composed": True, "idf": "smooth", "hashed": hashed}
    batches = [texts[i::n_batches] for i in range(n_batches)]
    one, many = TextVectorizer(**own), TextVectorizer(**own)
    with mock.patch("shortlist.data.texts.CHARACTERS_AT_ONCE", 20):
        rows, same = one.fit_counts(batches).all(), many.fit_counts(batches, n_jobs).all()
        ranked = one.rows(texts), many.rows(texts, n_jobs)
    for mine, theirs in ((rows, same), ranked):
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
    assert checksum(one.to_state()) == checksum(many.to_state())
