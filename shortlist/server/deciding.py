"""The model decides texts of the queue: at a person's word, or each that arrives (standing)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from shortlist.encoders import EndpointError
from shortlist.errors import InputError
from shortlist.files.drafts import whole_file
from shortlist.models.answers import Assigned
from shortlist.server.context import ServerContext
from shortlist.server.entries import Judge, Judgement
from shortlist.server.journal_errors import Conflict
from shortlist.server.logs import log_failure
from shortlist.server.promises import Promises
from shortlist.server.queue_order import decidable
from shortlist.server.review_queue import Item, Queue
from shortlist.server.teaching import Teaching
from shortlist.server.text_vectors import vector_to_learn

STANDING_FILE = "standing.json"
ARRIVALS_AT_A_TIME = 200
SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True)
class Standing:
    """A standing decision: each arriving text is decided if the model is sure of it."""

    precision: float
    labels: list[str] | None = None  # that it may decide; None for all
    person: str = ""  # who has asked for it

    @classmethod
    def of(cls, folder: Path) -> Standing | None:
        """Return that of a state directory; None if there is none."""
        try:
            return cls(**json.loads((folder / STANDING_FILE).read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as problem:
            raise InputError(
                f"{folder / STANDING_FILE} cannot be read ({problem}); remove it, and set the "
                "standing decision again"
            ) from None

    def write(self, folder: Path) -> None:
        with whole_file(folder / STANDING_FILE) as file:
            file.write(json.dumps(asdict(self), ensure_ascii=False).encode())


class Deciding:
    """Decides texts of the queue; each decision is one commit of the journal."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._teaching = Teaching(context)
        self.promises = Promises(context)

    async def sure(
        self, items: Sequence[Item], precision: float
    ) -> tuple[list[tuple[Item, Assigned]], list[float]]:
        """Return the texts that would be decided, with their labels; and the gain of judging each
        text.
        """
        context = self._context
        return await decidable(context.replica.model, context.as_ranked, items, precision)

    async def decide(
        self,
        items: Sequence[Item],
        precision: float,
        person: str,
        learn: bool = False,
        labels: Sequence[str] | None = None,
    ) -> tuple[int | None, int]:
        """Decide texts that are reserved for the model, and release the others.

        Returns the number of the decision, None if nothing was decided, and how many texts were.
        """
        paused = self.promises.why_paused(precision)
        queue = self._context.queue()
        decided: list[tuple[Item, Assigned]] = []
        try:
            if paused is not None:
                raise Conflict(paused)
            decided, _ = await self.sure(items, precision)
            if labels is not None:
                allowed = set(labels)
                decided = [pair for pair in decided if {str(label) for label in pair[1]} <= allowed]
            judgements = [
                Judgement(
                    item.text,
                    list(names),
                    item.key,
                    person=person,
                    vector=await vector_to_learn(self._context, item.text, None),
                    judge=Judge.LEARNED_MODEL if learn else Judge.MODEL,
                )
                for item, names in decided
            ]
            receipts = await self._teaching.learn(judgements) if judgements else []
        except (InputError, EndpointError):  # a label was retired meanwhile, or an endpoint is away
            await queue.run(Queue.release_from_model, items)
            raise
        numbers = {item.number for item, _ in decided}
        undecided = [item for item in items if item.number not in numbers]
        await queue.run(Queue.release_from_model, undecided)
        return (receipts[0].number if receipts else None), len(decided)

    async def keep_deciding(self) -> None:
        """Decide what arrives, as long as there is a standing decision; each text once."""
        last_problem = ""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            try:
                while await self._decide_arrivals():
                    pass
                last_problem = ""
            except Exception as problem:
                if repr(problem) != last_problem:  # once, not every second
                    last_problem = repr(problem)
                    log_failure("cannot decide what arrives", problem)

    async def _decide_arrivals(self) -> bool:
        """Decide some texts that arrived; returns whether there were any."""
        standing = Standing.of(self._context.settings.folder)
        if standing is None or self.promises.why_paused(standing.precision) is not None:
            return False
        share = self.promises.checks_due().share
        queue = self._context.queue()
        items = await queue.run(Queue.reserve_arrivals, share, ARRIVALS_AT_A_TIME)
        if items:
            await self.decide(items, standing.precision, standing.person, labels=standing.labels)
        return bool(items)
