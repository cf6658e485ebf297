"""The shapes of questions and answers, from which the OpenAPI document is made."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from shortlist.server.entries import RESERVED_FIELDS

# Values: texts, documents of several fields, numbers, labels, keys.


def encodable(text: str) -> str:
    """Refuse half a surrogate pair: it is no character and cannot be written to disk."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("holds half a character (a lone surrogate)") from None
    return text


def _field_name(name: str) -> str:
    if name in RESERVED_FIELDS:
        raise ValueError(f"a field cannot be called {name}, which an export has beside the fields")
    if not re.fullmatch(r"[^\x00-\x1f\x7f]{1,100}", name):
        raise ValueError("the name of a field is one line of 1 to 100 characters")
    return encodable(name)


def _label_name(name: str) -> str:
    if not name.strip():
        raise ValueError("a label needs letters, and this one is blank")
    return encodable(name)


def _whole(value: object) -> object:
    """Take the JSON number 7.0 as 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


LINE_CHARACTER = r"[^\x00-\x1f\x7f]"
ONE_LINE_PATTERN = f"^{LINE_CHARACTER}+$"
ONE_WORD_PATTERN = r"^[\x21-\x7e]+$"
Number = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, BeforeValidator(_whole)]
ExampleNumber = Annotated[
    int,
    Field(ge=1, le=2**53, description="The number of the example in the journal."),
    BeforeValidator(_whole),
]
Share = Annotated[float, Field(ge=0, le=1)]
Text = Annotated[str, AfterValidator(encodable)]
FIELD_NAME_SCHEMA: dict[str, Any] = {
    "minLength": 1,
    "maxLength": 100,
    "pattern": ONE_LINE_PATTERN,
    "not": {"enum": RESERVED_FIELDS},
}
FieldValue = Text | Number | list[Text]
Fields = Annotated[
    dict[Annotated[str, AfterValidator(_field_name)], FieldValue],
    Field(
        min_length=1,
        max_length=50,
        json_schema_extra={"propertyNames": FIELD_NAME_SCHEMA},
        description=(
            "A document of fields: texts, numbers, and lists of texts, which are categories."
        ),
    ),
]
SentDocument = Annotated[
    # error sentences leave these tags out
    Annotated[Text, Tag("[text]")] | Annotated[Fields, Tag("[fields]")],
    Discriminator(lambda document: "[fields]" if isinstance(document, dict) else "[text]"),
]
KeptRow = Annotated[
    dict[
        Annotated[str, Field(min_length=1, max_length=200), AfterValidator(encodable)],
        Annotated[str, Field(max_length=1000), AfterValidator(encodable)],
    ],
    Field(max_length=50),
]
AnyLabel = str | int | float
LabelName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        pattern=ONE_LINE_PATTERN,
        description="One line of text, not blank.",
        json_schema_extra={"pattern": rf"^{LINE_CHARACTER}*[^\x00-\x1f\x7f\s]{LINE_CHARACTER}*$"},
    ),
    AfterValidator(_label_name),
]
ManyLabelNames = Annotated[list[LabelName], Field(max_length=100_000)]
Vector = Annotated[
    list[Number],
    Field(
        min_length=1,
        max_length=65536,
        description="The vector of the text, if the model was learned with vectors.",
    ),
]
Key = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        pattern=ONE_WORD_PATTERN,
        description=(
            "A name of your choice. An example whose key is known is not learned again, so a "
            "retry is safe."
        ),
    ),
]
PersonName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=ONE_LINE_PATTERN,
        description="Who asks, if the token does not say.",
    ),
    AfterValidator(encodable),
]
ItemKeys = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200, pattern=ONE_WORD_PATTERN)]],
    Field(min_length=1, max_length=1000),
]
ManyItemKeys = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200, pattern=ONE_WORD_PATTERN)]],
    Field(min_length=1, max_length=100_000),
]
QueueState = Literal["waiting", "judged", "skipped", "flagged"]
Limit = Annotated[int, Query(ge=1, le=1000)]
PrecisionQuery = Annotated[float, Query(ge=0, le=1, description="The precision asked for.")]


Described = dict[str, Any]  # an answer that the description of its route explains


class Question(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(BaseModel):
    error: str = Field(description="What is wrong and what to do, in one sentence.")


# Ranking and explaining.


class AtMost(Question):
    label: LabelName = Field(
        description="This label and the narrower ones, by the vocabulary of the model."
    )
    n: Whole = Field(ge=0, le=1000)


class RankQuestion(Question):
    text: SentDocument | list[SentDocument] = Field(
        description="One text, or a document of fields, or a list of them.",
        examples=["wheat exports rose"],
    )
    vector: Vector | list[Vector] | None = Field(
        None, description="The vector of the text, or a list for a list."
    )
    k: Whole = Field(10, ge=1, le=1000, description="How many labels to give for each text.")
    coverage: Share | None = Field(
        None,
        description="Instead of k labels, as many as list all true ones for this share of texts.",
    )
    min_probability: Share | None = Field(
        None, description="Leave out labels that are less likely to be right."
    )
    precision: Share = Field(0.95, description="Assign labels so that this share of them is right.")
    only: ManyLabelNames | None = Field(None, description="Rank only these labels.")
    but: ManyLabelNames = Field([], description="Rank all labels but these.")
    below: list[LabelName] | None = Field(
        None,
        max_length=1000,
        description="Rank only these and narrower labels, by the vocabulary of the model.",
    )
    at_most: list[AtMost] = Field(
        [], max_length=100, description="How many labels of a kind to give at most."
    )
    tame: float = Field(
        0.0,
        ge=-1,
        le=1,
        description="Scores are multiplied by (mean / examples of the label) to this power.",
    )


class NamedLabel(BaseModel):
    label: AnyLabel
    name: str = Field("", description="What people call it, if the model has a vocabulary.")


class ScoredLabel(NamedLabel):
    score: float
    probability: float | None = Field(description="That the label is right; null if not known yet.")


class Decision(BaseModel):
    assigned: list[AnyLabel] = Field(
        description="The labels that the model would assign automatically."
    )
    reason: str | None = Field(description="Why it assigns none; null if it assigns some.")


class RankAnswer(BaseModel):
    rankings: list[list[ScoredLabel]] = Field(
        description="The best labels of each text, best first."
    )
    decisions: list[Decision] = Field(description="What the model would assign to each text.")


class ExplainQuestion(Question):
    text: SentDocument
    vector: Vector | None = None
    label: LabelName | None = Field(
        None, description="The label to explain; the best one if not given."
    )


class Vote(BaseModel):
    feature: str | int = Field(description="A word, or the name of a column, or its number from 0.")
    vote: float
    spans: list[Annotated[list[int], Field(min_length=2, max_length=2)]] = Field(
        [],
        description="Its places in the text: first character, and one after the last. The text of "
        "a document "
        "is that of its fields, joined by line feeds.",
    )


class PassageVote(BaseModel):
    start: int = Field(description="The first character in the text.")
    end: int = Field(description="One after the last.")
    vote: float


class StruckWordAnswer(BaseModel):
    word: str
    person: str = Field(description="Who struck it out.")
    spans: list[Annotated[list[int], Field(min_length=2, max_length=2)]]


class ExplainAnswer(NamedLabel):
    score: float
    votes: list[Vote] = Field(description="Heaviest first. The votes sum to the score.")
    passages: list[PassageVote] = Field(
        [],
        description="The sentences of the text, in order; paragraphs where sentences are long. "
        "Their votes sum to those of the words in the text.",
    )
    struck: list[StruckWordAnswer] = Field(
        [], description="The words of the text that do not count for the label."
    )
    encoded: int | None = Field(
        None,
        description="If the encoder cut off the rest of the text, how many characters it read.",
    )
    nearest: list[dict[str, Any]] = Field(
        [],
        description=(
            "The nearest learned examples (similarity, text, labels), if texts have vectors."
        ),
    )


# Models that rate texts.


class TextsQuestion(Question):
    text: Text | list[Text] = Field(
        description="One text, or a list of them.", examples=["a joy from the start"]
    )


class ExplainTextQuestion(Question):
    text: Text


# Learning. A judgement names a right label, a wrong one, or says that all are wrong.


JUDGES_SOMETHING: list[Any] = [
    {"properties": {"labels": {"minItems": 1}}, "required": ["labels"]},
    {"properties": {"wrong": {"minItems": 1}}, "required": ["wrong"]},
    {"properties": {"complete": {"const": True}}, "required": ["complete"]},
]


class JudgedLabels(Question):
    model_config = ConfigDict(json_schema_extra={"anyOf": JUDGES_SOMETHING})

    labels: list[LabelName] = Field(
        [], description="The labels that fit the text: all of them, if it is complete."
    )
    wrong: list[LabelName] = Field([], description="Labels that were crossed out.")
    complete: bool | None = Field(
        None,
        description="Whether all other labels are wrong; else they are not judged. If not given: "
        "true if nothing was crossed out. True without labels says that no label fits the text.",
    )

    @model_validator(mode="after")
    def _judges_something(self) -> JudgedLabels:
        if not (self.labels or self.wrong or self.complete):
            raise ValueError(
                "needs a label that is right, or one that is wrong; where none of the labels fits, "
                'say "complete": true'
            )
        return self


class ExampleQuestion(JudgedLabels):
    text: SentDocument
    vector: Vector | None = None
    because: list[Annotated[Text, Field(min_length=1, max_length=1000)]] = Field(
        [],
        max_length=100,
        description="Words or phrases of the text that decide; all others count half.",
    )
    key: Key = None
    checked: bool = Field(
        False,
        description="Whether it is a spot check: drawn by chance from all texts that arrive, and "
        "judged without seeing the model's answer.",
    )


class RepairQuestion(JudgedLabels):
    number: ExampleNumber


class LearnQuestion(Question):
    examples: list[ExampleQuestion] = Field(min_length=1)


class ReceiptAnswer(BaseModel):
    number: int = Field(
        description="The number of the example or the change in the journal, for undo."
    )
    new: bool = Field(
        description="False if it was done before, or its key was known: nothing was changed."
    )


class LearnedExample(ReceiptAnswer):
    place: int | None = Field(
        description="The rank of its best label before; null if not among the first five."
    )
    learned: bool = Field(description="False if the model cannot learn it; /v1/model says why.")


class LearnAnswer(BaseModel):
    learned: list[LearnedExample]


class ChangeQuestion(Question):
    change: Literal["rename", "merge", "split", "retire", "restore"]
    labels: list[LabelName] = Field(
        min_length=1, max_length=1000, description="The labels that change."
    )
    into: LabelName | None = Field(
        None, description="The new name, or the label to merge into; not to retire or restore."
    )
    key: Key = None


class StrikePreviewQuestion(Question):
    word: Annotated[Text, Field(min_length=1, max_length=1000, pattern=r"\S")] = Field(
        description="A word or phrase."
    )
    label: LabelName | None = Field(
        None, description="The label that it must not count for; any if not given."
    )
    precision: Share = Field(0.95, description="Compare what is assigned at this precision.")


class StrikeQuestion(Question):
    word: Annotated[Text, Field(min_length=1, max_length=1000, pattern=r"\S")] = Field(
        description="A word or phrase."
    )
    label: LabelName | None = Field(
        None, description="The label that it must not count for; any if not given."
    )
    undo: bool = Field(False, description="Let it count again.")
    key: Key = None


class StrikeEffect(BaseModel):
    texts: int = Field(description="How many texts were looked at, at most 10,000.")
    change: int = Field(description="How many of them would change.")
    some: list[dict[str, Any]] = Field(
        description="The first of these: text, best label and labels decided, now and then."
    )


class StrikePreview(BaseModel):
    waiting: StrikeEffect = Field(description="The texts that wait in the queue.")
    decided: StrikeEffect = Field(description="The texts that the model decided.")


class UndoQuestion(Question):
    number: ExampleNumber


# The queue.


class AddQuestion(Question):
    texts: list[SentDocument] = Field(
        min_length=1, description="Texts to judge. Known ones are not added again."
    )
    rows: list[KeptRow] | None = Field(
        None, description="What to keep beside each text, as its id and date, for exports."
    )


class NextQuestion(Question):
    person: PersonName
    order: Literal["gain", "date", "random"] = Field(
        "gain",
        description=(
            "gain: what would teach most; date: in order of arrival; random: in a random order."
        ),
    )
    seconds: Whole = Field(
        900, ge=1, le=86_400, description="How long the text is reserved for this person."
    )
    id: str | None = Field(
        None,
        max_length=200,
        pattern=ONE_WORD_PATTERN,
        description="Rather the text that has or had this id, if nobody else has it.",
    )


class MoveQuestion(Question):
    ids: ItemKeys
    to: Literal["skipped", "later", "flagged", "waiting"] = Field(
        description="skipped: out of the queue; flagged: set aside for somebody to look at; "
        "later: behind all others; waiting: back into the queue."
    )
    person: PersonName
    note: Annotated[str, Field(max_length=1000), AfterValidator(encodable)] = Field(
        "", description="Why."
    )


class SureQuestion(Question):
    precision: Share = Field(0.95, description="Decide so that this share of the labels is right.")
    most: Whole = Field(1000, ge=1, le=100_000, description="How many waiting texts to look at.")


class StandingQuestion(Question):
    on: bool
    precision: Share = Field(0.95, description="Decide so that this share of the labels is right.")
    labels: Annotated[list[LabelName], Field(min_length=1, max_length=100_000)] | None = Field(
        None, description="Only texts to which it would give nothing but these; null for all."
    )


class DecideQuestion(Question):
    ids: ManyItemKeys = Field(description="The ids that /v1/queue/sure has answered.")
    precision: Share = 0.95
    learn: bool = Field(
        False, description="Learn what is decided, too: mistakes then confirm themselves."
    )


class UndoDecisionQuestion(Question):
    decision: Annotated[int, Field(ge=1, le=2**53), BeforeValidator(_whole)] | None = Field(
        None, description="The number of one decision."
    )
    since: Number | None = Field(
        None, description="Or all decisions from this moment on, in seconds since 1970."
    )
    until: Number | None = Field(None, description="Only those before this moment.")
    label: LabelName | None = Field(None, description="Only texts that were given this label.")


# Promotion.


class ForceQuestion(Question):
    force: bool = Field(
        False, description="Even if a group of labels falls, or examples cannot be learned."
    )
