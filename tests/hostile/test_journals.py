"""Some damaged journals; ``python tests/hostile/journals.py --long`` is the long trial."""

import pytest

from tests.hostile.journals import trial


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
def test_no_damage_is_silent(tmp_path):
    found, bad = trial(60, tmp_path)
    assert bad == []
    assert found["refused and salvaged"] > 15
