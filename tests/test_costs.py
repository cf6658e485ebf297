"""The table of the slowest tests names tests that there are, and says of each why it is worth
its time.
"""

import ast
from pathlib import Path

from tests.costs import LINE, PAGE, slowest, table

TESTS = Path(__file__).parent


def names(path):
    """The tests of a file, as pytest names them."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield from (
                f"{node.name}::{inside.name}"
                for inside in node.body
                if isinstance(inside, ast.FunctionDef)
            )
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def test_each_slow_test_is_there_and_has_a_reason():
    rows = LINE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(rows) == 50
    for name, why in rows:
        file, _, test = name.partition("::")
        assert test in names(TESTS / file), (
            f"{name} is gone: docs/testing.md says how to make its table again"
        )
        assert why, f"docs/testing.md does not say why {name} is worth its time"


def test_parameters_are_added_up_and_reasons_are_kept():
    lines = [
        "1.500\ttests/a/test_b.py::test_c[1]",
        "0.500\ttests/a/test_b.py::test_c[2-x::y]\n",
        "9\ttests/t.py::T::d",
    ]
    found = slowest(lines, 5)
    assert found == [("t.py::T::d", 9.0), ("a/test_b.py::test_c", 2.0)]
    assert table(found, "| 7.0 | `a/test_b.py::test_c` | Because. |\n").splitlines()[2:] == [
        "| 9.0 | `t.py::T::d` |  |",
        "| 2.0 | `a/test_b.py::test_c` | Because. |",
    ]
