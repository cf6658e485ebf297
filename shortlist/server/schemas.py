"""The shapes of questions and answers, from which the OpenAPI document is made."""

from __future__ import annotations

import re
from math import inf
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from shortlist.models.auditing import Confusion, Doubt, Duplicate
from shortlist.server.documents import BESIDE

# The shape of what is ranked and learned: a text, or a document of several fields.


def encodable(text: str) -> str:
    """Half a surrogate pair is no character, and no disk takes it."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("holds half a character (a lone surrogate)") from None
    return text


def _field_name(name: str) -> str:
    if name in BESIDE:
        raise ValueError(f"a field cannot be called {name}, which an export has beside the fields")
    if not re.fullmatch(r"[^\x00-\x1f\x7f]{1,100}", name):
        raise ValueError("the name of a field is one line of 1 to 100 characters")
    return encodable(name)


def number(value: object) -> object:
    """In JSON 1 is the number 1.0; true is none. One that is too large for a float is refused as infinity is."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


Text = Annotated[str, AfterValidator(encodable)]
NAMING: dict[str, Any] = {"minLength": 1, "maxLength": 100, "pattern": r"^[^\x00-\x1f\x7f]+$", "not": {"enum": BESIDE}}
FieldValue = Text | Annotated[float, Field(allow_inf_nan=False), BeforeValidator(number)] | list[Text]
Fields = Annotated[
    dict[Annotated[str, AfterValidator(_field_name)], FieldValue],
    Field(
        min_length=1, max_length=50, json_schema_extra={"propertyNames": NAMING},
        description="A document of fields: texts, numbers, and lists of texts, which are categories.",
    ),
]  # fmt: skip
Document = Annotated[
    Annotated[Text, Tag("[text]")] | Annotated[Fields, Tag("[fields]")],  # which no sentence about a problem shows
    Discriminator(lambda given: "[fields]" if isinstance(given, dict) else "[text]"),
]


