"""What ``shortlist warmup`` has compiled is all that ordinary use needs."""

import json
import subprocess
import sys
import weakref

import pytest

from shortlist.cli.warmup import loops

pytestmark = pytest.mark.long
TEXTS = [
    "Die Preise für Weizen stiegen nach der späten Ernte",
    "cafe\u0301 and naïve, the same word composed and not",
    "a text of " + " ".join(f"word{n:04d}" for n in range(3000)),
    "rates" + " and rates" * 500,
    "rates",
]
ORDINARY = """
import contextlib, io, sys
from shortlist.cli import main
from shortlist.cli.warmup import loops

def run(*arguments):
    sys.argv = ["shortlist", *arguments]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main()

run("warmup")
before = {id(one): set(map(str, one.signatures)) for one in loops()}
for name in ("one", "several"):
    run("train", f"{name}.jsonl")
    run("rank", f"{name}.shortlist", "--text", "wheat")
    run("rank", f"{name}.shortlist", "texts.txt")
    run("learn", f"{name}.shortlist", f"{name}.jsonl")
    run("explain", f"{name}.shortlist", "--text", "wheat")
    run("evaluate", f"{name}.shortlist", f"{name}.jsonl")
later = {one: set(map(str, one.signatures)) - before.get(id(one), set()) for one in loops()}
for one, signatures in later.items():
    for signature in signatures:
        print(f"{one.__module__}.{one.__name__}", signature)
"""


def test_ordinary_use_compiles_nothing_more(tmp_path):
    for name, labels in (("one", "a"), ("several", ["a", "b"])):
        rows = [
            {"text": f"{text} only{n}", "labels": labels if n % 3 else "b"}
            for n, text in enumerate(TEXTS * 15)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "texts.txt").write_text(
        "\n".join([*TEXTS, "never seen before", "rates and unheard"]) + "\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", ORDINARY], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "several.shortlist").exists(), done.stderr
    assert done.stdout == "", "these were compiled only when they were needed"


TIMED = """
import time
from shortlist.cli import demo
from shortlist.cli.warmup import loops

moments = []

class Clock:
    @staticmethod
    def perf_counter():
        moments.append({(one.__module__, one.__name__, str(of)) for one in loops() for of in one.signatures})
        return time.perf_counter()

demo.time = Clock
demo.demo(as_json=True)
began, learned, _, ranked = moments
print("compiled while it is timed:", sorted(ranked - began))
"""


def test_the_demo_times_learning_and_not_compiling(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", TIMED], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("compiled while it is timed: []\n"), done.stdout[-2000:]


def test_it_says_what_is_ready(run):
    assert "loops ready in" in run("warmup").out
    assert run("warmup", "--json").json["loops"] >= 0


def test_a_weak_proxy_whose_object_is_gone_does_not_disturb_it():
    class Short:
        pass

    gone = weakref.proxy(Short())
    assert loops() is not None
    del gone
