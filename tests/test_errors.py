"""How sentences count."""

import pytest

from shortlist.errors import counted, there_are


@pytest.mark.parametrize(
    ("n", "things", "said"),
    [
        (0, "examples", "0 examples"),
        (1, "examples", "1 example"),
        (6, "examples", "6 examples"),
        (1, "queries", "1 query"),
        (1, "entries", "1 entry"),
        (1200, "bad records", "1,200 bad records"),
    ],
)
def test_numbers_and_nouns_agree(n, things, said):
    assert counted(n, things) == said
    assert there_are(n, things) == f"there {'is' if n == 1 else 'are'} {said}"
