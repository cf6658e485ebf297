"""Plans: laws of growth by hand, and what was predicted of real sets from a sample beside what training them took."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shortlist import Categorizer
from shortlist.inputs.examples import Examples
from shortlist.models.plan import LEAST, extrapolated, plan

WITHIN = 0.25


def test_a_power_law_is_followed():
    values = [3 * n**0.6 for n in (250, 500, 1000)]
    assert extrapolated(values, 5.3) == pytest.approx(3 * (1000 * 2**5.3) ** 0.6)


def test_an_exponent_that_falls_goes_on_falling_by_half_as_much():
    values = [1, 2**0.8, 2 ** (0.8 + 0.6)]  # 0.8, 0.6, and then 0.5, 0.45, 0.425
    assert extrapolated(values, 2.5) == pytest.approx(2 ** (1.4 + 0.5 + 0.45 + 0.5 * 0.425))


def test_what_has_stopped_growing_stays():
    assert extrapolated([100, 100, 100], 7) == 100
    assert extrapolated([50, 100, 100], 7) == 100
    assert extrapolated([0, 0, 0], 7) == 1
    assert extrapolated([5, 6, 9], 0) == 9


def test_many_examples_are_planned_for_all_cores():
    batch = Examples(texts=[f"w{n % 7} w{n % 3}" for n in range(LEAST)], labels=[[n % 3] for n in range(LEAST)])
    of_few, of_many = (plan([batch], LEAST / n, Categorizer(), 0.0) for n in (65_535, 65_536))
    assert (of_few.cores, of_many.cores) == (1, os.cpu_count())


def run(*arguments):
    """What a verb says in JSON, and the most memory it held."""
    script = (
        "import re, sys\nfrom pathlib import Path\nfrom shortlist.cli import main\n"
        f"sys.argv = {['shortlist', *map(str, arguments), '--json']!r}\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    said, held = done.stdout.splitlines()
    return json.loads(said), int(held) * 1024


@pytest.mark.long
def test_a_plan_of_a_whole_file_is_what_training_gives(tmp_path):
    path = tmp_path / "examples.tsv"
    random = np.random.default_rng(0)
    lines = [f"label{c}\tword{c} " + " ".join(f"w{w}" for w in random.zipf(1.5, 8)) for c in random.zipf(1.5, 500) % 30]
    path.write_text("labels\ttext\n" + "\n".join(lines) + "\n")
    plan, _ = run("plan", path)
    made, _ = run("train", path, "--output", tmp_path / "model.shortlist")
    assert plan["sample"] == plan["examples"] == made["examples"] == 500
    for what in ("labels", "features", "edges"):
        assert plan[what] == made[what]
    assert abs(plan["model_size"] - made["bytes"]) < 4000  # the header of the file
    refused = subprocess.run(
        [sys.executable, "-m", "shortlist.cli", "plan", "-"], input="", capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert refused.returncode == 2


SETS = {
    "finna": ("finna", "finna", "finna.tsv.gz", 20_000, []),
    "reuters": ("reuters21578", "reuters21578", "", 5_000, ["--skip-bad"]),
    "rcv1": ("rcv1_subsets", "rcv1_subsets", "rcv1_aligned_15k.svm", 5_000, []),
    "newsgroups": ("20newsgroups-original", "20_newsgroups", "", 20_000, ["--encoding", "latin-1"]),
    "bibtex": ("mulan_arff", "mulan_arff", "bibtex-train.arff", 20_000, []),
    "delicious": ("mulan_arff", "mulan_arff", "delicious-train.arff", 20_000, ["--skip-bad"]),
}


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
def test_memory_and_model_size_hold(name, data_folder, tmp_path):
    archive, folder, file, sample, options = SETS[name]
    data = data_folder(archive, folder) / file
    plan, _ = run("plan", data, "--sample", sample, *options)
    made, held = run("train", data, "--output", tmp_path / "model.shortlist", *options)
    assert plan["examples"] == pytest.approx(made["examples"], rel=WITHIN)
    assert plan["memory"] == pytest.approx(held, rel=WITHIN)
    assert plan["model_size"] == pytest.approx(made["bytes"], rel=WITHIN)
