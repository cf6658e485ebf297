"""Small changes to kernels and journal, each of which some test should notice: the score, and the
survivors.

    python tests/hostile/mutants.py                                              # all files of TESTS
    python tests/hostile/mutants.py shortlist/learners/top_labels.py --count 50      # fifty changes, spread over the file

Kernels run uncompiled, which is quicker for one small run. Libraries are loaded once; each change
is tried in a fork of that process, in which the changed module is imported in place of the file.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"
ROOT = Path(__file__).parents[2]
# the slow twins: other tests take minutes uncompiled
INDEX = [
    f"tests/learners/test_{name}"
    for name in (
        "tuned_index.py::test_is_exactly_its_twin",
        "tuned_index.py::test_words_and_vectors_are_exactly_its_twin",
        "partial.py::test_tuned_index_is_exactly_its_twin",
        "retrieval.py::test_votes_add_up_as_in_the_twin",
        "feature_focus.py::test_kernel_and_twin_hold_the_same_edges",
        "pruning.py",
        "ahead.py",
        "tuned_index.py::test_words_and_vector_have_their_shares_of_a_row",
    )
]
JOURNAL = [
    f"tests/server/test_{name}.py"
    for name in (
        "journal",
        "journal_questions",
        "damage",
        "export",
        "label_changes",
        "version_1",
    )
]
TESTS = {
    "shortlist/server/journal.py": JOURNAL,
    "shortlist/server/entries.py": JOURNAL,
    "shortlist/server/checksums.py": JOURNAL,
    "shortlist/server/journal_file.py": JOURNAL,
    "shortlist/server/journal_history.py": JOURNAL,
    "shortlist/learners/top_labels.py": ["tests/learners/test_best.py"],
    "shortlist/learners/index/edges.py": INDEX,
    "shortlist/learners/index/scoring.py": INDEX,
    "shortlist/learners/index/training.py": INDEX,
    "shortlist/learners/index/feature_focus.py": INDEX,
    "shortlist/learners/prototypes/prototype_learner.py": ["tests/learners/test_prototypes.py"],
    "shortlist/learners/prototypes/weights.py": ["tests/learners/test_prototypes.py"],
    "shortlist/learners/prototypes/mmp.py": ["tests/learners/test_prototypes.py"],
    "shortlist/learners/ratings/prank.py": ["tests/learners/ratings/test_prank.py"],
    "shortlist/learners/ratings/rating_learner.py": [
        "tests/learners/ratings/test_learners.py",
        "tests/learners/ratings/test_prank.py",
    ],
    "shortlist/learners/ratings/widrow_hoff.py": ["tests/learners/ratings/test_learners.py"],
    "shortlist/learners/documents/svms.py": ["tests/learners/documents/test_searches.py"],
    "shortlist/vocabulary.py": ["tests/text/test_feature_names.py"],
    "shortlist/compiled/kernels.py": ["tests/data/test_kernels.py"],
}
COMPILED = {"kernel", "loop", "part"}  # decorators
COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
SQL = [
    (" > ?", " >= ?"),
    (" <= ?", " < ?"),
    (" < ?", " <= ?"),
    (" DESC", ""),
    ("max(", "min("),
    ("min(", "max("),
    (" AND ", " OR "),
    ("NOT ", ""),
    ("BEGIN IMMEDIATE", "BEGIN"),
    ("ROLLBACK TO", "RELEASE"),
]


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    kind = type(node)
    if kind is ast.Compare and type(node.ops[0]) in COMPARED:
        yield ast.Compare(
            node.left, [COMPARED[type(node.ops[0])](), *node.ops[1:]], node.comparators
        )
    elif kind in (ast.BinOp, ast.AugAssign, ast.BoolOp) and type(node.op) in COMPUTED:
        changed = copy.copy(node)
        changed.op = COMPUTED[type(node.op)]()
        yield changed
    elif kind is ast.UnaryOp and isinstance(node.op, ast.Not):
        yield node.operand
    elif kind is ast.Constant and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif kind is ast.Constant and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif kind is ast.Constant and isinstance(node.value, str):
        yield from (ast.Constant(node.value.replace(a, b, 1)) for a, b in SQL if a in node.value)
    elif kind in (ast.Break, ast.Continue):
        yield ast.Continue() if kind is ast.Break else ast.Break()
    if kind in (ast.Assign, ast.AugAssign, ast.Raise) or (
        kind is ast.Expr and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()


class Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, ast.copy_location(new, old)

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def mutants(path: Path) -> Iterator[tuple[str, ast.Module]]:
    """What was changed, and the changed module: in kernels, or in all functions of a file
    without any.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    kernels = [
        one for one in functions if any(ast.unparse(by) in COMPILED for by in one.decorator_list)
    ]
    for function in kernels or functions:
        for node in [node for statement in function.body for node in ast.walk(statement)]:
            for new in changes(node):
                before, after = (
                    ast.unparse(node),
                    ast.unparse(ast.fix_missing_locations(ast.copy_location(new, node))),
                )
                pair = copy.deepcopy((tree, node, new))
                changed = ast.fix_missing_locations(Replaced(pair[1], pair[2]).visit(pair[0]))
                yield f"{path.name}:{node.lineno} in {function.name}: {before} → {after}", changed


class Instead(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Imports a changed module in place of its file."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        super().__init__(name, str(path))
        self.tree = tree

    def find_spec(self, fullname, path, target=None):
        ours = fullname == self.name
        return (
            importlib.util.spec_from_file_location(fullname, self.path, loader=self)
            if ours
            else None
        )

    def get_code(self, fullname):
        return compile(self.tree, self.path, "exec")


def noticed(path: Path, tree: ast.Module, tests: list[str], seconds: float) -> bool:
    """Whether any of the tests fails, or takes far too long, with the changed module."""
    child = os.fork()
    if child == 0:
        os.setsid()
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        sys.meta_path.insert(0, Instead(name, path, tree))
        import pytest

        os._exit(
            int(
                pytest.main(
                    [
                        "-x",
                        "-q",
                        "--assert=plain",
                        "-p",
                        "no:cacheprovider",
                        "-m",
                        "not long",
                        "-W",
                        "ignore::RuntimeWarning",
                        *tests,
                    ]
                )
            )
        )
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status != 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("files", nargs="*", default=list(TESTS))
    options.add_argument("--count", type=int, default=10**9, help="changes to try in each file")
    options.add_argument("--long", action="store_true", help="all changes, whatever --count says")
    chosen = options.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    for name in (
        "numba",
        "scipy.sparse",
        "sklearn.base",
        "sklearn.svm",
        "hypothesis",
        "pytest",
        "msgspec",
        "polars",
    ):
        importlib.import_module(name)
    tried = found = 0
    for file in chosen.files:
        path, tests = ROOT / file, TESTS[file]
        began = time.monotonic()
        if noticed(path, ast.parse(path.read_text(encoding="utf-8")), tests, 600):
            print(f"{file}: its tests fail without any change")
            continue
        patience = 10 + 2 * (time.monotonic() - began)
        every = list(mutants(path))
        some = (
            every
            if chosen.long or chosen.count >= len(every)
            else random.Random(0).sample(every, chosen.count)
        )
        lived = 0
        for what, tree in some:
            if not noticed(path, tree, tests, patience):
                lived += 1
                print(f"  lived: {what}", flush=True)
        tried, found = tried + len(some), found + len(some) - lived
        print(f"{file}: {len(some) - lived} of {len(some)} noticed", flush=True)
    print(f"mutants: {found} of {tried} noticed ({found / max(tried, 1):.0%})")


if __name__ == "__main__":
    main()
