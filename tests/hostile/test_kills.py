"""A short trial of killing servers; ``python tests/hostile/kills.py --long`` is the long one."""

import pytest

from tests.hostile.kills import FAULTS, make_model, trial


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3))])
def test_whatever_was_acknowledged_is_there_once(tmp_path, seed):
    kills, found = trial(6, tmp_path, make_model(tmp_path), seed=seed)
    assert kills.total() >= 6
    assert found["examples"] > 10
    assert {fault: found[fault] for fault in FAULTS} == dict.fromkeys(FAULTS, 0)
