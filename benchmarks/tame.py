"""What it does to rankings to tame frequent labels: P@1, P@3, P@5, and recall@5 of labels of few examples.

    python -m benchmarks.tame DATA [SET ...]

Sets: bibtex, delicious, rcv1, reuters, eurlex57k (titles of 10,000 laws), finna (90,000 titles). All on the training
parts, of which every tenth example (or 2,000 laws) is held out; no other part is read.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fields import parts
from shortlist import Categorizer, TunedIndex, read
from shortlist.arrays.rows import Rows
from shortlist.categories.learner import Allowed
from shortlist.models.rules import factors_by, offsets_by

K = 5
GROUPS = {"1 to 5": (1, 5), "6 to 20": (6, 20)}
WAYS = [("as it is", 0.0, 0.0)]
WAYS += [(f"`--tame {tame}`", tame, 0.0) for tame in (0.03, 0.05, 0.1)]
WAYS += [(f"`--prior {prior}`", 0.0, prior) for prior in (0.01, 0.02, 0.05)]
Part = tuple[Any, list[list[str]]]


def held_out(documents: Any, labels: list[list[str]]) -> list[Part]:
    """What is trained on, and every tenth example, which is not."""
    last = np.arange(len(labels)) % 10 == 9
    rows = [np.flatnonzero(~last), np.flatnonzero(last)]
    some = [[documents[i] for i in part] if isinstance(documents, list) else documents[part] for part in rows]
    return [(own, [labels[i] for i in part]) for own, part in zip(some, rows, strict=True)]


def eurlex57k() -> list[Part]:
    both = zip(parts(True, 10_000), (None, 2_000), strict=True)
    return [([law["title"] for law in some[:most]], [law["labels"] for law in some[:most]]) for some, most in both]


def finna() -> list[Part]:
    with gzip.open(folder() / "finna" / "finna.tsv.gz", "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in islice(lines, 90_000)]
    return held_out([title for _, title in pairs], [own.split() for own, _ in pairs])


def reuters() -> list[Part]:
    batches = list(read(folder() / "reuters21578"))
    found = [(text, list(own)) for batch in batches for text, own in zip(batch.texts, batch.labels, strict=True) if own]
    return held_out([text for text, _ in found[:9000]], [own for _, own in found[:9000]])


def rcv1() -> list[Part]:
    batches = list(read(folder() / "rcv1_subsets" / "rcv1_aligned_15k.svm"))
    labels = [own for batch in batches for own in batch.labels][:12_000]
    some = [i for i, own in enumerate(labels) if own]
    return held_out(Rows.stack([batch.rows for batch in batches]).to_matrix()[some], [labels[i] for i in some])


def folder() -> Path:
    return Path(os.environ["SHORTLIST_DATA"])


def arff(name: str) -> list[Part]:
    batches = list(read(folder() / "mulan_arff" / f"{name}-train.arff"))
    labels = [own for batch in batches for own in batch.labels]
    some = [i for i, own in enumerate(labels) if own]
    return held_out(Rows.stack([batch.rows for batch in batches]).to_matrix()[some], [labels[i] for i in some])


SETS: dict[str, Callable[[], list[Part]]] = {
    "bibtex": lambda: arff("bibtex"), "delicious": lambda: arff("delicious"), "rcv1": rcv1, "reuters": reuters,
    "eurlex57k": eurlex57k, "finna": finna,
}  # fmt: skip


def main(chosen: list[str]) -> None:
    print("| set | | P@1 | P@3 | P@5 | recall@5, 1 to 5 examples | 6 to 20 |\n|---|---|" + "--:|" * 5)
    for name in chosen or SETS:
        (X, labels), (held, truth) = SETS[name]()
        if isinstance(X, list):
            model = Categorizer().fit(X, labels)
            learner, rows = model.learner_, model.text_.rows(held)
        else:
            learner = TunedIndex().fit(X, labels)
            rows = learner._check(held)
        counts = Counter(label for own in labels for label in set(own))
        for way, tame, prior in WAYS:
            every = np.ones(len(learner.classes_), dtype=bool)
            added = offsets_by(prior, learner) if prior else None
            found = learner._rank_rows(rows, K, Allowed(every, added, factors_by(tame, learner) if tame else None))
            right = np.array([[label in own for label in best] for best, own in zip(found.labels, truth, strict=True)])
            told = [f"{100 * right[:, :k].mean():.2f}" for k in (1, 3, K)]
            for least, most in GROUPS.values():
                rare = [{label for label in own if least <= counts[label] <= most} for own in truth]
                hits = [
                    len(own & set(best)) / min(len(own), K) for best, own in zip(found.labels, rare, strict=True) if own
                ]
                told.append(f"{np.mean(hits):.3f}" if len(hits) >= 30 else "–")  # of fewer examples it says nothing
            print(f"| {name} | {way} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    os.environ["SHORTLIST_DATA"], *names = sys.argv[1:]
    main(names)
