"""The route that tells who taught a vote."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

from fastapi import Query, Response

from shortlist.models.auditing import shown
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.entries import Judgement
from shortlist.server.journal import Version
from shortlist.server.journal_errors import as_conflict
from shortlist.server.routes import SHOWN_CHARACTERS, Routes, as_json, get
from shortlist.server.taught import (
    BEFORE_THE_JOURNAL,
    Connection,
    Taught,
    connection,
    vote_of,
    weights,
    who_taught,
)


class TaughtRoutes(Routes):
    """Replays the journal with an eye on one connection. One replay runs at a time; another
    question ends it.
    """

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._asked: tuple[Connection, Version] | None = None
        self._replay: asyncio.Task[list[Taught]] | None = None
        self._stop = threading.Event()

    @get("/v1/taught", schemas.Described)
    async def taught(
        self,
        word: Annotated[str, Query(max_length=200, description="A word, or a pair of words.")],
        label: Annotated[str, Query(max_length=200)],
        limit: schemas.Limit = 20,
    ) -> Response:
        """The examples that gave a word its vote for a label (`taught`), those that added most
        first; `/v1/repair` gives an example other labels.

        Each adds to the `counted` weight and to the correction (`corrected`); `vote` is what both
        are worth now, for a word of value 1. `number` 0 stands for what was learned before the
        journal; `others` are the lines left out. All sum to the connection's `weight` and
        `correction`. Takes as long as learning the journal; asked again meanwhile, it goes on, and
        another question ends it.
        """
        model = self.replica.model
        with as_conflict():
            watched = connection(model, word, self.context.labels.known(label))
        # it goes on when the client gives up
        lines = await asyncio.shield(self._running(watched))
        worth = [vote_of(model, watched, line.counted, line.corrected) for line in lines]
        order = sorted(range(len(lines)), key=lambda place: -worth[place])
        shown_lines = [self._line(lines[place], worth[place]) for place in order[:limit]]
        others = order[limit:]
        counted, corrected = weights(model, watched)
        return as_json(
            {
                "taught": shown_lines,
                "others": {
                    "examples": len(others),
                    "counted": float(sum(lines[place].counted for place in others)),
                    "corrected": float(sum(lines[place].corrected for place in others)),
                },
                "weight": float(counted),
                "correction": float(corrected),
            }
        )

    def _running(self, watched: Connection) -> asyncio.Task[list[Taught]]:
        asked = watched, self.replica.journal.version()
        task = self._replay
        if task is not None and asked == self._asked:
            is_good = not task.done() or not (task.cancelled() or task.exception())
            if is_good:
                return task
        self._stop.set()
        stop = threading.Event()
        self._stop = stop
        self._asked = asked
        folder = self.context.settings.folder
        self._replay = asyncio.create_task(
            asyncio.to_thread(who_taught, folder, watched, lambda: not stop.is_set())
        )
        return self._replay

    def _line(self, line: Taught, vote: float) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "number": line.number,
            "counted": float(line.counted),
            "corrected": float(line.corrected),
            "vote": vote,
        }
        if line.number == BEFORE_THE_JOURNAL:
            return answer
        entry = self.replica.journal.entry(line.number)
        if isinstance(entry, Judgement):
            answer |= {
                "text": shown(entry.text)[:SHOWN_CHARACTERS],
                "labels": entry.labels,
                "person": entry.judge_in_words,
            }
        elif entry is not None:
            answer["text"] = str(entry.change)
        return answer
