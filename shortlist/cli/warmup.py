"""shortlist warmup"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from shortlist.cli.options import Json
from shortlist.cli.terminal import print_json, say_when_compiling
from shortlist.errors import counted

WARMUP_TEXTS = (
    "wheat exports rose as the harvest came in",
    "the bank raised its interest rates",
    # not in normal form: its last letter is two characters
    "the price of gold fell in the cafe\u0301",
    "corn and wheat",
)
ONE_EACH = ("grain", "money", "metals", "grain")
SEVERAL = (("grain", "trade"), ("money",), ("metals", "money"), ("grain",))


def warmup(as_json: Json = False) -> None:
    """Compile the inner loops now, so that the first command or request does not have to.

    Loops are kept beside the package, or in the folder of NUMBA_CACHE_DIR, or in the user's folder
    if the package's cannot be written. In a container, run this while the image is built.
    """
    say_when_compiling()
    began = time.perf_counter()
    n_earlier = sum(loops().values())
    verbs()
    numbers()
    ready = loops()
    seconds = time.perf_counter() - began
    if as_json:
        print_json({"loops": sum(ready.values()) - n_earlier, "seconds": round(seconds, 3)})
    else:
        print(f"{counted(len(ready), 'loops')} ready in {seconds:.1f} s.")


def loops() -> dict[Any, int]:
    """Return every loaded loop of the package, and for how many types of arguments it is
    compiled.
    """
    import gc

    from numba.core.dispatcher import Dispatcher

    compiled = {}
    for value in gc.get_objects():
        # isinstance() would touch a weak proxy whose object is gone, and that raises
        is_loop = issubclass(type(value), Dispatcher)
        if is_loop and value.__module__.startswith("shortlist.") and value.signatures:
            compiled[value] = len(value.signatures)
    return compiled


def verbs() -> None:
    """Run the commands on files with one label for each text and with several, in the usual
    formats.
    """
    import json
    import tempfile

    for labels in (ONE_EACH, SEVERAL):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder, "data.jsonl")
            table = Path(folder, "data.tsv")
            model = Path(folder, "data.shortlist")
            records = []
            rows = ["text\tlabels"]
            for n in range(20):
                for text, names in zip(WARMUP_TEXTS, labels, strict=True):
                    # each text has words that no other has, together enough for the vocabulary to
                    # grow
                    text = f"{text} {new_words(n)}"
                    records.append(json.dumps({"text": text, "labels": names}))
                    cell = names if isinstance(names, str) else "|".join(names)
                    rows.append(f"{text}\t{cell}")
            data.write_text("\n".join(records) + "\n", encoding="utf-8")
            table.write_text("\n".join(rows) + "\n", encoding="utf-8")
            quietly("train", data, "--output", model)
            quietly("rank", model, "--text", WARMUP_TEXTS[0])
            quietly("explain", model, "--text", WARMUP_TEXTS[0])
            quietly("learn", model, data)
            quietly("learn", model, table, "--label-separator", "|")
            for options in ([], ["--assign"], ["--coverage", "0.9"]):
                quietly("rank", model, data, *options)
            quietly("evaluate", model, data)


def new_words(n: int) -> str:
    """Return words that no other text has; one text also repeats a word more often than a byte
    can count.
    """
    words = [f"word{n}x{i}" for i in range(30)]
    if n == 0:
        words += ["again"] * 300
    return " ".join(words)


def quietly(*arguments: object) -> None:
    """Run a command without its output."""
    import contextlib
    import io

    from shortlist.cli import app

    with contextlib.redirect_stdout(io.StringIO()):
        app([str(argument) for argument in arguments], standalone_mode=False)


def numbers() -> None:
    """Run the default learners of ratings and of documents."""
    import numpy as np

    from shortlist.models.document_ranker import DocumentRanker
    from shortlist.models.rater import Rater

    rows = np.random.default_rng(0).random((20, 4))
    ratings = [1, 2, 3, 4] * 5
    Rater().fit(rows, ratings).partial_fit(rows, ratings).predict(rows)
    query = [i // 5 for i in range(20)]
    DocumentRanker().fit(rows, [1, 0, 0, 1, 0] * 4, query=query).rank(rows, query=query)
