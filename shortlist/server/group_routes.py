"""The route of groups: texts that may share a label that nobody has named."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query, Response

from shortlist.models.categorizer import Categorizer
from shortlist.models.grouping import TextGroup
from shortlist.models.striking import DECIDED_AT
from shortlist.server import schemas
from shortlist.server.journal_errors import as_conflict
from shortlist.server.journal_history import History
from shortlist.server.review_queue import Queue
from shortlist.server.routes import SHOWN_CHARACTERS, Routes, as_json, get
from shortlist.server.text_vectors import documents_to_rank

MOST_GROUPED = 2000  # waiting texts, and examples, the newest of each


class GroupRoutes(Routes):
    """Groups waiting texts and examples for which none of the labels was right."""

    @get("/v1/queue/groups", schemas.Described)
    async def groups(
        self,
        precision: Annotated[float, Query(gt=0, le=1)] = DECIDED_AT,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> Response:
        """Groups of texts that may share a label that nobody has named, those with most that
        is new first.

        They are found among the waiting texts that the model does not decide at a `precision`
        (`waiting` were looked at), and examples that were judged to have none of the labels
        (`none_of_these`); the newest 2,000 of each. Each group has its telling `words`, three
        `typical` texts (200 characters), the `items` of the queue (`id` and `text`), and the
        numbers of its `examples`. To name a group, send its items to `/v1/learn`, each `id` as
        `key`, and its examples to `/v1/repair`.
        """
        items = await self.context.queue().run(Queue.items, "waiting", None, MOST_GROUPED)
        examples = await self.context.look_back(
            lambda journal: History(journal).newest_without_labels(MOST_GROUPED)
        )
        texts = [item.text for item in items] + [example.text for example in examples]
        documents = await documents_to_rank(self.context, texts)
        find = partial(
            Categorizer.group_unnamed,
            precision=precision,
            none_of_these=range(len(items), len(texts)),
        )
        with as_conflict():
            groups: list[TextGroup] = await self.replica.look(lambda model: find(model, documents))
        answers = []
        for group in groups[:limit]:
            of_queue = [items[number] for number in group.numbers if number < len(items)]
            answers.append(
                {
                    "words": group.words,
                    "typical": [text[:SHOWN_CHARACTERS] for text in group.typical],
                    "items": [{"id": item.key, "text": item.text} for item in of_queue],
                    "examples": [
                        examples[number - len(items)].number
                        for number in group.numbers
                        if number >= len(items)
                    ],
                }
            )
        return as_json({"waiting": len(items), "none_of_these": len(examples), "groups": answers})
