"""PRank beside mord's ordinal logistic regression, as good."""

import numpy as np
import pytest
from mord import LogisticAT

from shortlist import PRank


@pytest.mark.long
# of options that mord passes
@pytest.mark.filterwarnings("ignore:scipy.optimize:DeprecationWarning")
def test_as_good_as_logistic_at():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(50_000, 10))
    score = X @ generator.normal(size=10) + generator.logistic(size=50_000)
    y = 1 + np.digitize(score, [-4, -1, 1, 4])
    ours = PRank().fit(X[:40_000], y[:40_000])
    theirs = LogisticAT().fit(X[:40_000], y[:40_000])
    error, their_error = (
        np.abs(model.predict(X[40_000:]) - y[40_000:]).mean() for model in (ours, theirs)
    )
    assert error <= 1.02 * their_error
