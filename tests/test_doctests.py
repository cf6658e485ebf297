"""The examples in the docstrings of public names run, and give what they say."""

import doctest
from itertools import pairwise

import pytest

from shortlist.names import WHERE, public

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ERRORS = ("errors",)  # classes that nobody makes
OTHERS = ("categories", "models")  # rooms whose names are not all documented this way yet


@pytest.mark.parametrize("name", sorted(WHERE))
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = public(name)
    if "Examples\n" not in found.__doc__:
        pytest.skip("no examples")
    tests = [test for test in doctest.DocTestFinder().find(found, name, globs={}) if test.examples]
    for test in tests:
        told: list[str] = []
        failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=told.append).failed
        assert not failed, "".join(told)


@pytest.mark.parametrize("name", sorted(name for name, room in WHERE.items() if not room.startswith(OTHERS + ERRORS)))
def test_docstrings_have_the_usual_sections(name):
    found = public(name)
    sections = ["Parameters", "Examples", "Attributes" if isinstance(found, type) else "Returns"]
    text = found.__doc__.splitlines()
    underlined = {line.strip() for line, under in pairwise(text) if set(under.strip()) == {"-"}}
    without = {"Attributes"} if name == "RetrievalIndex" else set()  # it has none that are public
    assert set(sections) - without <= underlined
