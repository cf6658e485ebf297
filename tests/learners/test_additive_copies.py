"""A copy of sums is made of what nobody changes while it is made: who asks meanwhile finds all
of it added up.
"""

import copy

import numpy as np
import pytest

from shortlist import IndependentIndex, Rocchio
from tests.contract import as_bytes


@pytest.mark.parametrize("make", [Rocchio, IndependentIndex])
def test_asking_changes_nothing_of_sums_that_were_copied(make):
    X = np.eye(4)[[0, 1, 2, 3, 0, 1]]
    learner = make().partial_fit(X[:3], ["a", "b", "c"]).partial_fit(X[3:], ["d", "a", "b"])
    copied = copy.deepcopy(learner)
    sums = learner._sums.added
    known = set(vars(sums))
    assert learner._sums.pending == []
    learner.rank(X, 2)
    learner.to_state()
    assert learner._sums.added is sums
    assert set(vars(sums)) == known
    assert as_bytes(copied) == as_bytes(learner)


def test_what_has_learned_nothing_is_copied():
    assert copy.deepcopy(Rocchio(beta=2.0)).beta == 2.0
