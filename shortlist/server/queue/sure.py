"""Texts of which the model is sure, decided alone: looked at first, learned then, and taken back at once if need be.

What the model decides is written down before it is learned. A server that is killed in between has learned all of it
or nothing, and knows which examples these are.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shortlist.models.answers import Assigned
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.models.observing import DEPTH
from shortlist.server.journal import ALONE
from shortlist.server.queue.gain import gains
from shortlist.server.queue.handing import pieces
from shortlist.server.queue.store import Item, NotThere, Queue
from shortlist.texts.fields import Document

Ready = Callable[[Sequence[Document]], Sequence[Any]]  # texts as a model ranks them
RESERVED = 120.0  # seconds


@dataclass(frozen=True)
class Sure:
    """A text and the labels that the model would assign alone."""

    item: Item
    labels: Assigned

    @property
    def least(self) -> float:
        return float(self.labels.probabilities.min())


async def sure_of(
    model: Categorizer, ready: Ready, items: Sequence[Item], precision: float
) -> tuple[list[Sure], list[float]]:
    """Those texts that the model would decide alone, and what judgements of all of them would gain."""
    found: list[Sure] = []
    gained: list[float] = []
    for first, last in pieces([len(shown(one.text)) for one in items]):
        some = items[first:last]
        texts = ready([one.text for one in some])
        decided = model._decide(texts, model.rank(texts, DEPTH), model._aim("f1", precision))
        found += [Sure(one, labels) for one, labels in zip(some, decided, strict=True) if labels]
        gained += gains(model, texts).tolist()
        await asyncio.sleep(0)  # let others have a turn
    return found, gained


def reserve(queue: Queue, keys: Sequence[str]) -> list[Item]:
    """Keep these texts from others while they are decided; those that somebody has, or has judged, are left out."""
    found = [item.number for item in map(queue.of_key, keys) if item is not None]
    return queue.lease_all(found, ALONE, RESERVED, most=len(found))


def note(queue: Queue, keys: Sequence[str]) -> int:
    """Write down what is about to be learned; gives the number of the decision."""
    with queue.writing():
        insert = "INSERT INTO decisions (time, keys) VALUES (?, ?)"
        number = queue.db.execute(insert, (time.time(), json.dumps(keys))).lastrowid
    assert number is not None
    return number


def withdraw(queue: Queue, decision: int, items: Sequence[Item]) -> None:
    """Nothing of a decision was learned: others may judge its texts, and it cannot be taken back."""
    with queue.writing():
        queue.db.execute("DELETE FROM decisions WHERE number = ?", (decision,))
    let_go(queue, items)


def examples_of(queue: Queue, decision: int) -> list[int]:
    """The numbers in the journal of what was decided alone, without what was taken back since."""
    with queue.explaining():
        row = queue.db.execute("SELECT keys FROM decisions WHERE number = ?", (decision,)).fetchone()
    if row is None:
        raise NotThere(f"there is no decision {decision}")
    items = map(queue.of_key, json.loads(row[0]))
    return [item.example for item in items if item is not None and item.example is not None]


def let_go(queue: Queue, items: Sequence[Item]) -> None:
    """Give back what was reserved and is not decided after all."""
    with queue.writing():
        update = "UPDATE items SET until = 0 WHERE number = ? AND person = ?"
        queue.db.executemany(update, [(item.number, ALONE) for item in items])
