"""The shapes of questions about the queue, and of answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from shortlist.server.schemas import Document, FieldValue, Label, Question, Share, Whole, encodable

Person = Annotated[
    str,
    Field(
        min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$",
        description="Who asks: a name of your choice. Two people never have the same text at a time.",
    ),
    AfterValidator(encodable),
]  # fmt: skip
Key = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")]
Order = Literal["gain", "date", "random"]
State = Literal["waiting", "judged", "skipped", "flagged"]


class AddQuestion(Question):
    texts: list[Document] = Field(
        min_length=1,
        description="Texts to judge, or documents of fields. What is there already is not added again.",
    )


class AddAnswer(BaseModel):
    added: int
    known: int = Field(description="How many were there already.")


class NextQuestion(Question):
    person: Person
    order: Order = Field(
        "gain", description="gain: what would teach most; date: as they came; random: as a lottery has it."
    )
    seconds: Whole = Field(900, ge=1, le=86_400, description="How long the text is this person's alone.")


class ItemAnswer(BaseModel):
    id: str = Field(description="The key to learn its judgement with: then it counts as judged, and counts once.")
    text: str | dict[str, FieldValue]
    state: State
    note: str
    time: float = Field(description="When it was added, in seconds since 1970.")
    person: str | None = Field(description="Who has it, or had it last.")
    until: float | None = Field(description="When it is free again for others; null if it is.")
    example: int | None = Field(description="The number of its judgement in the journal.")


class Progress(BaseModel):
    waiting: int = Field(description="Texts still to be judged, also those that somebody has.")
    held: int = Field(description="Those of them that somebody has just now.")
    judged: int
    skipped: int
    flagged: int
    total: int


class NextAnswer(BaseModel):
    item: ItemAnswer | None = Field(description="The text; null if none is left, or others have all that are.")
    progress: Progress


class MoveQuestion(Question):
    ids: list[Key] = Field(min_length=1, max_length=1000)
    to: Literal["skipped", "later", "flagged", "waiting"] = Field(
        description="skipped: out of the queue; flagged: set aside for somebody to look at; later: behind all others; "
        "waiting: back into the queue, also what this person has and does not want to judge now."
    )
    person: Person
    note: Annotated[str, Field(max_length=1000), AfterValidator(encodable)] = Field("", description="Why.")


class MoveAnswer(BaseModel):
    moved: int
    progress: Progress


class ItemsAnswer(BaseModel):
    items: list[ItemAnswer] = Field(description="Newest first.")


class SureQuestion(Question):
    precision: Share = Field(0.95, description="Decide so that this share of the labels is right.")
    most: Whole = Field(1000, ge=1, le=1000, description="Texts to look at, from those that wait.")


class SureExample(BaseModel):
    id: str
    text: str = Field(description="The first 200 characters.")
    labels: list[Label]
    probability: float = Field(description="Of the least sure of them.")


class SureAnswer(BaseModel):
    looked_at: int = Field(description="Texts that wait and that nobody has, as many of them as were asked for.")
    sure: int = Field(description="Those of them that the model would decide alone.")
    examples: list[SureExample] = Field(description="Some of them, the least sure first.")
    ids: list[str] = Field(description="All of them, to have them decided.")


class DecideQuestion(Question):
    ids: list[Key] = Field(min_length=1, max_length=1000, description="What /v1/queue/sure has answered.")
    precision: Share = Field(0.95, description="As it was asked there.")


class DecideAnswer(BaseModel):
    decision: int | None = Field(description="Its number, for /v1/queue/undo; null if nothing was decided.")
    decided: int = Field(description="Texts that were learned; those of which the model is not sure are left out.")


class UndoDecisionQuestion(Question):
    decision: Whole = Field(ge=1, le=2**53)


class UndoDecisionAnswer(BaseModel):
    undone: int = Field(description="Examples that were taken back, and wait again.")
