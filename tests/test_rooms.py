"""Imports go down one list: a newcomer can read the rooms in this order and never meet what was
not yet shown.
"""

import ast
from pathlib import Path

import pytest

import shortlist
from shortlist.public_names import WHERE

PACKAGE = Path(shortlist.__file__).parent
ORDER = [
    "public_names",
    "errors",
    "own_process",
    "compiled",
    "data",
    "concurrency",
    "estimators",
    "files",
    "inputs",
    "label_vocabulary",
    "text",
    "encoders",
    "learners",
    "measures",
    "confidence",
    "models",
    "report",
    "server",
    "integrations",
    "distributed",
    "cli",
]
NOT_FOR = {"learners": {"inputs"}, "measures": {"inputs"}, "confidence": {"inputs"}}
MOST_ARROWS = 128
FILES = sorted(PACKAGE.rglob("*.py"))
# the public names, imported lazily; the terminal
DOORS = [PACKAGE / "__init__.py", PACKAGE / "__main__.py"]


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(source: str, own: str = "") -> set[str]:
    """The rooms that a file imports from, however it says so. ``own``: the dotted name of the
    file's package.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = own.split(".")[: len(own.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found += (
                [f"{module}.{alias.name}" for alias in node.names]
                if module == "shortlist"
                else [module]
            )
    rooms = [name.split(".")[1] for name in found if name.startswith("shortlist.")]
    return {WHERE.get(name, name).split(".")[0] for name in rooms if name != "__version__"}


def imports_of(path: Path) -> set[str]:
    return imported(
        path.read_text(encoding="utf-8"), ".".join(path.relative_to(PACKAGE.parent).parent.parts)
    )


def test_every_way_to_import_is_seen():
    source = """
import shortlist.data.validation
import shortlist.text.features as tokens, numpy
from shortlist import report, Categorizer, InputError, __version__
from shortlist.learners.ratings import prank
def late():
    from shortlist.measures.positions import x
    from . import online
    from .. import report
    from ..server.journal import Journal
"""
    found = {
        "data",
        "text",
        "models",
        "errors",
        "learners",
        "measures",
        "report",
        "server",
    }
    assert imported(source, "shortlist.learners") == found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_the_list(path):
    if path in DOORS:
        return
    own = room(path)
    for name in imports_of(path):
        assert ORDER.index(name) <= ORDER.index(own), f"{own} imports {name}"
        assert name not in NOT_FOR.get(own, ()), f"{own} imports {name}"


def test_there_are_few_arrows_from_room_to_room():
    """Each is something to know before one room can be changed: there should not be more of
    them, but fewer.
    """
    arrows = {
        (room(path), name) for path in FILES for name in imports_of(path) if path not in DOORS
    }
    assert len({(own, name) for own, name in arrows if own != name}) <= MOST_ARROWS


def test_every_public_name_is_there():
    for name in shortlist.__all__:
        assert getattr(shortlist, name) is not None


def test_no_files_of_the_server_import_each_other_in_a_circle():
    """Not even inside of functions."""
    files = {
        f"shortlist.server.{path.stem}": path
        for path in PACKAGE.glob("server/*.py")
        if path.stem != "__init__"
    }
    needs = {}
    for name, path in files.items():
        found = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        needs[name] = found & files.keys()
    while free := [name for name, needed in needs.items() if not needed & needs.keys()]:
        for name in free:
            del needs[name]
    assert not needs, f"some of these import each other: {', '.join(sorted(needs))}"


@pytest.mark.parametrize(
    "crowded", ["confidence", "data", "learners", "learners/index", "models", "server"]
)
def test_a_crowded_room_says_where_everything_is(crowded):
    room = PACKAGE / crowded
    named = {word.strip(",;") for word in (room / "__init__.py").read_text().split()}
    assert {path.name for path in room.glob("*.py")} - {"__init__.py"} - named == set()
