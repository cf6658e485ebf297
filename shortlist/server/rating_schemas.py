"""The shapes of questions and answers where ratings are given."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from shortlist.server.document_shapes import Text
from shortlist.server.schemas import Key, Label, LabelName, Number, Question, RowModelAnswer, Vote

FURTHEST = 2**53  # whole numbers beyond it are not all different as float64
Rating = (
    LabelName
    | Annotated[int, Field(ge=-FURTHEST, le=FURTHEST)]
    | Annotated[float, Field(allow_inf_nan=False, ge=-FURTHEST, le=FURTHEST)]
)


class TextsQuestion(Question):
    text: Text | list[Text] = Field(description="One text, or a list of them.", examples=["a joy from the start"])


class ExplainTextQuestion(Question):
    text: Text


class TextExplanation(BaseModel):
    answer: Label = Field(description="The rating.")
    score: float
    votes: list[Vote] = Field(description="Heaviest first. The votes sum to the score.")


class RatedText(Question):
    text: Text
    rating: Rating = Field(description="The right one; one that is new to the scale comes in at its place.")
    key: Key = None


class RatedRow(Question):
    row: list[Number] = Field(min_length=1, description="A number for each column.")
    rating: Rating = Field(description="The right one; one that is new to the scale comes in at its place.")
    key: Key = None


class LearnTextsQuestion(Question):
    examples: list[RatedText] = Field(min_length=1)


class LearnRowsQuestion(Question):
    examples: list[RatedRow] = Field(min_length=1)
    columns: list[Text] | None = Field(None, description="The names of the columns, which must be those learned from.")


class Rated(BaseModel):
    number: int = Field(description="The example's number in the journal, for undo.")
    new: bool = Field(description="False if its key was known: then nothing was learned.")
    steps: int | None = Field(
        description="How many steps of the scale the model was off before; null for a rating that was new to it."
    )


class LearnRatingsAnswer(BaseModel):
    learned: list[Rated]


class RollingRatings(BaseModel):
    window: int = Field(description="How many of the last examples are measured.")
    exact: float | None = Field(description="The share of them that were rated rightly before they were learned.")
    within_1: float | None = Field(description="The share of them that were off by one step at the most.")
    MAE: float | None = Field(description="How many steps they were off, on average.")
    steps: list[int | None] = Field(description="How many steps each was off, oldest first.")


class RaterAnswer(RowModelAnswer):
    text: dict[str, object] | None = Field(None, description="The settings of the text part, where texts are rated.")
    scale: list[Rating] = Field(description="Its ratings, lowest first.")
    columns: list[str] | None = Field(description="The names of the columns; null where texts are rated.")
    calibrated: bool = Field(
        description="Whether it knows how probable each rating is; no longer, once it has learned since."
    )
    journal: int = Field(description="Examples in the journal.")
    undone: int = Field(description="Those of them that were taken back.")
    follows: int = Field(description="The number of the newest example that this process has learned.")
    snapshot: int = Field(description="The number of the newest example that is in a snapshot.")
    read_only: bool
    rolling: RollingRatings
