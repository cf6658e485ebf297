"""A wheel that carries compiled loops, so that the first call of whoever installs it compiles
nothing.

    python scripts/wheels.py [FOLDER]

Builds the wheel, compiles the loops of usual calls for the baseline of this kind of processor
(compiled/numba_internals.py), puts them beside their sources, and writes
dist/shortlist-VERSION-cpXY-cpXY-PLATFORM.whl. It is for the Python and the Numba that it was made
with: with another Numba, or on a processor without the baseline's features, loops are compiled as
they are from the sources.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from shortlist.compiled.numba_internals import baseline

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, **environment: str) -> None:
    subprocess.run(
        [sys.executable, *map(str, command)],
        check=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def tags() -> list[str]:
    """What the wheel is for, as ``wheel tags`` takes it."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    # loops link to nothing beside Numba, which asks for it
    platform = platform.replace("linux_", "manylinux_2_28_")
    return ["--python-tag", python, "--abi-tag", python, "--platform-tag", platform]


def main(folder: Path) -> None:
    found = baseline()
    if found is None:
        sys.exit("this processor does not run the baseline of its kind; make the wheel on another")
    name, features = found
    with tempfile.TemporaryDirectory() as made:
        run("-m", "build", "--wheel", "--no-isolation", "--outdir", made, ".")
        (plain,) = Path(made).glob("*.whl")
        run("-m", "wheel", "unpack", "--dest", made, plain)
        (unpacked,) = (path for path in Path(made).iterdir() if path.is_dir())
        own = {"PYTHONPATH": str(unpacked), "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}
        run("-P", "-m", "shortlist", "warmup", **own)
        for path in unpacked.rglob("*.pyc"):
            path.unlink()
        loops = list(unpacked.rglob("*.nbc"))
        plain.unlink()
        run("-m", "wheel", "pack", "--dest-dir", made, unpacked)
        (packed,) = Path(made).glob("*.whl")
        run("-m", "wheel", "tags", "--remove", *tags(), packed)
        (wheel,) = Path(made).glob("*.whl")
        folder.mkdir(exist_ok=True)
        target = folder / wheel.name
        target.write_bytes(wheel.read_bytes())
    print(f"{target}: {len(loops)} loops for {name}, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
