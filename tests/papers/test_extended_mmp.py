"""Voted and dual prototypes against their slow twins, explicit features, and what no prototype
can rank.
"""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.comparators import dual
from papers.comparators.extended_mmp import ExtendedMMP, VotedPerceptron
from shortlist import MMP, load
from shortlist.files import store
from tests.learners.test_prototypes import learn_both, parts, scores_by_label, seeds, stream_of
from tests.reference.prototypes import SlowMMP, SlowTopicPerceptron


@settings(max_examples=30)
@given(seeds, st.sampled_from(["mmp", "perceptron"]))
def test_vote_and_twin_agree(seed, kind):
    """With a place for each of the twin's hypotheses the vote is Freund and Schapire's."""
    X, Y = stream_of(seed)
    options = {"hypothesis": "voted", "voters": 99}
    learner = ExtendedMMP(1, **options) if kind == "mmp" else VotedPerceptron(**options)
    twin = SlowMMP(7, 1) if kind == "mmp" else SlowTopicPerceptron(7)
    learn_both(learner, twin, X, Y, 3)
    for i, x in enumerate(X[:10]):
        votes = twin.voted(x)
        assert scores_by_label(learner, X[i : i + 1]) == pytest.approx(votes)


def test_only_the_longest_lived_vote():
    X, Y = stream_of(5, n=400)
    learner = ExtendedMMP(1, hypothesis="voted", voters=3).fit(X, Y)
    everyone = ExtendedMMP(1, hypothesis="voted", voters=1000).fit(X, Y)
    assert sorted(learner._lives) == sorted(everyone._lives)[-3:]
    assert len(learner._voters) == 3


# Kernels


def monomials(X):
    """φ with φ(x)·φ(x') = (x·x' + 1)²."""
    pairs = [(a, b) for a in range(X.shape[1]) for b in range(a + 1)]
    squares = [X[:, a] * X[:, b] * (1 if a == b else np.sqrt(2)) for a, b in pairs]
    return np.column_stack([np.ones(len(X)), np.sqrt(2) * X, *squares])


@settings(max_examples=20)
@given(
    seeds,
    parts,
    st.sampled_from(["last", "averaged", "voted"]),
    st.sampled_from(["paper", "passive-aggressive"]),
)
def test_a_kernel_is_an_inner_product_of_features(seed, parts, hypothesis, step):
    X, Y = stream_of(seed)
    options = {"hypothesis": hypothesis, "voters": 99, "margin": 0.1, "step": step}
    with_kernel, primal = ExtendedMMP(kernel="polynomial", **options), ExtendedMMP(**options)
    for first in range(0, len(Y), parts):
        with_kernel.partial_fit(X[first : first + parts], Y[first : first + parts])
        primal.partial_fit(monomials(X[first : first + parts]), Y[first : first + parts])
    found, expected = with_kernel.decision_function(X), primal.decision_function(monomials(X))
    # in a vote, scores that tie but for rounding may count as a tie or not
    if hypothesis == "voted":
        assert (np.abs(found - expected) < 1e-9).mean() > 0.9
    else:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_kernel_may_be_a_function():
    X, Y = stream_of(8, n=300)
    linear = ExtendedMMP(
        2,
        kernel=lambda A, B: np.asarray(
            (A @ B.T).todense() if scipy.sparse.issparse(A) else A @ B.T
        ),
    )
    linear.fit(X, Y)
    assert linear.decision_function(X) == pytest.approx(
        MMP(2).fit(X, Y).decision_function(X), abs=1e-6
    )
    with pytest.raises(ValueError, match="cannot be saved"):
        linear.to_state()
    with pytest.raises(ValueError, match="finite numbers are needed"):
        ExtendedMMP(kernel=lambda A, B: np.zeros(3)).fit(X, Y)


def test_a_kernel_ranks_what_no_prototype_can():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (600, 2))
    Y = np.where(X[:, 0] * X[:, 1] > 0, "same sign", "different")
    for learner, least, most in [
        (MMP(passes=3), 0.0, 0.7),
        (ExtendedMMP(passes=3, kernel="polynomial", hypothesis="averaged"), 0.95, 1.0),
        (
            ExtendedMMP(passes=3, kernel="rbf", gamma=4.0, budget=120, hypothesis="averaged"),
            0.9,
            1.0,
        ),
    ]:
        assert least <= learner.fit(X[:400], Y[:400]).score(X[400:], Y[400:]) <= most


@pytest.mark.parametrize("budget", [1, 3, 50])
def test_support_vectors_stay_within_their_budget(budget):
    X, Y = stream_of(9, n=120)
    learner = ExtendedMMP(kernel="rbf", budget=budget, hypothesis="voted", voters=3)
    for i in range(len(Y)):
        learner.partial_fit(X[i : i + 1], Y[i : i + 1])
        assert len(learner._supports) <= budget
    assert np.array_equal(learner.rank(X, k=3).ids, learner.rank(X, k=6).ids[:, :3])


def test_a_budget_drops_the_lightest_and_of_equals_the_oldest():
    supports = dual.Supports(scipy.sparse.csr_array(np.eye(4)))
    supports.norms[:] = [1.0, 2.0, 1.0, 1.0]
    coefficients = np.array([2.0, 1.0, 0.0, 2.0])
    assert supports.drop(coefficients > 0, coefficients, 2).tolist() == [1, 3]


def test_a_row_met_again_in_a_later_pass_stays_one_support_vector():
    X, Y = stream_of(9, n=50)
    assert len(ExtendedMMP(kernel="rbf", passes=20, random_state=1).fit(X, Y)._supports) <= 50


@pytest.mark.parametrize("kind", [ExtendedMMP, VotedPerceptron])
def test_voters_stay_as_they_were(kind, tmp_path):
    """They share no memory with the prototypes that go on learning: saved and opened, the vote
    is the same.
    """
    X, Y = stream_of(3, n=120)
    learner = kind(hypothesis="voted", voters=4).partial_fit(X[:60], Y[:60])
    learner.save(tmp_path / "voted.shortlist")
    assert not any(
        np.shares_memory(one.background, learner.prototypes_.background) for one in learner._voters
    )
    learner.partial_fit(X[60:], Y[60:])
    opened = load(tmp_path / "voted.shortlist").partial_fit(X[60:], Y[60:])
    assert store.checksum(opened.to_state()) == store.checksum(learner.to_state())


@pytest.mark.parametrize(
    ("learner", "complaint"),
    [
        (ExtendedMMP(hypothesis="best"), "hypothesis"),
        (ExtendedMMP(voters=0), "voters"),
        (ExtendedMMP(kernel="sigmoid"), "kernel"),
        (ExtendedMMP(kernel="rbf", gamma=-1), "gamma"),
        (ExtendedMMP(kernel="rbf", budget=0), "budget"),
    ],
)
def test_bad_parameters_are_named(learner, complaint):
    with pytest.raises(ValueError, match=complaint):
        learner.fit(np.ones((2, 1)), ["a", "b"])