def _whole(value: object) -> object:
    """In JSON 7.0 is the whole number 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]


def _said(name: str) -> str:
    if not name.strip():
        raise ValueError("a label needs letters, and this one is blank")
    return encodable(name)


LINE = r"[^\x00-\x1f\x7f]"
ONE_LINE, ONE_WORD = f"^{LINE}+$", r"^[\x21-\x7e]+$"
LabelName = Annotated[
    str,
    Field(
        min_length=1, max_length=200, pattern=ONE_LINE, description="One line of text, which is not blank.",
        json_schema_extra={"pattern": rf"^{LINE}*[^\x00-\x1f\x7f\s]{LINE}*$"},
    ),
    AfterValidator(_said),
]  # fmt: skip
Label = str | int | float
Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(number)]
Signed = Annotated[float, Field(ge=-1, le=1), BeforeValidator(number)]
Vector = Annotated[
    list[Annotated[float, Field(allow_inf_nan=False), BeforeValidator(number)]],
    Field(min_length=1, max_length=65536, description="Where the model was learned with vectors: that of the text."),
]
Key = Annotated[
    str | None,
    Field(
        min_length=1, max_length=200, pattern=ONE_WORD,
        description="A name of your choice. An example whose key is known is not learned again, so a retry is safe.",
    ),
]  # fmt: skip
Span = Annotated[list[int], Field(min_length=2, max_length=2)]


# What a judgement says at least: a label that is right, one that is wrong, or that all are wrong.
SAID: list[Any] = [{"properties": {name: {"minItems": 1}}, "required": [name]} for name in ("labels", "wrong")]
SAID.append({"properties": {"complete": {"const": True}}, "required": ["complete"]})


class Question(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AtMost(Question):
    label: LabelName = Field(description="This label and what is narrower, by the vocabulary of the model.")
    n: Whole = Field(ge=0, le=1000)


class RankQuestion(Question):
    sample: ClassVar[str] = '{"text": "wheat exports rose"}'
    text: Document | list[Document] = Field(
        description="One text, or a document of fields, or a list of them.", examples=["wheat exports rose"]
    )
    vector: Vector | list[Vector] | None = Field(
        None, description="Where the model was learned with vectors: that of the text, or a list of those of the texts."
    )
    k: Whole = Field(10, ge=1, le=1000, description="How many labels to give for each text.")
    coverage: Share | None = Field(
        None, description="Instead of k labels, as many as it takes to list all true ones, for this share of texts."
    )
    min_probability: Share | None = Field(None, description="Leave out labels that are less likely to be right.")
    precision: Share = Field(0.95, description="Labels are assigned so that this share of them is right.")
    only: list[LabelName] | None = Field(None, max_length=100_000, description="Rank no other labels than these.")
    but: list[LabelName] = Field([], max_length=100_000, description="Rank all labels but these.")
    below: list[LabelName] | None = Field(
        None, max_length=1000, description="Rank these and what is narrower only, by the vocabulary of the model."
    )
    at_most: list[AtMost] = Field([], max_length=100, description="How many labels of a kind to give at most.")
    tame: Signed = Field(0.0, description="Scores are multiplied by (mean / examples of the label) to this power.")


class Named(BaseModel):
    label: Label
    name: str = Field("", description="What people call it, where the model has a vocabulary.")


class ScoredLabel(Named):
    score: float
    probability: float | None = Field(description="That the label is right; null where that is not known yet.")


class Decision(BaseModel):
    assigned: list[Label] = Field(description="The labels that the model would assign alone.")
    reason: str | None = Field(description="Why there is none; null where there is one.")


class RankAnswer(BaseModel):
    rankings: list[list[ScoredLabel]] = Field(description="For each text its best labels, best first.")
    decisions: list[Decision] = Field(description="For each text what the model would do alone.")


class ExplainQuestion(Question):
    sample: ClassVar[str] = '{"text": "wheat exports rose"}'
    text: Document
    vector: Vector | None = None
    label: LabelName | None = Field(None, description="The label to explain; the best one if not given.")


class Vote(BaseModel):
    feature: str | int = Field(description="A word, or the name of a column, or its number from 0.")
    vote: float
    spans: list[Span] = Field(
        [], description="Where it stands in the text: first character, and the one after the last. The text of a "
        "document of fields is that of its fields, a line feed between them."
    )  # fmt: skip


class Near(BaseModel):
    similarity: float = Field(description="The cosine of both vectors.")
    text: Document
    labels: list[Label]


class ExplainAnswer(Named):
    score: float
    votes: list[Vote] = Field(description="Heaviest first. The votes sum to the score.")
    nearest: list[Near] = Field(
        [], description="The examples learned here that are nearest in meaning, where texts have vectors."
    )


class Judgement(Question):
    model_config = ConfigDict(json_schema_extra={"anyOf": SAID})

    labels: list[LabelName] = Field([], description="The labels that fit the text: all of them, if it is complete.")
    wrong: list[LabelName] = Field([], description="Labels that were crossed out; none of those that fit.")
    complete: bool | None = Field(
        None,
        description="Whether all other labels are wrong, too. If not, they were not judged, and are left alone. "
        "If this is not given, they are wrong if nothing was crossed out. With no label at all, true says that none "
        "of the labels fits the text.",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Judgement:
        if not (self.labels or self.wrong or self.complete):
            raise ValueError(
                'needs a label that is right, or one that is wrong; where none of the labels fits, say "complete": true'
            )
        return self


class ExampleQuestion(Judgement):
    text: Document
    vector: Vector | None = None
    key: Key = None


class RepairQuestion(Judgement):
    number: Whole = Field(ge=1, le=2**53, description="The number of the example to take back and to learn anew.")


class LearnQuestion(Question):
    sample: ClassVar[str] = '{"examples": [{"text": "wheat exports rose", "labels": ["grain"]}]}'
    examples: list[ExampleQuestion] = Field(min_length=1)


class Receipt(BaseModel):
    number: int = Field(description="The number of the example or the change in the journal, for undo.")
    new: bool = Field(description="False if that had been done before, or its key was known: nothing was changed.")


class Learned(Receipt):
    place: int | None = Field(description="Where its best label stood before; null if not among the first five.")
    learned: bool = Field(description="False if the model cannot learn it, as /v1/model says why; else it has.")


class LearnAnswer(BaseModel):
    learned: list[Learned]


class ChangeQuestion(Question):
    change: Literal["rename", "merge", "split", "retire", "restore"]
    labels: list[LabelName] = Field(min_length=1, max_length=1000, description="The labels that change.")
    into: LabelName | None = Field(
        None, description="The new name, or the label to merge into; not to retire or restore."
    )
    key: Key = None


class UndoQuestion(Question):
    number: Whole = Field(ge=1, le=2**53, description="The number of the example to take back.")


class Rolling(BaseModel):
    window: int = Field(description="How many of the last examples are measured.")
    R1: float | None = Field(description="The share of them whose best label stood first before they were learned.")
    R5: float | None = Field(description="The share of them with a right label among the first five.")
    places: list[int | None] = Field(description="Where each one's best label stood, oldest first.")


class FieldBeside(BaseModel):
    field: str
    kind: Literal["category", "number", "either"]
    known: list[str] = Field(description="Categories that it has met, in alphabetical order; 200 at most.")


class PassedOver(BaseModel):
    number: int
    problem: str = Field(description="Why it cannot be learned.")


class Passing(BaseModel):
    passed_over: int = Field(description="Examples of the journal that the model cannot learn.")
    passed: list[PassedOver] = Field(description="The first of them, 100 at most.")


class AnyModel(BaseModel):
    learner: str
    parameters: dict[str, object] = Field(description="The settings of the learner.")
    bytes: int = Field(description="The size of the newest snapshot, or of the model file.")
    limits: dict[str, int]


class ModelAnswer(AnyModel, Passing):
    text: dict[str, object] = Field(description="The settings of the text part.")
    journal: int = Field(description="Examples in the journal.")
    undone: int = Field(description="Those of them that were taken back.")
    follows: int = Field(description="The number of the newest example that this server has learned.")
    snapshot: int = Field(description="The number of the newest example that is in a snapshot.")
    read_only: bool
    examples: int
    labels: int
    features: int
    edges: int | None
    fields: list[str] | None = Field(description="The fields that it has learned words of; null if texts have none.")
    text_columns: list[str] | None = Field(
        description="The columns of texts that it was trained from, if they have names."
    )
    values: list[FieldBeside] = Field(description="The fields beside texts that it has met.")
    rolling: Rolling


Number = Annotated[float, Field(allow_inf_nan=False)]


class RowsQuestion(Question):
    rows: list[Annotated[list[Number], Field(min_length=1)]] = Field(
        min_length=1, description="Rows of numbers, one for each column. Documents: those of one query.",
        examples=[[[0.2, 3.0], [0.5, 1.0]]],
    )  # fmt: skip
    columns: list[Text] | None = Field(None, description="The names of the columns, which must be those learned from.")
    ids: list[Text] | None = Field(None, description="A name for each document; their numbers if not given.")
    k: Whole = Field(10, ge=1, le=1000, description="How many labels to give, where labels are ranked.")


class RowsAnswer(BaseModel):
    answers: list[dict[str, object]] = Field(
        description="Ratings: for each row its rating, and how far it is from the rating below and the one above; "
        "where the model is calibrated, the probability of each rating of its scale, and the interval that holds the "
        "right one for 90 % of rows. "
        "Documents: their names or numbers, best first, and their scores. Labels: the best of each row, and theirs."
    )


class ExplainRowQuestion(RowsQuestion):
    row: Whole = Field(
        0, ge=0, le=2**53, description="Which of the rows to explain, from 0; documents compete with the others."
    )


class Explanation(BaseModel):
    answer: Label = Field(description="The rating or the label; of a document its number.")
    score: float
    votes: list[Vote] = Field(description="Heaviest first. The votes sum to the score.")


class TextsQuestion(Question):
    text: Text | list[Text] = Field(description="One text, or a list of them.", examples=["a joy from the start"])


class ExplainTextQuestion(Question):
    text: Text


class RowModelAnswer(AnyModel):
    task: str
    numbers: dict[str, int] = Field(description="Examples, features and so on.")


class LabelCount(Named):
    examples: int


class LabelsAnswer(BaseModel):
    labels: list[LabelCount]
    found: int = Field(description="How many labels match in all.")


class Connection(BaseModel):
    name: Label
    weight: float


class ConnectionsAnswer(BaseModel):
    connections: list[Connection]


class EntryAnswer(BaseModel):
    number: int
    time: float = Field(description="Seconds since 1970.")
    text: str = Field(description="The first 200 characters.")
    fields: dict[str, FieldValue] | None = Field(
        None, description="Where it is a document of fields: of each text the first 200 characters."
    )
    labels: list[Label]
    names: list[str] = Field([], description="What people call them, where the model has a vocabulary.")
    wrong: list[Label] = Field(description="The labels that were crossed out.")
    complete: bool = Field(description="Whether all other labels are wrong; false: they were not judged.")
    person: str = Field(description="Who judged; empty where the server does not know people.")
    place: int | None
    undone: bool
    key: str | None = Field(description="What it was learned under, to be safe against a retry.")
    change: bool = Field(description="Whether it is a change of labels, which only managers take back.")


class EntriesAnswer(BaseModel):
    examples: list[EntryAnswer]


class Health(BaseModel):
    status: str


class Me(BaseModel):
    name: str = Field(description="Empty where the server does not know people.")
    role: Literal["read", "judge", "manage"]


class Problem(BaseModel):
    error: str = Field(description="What is wrong and what to do, in one sentence.")


# Audits and rehearsals.


class AuditAnswer(BaseModel):
    examples: int = Field(description="How many were looked through.")
    contradicted: int
    doubts: list[Doubt] = Field(
        description="The examples contradicted most, most doubtful first: the label that is doubted most, "
        "what was found instead, by how much more that scores, and the words that speak for it, strongest first. Of "
        "texts the first 200 characters."
    )
    duplicates: list[Duplicate] = Field(description="Equal texts whose labels differ.")
    confusions: list[Confusion] = Field(description="Pairs of labels, those most often confused first.")
    matrix: dict[str, list[Any]] = Field(
        description="Its labels, and as counts how often each (row) is contradicted by each other (column)."
    )
    names: dict[str, str] = Field({}, description="What people call the labels, where the model has a vocabulary.")


class Compared(BaseModel):
    examples: int
    present: float
    candidate: float
    difference: float
    low: float = Field(description="Of the 95 % interval of the difference (paired bootstrap).")
    high: float


class ComparedPart(Compared):
    """Of a window its first and last example (from, to), of a group its name and how many labels, or a label."""

    model_config = ConfigDict(extra="allow")


class RehearsalReport(Passing):
    all: Compared = Field(description="P@1, each example ranked before it was learned.")
    windows: list[ComparedPart] = Field(description="The same over time.")
    groups: list[ComparedPart] = Field(description="Right labels found, by groups of labels of like frequency.")
    labels: list[ComparedPart] = Field(description="The same for the labels that differ most.")
    falls: list[str] = Field(description="Groups for which the candidate is worse by more than chance.")
    left_out: int = Field(0, description="Bad records of the file of examples, which the candidate was not taught.")


class Candidate(BaseModel):
    time: float | None = Field(description="When it was rehearsed; seconds since 1970.")
    learner: str | None
    fits: bool = Field(description="Whether it was rehearsed against the model that is served now.")
    report: RehearsalReport


class RehearsalAnswer(BaseModel):
    candidate: Candidate | None = Field(description="Null if there is none.")
    can_go_back: bool
    current: bool = Field(description="False while the journal is learned anew by what was promoted.")
    running: dict[str, int] | None = Field(
        description="Of the rehearsal under way, how many examples are done, of how many; null if there is none."
    )
    problem: str | None = Field(description="Why the last rehearsal came to nothing; null if it did not.")
    learners: list[str] = Field(description="The names of learners that a candidate may have.")


class RehearseAnswer(BaseModel):
    examples: int = Field(description="How many will be replayed.")


class ForceQuestion(Question):
    force: bool = Field(
        False, description="Even where a group of labels falls, or examples of the journal cannot be learned."
    )


class PromoteAnswer(Passing):
    all: Compared


# Questions about the queue, and answers.


Person = Annotated[
    str,
    Field(
        min_length=1, max_length=100, pattern=ONE_LINE,
        description="Who asks: a name of your choice. Two people never have the same text at a time.",
    ),
    AfterValidator(encodable),
]  # fmt: skip
ItemKey = Annotated[str, Field(min_length=1, max_length=200, pattern=ONE_WORD)]
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
    ids: list[ItemKey] = Field(min_length=1, max_length=1000)
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
    ids: list[ItemKey] = Field(min_length=1, max_length=1000, description="What /v1/queue/sure has answered.")
    precision: Share = Field(0.95, description="As it was asked there.")


class DecideAnswer(BaseModel):
    decision: int | None = Field(description="Its number, for /v1/queue/undo; null if nothing was decided.")
    decided: int = Field(description="Texts that were learned; those of which the model is not sure are left out.")


class UndoDecisionQuestion(Question):
    decision: Whole = Field(ge=1, le=2**53)


class UndoDecisionAnswer(BaseModel):
    undone: int = Field(description="Examples that were taken back, and wait again.")
