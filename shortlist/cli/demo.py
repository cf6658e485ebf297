"""shortlist demo"""

from __future__ import annotations

import re
import sysconfig
import time
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli.options import Json
from shortlist.cli.terminal import print_json, print_table, say, say_when_compiling, size

MEASURES = ("R1", "R5", "MRR")
HELD_OUT = 0.2
SEED = 0
SOME = 200  # docstrings
EXAMPLES = (
    "Print the calendar of a month, with a week on each line.",
    "Parse an XML document into an element tree and return the root element.",
    "Start a pool of worker processes and wait until all of them have finished.",
)


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the model.")
    ] = Path("demo.shortlist"),
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
    order = np.random.default_rng(SEED).permutation(len(texts))
    n_test = round(HELD_OUT * len(texts))
    test, train = order[:n_test], order[n_test:]

    def part(of: list[str], which: Any) -> list[str]:
        return [of[i] for i in which]

    # Some of them first, and what will be asked: no loop is compiled or loaded while it is timed.
    some = train[:SOME]
    Categorizer().fit(part(texts, some), part(modules, some)).rank(part(texts, test[:SOME]), k=10)
    began = time.perf_counter()
    model = Categorizer().fit(part(texts, train), part(modules, train))
    learned = time.perf_counter() - began
    began = time.perf_counter()
    ranking = model.rank(part(texts, test), k=10)
    ranked = time.perf_counter() - began
    truth = model.learner_.label_numbers(part(modules, test))
    found = evaluate(ranking, truth, MEASURES)
    # the same for all texts
    most = np.argsort(-model.learner_.label_counts_, kind="stable")[:10].astype(np.int32)
    always = Ranking(
        np.tile(most, (n_test, 1)), np.tile(-np.arange(10.0), (n_test, 1)), ranking.label_names
    )
    usual = evaluate(always, truth, MEASURES)
    model.save(output)
    opened = load(output)  # asked as the commands below will ask it: they find all loops compiled
    answers = [next(opened.answer_text(text, 3).records()) for text in EXAMPLES]
    examples = [
        (
            text,
            list(zip(found["labels"], found["scores"], strict=True)),
            opened.explain(text, found["labels"][0]),
        )
        for text, found in zip(EXAMPLES, answers, strict=True)
    ]

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
                    name: {"learned": found[name], "frequency": usual[name]} for name in MEASURES
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
        f"and ranked {n_test:,} "
        f"others in {ranked:.2f} s ({1e6 * ranked / n_test:.0f} µs each)."
    )
    rows = [[name, found[name], *found.intervals[name], usual[name]] for name in MEASURES]
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


LEFT_OUT = {
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
    found: dict[str, list[str]] = {}
    for module, files in _modules(Path(sysconfig.get_path("stdlib"))):
        sources = (file.read_text(encoding="utf-8", errors="replace") for file in files)
        found.setdefault(module, []).extend(
            text for source in sources for text in DOCSTRING.findall(source)
        )
    texts: list[str] = []
    modules: list[str] = []
    for module in sorted(found):
        own = list(
            dict.fromkeys(
                cleandoc(text) for text in found[module] if len(text.split()) >= LEAST_WORDS
            )
        )
        if len(own) >= LEAST_DOCSTRINGS:
            texts += own
            modules += [module] * len(own)
    return texts, modules


def _modules(root: Path) -> Iterator[tuple[str, list[Path]]]:
    for entry in sorted(root.iterdir()):
        if entry.name in LEFT_OUT:
            continue
        if entry.suffix == ".py":
            yield entry.stem, [entry]
        elif (entry / "__init__.py").exists():
            files = sorted(entry.rglob("*.py"))
            yield (
                entry.name,
                [file for file in files if LEFT_OUT.isdisjoint(file.relative_to(root).parts)],
            )
