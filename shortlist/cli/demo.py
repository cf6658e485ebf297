"""shortlist demo"""

from __future__ import annotations

import re
import sysconfig
import time
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from shortlist.cli.options import Json
from shortlist.cli.terminal import print_json, print_table, say, say_when_compiling, size

MEASURES_SHOWN = ("R1", "R5", "MRR")
HELD_OUT_SHARE = 0.2
SPLIT_SEED = 0
N_UNTIMED = 200  # docstrings
DEMO_TEXTS = (
    "Print the calendar of a month, with a week on each line.",
    "Parse an XML document into an element tree and return the root element.",
    "Start a pool of worker processes and wait until all of them have finished.",
)


def demo(
    output: Annotated[Path, Option("--output", "-o", help="Where to write the model.")] = Path(
        "demo.shortlist"
    ),
    as_json: Json = False,
) -> None:
    """Learn which module of Python's standard library a docstring comes from, and show how well,
    how fast and why.

    Needs no download: every Python carries the docstrings.
    """
    import numpy as np

    from shortlist.data.ranking import Ranking
    from shortlist.files.store import load
    from shortlist.measures import evaluate
    from shortlist.models.categorizer import Categorizer

    say_when_compiling()
    if not as_json:
        say("reading the docstrings of Python's standard library…")
    texts, modules = docstrings()
    order = np.random.default_rng(SPLIT_SEED).permutation(len(texts))
    n_test = round(HELD_OUT_SHARE * len(texts))
    test = order[:n_test]
    train = order[n_test:]

    def part(values: list[str], numbers: Any) -> list[str]:
        return [values[i] for i in numbers]

    # A few first, so that no loop is compiled or loaded while it is timed.
    first = train[:N_UNTIMED]
    small = Categorizer().fit(part(texts, first), part(modules, first))
    small.rank(part(texts, test[:N_UNTIMED]), k=10)
    began = time.perf_counter()
    model = Categorizer().fit(part(texts, train), part(modules, train))
    learned = time.perf_counter() - began
    began = time.perf_counter()
    ranking = model.rank(part(texts, test), k=10)
    ranked = time.perf_counter() - began
    truth = model.learner_.label_numbers(part(modules, test))
    measures = evaluate(ranking, truth, MEASURES_SHOWN)
    # the same for all texts
    most = np.argsort(-model.learner_.label_counts_, kind="stable")[:10].astype(np.int32)
    always = Ranking(
        np.tile(most, (n_test, 1)), np.tile(-np.arange(10.0), (n_test, 1)), ranking.label_names
    )
    baseline = evaluate(always, truth, MEASURES_SHOWN)
    model.save(output)
    opened = load(output)  # as the commands below open it: they find all loops compiled
    examples = []
    for text in DEMO_TEXTS:
        answer = next(opened.answer_text(text, 3).records())
        best = list(zip(answer["labels"], answer["scores"], strict=True))
        examples.append((text, best, opened.explain(text, answer["labels"][0])))

    if as_json:
        print_json(
            {
                "examples": len(train),
                "held_out": n_test,
                "labels": len(model.classes_),
                "seconds_to_learn": learned,
                "seconds_to_rank": ranked,
                "model": str(output),
                "measures": {
                    name: {"learned": measures[name], "frequency": baseline[name]}
                    for name in MEASURES_SHOWN
                },
                "sentences": [
                    {"text": text, "labels": [label for label, _ in best]}
                    for text, best, _ in examples
                ],
            }
        )
        return
    print(
        f"Learned {len(train):,} docstrings of {len(model.classes_)} modules in {learned:.2f} s "
        f"and ranked {n_test:,} others in {ranked:.2f} s ({1e6 * ranked / n_test:.0f} µs each)."
    )
    rows = [
        [name, measures[name], *measures.intervals[name], baseline[name]] for name in MEASURES_SHOWN
    ]
    print_table(
        "Held-out docstrings", ["measure", "learned", "95 % from", "to", "frequency baseline"], rows
    )
    for text, best, why in examples:
        print(f"“{text}”")
        for label, score in best:
            print(f"  {score:.3f}  {label}")
        votes = ", ".join(f"{word} {vote:.3f}" for word, vote in why.votes[:5])
        print(f"         {why.label} because of: {votes}\n")
    print(
        f"The model is in {output} ({size(output.stat().st_size)}). Now try:\n"
        f"  shortlist rank {output} --text 'open a socket and listen for connections'\n"
        f"  shortlist explain {output} --text 'open a socket and listen for connections'\n"
        f"  shortlist inspect {output}\n"
        "  shortlist train YOUR-FILE      # JSON lines, CSV, TSV, fastText, a folder of class "
        "folders, …"
    )


# The embedded data set: which module of Python's standard library does a docstring come from?
#
# Every Python carries it. Sources are read, never imported, so that nothing of them runs.


PACKAGES_LEFT_OUT = {
    "test",
    "tests",
    "idlelib",
    "idle_test",
    "lib2to3",
    "site-packages",
    "dist-packages",
    "ensurepip",
    "turtledemo",
    "pydoc_data",
    "__pycache__",
    "__phello__",
}
# parsing the sources would take ten times as long
DOCSTRING = re.compile(r':[ \t]*\n\s*[rRuU]?"""(.*?)"""', re.DOTALL)
LEAST_WORDS = 4
LEAST_DOCSTRINGS = 5  # a module with fewer cannot be both learned and tried


def docstrings() -> tuple[list[str], list[str]]:
    """Docstrings and their modules: some 6,000 from about 120 modules, in order of module."""
    texts: list[str] = []
    modules: list[str] = []
    for module, files in sorted(_modules(Path(sysconfig.get_path("stdlib")))):
        docstrings: dict[str, None] = {}  # each once
        for file in files:
            for text in DOCSTRING.findall(file.read_text(encoding="utf-8", errors="replace")):
                if len(text.split()) >= LEAST_WORDS:
                    docstrings[cleandoc(text)] = None
        if len(docstrings) >= LEAST_DOCSTRINGS:
            texts += docstrings
            modules += [module] * len(docstrings)
    return texts, modules


def _modules(root: Path) -> Iterator[tuple[str, list[Path]]]:
    for entry in sorted(root.iterdir()):
        if entry.name in PACKAGES_LEFT_OUT:
            continue
        if entry.suffix == ".py":
            yield entry.stem, [entry]
        elif (entry / "__init__.py").exists():
            files = sorted(entry.rglob("*.py"))
            yield (
                entry.name,
                [
                    file
                    for file in files
                    if PACKAGES_LEFT_OUT.isdisjoint(file.relative_to(root).parts)
                ],
            )
