"""MMP, the per-topic Perceptron and Rocchio against their slow twins, their bounds, and
scikit-learn.
"""

import time

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron

from papers.comparators.rocchio_selection import RocchioSelection
from shortlist import MMP, IndependentIndex, Rocchio, TopicPerceptron
from tests.reference.prototypes import SlowMMP, SlowTopicPerceptron, slow_rocchio


def stream_of(seed, n=40, n_features=7, n_labels=6, values="real"):
    """Sparse rows and label sets of all sizes. Real values: scores of different labels tie only
    when they must.
    """
    random = np.random.default_rng(seed)
    X = (
        random.normal(size=(n, n_features))
        if values == "real"
        else random.integers(-2, 3, (n, n_features)) * 1.0
    )
    X[random.random(X.shape) < 0.5] = 0
    Y = [
        random.permutation(n_labels)[: random.integers(0, n_labels + 1)].tolist() for _ in range(n)
    ]
    return X, Y


def scores_by_label(learner, X):
    return dict(zip(learner.classes_.tolist(), learner.decision_function(X).T, strict=True))


def agree(learner, twin_scores, X):
    found = scores_by_label(learner, X)
    assert found.keys() == twin_scores.keys()
    for c, scores in twin_scores.items():
        assert found[c] == pytest.approx(scores, rel=1e-9, abs=1e-9)


def learn_both(learner, twin, X, Y, parts):
    """In parts, so that labels are met at different times and the twin sees the same stream."""
    for first in range(0, len(Y), parts):
        learner.partial_fit(X[first : first + parts], Y[first : first + parts])
    for x, y in zip(X, Y, strict=True):
        twin.learn(x, y)


seeds, parts = st.integers(0, 10**6), st.sampled_from([1, 3, 40])


@settings(max_examples=60)
@given(seeds, parts, st.sampled_from([1, 2, 3, "AP"]), st.sampled_from([0.0, 0.3]))
def test_mmp_and_twin_agree(seed, parts, loss, margin):
    X, Y = stream_of(seed)
    learner, twin = MMP(loss, margin=margin), SlowMMP(7, loss, margin=margin)
    learn_both(learner, twin, X, Y, parts)
    agree(learner, {c: X @ w for c, w in twin.w.items()}, X)
    curve = learner.cumulative_loss_
    expected = np.cumsum(twin.losses, axis=0) / np.arange(1, 41)[:, None]
    assert curve["seen"].tolist() == list(range(1, 41))
    for n in (1, 2, 3):
        assert curve[f"loss{n}"] == pytest.approx(expected[:, n - 1])


@settings(max_examples=40)
@given(seeds, parts)
def test_mmp_is_exact_where_numbers_are(seed, parts):
    """Small whole numbers, full of ties, and loss2, which never divides: equal to the last bit."""
    X, Y = stream_of(seed, values="whole")
    learner, twin = MMP(2), SlowMMP(7, 2)
    learn_both(learner, twin, X, Y, parts)
    for c, scores in scores_by_label(learner, X).items():
        assert np.array_equal(scores, X @ twin.w[c])


@settings(max_examples=30)
@given(seeds, parts, st.sampled_from([0.05, 1.0]))
def test_passive_aggressive_and_twin_agree(seed, parts, C):
    X, Y = stream_of(seed)
    learner = MMP(margin=1.0, step="passive-aggressive", C=C)
    for first in range(0, len(Y), parts):
        learner.partial_fit(X[first : first + parts], Y[first : first + parts])
    number = learner.label_index_.number  # the twin breaks ties by number
    twin = SlowMMP(7, 1, margin=1.0, C=C)
    for x, y in zip(X, Y, strict=True):
        twin.learn(x, [number[c] for c in y])
    agree(learner, {c: X @ twin.w[number[c]] for c in learner.classes_.tolist()}, X)


@settings(max_examples=40)
@given(seeds, parts)
def test_topic_perceptron_and_twin_agree(seed, parts):
    X, Y = stream_of(seed, values="whole")
    learner, twin = TopicPerceptron(), SlowTopicPerceptron(7)
    learn_both(learner, twin, X, Y, parts)
    for c, scores in scores_by_label(learner, X).items():
        assert np.array_equal(scores, X @ twin.w[c])
    assert learner._total_losses == pytest.approx(np.sum(twin.losses, axis=0))


@settings(max_examples=30)
@given(seeds, st.sampled_from(["mmp", "perceptron"]))
def test_average_and_twin_agree(seed, kind):
    X, Y = stream_of(seed)
    learner = (
        MMP(1, hypothesis="averaged") if kind == "mmp" else TopicPerceptron(hypothesis="averaged")
    )
    twin = SlowMMP(7, 1) if kind == "mmp" else SlowTopicPerceptron(7)
    learn_both(learner, twin, X, Y, 3)
    agree(learner, {c: X @ w for c, w in twin.averaged().items()}, X)


# Theorem 1


