"""A private name, one that begins with an underscore, is used only in the file that defines it."""

import ast
from collections import defaultdict
from pathlib import Path

import shortlist

PACKAGE = Path(shortlist.__file__).parent
TESTS = Path(__file__).parent


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def defined_names(tree: ast.AST) -> set[str]:
    """The private names that a file defines: functions, classes, variables and attributes."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return {name for name in names if is_private(name)}


def used_names(tree: ast.AST) -> set[str]:
    """The private names that a file reads from objects or imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.name for alias in node.names)
    return {name for name in names if is_private(name)}


def parsed(folder: Path) -> dict[Path, ast.AST]:
    files = sorted(folder.rglob("*.py"))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_no_private_name_is_used_in_another_file():
    """Names that no file of the package defines are those of libraries."""
    trees = parsed(PACKAGE)
    owners = defaultdict(set)
    for path, tree in trees.items():
        for name in defined_names(tree):
            owners[name].add(path)
    crossings = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path, tree in trees.items()
        for name in sorted(used_names(tree) - defined_names(tree))
        if owners[name]
    ]
    assert crossings == []
