"""What ``fit`` gathers on the way is what its learner would have said of each row just before
it learned it.
"""

import numpy as np
import pytest

from shortlist import Categorizer, TunedIndex
from shortlist.confidence import observers as observing
from shortlist.confidence.observers import FirstPass
from shortlist.data.batch import RowBatch
from shortlist.data.labels import in_sorted_order, numbered
from shortlist.files.store import checksum
from shortlist.learners.index import index_learner


def texts(n, n_labels=1, seed=0):
    """Texts of which many have a word that no earlier one had."""
    draws = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        topics = draws.choice(6, size=n_labels, replace=False).tolist()
        words = [f"t{topic}w{draws.integers(30)}" for topic in topics for _ in range(3)]
        found.append(
            (
                " ".join([*words, f"any{draws.integers(3 * n)}"]),
                [f"topic{topic}" for topic in topics],
            )
        )
    return [text for text, _ in found], [labels for _, labels in found]


def asked_one_by_one(monkeypatch):
    """Before each row the learner is asked about it alone."""
    monkeypatch.setattr(TunedIndex, "ranks_while_learning", False)
    monkeypatch.setattr(observing, "STRETCHES", 10_000)


def assert_alike(ways):
    on_the_way, one_by_one = ways
    assert np.array_equal(on_the_way.ids, one_by_one.ids)
    # rounded otherwise
    np.testing.assert_allclose(on_the_way.scores, one_by_one.scores, rtol=1e-5, atol=1e-6)
    for name in ("hits", "beyond", "true", "depth", "known"):
        assert np.array_equal(getattr(on_the_way, name), getattr(one_by_one, name)), name


@pytest.mark.parametrize("piece", [512, 40], ids=["one piece", "several"])
@pytest.mark.parametrize("n_labels", [1, 2])
def test_texts(monkeypatch, piece, n_labels):
    monkeypatch.setattr(index_learner, "ROWS_AT_A_TIME", piece)
    given = texts(400, n_labels)
    ways = []
    for make in (lambda _: None, asked_one_by_one):
        make(monkeypatch)
        ways.append(Categorizer().fit(*given).confidence_.window)
    assert ways[0].true.size == 200
    assert ways[0].known.min() < 1.0
    assert_alike(ways)


def test_whole_rows(monkeypatch):
    draws = np.random.default_rng(1)
    X = draws.random((300, 90)) * (draws.random((300, 90)) < 0.05)
    Y = [[int(i)] for i in draws.integers(0, 5, size=300)]
    ways = []
    for make in (lambda _: None, asked_one_by_one):
        make(monkeypatch)
        first_pass = FirstPass(counts_unknown=True)
        TunedIndex().fit_batch(RowBatch.of(X, Y), observer=first_pass)
        ways.append(first_pass.confidence().window)
    assert_alike(ways)


def test_what_is_learned_is_the_same():
    given = texts(400)
    asked = Categorizer(TunedIndex()).fit(*given)
    labels = in_sorted_order(numbered(given[1], 400))
    alone = TunedIndex().fit_batch(RowBatch(asked.text_.rows(given[0]), labels))
    assert asked.confidence_.ready
    assert checksum(asked.learner_.to_state()) == checksum(alone.to_state())
