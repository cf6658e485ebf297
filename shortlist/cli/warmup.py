"""shortlist warmup"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from shortlist.cli.options import Json
from shortlist.cli.terminal import print_json, say_when_compiling
from shortlist.errors import counted

TEXTS = (
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
    before = loops()
    verbs()
    numbers()
    ready, compiled = loops(), sum(loops().values()) - sum(before.values())
    seconds = time.perf_counter() - began
    found = {"loops": compiled, "seconds": round(seconds, 3)}
    print_json(found) if as_json else print(
        f"{counted(len(ready), 'loops')} ready in {seconds:.1f} s."
    )


def loops() -> dict[Any, int]:
    """Return every loaded loop of the package, and for how many types of arguments it is
    compiled.
    """
    import gc

    from numba.core.dispatcher import Dispatcher

    # by type(): isinstance() would ask a weak proxy whose object is gone, and that raises
    dispatchers = [one for one in gc.get_objects() if issubclass(type(one), Dispatcher)]
    own = [one for one in dispatchers if one.__module__.startswith("shortlist.")]
    return {one: len(one.signatures) for one in own if one.signatures}


def verbs() -> None:
    """Run the commands on files with one label for each text and with several, in the usual
    formats.
    """
    import json
    import tempfile

    for labels in (ONE_EACH, SEVERAL):
        with tempfile.TemporaryDirectory() as folder:
            data, table, model = (
                Path(folder, "data.jsonl"),
                Path(folder, "data.tsv"),
                Path(folder, "data.shortlist"),
            )
            # each text has words that no other has, together enough for the vocabulary to grow
            pairs = [
                (f"{text} {own_words(n)}", own)
                for n in range(20)
                for text, own in zip(TEXTS, labels, strict=True)
            ]
            records = (json.dumps({"text": text, "labels": own}) + "\n" for text, own in pairs)
            data.write_text("".join(records), encoding="utf-8")
            rows = (
                f"{text}\t{own if isinstance(own, str) else '|'.join(own)}\n" for text, own in pairs
            )
            table.write_text("text\tlabels\n" + "".join(rows), encoding="utf-8")
            quietly("train", data, "--output", model)
            quietly("rank", model, "--text", TEXTS[0])
            quietly("explain", model, "--text", TEXTS[0])
            quietly("learn", model, data)
            quietly("learn", model, table, "--label-separator", "|")
            for options in ([], ["--assign"], ["--coverage", "0.9"]):
                quietly("rank", model, data, *options)
            quietly("evaluate", model, data)


def own_words(n: int) -> str:
    """Return words that no other text has; one text also repeats a word more often than a byte
    can count.
    """
    return " ".join([f"word{n}x{i}" for i in range(30)] + ["again"] * (300 if n == 0 else 0))


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

    rows, given = np.random.default_rng(0).random((20, 4)), [1, 2, 3, 4] * 5
    Rater().fit(rows, given).partial_fit(rows, given).predict(rows)
    query = [i // 5 for i in range(20)]
    DocumentRanker().fit(rows, [1, 0, 0, 1, 0] * 4, query=query).rank(rows, query=query)
