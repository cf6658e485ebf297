"""Models made from settings, or opened from files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shortlist.data.validation import as_size
from shortlist.errors import InputError
from shortlist.files.store import load
from shortlist.learners.category_learner import CategoryLearner
from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import Encoder
from shortlist.models.memory import LEAST, MOST
from shortlist.models.model import TASKS, Model, Task, changed, named
from shortlist.public_names import public

if TYPE_CHECKING:
    from shortlist.models.document_ranker import DocumentRanker

TEXT = "text."  # what the settings of the text part begin with


@dataclass
class TrainingSettings:
    """The model to train, as the user set it."""

    task: Task = "categories"
    learner: str | None = None
    measure: str | None = None  # to optimise, where the learner can
    values: dict[str, Any] = field(default_factory=dict)  # NAME=VALUE, and text.NAME=VALUE
    max_memory: str | None = None  # of the whole process
    encoder: Encoder | None = None  # makes vectors of texts

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise InputError(f"--task must be one of {', '.join(TASKS)}, not {self.task!r}")
        if self.max_memory is not None and self.task != "categories":
            raise InputError(f"--max-memory is for --task categories, not {self.task}")
        if self.encoder is not None and self.task == "documents":
            raise InputError("--encoder is for --task categories and ratings, not documents")

    def check(self) -> None:
        """Refuse settings that do not exist, before anything is read."""
        self.model(of_texts=True)

    def model(self, *, of_texts: bool) -> Model[Any]:
        """A model that has learned nothing: for texts, or for rows of features."""
        if self.task == "documents":
            return self._document_ranker()
        of_text = {
            name.removeprefix(TEXT): value
            for name, value in self.values.items()
            if name.startswith(TEXT)
        }
        of_learner = {
            name: value for name, value in self.values.items() if not name.startswith(TEXT)
        }
        learner = changed(named(self.task, self.learner), of_learner)
        if of_texts:
            kind = public("Categorizer" if self.task == "categories" else "TextRater")
            model: Model[Any] = kind(
                learner, changed(kind().new_text(), of_text, prefix=TEXT), encoder=self.encoder
            )
        elif of_text:
            raise InputError(
                "the data hold rows of features, so that text.NAME=VALUE has no meaning"
            )
        elif self.encoder is not None:
            raise InputError("--encoder makes vectors of texts, and the data hold rows of features")
        else:
            model = public("RowCategorizer" if self.task == "categories" else "Rater")(learner)
        if self.max_memory is not None:
            bound_memory(model, self.max_memory)
        return model

    def _document_ranker(self) -> DocumentRanker:
        from shortlist.models.document_ranker import DocumentRanker

        values = dict(self.values)
        scale = values.pop("scale", "range")
        name = self.measure or self.learner
        learner = named(
            "documents",
            name,
            "--learner" if self.measure is None and self.learner else "--measure",
        )
        return DocumentRanker(changed(learner, values), scale)


def bound_memory(model: Model[Any], max_memory: str) -> None:
    """Bound the memory of the process while a model learns, libraries included."""
    if not isinstance(model, Categorizer):
        raise InputError(
            "--max-memory is for labels of texts; for rows of features use --set max_total_edges=N"
        )
    model.max_memory = (
        as_size(max_memory, "--max-memory", least=MOST.libraries + LEAST) - MOST.libraries
    )


def open_model(path: str | os.PathLike[str], n_jobs: int | None = None) -> Model[Any]:
    """The model of a file, set to use n_jobs threads; a learner of categories becomes a
    RowCategorizer.
    """
    model = load(path)
    if isinstance(model, CategoryLearner):
        model = public("RowCategorizer").of(model)
    if not isinstance(model, Model):
        raise InputError(
            f"{path} holds a {type(model).__name__} alone, which answers from Python only"
        )
    if n_jobs is not None:
        model.set_threads(n_jobs)
    return model
