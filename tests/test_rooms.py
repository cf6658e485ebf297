"""Imports go down one list: a newcomer can read the rooms in this order and never meet what was not yet shown."""

import ast
from pathlib import Path

import pytest

import shortlist

PACKAGE = Path(shortlist.__file__).parent
ORDER = [
    "names", "errors", "arrays", "concurrency", "files", "labels", "texts", "vocabulary", "ranking", "dual",
    "inputs", "text", "categories", "ratings", "documents", "measures", "models",
    "experiments", "report", "server", "distributed", "cli",
]  # fmt: skip
NOT_FOR = {"categories": {"inputs"}, "ratings": {"inputs"}, "documents": {"inputs"}, "measures": {"inputs"}}
FILES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_the_list(path):
    if path == PACKAGE / "__init__.py":
        return  # the public names, imported lazily
    own = room(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("shortlist."):
            names = [node.module.split(".")[1]]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("shortlist.")]
        else:
            continue
        for name in names:
            assert ORDER.index(name) <= ORDER.index(own), f"{own} imports {name}"
            assert name not in NOT_FOR.get(own, ()), f"{own} imports {name}"


def test_every_public_name_is_there():
    for name in shortlist.__all__:
        assert getattr(shortlist, name) is not None
