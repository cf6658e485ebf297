"""What the server answers who looks back: agreement, quality over time, drift, and what an audit found."""

from __future__ import annotations

from pydantic import BaseModel, Field

from shortlist.server.schemas import Label, PassedOver, Question


class AgreementOfTwo(BaseModel):
    people: list[str] = Field(description="Two names.")
    texts: int = Field(description="How many texts both have judged.")
    equal: float = Field(description="The share of them with equal labels.")
    kappa: float | None = Field(description="Cohen's kappa; null where a text has several labels, or chance decides.")


class AgreementAnswer(BaseModel):
    texts: int = Field(description="How many texts were judged by more than one person.")
    pairs: list[AgreementOfTwo]


class QualityWindow(BaseModel):
    last: int = Field(description="The number of the last example.")
    time: float = Field(description="When it was learned; seconds since 1970.")
    examples: int
    p1: float = Field(alias="P@1", description="The share of examples of which a right label stood first before.")
    low: float = Field(description="Of the 95 % interval (Wilson).")
    high: float


class Unknown(BaseModel):
    now: float | None = Field(description="The share of words that were unknown, in the newest examples.")
    before: float | None = Field(description="The same in those before them.")


class Drift(BaseModel):
    rankings: int = Field(description="How many honest rankings these numbers are from.")
    expected: float | None = Field(description="How likely the best labels were said to be, on average.")
    right: float | None = Field(description="How often they were right.")
    calibration_error: float | None
    decided_alone: float | None = Field(description="The share of texts that can be decided alone at 95 % precision.")
    unknown: Unknown


class CorrectedLabel(BaseModel):
    label: Label
    name: str = Field("", description="What people call it, where the model has a vocabulary.")
    judged: int = Field(description="Examples in which it was right.")
    missed: int = Field(description="Those of them of which no right label stood first.")
    crossed_out: int


class WatchAnswer(BaseModel):
    quality: list[QualityWindow] = Field(description="Windows of 200 examples, oldest first.")
    drift: Drift
    corrected: list[CorrectedLabel] = Field(description="Most corrected first.")


class DoubtAnswer(BaseModel):
    number: int
    text: str = Field(description="The first 200 characters.")
    labels: list[Label]
    label: Label = Field(description="The one of them that is doubted most.")
    found: Label = Field(description="What the model found instead.")
    by: float = Field(description="How much more that scores.")
    words: list[tuple[str, float]] = Field(description="What speaks for it and against the label, strongest first.")


class DuplicateAnswer(BaseModel):
    numbers: list[int]
    text: str = Field(description="The first 200 characters.")
    labels: list[list[Label]] = Field(description="Of each of them; they differ.")


class ConfusionAnswer(BaseModel):
    label: Label
    found: Label = Field(description="What the model found instead.")
    numbers: list[int] = Field(description="In these examples.")


class MatrixAnswer(BaseModel):
    labels: list[Label]
    counts: list[list[int]] = Field(description="How often each label (row) is contradicted by each other (column).")


class AuditAnswer(BaseModel):
    examples: int = Field(description="How many were looked through.")
    contradicted: int
    doubts: list[DoubtAnswer] = Field(description="The examples that the model contradicts most, most doubtful first.")
    duplicates: list[DuplicateAnswer] = Field(description="Equal texts whose labels differ.")
    confusions: list[ConfusionAnswer] = Field(description="Pairs of labels, those most often confused first.")
    matrix: MatrixAnswer
    names: dict[str, str] = Field({}, description="What people call the labels, where the model has a vocabulary.")


class Compared(BaseModel):
    examples: int
    present: float
    candidate: float
    difference: float
    low: float = Field(description="Of the 95 % interval of the difference (paired bootstrap).")
    high: float


class ComparedWindow(Compared):
    begin: int = Field(alias="from", description="The first example of the window.")
    to: int


class ComparedGroup(Compared):
    group: str
    labels: int


class ComparedLabel(Compared):
    label: Label
    name: str = Field("", description="What people call it, where the model has a vocabulary.")


class Passing(BaseModel):
    passed_over: int = Field(description="Examples of the journal that the model cannot learn.")
    passed: list[PassedOver] = Field(description="The first of them, 100 at most.")


class RehearsalReport(Passing):
    all: Compared = Field(description="P@1, each example ranked before it was learned.")
    windows: list[ComparedWindow] = Field(description="The same over time.")
    groups: list[ComparedGroup] = Field(description="Right labels found, by groups of labels of like frequency.")
    labels: list[ComparedLabel] = Field(description="The same for the labels that differ most.")
    falls: list[str] = Field(description="Groups for which the candidate is worse by more than chance.")


class Candidate(BaseModel):
    time: float | None = Field(description="When it was rehearsed; seconds since 1970.")
    learner: str | None
    fits: bool = Field(description="Whether it was rehearsed against the model that is served now.")
    report: RehearsalReport


class RehearsalProgress(BaseModel):
    done: int
    of: int


class RehearsalAnswer(BaseModel):
    candidate: Candidate | None = Field(description="Null if there is none.")
    can_go_back: bool
    current: bool = Field(description="False while the journal is learned anew by what was promoted.")
    running: RehearsalProgress | None = Field(description="Examples of the rehearsal under way; null if there is none.")
    problem: str | None = Field(description="Why the last rehearsal came to nothing; null if it did not.")
    learners: list[str] = Field(description="The names of learners that a candidate may have.")


class RehearseAnswer(BaseModel):
    examples: int = Field(description="How many will be replayed.")


class PromoteQuestion(Question):
    force: bool = Field(
        False, description="Even where a group of labels falls, or examples of the journal cannot be learned."
    )


class PromoteAnswer(Passing):
    all: Compared


class GoBackQuestion(Question):
    force: bool = Field(False, description="Even where examples of the journal cannot be learned.")


class GoBackAnswer(Passing):
    went_back: bool
