"""Whoever watches is told how far learning has come."""

import numpy as np
import pytest

from shortlist import Categorizer, FeatureFocus
from shortlist.concurrency import tell, watched_by


def test_learning_tells(monkeypatch):
    monkeypatch.setattr("shortlist.learners.index.index_learner.ROWS_AT_A_TIME", 64)
    texts, labels = (
        [f"word{n % 7} text{n % 11}" for n in range(200)],
        [f"label{n % 7}" for n in range(200)],
    )
    told = []
    with watched_by(told.append):
        Categorizer(FeatureFocus(passes=2)).fit(texts, labels)
    assert sum(told) == 400, "each example in each pass"
    assert max(told) == 64
    before = len(told)
    FeatureFocus().fit(np.eye(3), ["a", "b", "c"])
    assert len(told) == before, "nobody watches any more"


def test_one_who_fails_is_not_told_again():
    told = []

    def fails(more):
        told.append(more)
        raise RuntimeError

    with pytest.raises(RuntimeError), watched_by(fails):
        tell(1)
    tell(2)
    assert told == [1]
    with watched_by(None):
        tell(1)