def separable(seed, n_labels, n_features=8, gap=0.1):
    """Rows that prototypes of unit norm rank perfectly with a margin: (X, Y, R², γ)."""
    random = np.random.default_rng(seed)
    W = random.normal(size=(n_labels, n_features))
    W /= np.linalg.norm(W)
    X = random.normal(size=(3000, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * random.uniform(1, 2, (3000, 1))
    S = np.sort(X @ W.T, axis=1)[:, ::-1]
    size = random.integers(1, n_labels, len(X))
    margin = S[np.arange(len(X)), size - 1] - S[np.arange(len(X)), size]
    kept = np.flatnonzero(margin > gap)[:150]
    Y = [np.argsort(-(W @ X[i]))[: size[i]].tolist() for i in kept]
    X = X[kept]
    return X, Y, (X**2).sum(axis=1).max(), margin[kept].min()


def bound(loss, k, R2, gamma):
    return {1: 2.0, 2: float(k), 3: k / (k - 1)}[loss] * R2 / gamma**2


@settings(max_examples=20)
@given(seeds, st.sampled_from([2, 3, 5]), st.sampled_from([1, 2, 3]))
def test_mistakes_stay_within_the_bound(seed, k, loss):
    X, Y, R2, gamma = separable(seed, k)
    learner = MMP(loss)
    for _ in range(50):  # a learner that did not converge would pass any bound
        learner.partial_fit(X, Y, classes=range(k))
    assert learner._total_losses[loss - 1] <= bound(loss, k, R2, gamma)
    assert learner._total_losses[loss - 1] > 0


@settings(max_examples=10)
@given(seeds, st.sampled_from([2, 3, 5]))
def test_average_precision_lost_stays_within_the_bound(seed, k):
    """Σ (1 − AP) ≤ 2R²/γ² of the learner that moves by it; the twin counts what it loses, ties
    as errors.
    """

    class Counting(SlowMMP):
        total = 0.0

        def move(self, x, y, E):
            self.total += self.precision_lost(y, E)
            super().move(x, y, E)

    X, Y, R2, gamma = separable(seed, k)
    learner = Counting(8, "AP", labels=range(k))
    for _ in range(20):
        for x, y in zip(X, Y, strict=True):
            learner.learn(x, y)
            learner.history.clear()
    assert 0 < learner.total <= bound(1, k, R2, gamma)


@pytest.mark.long
@pytest.mark.parametrize("loss", [1, 2, 3])
@pytest.mark.parametrize(
    "damage", ["relevant move the wrong way", "others move the wrong way", "ties teach nothing"]
)
def test_a_broken_update_breaks_the_bound(loss, damage):
    class Broken(SlowMMP):
        def move(self, x, y, E):
            before = dict(self.w)
            super().move(x, y, E)
            for c in self.w:
                if damage.endswith("wrong way") and (c in y) == damage.startswith("relevant"):
                    self.w[c] = 2 * before[c] - self.w[c]
                elif damage == "ties teach nothing" and len({w @ x for w in before.values()}) == 1:
                    self.w[c] = before[c]

    X, Y, R2, gamma = separable(1, 3)
    learner = Broken(8, loss, labels=range(3))
    for _ in range(20):
        for x, y in zip(X, Y, strict=True):
            learner.learn(x, y)
            learner.history.clear()
    assert sum(row[loss - 1] for row in learner.losses) > bound(loss, 3, R2, gamma)


# Sparse storage


@pytest.mark.long
def test_a_crowd_of_labels_costs_nothing():
    """A hundred thousand labels known in advance: all of them err on the first rows, and none
    of them is stored.
    """
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((200, 5000), density=0.01, rng=random, format="csr")
    Y = random.integers(0, 50, 200)
    for learner in (MMP(1), TopicPerceptron(), MMP(margin=1.0, step="passive-aggressive")):
        learner.partial_fit(X, Y, classes=range(100_000))
        assert len(learner.classes_) == 100_000
        assert learner.n_weights_ < 0.001 * 100_000 * 5000
        if learner.get_params().get("step") == "paper":
            assert learner.cumulative_loss_["loss2"][0] == 99_999
        assert learner.rank(X[:3], k=100_000).ids.shape == (3, 100_000)


def test_long_and_short_rankings_agree():
    X, Y = stream_of(3, n=200, n_labels=40, values="whole")
    learner = MMP(2).fit(X, Y)
    everything = learner.rank(X, k=40)
    scores = learner.decision_function(X)
    order = np.argsort(-scores, axis=1, kind="stable")
    assert np.array_equal(everything.ids, order)
    for k in (1, 2, 3, 17, 39):
        assert np.array_equal(learner.rank(X, k=k).ids, order[:, :k])


@pytest.mark.parametrize("cap", [1, 30, 500])
def test_weights_stay_inside_their_cap(cap):
    X, Y = stream_of(1, n=300, n_features=30, n_labels=20)
    learner = MMP(1, max_weights=cap)
    for i in range(len(Y)):
        learner.partial_fit(X[i : i + 1], Y[i : i + 1])
        assert learner.prototypes_.used[0] <= cap
    unlimited = MMP(1, random_state=None).fit(X, Y)
    assert unlimited.n_weights_ > cap
    assert np.array_equal(
        MMP(1, max_weights=cap, random_state=None).fit(X, Y).decision_function(X),
        learner.decision_function(X),
    )


def test_the_loss_curve_stays_short():
    learner = TopicPerceptron()
    X, Y = stream_of(0, n=1000)
    for _ in range(20):
        learner.partial_fit(X, Y)
    curve = learner.cumulative_loss_
    assert curve["seen"][-1] == 20_000
    assert curve["seen"][:100].tolist() == list(range(1, 101))
    assert (np.diff(curve["seen"]) > 0).all()
    assert curve["seen"].size < 800
    assert curve["loss1"][-1] == pytest.approx(learner._total_losses[0] / 20_000)


# Outside implementations


def test_topic_perceptron_is_scikit_learns():
    X, Y = stream_of(2, n=300)
    ours = TopicPerceptron(random_state=None, passes=4).fit(X, Y)
    for c in range(6):
        theirs = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=4)
        theirs.fit(X, [c in y for y in Y])
        assert scores_by_label(ours, X)[c] == pytest.approx(theirs.decision_function(X), abs=1e-9)


# Rocchio


@settings(max_examples=50)
@given(seeds, parts)
def test_rocchio_and_twin_agree(seed, parts):
    X, Y = stream_of(seed)
    X = np.abs(X).astype(np.float32).astype(np.float64)  # values that Rocchio need not round
    learner = Rocchio()
    for first in range(0, len(Y), parts):
        learner.partial_fit(X[first : first + parts], Y[first : first + parts])
    agree(learner, {c: X @ w for c, w in slow_rocchio(X, Y, learner.classes_.tolist()).items()}, X)
    votes = learner.explain(X[0], Y[0][0]) if Y[0] else []
    assert all(vote > 0 for _, vote in votes)


def test_rocchio_merges_exactly():
    X, Y = stream_of(4, n=90)
    X = np.abs(X)
    whole = Rocchio().fit(X, Y)
    parts = [Rocchio().fit(X[a : a + 30], Y[a : a + 30]) for a in (0, 30, 60)]
    merged = Rocchio()
    for part in parts:
        merged.merge(part)
    assert merged.classes_.tolist() == whole.classes_.tolist()
    assert np.array_equal(merged.decision_function(X), whole.decision_function(X))
    assert np.array_equal(merged.label_counts_, whole.label_counts_)
    with pytest.raises(ValueError, match="merged"):
        merged.merge(TopicPerceptron().fit(X, Y))


@pytest.mark.parametrize(("least", "share"), [(1, 0.0), (2, 0.0), (1, 0.3), (2, 0.5), (100, 0.025)])
def test_selected_terms_are_the_heaviest_of_some_topic(least, share):
    X, Y = stream_of(6, n=60, n_features=30)
    X = np.abs(X)
    expected = set()
    for w in slow_rocchio(X, Y, range(6)).values():
        terms = [f for f in np.argsort(-w, kind="stable") if w[f] > 0]
        expected |= set(terms[: max(least, int(np.ceil(share * len(terms))))])
    selection = RocchioSelection(least=least, share=share).fit(X, Y)
    assert set(selection.get_support(indices=True)) == expected
    assert selection.transform(X).shape == (60, len(expected))
    assert selection.transform(scipy.sparse.csr_array(X)).shape == (60, len(expected))


@pytest.mark.parametrize(
    ("learner", "complaint"),
    [
        (MMP(4), "loss"),
        (MMP(hypothesis="best"), "hypothesis"),
        (MMP(margin=-1), "margin"),
        (MMP(step="passive-aggressive"), "margin above 0"),
        (MMP(C=-1), "C"),
        (MMP(max_weights=0), "max_weights"),
        (TopicPerceptron(passes=0), "passes"),
        (Rocchio(beta=-1), "beta"),
        (RocchioSelection(least=0), "least"),
        (RocchioSelection(share=2), "share"),
    ],
)
def test_bad_parameters_are_named(learner, complaint):
    with pytest.raises(ValueError, match=complaint):
        learner.fit(np.ones((2, 1)), ["a", "b"])


def test_a_share_of_the_terms_is_rounded_up():
    """2.5 % of 101 terms are 2.525: three are kept."""
    X = np.diag(np.arange(1.0, 102.0))
    selection = RocchioSelection(least=1, share=0.025).fit(X, ["a"] * 101)
    assert selection.get_support(indices=True).tolist() == [98, 99, 100]


@pytest.mark.parametrize("learner", [Rocchio(n_jobs=4), IndependentIndex(threshold=0.01, n_jobs=4)])
def test_threads_that_rank_make_the_prototypes_once(learner, monkeypatch):
    X = np.abs(np.random.default_rng(0).normal(size=(2000, 9)))
    made, make = [], type(learner)._made_of_sums
    monkeypatch.setattr(
        type(learner), "_made_of_sums", lambda self: made.append(time.sleep(0.05)) or make(self)
    )
    learner.partial_fit(X, ["a", "b"] * 1000).partial_fit(X, ["b", "c"] * 1000).rank(X)
    assert len(made) == 1
