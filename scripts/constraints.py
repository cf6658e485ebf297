"""The versions of all libraries that the tests ran with, for ``pip install -c``: ``python
scripts/constraints.py``.

No address of a package index is in it, unlike in a lock file of uv. Libraries that the extra
``test`` brings, and what those bring, as they are installed where this runs; libraries for other
machines or Pythons are not in it.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
HEAD = (
    "# The versions that the tests last passed with. Made by `python scripts/constraints.py > "
    "constraints.txt`.\n"
)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def applies(requirement: Requirement, extras: set[str]) -> bool:
    """Whether it is needed here, for any of these extras."""
    if requirement.marker is None:
        return True
    try:
        return any(requirement.marker.evaluate({"extra": extra}) for extra in extras or {""})
    except UndefinedEnvironmentName:
        return False


def installed(
    name: str, extras: set[str], found: dict[str, str], asked: set[tuple[str, frozenset[str]]]
) -> None:
    """Add a library that is installed, with these extras, and all that it needs."""
    key = (canonical(name), frozenset(extras))
    if key in asked:
        return
    asked.add(key)
    try:
        own = distribution(name)
    except PackageNotFoundError:
        return
    found[canonical(name)] = own.version
    for line in own.requires or ():
        requirement = Requirement(line)
        if applies(requirement, extras):
            installed(requirement.name, set(requirement.extras), found, asked)


def asked_for(extra: str, project: dict[str, Any]) -> list[Requirement]:
    """What the project itself and one of its extras ask for; an extra may ask for others."""
    lines = project["dependencies"] if not extra else project["optional-dependencies"][extra]
    found = []
    for requirement in map(Requirement, lines):
        if requirement.name == project["name"]:
            found += [
                one for other in sorted(requirement.extras) for one in asked_for(other, project)
            ]
        elif applies(requirement, set()):
            found.append(requirement)
    return found


def main() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    found: dict[str, str] = {}
    asked: set[tuple[str, frozenset[str]]] = set()
    for requirement in asked_for("", project) + asked_for("test", project):
        installed(requirement.name, set(requirement.extras), found, asked)
    print(HEAD + "".join(f"{name}=={version}\n" for name, version in sorted(found.items())), end="")


if __name__ == "__main__":
    main()
