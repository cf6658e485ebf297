"""Few vectors that are learned once more beside the words of others: exactly their twin, and only where few."""

import numpy as np
import pytest

from shortlist import TunedBoth, TunedIndex
from shortlist.arrays.validation import as_rows
from shortlist.categories.checks import as_bytes
from shortlist.categories.index import beside_words, tuned_both
from shortlist.files.store import build
from tests.reference.beside_words import slow_beside_words

WIDE = 13


def examples(n=70, n_labels=6, seed=0):
    """Vectors and words that tell something of the label; one example without a vector, one without words."""
    random = np.random.default_rng(seed)
    y, centres = random.integers(n_labels, size=n), random.normal(size=(n_labels, WIDE))
    V, W = centres[y] + 2.0 * random.normal(size=(n, WIDE)), (random.random((n, 30)) < 0.1) * 1.0
    W[np.arange(n), y] += random.random(n) < 0.7
    V[3], W[5] = 0.0, 0.0
    return V, W, y


def fitted(X, Y, monkeypatch, **own):
    """What vectors that are learned once more are given, and the learner."""
    given = []
    again = beside_words.learn_beside_words

    def note(rows, n_vector, labels, by_words, alpha, weights, bias):
        given.append((labels, by_words.copy(), alpha, weights.copy(), bias.copy()))
        again(rows, n_vector, labels, by_words, alpha, weights, bias)

    monkeypatch.setattr(tuned_both, "learn_beside_words", note)
    return given, TunedBoth(WIDE, **own).fit(X, Y)


@pytest.mark.parametrize("n", [70, 300])
def test_is_exactly_its_twin(n, monkeypatch):
    V, W, y = examples(n)
    Y = [[label] for label in y.tolist()]
    Y[7] = [0, 1]  # nearly all have one label; this one is not learned again
    given, learner = fitted(np.hstack([V, W]), Y, monkeypatch)
    [(labels, by_words, alpha, weights, bias)] = given
    assert alpha == pytest.approx(learner.share_of_vector_)
    unit = as_rows(V).of_unit_length().to_matrix().toarray()
    truth = [labels.row(i)[0] if len(Y[i]) == 1 and V[i].any() and W[i].any() else -1 for i in range(n)]
    own_weights, own_bias = slow_beside_words(unit, by_words, truth, alpha, len(bias))
    assert (learner._weights[:, : len(bias)] == (weights[:, : len(bias)] + own_weights) * np.float32(0.5)).all()
    assert learner._vector_biases.tolist() == [0.5 * (a + b) for a, b in zip(bias, own_bias, strict=True)]
    assert np.abs(own_weights).max() > 0.1


def test_words_are_those_of_the_other_parts_and_stay_as_they_are(monkeypatch):
    V, W, y = examples(120)
    X = np.hstack([V, W])
    given, learner = fitted(X, y, monkeypatch)
    order = np.random.default_rng(0).permutation(len(y))
    for part in range(8):
        mine, others = order[[i for i in range(len(y)) if i % 8 != part]], order[part::8]
        words = TunedIndex().fit(W[mine], y[mine])
        expected = words.decision_function(W[others])[:, np.argsort(words.classes_)]
        found = given[0][1][others][:, np.argsort(learner.classes_)]
        np.testing.assert_allclose(found, expected, atol=1e-6)
    alone = TunedIndex().fit(W, y)
    assert learner._index.lists().tobytes() == alone._index.lists().tobytes()
    assert learner._bias().tobytes() == alone._bias().tobytes()


def test_a_label_that_no_other_part_has_is_the_last_one_by_words(monkeypatch):
    V, W, y = examples(40)
    y[11] = 9  # the only one of its label
    given, learner = fitted(np.hstack([V, W]), y, monkeypatch)
    assert given[0][1][11, learner.classes_.tolist().index(9)] == given[0][1][11].min()


@pytest.mark.parametrize("own", [{"values": "raw"}, {"passes": 5}, {"passes": 2}])
def test_whoever_says_how_is_taken_at_their_word(own, monkeypatch):
    V, W, y = examples()
    assert fitted(np.hstack([V, W]), y, monkeypatch, **own)[0] == []


def test_a_stream_many_scores_and_several_labels_are_learned_once(monkeypatch):
    V, W, y = examples()
    X = np.hstack([V, W])
    monkeypatch.setattr(tuned_both, "learn_beside_words", None)
    TunedBoth(WIDE).partial_fit(X, y)
    TunedBoth(WIDE).fit(X, [[label, label + 1] for label in y])
    TunedBoth(WIDE).fit(X[:7], y[:7])
    monkeypatch.setattr(tuned_both, "MOST_SCORES", 70 * 6 - 1)
    TunedBoth(WIDE).fit(X, y)


def test_the_same_bytes_for_any_number_of_threads_and_after_saving():
    V, W, y = examples()
    X = np.hstack([V, W])
    learner, other = (TunedBoth(WIDE, n_jobs=n).fit(X, y) for n in (1, 2))
    assert learner._weights.tobytes() == other._weights.tobytes()
    opened = build(learner.to_state())
    assert as_bytes(opened) == as_bytes(learner)
    assert as_bytes(opened.partial_fit(X[:9], y[:9])) == as_bytes(learner.partial_fit(X[:9], y[:9]))
