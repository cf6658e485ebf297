"""How near the best labels are to the true ones, by the hierarchy of a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from shortlist.arrays.given_labels import Label
from shortlist.concepts.vocabulary import LabelVocabulary
from shortlist.measures import hierarchical_f1
from shortlist.models.base import Table
from shortlist.ranking import Ranking

TITLE = "By the hierarchy of the vocabulary, broader labels included"


def near_misses(
    rankings: Iterable[Ranking], truth: Iterable[Sequence[Label]], vocabulary: LabelVocabulary
) -> dict[str, dict[str, float]]:
    """hP, hR and hF of the best label, and of as many as are true. A ranking that is shorter gives what it has."""
    best = [[str(label) for label, _ in one] for ranking in rankings for one in ranking]
    own = [[str(label) for label in labels] for labels in truth]

    def measured(given: Iterator[Iterable[str]]) -> dict[str, float]:
        return dict(zip(("hP", "hR", "hF"), hierarchical_f1(given, own, vocabulary.broader), strict=True))

    as_many = (islice(labels, len(true)) for labels, true in zip(best, own, strict=True))
    return {"the best": measured(labels[:1] for labels in best), "as many as are true": measured(as_many)}


def as_table(found: dict[str, dict[str, float]]) -> Table:
    return Table(TITLE, ["labels given", "hP", "hR", "hF"], [[name, *row.values()] for name, row in found.items()])
