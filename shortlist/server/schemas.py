"""The shapes of questions and answers, from which the OpenAPI document is made."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from shortlist.server.document_shapes import Document, FieldValue, Text, encodable, number


def _whole(value: object) -> object:
    """In JSON 7.0 is the whole number 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]


def _said(name: str) -> str:
    if not name.strip():
        raise ValueError("a label needs letters, and this one is blank")
    return encodable(name)


LINE = r"[^\x00-\x1f\x7f]"
LabelName = Annotated[
    str,
    Field(
        min_length=1, max_length=200, pattern=f"^{LINE}+$", description="One line of text, which is not blank.",
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
        min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$",
        description="A name of your choice. An example whose key is known is not learned again, so a retry is safe.",
    ),
]  # fmt: skip
Span = Annotated[list[int], Field(min_length=2, max_length=2)]


JUDGED = ("labels", "wrong")  # of which an example has at least one


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
    prior: Signed = Field(0.0, description="What labels ten times as frequent as the mean lose of their scores.")
    tame: Signed = Field(0.0, description="Scores are multiplied by (mean / examples of the label) to this power.")


class ScoredLabel(BaseModel):
    label: Label
    name: str = Field("", description="What people call it, where the model has a vocabulary.")
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
    feature: str
    vote: float
    spans: list[Span] = Field(
        description="Where it stands in the text: first character, and the one after the last. The text of a document "
        "of fields is that of its fields, a line feed between them."
    )


class ExplainAnswer(BaseModel):
    label: Label
    name: str = Field("", description="What people call it, where the model has a vocabulary.")
    score: float
    votes: list[Vote] = Field(description="Heaviest first. The votes sum to the score.")


class Judgement(Question):
    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"properties": {name: {"minItems": 1}}, "required": [name]} for name in JUDGED]}
    )

    labels: list[LabelName] = Field([], description="The labels that fit the text: all of them, if it is complete.")
    wrong: list[LabelName] = Field([], description="Labels that were crossed out; none of those that fit.")
    complete: bool | None = Field(
        None,
        description="Whether all other labels are wrong, too. If not, they were not judged, and are left alone. "
        "If this is not given, they are wrong if nothing was crossed out.",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Judgement:
        if not (self.labels or self.wrong):
            raise ValueError("needs a label that is right, or one that is wrong")
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


class Learned(BaseModel):
    number: int = Field(description="The example's number in the journal, for undo.")
    new: bool = Field(description="False if its key was known: then nothing was learned.")
    place: int | None = Field(description="Where its best label stood before; null if not among the first five.")
    learned: bool = Field(description="False if the model cannot learn it, as /v1/model says why; else it has.")


class RepairAnswer(BaseModel):
    number: int = Field(description="The number that it has in the journal now.")
    new: bool = Field(description="False if it had been repaired so before: then nothing was changed.")


class LearnAnswer(BaseModel):
    learned: list[Learned]


class ChangeQuestion(Question):
    change: Literal["rename", "merge", "split", "retire", "restore"]
    labels: list[LabelName] = Field(min_length=1, max_length=1000, description="The labels that change.")
    into: LabelName | None = Field(
        None, description="The new name, or the label to merge into; not to retire or restore."
    )
    key: Key = None


class ChangeAnswer(BaseModel):
    number: int = Field(description="The change's number in the journal, for undo.")
    new: bool = Field(description="False if its key was known: then nothing was changed.")


class UndoQuestion(Question):
    number: Whole = Field(ge=1, le=2**53, description="The number of the example to take back.")


class UndoAnswer(BaseModel):
    number: int
    new: bool = Field(description="False if it had been taken back before.")


class Rolling(BaseModel):
    window: int = Field(description="How many of the last examples are measured.")
    R1: float | None = Field(description="The share of them whose best label stood first before they were learned.")
    R5: float | None = Field(description="The share of them with a right label among the first five.")
    places: list[int | None] = Field(description="Where each one's best label stood, oldest first.")


class Speed(BaseModel):
    ranked_per_second: float = Field(description="Texts, over the last ten seconds, in this process.")
    microseconds: float | None = Field(description="For ranking one text, on average.")


class FieldBeside(BaseModel):
    field: str
    kind: Literal["category", "number", "either"]
    known: list[str] = Field(description="Categories that it has met, in alphabetical order; 200 at most.")


class PassedOver(BaseModel):
    number: int
    problem: str = Field(description="Why it cannot be learned.")


class ModelAnswer(BaseModel):
    learner: str
    text: dict[str, object] = Field(description="The settings of the text part.")
    parameters: dict[str, object] = Field(description="The settings of the learner.")
    examples: int
    labels: int
    features: int
    edges: int | None
    bytes: int = Field(description="The size of the newest snapshot.")
    journal: int = Field(description="Examples in the journal.")
    undone: int = Field(description="Those of them that were taken back.")
    follows: int = Field(description="The number of the newest example that this process has learned.")
    snapshot: int = Field(description="The number of the newest example that is in a snapshot.")
    passed_over: int = Field(description="Examples of the journal that this model cannot learn.")
    passed: list[PassedOver] = Field(description="The first of them, 100 at most.")
    read_only: bool
    limits: dict[str, int]
    fields: list[str] | None = Field(description="The fields that it has learned words of; null if texts have none.")
    values: list[FieldBeside] = Field(description="The fields beside texts that it has met.")
    rolling: Rolling
    speed: Speed


Number = Annotated[float, Field(allow_inf_nan=False)]
Feature = str | int


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
    row: Whole = Field(0, ge=0, description="Which of the rows to explain, from 0; documents compete with the others.")


class RowVote(BaseModel):
    feature: Feature = Field(description="The name of a column, or its number from 0.")
    vote: float


class RowExplanation(BaseModel):
    answer: Label = Field(description="The rating or the label; of a document its number.")
    score: float
    votes: list[RowVote] = Field(description="Heaviest first. The votes sum to the score.")


class RowModelAnswer(BaseModel):
    task: str
    learner: str
    parameters: dict[str, object] = Field(description="The settings of the learner.")
    numbers: dict[str, int] = Field(description="Examples, features and so on.")
    bytes: int = Field(description="The size of the model file.")
    limits: dict[str, int]
    speed: Speed


class LabelCount(BaseModel):
    label: Label
    name: str = Field("", description="What people call it, where the model has a vocabulary.")
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


class EntriesAnswer(BaseModel):
    examples: list[EntryAnswer]


class Health(BaseModel):
    status: str


class Me(BaseModel):
    name: str = Field(description="Empty where the server does not know people.")
    role: Literal["read", "judge", "manage"]


class Problem(BaseModel):
    error: str = Field(description="What is wrong and what to do, in one sentence.")
