"""One way to use any model file, whatever it ranks by: texts, or rows of features."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist import Ranking
    from shortlist.inputs import Examples


def load_model(path: Path, n_jobs: int | None = None) -> Any:
    """The model of a file, set to use that many threads where it can."""
    from shortlist import load

    model = load(path)
    learner = learner_of(model)
    if n_jobs is not None and "n_jobs" in learner.get_params():
        learner.set_params(n_jobs=n_jobs)
    return model


def learner_of(model: Any) -> Any:
    """The learner of a Categorizer; a learner itself."""
    return getattr(model, "learner_", model)


def rank_batch(model: Any, batch: Examples, k: int) -> Ranking:
    """Rank the texts or rows of a batch, whichever the model takes."""
    if hasattr(model, "text_"):
        if batch.texts is None:
            raise InputError("the model ranks texts, and the data hold rows of features")
        return model.rank(batch.texts, k)
    if batch.rows is None:
        raise InputError("the model ranks rows of features, and the data hold texts")
    return model.rank_rows(batch.rows, k)


def learn_batch(model: Any, batch: Examples) -> None:
    """Learn the texts or rows of a batch, whichever the model takes."""
    if not hasattr(learner_of(model), "partial_fit"):
        raise InputError(f"{type(learner_of(model)).__name__} cannot go on learning; train it anew")
    if hasattr(model, "text_"):
        if batch.texts is None:
            raise InputError("the model learns from texts, and the data hold rows of features")
        model.learn_many(batch.texts, batch.labels)
    else:
        if batch.rows is None:
            raise InputError("the model learns from rows of features, and the data hold texts")
        model.learn_rows(batch.rows, batch.labels)


def describe(model: Any) -> dict[str, Any]:
    """The numbers of a model: examples, labels, features, edges."""
    learner = learner_of(model)
    facts = {
        "learner": type(learner).__name__,
        "examples": learner.n_examples_,
        "labels": len(learner.classes_),
        "features": learner.n_features_in_,
    }
    return facts | ({"edges": learner.n_edges_} if hasattr(learner, "n_edges_") else {})
