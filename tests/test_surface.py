"""The public surface: what ``import shortlist`` shows is the same wherever it is written, and
its types are real.
"""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import shortlist
from shortlist.public_names import WHERE, public

PACKAGE = Path(shortlist.__file__).parent
# The annotations of public signatures that are Any, and why: nothing else is.
ANY = {
    "files/store.py: load(return)": "whatever class a file names; with kind=… it is that one",
    "files/store.py: build(return)": "the same",
    "data/ranking.py: Ranking.__getitem__(return)": (
        "a pair or a Ranking: NumPy types no number of dimensions"
    ),
}


def test_every_public_name_is_written_in_all_places():
    assert list(WHERE) == sorted(WHERE)
    assert shortlist.__all__ == ["__version__", *WHERE]
    assert dir(shortlist) == sorted(shortlist.__all__)
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    typed = {alias.asname: (node.module, alias.name) for node in block.body for alias in node.names}
    assert typed == {name: (f"shortlist.{where}", name) for name, where in WHERE.items()}


def test_nothing_else_is_there_before_it_is_asked_for():
    """Modules of the package appear as they are imported; beside them there are only names that
    are written down.
    """
    code = (
        "import shortlist; print(sorted(name for name in vars(shortlist) if not "
        "name.startswith('__')))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert ast.literal_eval(printed) == [
        "Any",
        "TYPE_CHECKING",
        "VERSION",
        "WHERE",
        "public",
        "public_names",
    ]


def test_every_public_name_can_be_had():
    for name in WHERE:
        found = getattr(shortlist, name)
        assert found.__name__ == name
        assert vars(sys.modules[f"shortlist.{WHERE[name]}"])[name] is found


def is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__init__", "__call__", "__iter__", "__getitem__")


def annotations_that_are_any(source: str) -> list[str]:
    """The public functions and methods of a file, and their parameters, whose type is just Any."""
    found = []

    def look(body, prefix=""):
        for node in body:
            if isinstance(node, ast.ClassDef) and is_public(node.name):
                look(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_public(node.name):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                typed = [(argument.arg, argument.annotation) for argument in arguments] + [
                    ("return", node.returns)
                ]
                found.extend(f"{prefix}{node.name}({name})" for name, kind in typed if is_any(kind))

    look(ast.parse(source).body)
    return found


def is_any(annotation: ast.expr | None) -> bool:
    """Whether it is Any, or a choice of which Any is one."""
    if isinstance(annotation, ast.BinOp):
        return is_any(annotation.left) or is_any(annotation.right)
    return isinstance(annotation, ast.Name) and annotation.id == "Any"


def test_any_is_found():
    source = """
class A:
    def f(self, x: Any, y: int = 2) -> Any | None: ...
    def _g(self, x: Any): ...
def h(z: list[Any]): ...
"""
    assert annotations_that_are_any(source) == ["A.f(x)", "A.f(return)"]


def test_public_types_are_real():
    """Of the files that define what ``import shortlist`` shows."""
    found = []
    modules = {sys.modules[public(name).__module__].__file__ for name in WHERE}
    for path in sorted(Path(module) for module in modules):
        inside = path.relative_to(PACKAGE).as_posix()
        found += [
            f"{inside}: {one}" for one in annotations_that_are_any(path.read_text(encoding="utf-8"))
        ]
    assert set(found) == set(ANY)


def test_a_categorizer_has_few_public_names_and_all_are_documented():
    kind = shortlist.Categorizer
    names = {name for base in kind.__mro__ for name in vars(base)} | set(
        kind().get_params(deep=False)
    )
    public = {name for name in names if not name.startswith("_")}
    # the parts of a model stand in several files, and what another file needs is public
    assert len(public) <= 125
    assert [
        name
        for name in public
        if callable(one := getattr(kind, name, None)) and not inspect.getdoc(one)
    ] == []


@pytest.mark.parametrize("kind", [shortlist.Categorizer, shortlist.TunedIndex])
def test_few_classes_stand_above_a_model_and_its_learner(kind):
    assert sum(base.__module__.startswith("shortlist") for base in kind.__mro__[1:]) <= 11
