"""Made-up streams of many classes: checked rows, the laws they promise, the same for the same
seed, and learnable.
"""

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.myriad import COMMON, LONGEST, many_labels, n_words
from shortlist import FeatureFocus
from shortlist.data.batch import RowBatch
from shortlist.data.validation import as_rows


def gathered(n_classes, n_examples, seed=0):
    rows, labels = [], []
    for some_rows, numbered in many_labels(n_classes, n_examples, seed):
        rows.append(some_rows)
        ends = numbered.sets.indptr
        labels += [[numbered.names[i] for i in numbered.sets.ids[a:b]] for a, b in pairwise(ends)]
    return rows, labels


def test_rows_are_such_as_the_door_lets_through():
    for rows, _ in many_labels(1000, 12_000):
        again = as_rows(rows.to_matrix())
        assert np.array_equal(again.indices, rows.indices)
        assert np.array_equal(again.data, rows.data)
        assert rows.data.min() >= 1
        assert rows.n_features == n_words(1000)
        assert np.add.reduceat(rows.data, rows.indptr[:-1]).max() <= LONGEST


def test_the_same_seed_gives_the_same_stream():
    one, other, another = (next(many_labels(500, 100, seed)) for seed in (1, 1, 2))
    assert np.array_equal(one[0].indices, other[0].indices)
    assert one[1].names == other[1].names
    assert not np.array_equal(one[0].indices, another[0].indices)


def test_classes_and_words_follow_zipfs_law():
    rows, labels = gathered(1000, 50_000)
    main = np.bincount([own[0] for own in labels], minlength=1000) / 50_000
    expected = np.log1p(1 / np.arange(1, 1001)) / np.log(1001)
    assert np.abs(np.cumsum(main) - np.cumsum(expected)).max() < 0.01
    common = np.concatenate([part.indices[part.indices < COMMON] for part in rows])
    seen = np.bincount(common, minlength=COMMON)
    assert seen[0] > 5 * seen[20] > 5 * seen[1000]
    assert 1.5 < np.mean([len(own) for own in labels]) < 1.8
    assert all(len(set(own)) == len(own) for own in labels)


@pytest.mark.parametrize("n_classes", [1000, 1_000_000])
def test_its_classes_can_be_learned(n_classes):
    learner = FeatureFocus(margin=0.3)
    for rows, labels in many_labels(n_classes, 20_000):
        learner.learn_batch(RowBatch.of(rows, labels))
    rows, labels = next(many_labels(n_classes, 2000, seed=1))
    assert learner.score_rows(rows, labels) > 0.3
