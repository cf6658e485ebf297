"""Run the cells of a notebook and keep what they show: ``python scripts/notebook.py
docs/notebooks/tickets.ipynb``.

Jupyter would do the same; this needs nothing but Python, so that the tests can do it everywhere.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run(cells: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The outputs of the code cells, one after another in one namespace."""
    names: dict[str, Any] = {}
    return [
        outputs("".join(cell["source"]), names, n) for n, cell in enumerate(code_of(cells), start=1)
    ]


def code_of(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [cell for cell in cells if cell["cell_type"] == "code"]


def outputs(code: str, names: dict[str, Any], n: int) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last expression."""
    body = ast.parse(code).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {n}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {n}", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = lines(value._repr_html_())
        found.append(
            {"data": data, "execution_count": n, "metadata": {}, "output_type": "execute_result"}
        )
    return found


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    found = run(notebook["cells"])
    for n, (cell, shown) in enumerate(zip(code_of(notebook["cells"]), found, strict=True), start=1):
        cell["outputs"], cell["execution_count"] = shown, n
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
