"""Some odd arrays and labels; ``python -m tests.hostile.arrays --long`` tries a hundred
thousand.
"""

import numpy as np
import pytest
import scipy.sparse

from papers.comparators.one_versus_rest import OneVersusRest
from papers.comparators.top_down import TopDown
from shortlist import Categorizer, FeatureFocus, InputError, MapSVM, PRank
from tests.hostile import batches


@pytest.mark.long
def test_odd_arrays_and_labels_are_used_or_refused():
    total, findings = batches.run("tests.hostile.arrays", 120, seed=7)
    assert findings == []
    assert total["refused"] > 100


X, NO_LABELS = np.eye(3), [[], [], []]
FOUND = {
    "an object that is no float": (
        lambda: FeatureFocus().fit([[10**400, 1], [2, 3]], "ab"),
        "too large to convert",
    ),
    "several lines about one": (lambda: FeatureFocus().fit(X[0], "abc"), "Expected 2D array"),
    "a sparse matrix for texts": (
        lambda: Categorizer().fit(scipy.sparse.eye(3).tobsr(), "abc"),
        "must be a list of texts",
    ),
    "queries that are lists": (
        lambda: MapSVM().fit(X, [1, 0, 1], query=[["a"], "b", "b"]),
        "one id for each row",
    ),
    "queries that are sets": (
        lambda: MapSVM().fit(X, [1, 0, 1], query=[{"a"}, {"b"}, {"b"}]),
        "one id for each row",
    ),
    "ratings of 70 bits": (lambda: PRank().fit(X, [-(2**70), 1, 2]), "one of these is larger"),
    "complex ratings": (lambda: PRank().fit(X, [1j, 1, 2]), "Complex data not supported"),
    "nothing to predict": (
        lambda: FeatureFocus().fit(X, NO_LABELS).predict(X),
        "has learned no label yet",
    ),
    "nothing to tell apart": (
        lambda: OneVersusRest("svm").fit(X, NO_LABELS).predict(X),
        "has learned no label yet",
    ),
    "no tree": (lambda: TopDown(trials=1).fit(X, NO_LABELS).predict(X), "has learned no label yet"),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_the_tool_found_is_refused_in_a_sentence(name):
    attempt, match = FOUND[name]
    with pytest.raises(InputError, match=match) as refusal:
        attempt()
    assert "\n" not in str(refusal.value)
