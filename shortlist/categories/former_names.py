"""Names that learners of categories had until 0.1: they took rows that nobody had checked. They go with 0.2."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

INSTEAD = {
    "fit_rows": "fit",
    "fit_passes": "fit",
    "learn_rows": "partial_fit",
    "learn_passes": "partial_fit",
    "rank_rows": "rank",
    "predict_rows": "predict",
    "score_rows": "score",
    "explain_row": "explain",
}


def former(name: str, instead: str) -> Callable[..., Any]:
    """A method under a name that it had, which says so."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"{type(self).__name__}.{name} is no longer public and goes with version 0.2; use {instead}, which checks "
            "what it is given",
            FutureWarning,
            stacklevel=2,
        )
        return getattr(self, "_" + name)(*args, **kwargs)

    method.__name__, method.__doc__ = name, f"Deprecated: use ``{instead}``."
    return method


class FormerNames:
    """Base class: still answers to them."""


for _name, _instead in INSTEAD.items():
    setattr(FormerNames, _name, former(_name, _instead))
