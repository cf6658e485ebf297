"""The steps of a release that a program can do: ``prepare VERSION`` writes it everywhere,
``check`` looks at it all.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNRELEASED = "## Unreleased\n"
VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+|\.dev\d+)?")
WRITTEN = {  # where the version stands
    "shortlist/public_names.py": re.compile(r'^VERSION = "(.+)"$', re.MULTILINE),
    "CITATION.cff": re.compile(r"^version: (.+)$", re.MULTILINE),
}


class Problem(Exception):
    """What keeps a release from being made, in one sentence."""


def written_versions(root: Path) -> dict[str, str]:
    """The version as each file has it."""
    found = {}
    for name, pattern in WRITTEN.items():
        match = pattern.search((root / name).read_text(encoding="utf-8"))
        if match is None:
            raise Problem(f"{name} does not say which version this is")
        found[name] = match[1]
    return found


def prepare(root: Path, version: str, today: str) -> None:
    """Write the version into each file, and give what is unreleased in the changelog this
    version and date.
    """
    if not VERSION.fullmatch(version):
        raise Problem(f"{version} is no version; write it as 0.1.0, 0.1.0rc1 or 0.1.0.dev0")
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if f"\n## {version} " in text:
        raise Problem(f"the changelog has a section {version} already")
    before, heading, changes = text.partition(UNRELEASED)
    if not heading or not changes.partition("\n## ")[0].strip():
        raise Problem("the changelog has nothing under Unreleased")
    written_versions(root)
    for name, pattern in WRITTEN.items():
        path = root / name
        old = path.read_text(encoding="utf-8")
        path.write_text(
            pattern.sub(lambda found: found[0].replace(found[1], version), old, count=1),
            encoding="utf-8",
        )
    if ".dev" not in version:
        changelog.write_text(
            f"{before}{UNRELEASED}\n## {version} – {today}\n{changes}", encoding="utf-8"
        )


def check(root: Path) -> str:
    """Raise a Problem unless all that belongs to the release of this version is there; the
    version.
    """
    versions = written_versions(root)
    if len(set(versions.values())) > 1:
        raise Problem(
            "versions differ: "
            + ", ".join(f"{name} has {version}" for name, version in versions.items())
        )
    version = next(iter(versions.values()))
    if ".dev" in version:
        raise Problem(
            f"{version} is a version of development; python scripts/release.py prepare VERSION "
            "comes first"
        )
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"\n## {version} " not in text:
        raise Problem(
            f"the changelog has no section {version}; python scripts/release.py prepare {version} "
            "writes it"
        )
    if text.partition(UNRELEASED)[2].partition("\n## ")[0].strip():
        raise Problem(f"the changelog has changes under Unreleased that belong to {version}")
    changed = run(root, "git", "status", "--porcelain")
    if changed:
        raise Problem(f"there are changes that are not committed:\n{changed.rstrip()}")
    return version


def build(root: Path, target: Path) -> dict[str, str]:
    """Wheel and source archive, with the time of the last commit in them; digests by name."""
    time = run(root, "git", "log", "-1", "--format=%ct").strip()
    environment = os.environ | {"SOURCE_DATE_EPOCH": time}
    run(
        root,
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        str(target),
        environment=environment,
    )
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(target.iterdir())
    }


def build_twice(root: Path) -> dict[str, str]:
    """The digests of two builds, which must be equal."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = (build(root, Path(folder) / part) for part in ("first", "second"))
    if first != second:
        raise Problem(f"two builds of the same files differ: {first} and {second}")
    return first


def run(root: Path, *command: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise Problem(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("prepare", help="write a version everywhere").add_argument("version")
    steps.add_parser("check", help="look whether all is there, and build twice")
    asked = parser.parse_args()
    try:
        if asked.step == "prepare":
            prepare(ROOT, asked.version, datetime.date.today().isoformat())
            print(
                f"{', '.join(WRITTEN)} and CHANGELOG.md say {asked.version}. Next: make test, and "
                "commit."
            )
        else:
            version = check(ROOT)
            for name, digest in build_twice(ROOT).items():
                print(f"{digest}  {name}")
            print(f"All is there. Next: git tag v{version} && git push origin v{version}")
    except Problem as problem:
        sys.exit(f"release: {problem}")


if __name__ == "__main__":
    main()
