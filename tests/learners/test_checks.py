"""Every learner of categories passes the contract, and the contract notices a learner that
breaks it.
"""

import functools

import pytest

from papers.comparators.extended_mmp import ExtendedMMP, VotedPerceptron
from papers.comparators.one_versus_rest import OneVersusRest
from papers.comparators.top_down import TopDown
from papers.comparators.unweighted_index import UnweightedIndex
from shortlist import (
    MMP,
    FeatureFocus,
    FrequencyBaseline,
    IndependentIndex,
    Rocchio,
    TopicPerceptron,
    TunedIndex,
)
from shortlist.models.model import learners
from tests import contract
from tests.contract import PROMISES, check_learner

LEARNERS = [
    FeatureFocus(),
    FeatureFocus(passes=2, max_total_edges=200),
    FeatureFocus(leakage=False, values="boolean"),
    FeatureFocus(margin=0.5, passes=3, leakage=False, rare=0, max_total_edges=90),
    FeatureFocus(values="boolean", min_weight=0.0, random_state=None),
    FeatureFocus(values="raw", max_edges=2),
    TunedIndex(),
    TunedIndex(step=0.5, rare=3, passes=2, max_total_edges=120),
    TunedIndex(step=0, values="raw"),
    TunedIndex(values="boolean"),
    TunedIndex(vector=20, max_total_edges=60),
    TunedIndex(vector=30, values="raw", step=0.1),
    IndependentIndex(),
    IndependentIndex(threshold=0.2),
    FrequencyBaseline(),
    MMP(),
    MMP(hypothesis="averaged", passes=2),
    MMP(loss=2, hypothesis="averaged", passes=2),
    ExtendedMMP(loss=3, hypothesis="voted", voters=5, margin=0.5),
    MMP(margin=1.0, step="passive-aggressive", C=0.1, max_weights=100),
    ExtendedMMP(loss=2, kernel="polynomial"),
    ExtendedMMP(kernel="rbf", gamma=0.3, budget=60, hypothesis="averaged", passes=2),
    ExtendedMMP(
        kernel="polynomial",
        step="passive-aggressive",
        margin=1.0,
        hypothesis="voted",
        voters=4,
        budget=40,
    ),
    TopicPerceptron(),
    TopicPerceptron(max_weights=60),
    TopicPerceptron(hypothesis="averaged", random_state=None, max_weights=50),
    VotedPerceptron(voters=3),
    Rocchio(),
    OneVersusRest(),
    OneVersusRest(classifier="perceptron"),
    OneVersusRest(classifier="committee", members=3, values="raw"),
    TopDown(sigmoid="fixed"),
    TopDown({f"label {c}": f"group {c % 3}" for c in range(12)}, "perceptron", trials=1, p_min=0.2),
    TopDown([(f"label {c}", "label 0") for c in range(1, 12)], "committee", trials=1, members=2),
    UnweightedIndex(),
    UnweightedIndex(tolerance=1, classifiers=3, passes=2),
]
made = functools.cache(contract.example_data)
LISTED = {type(learner) for learner in LEARNERS}
# just added
LEARNERS += [entry() for entry in learners("categories").values() if entry.func not in LISTED]


@pytest.fixture(autouse=True)
def examples_made_once(monkeypatch):
    """The contract asks for the same examples again and again; each gets copies of its own."""

    def copies(*arguments, **options):
        X, Y = made(*arguments, **options)
        return X.copy(), [list(own) for own in Y]

    monkeypatch.setattr(contract, "example_data", copies)


def chosen():
    """The learners; those of the papers, and other settings of one that was there before, are
    for the long run.
    """
    kinds = set()
    for learner in LEARNERS:
        kind = type(learner)
        again = kind in kinds or kind.__module__.startswith("papers")
        yield pytest.param(
            learner, id=" ".join(str(learner).split()), marks=pytest.mark.long if again else ()
        )
        kinds.add(kind)


@pytest.mark.parametrize("learner", list(chosen()))
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_promise(learner, promise):
    from sklearn.base import clone

    promise(clone(learner))


def test_the_contract_is_one_call():
    check_learner(FrequencyBaseline())


class Forgetful(FeatureFocus):
    def prepare(self, rows):
        rows.data[:] = 1.0  # works on the caller's own array
        return rows


def test_a_broken_promise_is_named():
    with pytest.raises(AssertionError, match="X has changed"):
        check_learner(Forgetful())
