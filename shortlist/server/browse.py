"""Looking into a model: votes with their places in the text, labels by name, strongest connections."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.categories.answering import BIAS
from shortlist.errors import InputError


def facts(model: Any) -> dict[str, Any]:
    """The numbers and settings of a model."""
    learner = model.learner_
    return {
        "learner": type(learner).__name__,
        "text": model.text_.get_params(),
        "parameters": learner.get_params(deep=False),
        "examples": learner.n_examples_,
        "labels": int(learner.label_counts_.size),
        "features": learner.n_features_in_,
        "edges": getattr(learner, "n_edges_", None),
    }


def explanation(model: Any, text: str, label: Any) -> dict[str, Any]:
    """The votes for a label, each with the places in the text where its feature stands."""
    found = model.learner_._explain_row(model.text_.rows([text]), label)
    columns = [column for column, _ in found.votes]
    names = iter(model.text_.names([column for column in columns if column != BIAS], text))
    spans = model.text_.spans(text)
    votes = [
        {"feature": "(any text)", "vote": vote, "spans": []} if column == BIAS
        else {"feature": next(names), "vote": vote, "spans": spans.get(column, [])}
        for column, vote in found.votes
    ]  # fmt: skip
    return {"label": label, "score": found.score, "votes": votes}


def strongest(model: Any, label: Any, n: int) -> list[dict[str, Any]]:
    """The features with the strongest connections to a label. Reads the whole index."""
    learner = model.learner_
    if not hasattr(learner, "strongest"):
        raise InputError(f"{type(learner).__name__} has no index whose connections could be shown")
    pairs = learner.strongest(label, n)
    names = model.text_.names([column for column, _ in pairs])
    return [{"name": name, "weight": weight} for name, (_, weight) in zip(names, pairs, strict=True)]


class LabelSearch:
    """All labels of a model, found by any part of their names. Labels only ever arrive, so the list is extended."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._names: list[Any] = []
        self._folded: list[str] = []

    def find(self, wanted: str, first: int, n: int) -> dict[str, Any]:
        """Some of the labels that contain these letters: exact ones first, then by beginning, then by frequency."""
        counts = self.model.learner_.label_counts_
        if len(self._names) < counts.size:
            self._names = self.model.classes_.tolist()
            self._folded += [str(name).casefold() for name in self._names[len(self._folded) :]]
        part = wanted.casefold()
        hits = [i for i, name in enumerate(self._folded) if part in name] if part else list(range(len(self._names)))
        if part:
            near = [(self._folded[i] != part) + (not self._folded[i].startswith(part)) for i in hits]
        else:
            near = [0] * len(hits)
        chosen = [hits[i] for i in np.lexsort((-counts[hits], near))[first : first + n]] if hits else []
        labels = [{"label": self._names[i], "examples": int(counts[i])} for i in chosen]
        return {"labels": labels, "found": len(hits)}
