"""The rows of a store are made some at a time, by threads ahead of the one that learns."""

import numpy as np

from shortlist import TextVectorizer, TunedIndex
from shortlist.data.batch import RowBatch
from shortlist.data.labels import numbered
from shortlist.learners.index import index_learner
from tests.contract import as_bytes

N = 700


def some_texts():
    """Texts, and as labels some of their words."""
    rng = np.random.default_rng(3)
    words = [rng.choice(60, size=7, replace=False).tolist() for _ in range(N)]
    return [" ".join(f"w{word}" for word in own) for own in words], [
        [f"l{word}" for word in own[:5]] for own in words
    ]


def test_learning_does_not_depend_on_how_rows_are_cut(monkeypatch):
    texts, labels = some_texts()
    rows = TextVectorizer(tf="log", idf="smooth").fit_counts([texts])

    def learned(n_jobs, piece):
        monkeypatch.setattr(index_learner, "ROWS_AT_A_TIME", piece)
        model = TunedIndex(n_jobs=n_jobs).fit_batch(RowBatch(rows, numbered(labels, len(labels))))
        assert model.n_examples_ == N
        return as_bytes(model.set_params(n_jobs=None))

    expected = learned(1, 2048)
    assert all(learned(*one) == expected for one in [(1, 64), (2, 64), (3, 48), (3, 2048), (8, 32)])
