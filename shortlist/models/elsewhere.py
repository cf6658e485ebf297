"""Arguments that scikit-learn's own estimators take and a Categorizer does not, and what to do
instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from shortlist.errors import InputError

ELSEWHERE = {
    "n_jobs": (
        "threads are the learner's: learner=TunedIndex(n_jobs=2), or set_params(learner__n_jobs=2)"
    ),
    "random_state": (
        "the order of examples is the learner's: learner=TunedIndex(random_state=1), or "
        "set_params(learner__random_state=1)"
    ),
    "class_weight": (
        "labels have no weights, which would make probabilities wrong: "
        "set_rules(Rules(tame=0.05)) favours rare ones"
    ),
    "sample_weight": (
        "examples have no weights: leave out those that count for nothing; score takes "
        "sample_weight"
    ),
}


def refuse_elsewhere(names: Iterable[str]) -> None:
    """Refuse arguments that there are not; say what to do instead where that is known."""
    for name in names:
        if name in ELSEWHERE:
            raise InputError(ELSEWHERE[name])
        raise TypeError(f"a Categorizer takes no argument {name!r}")
