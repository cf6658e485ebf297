"""How far people agree on the texts that two of them have judged."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from hashlib import blake2b
from itertools import combinations
from typing import Any

from shortlist.server.documents import kept
from shortlist.server.journal import ALONE, Journal, Judged

LOOKED_AT = 100_000  # examples at the end of the journal


def latest(journal: Journal) -> Iterable[Judged]:
    """The examples at the end of the journal."""
    number = max(0, journal.version().examples - LOOKED_AT)
    while some := journal.judged(number):
        yield from some
        number = some[-1].number


def agreement(examples: Iterable[Judged]) -> dict[str, Any]:
    """For each two people: the texts that both judged, the share of equal label sets, and Cohen's kappa.

    The last judgement of a text counts for each. Judgements of some labels only are left out, and so are those of
    nobody in particular and what the model decided. Kappa is there where each of these judgements is one label, and
    chance allows it.
    """
    judged: dict[bytes, dict[str, tuple[str, ...]]] = {}
    for one in examples:
        if one.person and one.complete and not one.person.endswith(ALONE):
            text = blake2b(kept(one.text)[0].encode(), digest_size=16).digest()
            judged.setdefault(text, {})[one.person] = tuple(sorted(map(str, one.labels)))
    together = {text: own for text, own in judged.items() if len(own) > 1}
    pairs: dict[tuple[str, str], list[tuple[tuple[str, ...], ...]]] = {}
    for own in together.values():
        for first, second in combinations(sorted(own), 2):
            pairs.setdefault((first, second), []).append((own[first], own[second]))
    found = []
    for people, both in sorted(pairs.items()):
        equal = sum(first == second for first, second in both) / len(both)
        found.append({"people": list(people), "texts": len(both), "equal": equal, "kappa": kappa(both)})
    return {"texts": len(together), "pairs": found}


def kappa(judged: list[tuple[tuple[str, ...], ...]]) -> float | None:
    """Cohen's kappa of single labels; None where there are several, or where all of both are the same label."""
    from sklearn.metrics import cohen_kappa_score

    if any(len(labels) != 1 for both in judged for labels in both) or len({one for both in judged for one in both}) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(cohen_kappa_score(*([labels[0] for labels in own] for own in zip(*judged, strict=True))))
