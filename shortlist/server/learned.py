"""Routes that list what was learned: the last examples, and all of them as a training file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from shortlist.models.auditing import shown
from shortlist.models.relabelling import Change
from shortlist.server import schemas
from shortlist.server.context import Context
from shortlist.server.documents import called
from shortlist.server.journal import Entry, Journal
from shortlist.server.looking import Limit
from shortlist.server.responses import JSON_LINES, answers, as_json
from shortlist.texts.fields import Value

LETTERS = 200  # of a text
PIECE = 2**16  # bytes of a long answer sent at a time


class LearnedRoutes:
    """Lists examples."""

    kind = JSON_LINES

    def __init__(self, context: Context) -> None:
        self._context, self._replica = context, context.replica

    def router(self) -> APIRouter:
        router = APIRouter()
        router.get("/v1/examples", **answers(schemas.EntriesAnswer, 422))(self.examples)
        router.get("/v1/journal", response_class=Response, **answers(str, 422, kinds=(self.kind,)))(self.export)
        return router

    async def examples(
        self,
        limit: Limit = 20,
        before: Annotated[int | None, Query(ge=1, le=2**53, description="Only those with smaller numbers.")] = None,
        key: Annotated[
            str, Query(max_length=200, pattern=r"^[\x21-\x7e]*$", description="Only those whose keys begin so.")
        ] = "",
    ) -> Response:
        """The examples learned last, newest first."""
        entries = [as_dict(entry) for entry in self._replica.journal.entries(before, limit, key)]
        name_of = self._context.served.name_of
        named = getattr(self._context.served, "vocabulary_", None) is not None
        for entry in entries:
            document = entry["text"]
            entry["text"] = shown(document)[:LETTERS]
            entry |= {"fields": short(document)} if isinstance(document, Mapping) else {}
            entry |= {"names": [*map(name_of, entry["labels"])]} if named else {}
        return as_json({"examples": entries})

    async def export(self) -> Response:
        """All examples learned and not taken back, as JSON lines: a training file like any other.

        It may take as long as it needs while it is being read; a connection that ends before the last chunk has not
        brought all of it.
        """
        return StreamingResponse(self._pieces(), media_type=self.kind)

    async def _pieces(self) -> AsyncIterator[bytes]:
        last, names = await self._context.look_back(last_and_names)
        number, lines = self.lines(0, names, last)
        while number:
            for piece in range(0, len(lines), PIECE):  # the middleware's clock starts anew with each piece taken
                yield lines[piece : piece + PIECE]
            number, lines = self.lines(number, names, last)

    def lines(self, after: int, names: Mapping[str, str], last: int) -> tuple[int, bytes]:
        """Some examples after a number, up to another, as lines of the file, and which was the last; 0 for none."""
        return self._replica.journal.lines(after, names, last)


def as_dict(entry: Entry) -> dict[str, Any]:
    """An example as it is answered; of a change of labels, what it says in words."""
    found = entry._asdict() | {"change": isinstance(entry.labels, dict)}
    del found["vector"]
    return found | ({"text": str(Change.of(entry.labels)), "labels": []} if isinstance(entry.labels, dict) else {})


def last_and_names(journal: Journal) -> tuple[int, dict[str, str]]:
    """The number of the last example, and what ours are called beside the fields of all up to it."""
    last = journal.version().examples
    return last, called(journal.field_names())


def short(document: Mapping[str, Value]) -> dict[str, Value]:
    """A document of fields without the ends of its long texts."""
    return {name: one[:LETTERS] if isinstance(one, str) else one for name, one in document.items()}
