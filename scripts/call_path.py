"""Through how many functions, files and levels of the package one call goes, with compiling turned
off.

    python scripts/call_path.py

Prints a line for ``Categorizer.learn`` and one for ``Categorizer.rank``, of a model that has
learned before.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"
PACKAGE = str(Path(__file__).parents[1] / "shortlist")


class CallPath:
    """Takes note of each call of a function of the package."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, int]] = set()
        self.depth = self.deepest = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        if event == "call":
            self.functions.add((code.co_filename, code.co_firstlineno))
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        elif event == "return":
            self.depth -= 1

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.functions}


def followed(call: Any, *arguments: Any) -> CallPath:
    """The path of a call."""
    path = CallPath()
    sys.setprofile(path)
    try:
        call(*arguments)
    finally:
        sys.setprofile(None)
    return path


def main() -> None:
    from shortlist import Categorizer

    model = Categorizer()
    for n in range(30):
        model.learn(f"wheat and corn exports rose {n}", ["grain", "trade"])
        model.learn(f"the bank raised its rates {n}", "money")
    calls = {
        "Categorizer.learn": (model.learn, "corn shipments fell", "grain"),
        "Categorizer.rank": (model.rank, "corn shipments fell"),
    }
    for name, (call, *given) in calls.items():
        path = followed(call, *given)
        print(
            f"{name}: {len(path.functions)} functions, {len(path.files)} files, depth "
            f"{path.deepest}"
        )
        if "--files" in sys.argv:
            print("\n".join(sorted(file.removeprefix(PACKAGE + os.sep) for file in path.files)))


if __name__ == "__main__":
    main()
