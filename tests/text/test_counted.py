"""Rows that are kept as counts come back, weighed, as they would have been weighed at once."""

import numpy as np
import pytest

from shortlist import Categorizer, TextVectorizer
from shortlist.categories.checks import as_bytes
from shortlist.categories.index import learner
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
