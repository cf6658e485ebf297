"""The examples in the docstrings of public names run, and each docstring has what those of
scikit-learn have.
"""

import doctest
import inspect
from itertools import pairwise

import pytest

from shortlist.public_names import WHERE, public

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ERRORS = ("errors",)  # classes that nobody makes
LEARNERS = ("learners.index", "learners.prototypes", "models.")  # whose docstrings name a paper too


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


@pytest.mark.parametrize(
    "name", sorted(name for name, room in WHERE.items() if not room.startswith(ERRORS))
)
def test_docstrings_have_the_usual_sections(name):
    found = public(name)
    if inspect.isclass(found):
        asked = list(inspect.signature(found).parameters)
        wanted = ["Parameters"] * bool(asked) + ["Attributes", "Examples"]
        wanted += ["References"] * f"{WHERE[name]}.".startswith(LEARNERS)
    else:
        asked, wanted = [], ["Parameters", "Examples"]
    text = inspect.getdoc(found)
    underlined = {
        line.strip() for line, under in pairwise(text.splitlines()) if set(under.strip()) == {"-"}
    }
    without = {"Attributes"} if name == "RetrievalIndex" else set()  # it has none that are public
    assert set(wanted) - without <= underlined
    described = text.partition("\nAttributes\n")[0]
    assert [one for one in asked if one not in described] == []
