"""All experiments by name, paper after paper."""

from __future__ import annotations

from collections.abc import Iterable

from papers import (
    documents,
    index_ablations,
    index_boolean,
    index_comparison,
    index_leakage,
    index_older,
    index_properties,
    index_updates,
    rating_tables,
    topic_extensions,
    topics,
)
from papers.experiment import Experiment
from shortlist.errors import InputError

PAPERS = [
    topics.EXPERIMENTS,
    topic_extensions.EXPERIMENTS,
    rating_tables.EXPERIMENTS,
    documents.EXPERIMENTS,
    index_comparison.EXPERIMENTS,
    index_ablations.EXPERIMENTS,
    index_leakage.EXPERIMENTS,
    index_boolean.EXPERIMENTS,
    index_older.EXPERIMENTS,
    index_properties.EXPERIMENTS,
    index_updates.EXPERIMENTS,
]
CATALOGUE: dict[str, Experiment] = {one.name: one for experiments in PAPERS for one in experiments}


def chosen(names: Iterable[str]) -> list[Experiment]:
    """The experiments of these names, in the order of the catalogue; "all" means every one."""
    wanted = set(names)
    for name in wanted - set(CATALOGUE) - {"all"}:
        raise InputError(
            f"there is no experiment {name!r}; there are {', '.join(CATALOGUE)}, and all"
        )
    return [one for one in CATALOGUE.values() if "all" in wanted or one.name in wanted]
