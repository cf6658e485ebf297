"""One text, as a question asks for it: its best labels, how likely they are, and what the model would do alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.models.categorizer import Categorizer
from shortlist.models.observing import DEPTH
from shortlist.models.rules import Rules
from shortlist.server.schemas import RankQuestion

LEAST = 10  # labels that a decision looks at


def decided(
    model: Categorizer, texts: Sequence[str], question: RankQuestion, rules: Rules | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The ranking and the decision, as they are answered; texts holds the one, with its vector if it has any."""
    deep = DEPTH if question.coverage is not None else max(question.k, LEAST)
    ranking = model.rank(texts, deep, rules)
    kept = ranking.ids >= 0
    if question.coverage is not None:
        kept &= model._listed(ranking, question.coverage)
    else:
        kept[:, question.k :] = False
    if question.min_probability is not None:
        with np.errstate(invalid="ignore"):
            kept &= ranking.probabilities >= question.min_probability
    (own,) = model._decide(texts, ranking, model._aim("f1", question.precision))
    (one,) = ranking.only(kept)
    found = [
        {"label": label, "score": score, "probability": chance if chance == chance else None}
        for (label, score), chance in zip(one, one.probabilities.tolist(), strict=True)
    ]
    return found, {"assigned": list(own), "reason": None if own else str(own.reason)}
