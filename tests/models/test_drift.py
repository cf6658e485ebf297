"""Lists keep their promise after the labels of a stream have changed their meaning."""

import numpy as np
import pytest

import shortlist as sl

TOPICS, CHANGE, BACK, STEP, COVERAGE = 12, 3000, 2000, 50, 0.9


def stream(n, seed):
    """Texts of words that mostly belong to their topics; after CHANGE of them, topics take the
    next one's label.
    """
    draws = np.random.default_rng(seed)
    for i in range(n):
        topic = int(draws.integers(TOPICS))
        own = [topic if draws.random() < 0.4 else int(draws.integers(TOPICS)) for _ in range(10)]
        text = " ".join(f"t{one}w{int(20 * draws.random() ** 2)}" for one in own)
        yield text, f"label {topic if i < CHANGE else (topic + 1) % TOPICS}"


def lists_along(seed):
    """Whether each text's label was listed before the text was learned, and how many labels
    were.
    """
    texts, labels = zip(*stream(CHANGE + BACK + 1000, seed), strict=True)
    c, covered, sizes = sl.Categorizer(), np.zeros(len(texts)), np.zeros(len(texts))
    for first in range(0, len(texts), STEP):
        some = slice(first, first + STEP)
        if first:
            lists = [[label for label, _ in one] for one in c.shortlist(texts[some], COVERAGE)]
            covered[some] = [label in one for label, one in zip(labels[some], lists, strict=True)]
            sizes[some] = [len(one) for one in lists]
        c.learn_many(texts[some], labels[some])
    return covered, sizes


@pytest.mark.long
def test_lists_cover_again_soon_after_the_labels_changed():
    """Of several streams: in a single one, some two hundred examples were observed by then, which
    leaves two points to chance.
    """
    covered, sizes = np.mean([lists_along(seed) for seed in range(3)], axis=0)
    before, at_once, back = (
        slice(CHANGE + a, CHANGE + b) for a, b in ((-1000, 0), (0, 300), (BACK, BACK + 1000))
    )
    assert covered[before].mean() > COVERAGE - 0.02
    assert covered[at_once].mean() < COVERAGE - 0.1, "the change is one"
    assert covered[back].mean() > COVERAGE - 0.02
    assert sizes[back].mean() < TOPICS / 2, "not by listing everything"
