"""The version, where each public name stands, and which learners there are.

Nothing of the package is imported before it is asked for, so that ``import shortlist`` is cheap.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

VERSION = "0.1.0.dev0"

WHERE = {
    "Categorizer": "models.categorizer",
    "DocumentRanker": "models.document_ranker",
    "Evaluation": "measures",
    "Explanation": "data.ranking",
    "FeatureFocus": "learners.index.feature_focus",
    "FrequencyBaseline": "learners.frequency",
    "IndependentIndex": "learners.index.independent",
    "InputError": "errors",
    "LabelVocabulary": "label_vocabulary",
    "MMP": "learners.prototypes.mmp",
    "MapSVM": "learners.documents.svms",
    "ModelFileError": "errors",
    "MrrSVM": "learners.documents.svms",
    "NdcgSVM": "learners.documents.svms",
    "PRank": "learners.ratings.prank",
    "Propensities": "measures",
    "QueryRanking": "learners.documents.queries",
    "Ranking": "data.ranking",
    "Rater": "models.rater",
    "RetrievalIndex": "learners.documents.retrieval_index",
    "RocSVM": "learners.documents.svms",
    "Rocchio": "learners.prototypes.rocchio",
    "RowCategorizer": "models.row_categorizer",
    "Rules": "models.rules",
    "ShortlistError": "errors",
    "TextRater": "models.rater",
    "TextVectorizer": "text.vectorizer",
    "TopicPerceptron": "learners.prototypes.topic_perceptron",
    "TunedIndex": "learners.index.tuned_index",
    "WidrowHoff": "learners.ratings.widrow_hoff",
    "drawn_for_check": "confidence.spot_checks",
    "evaluate": "measures",
    "evaluate_documents": "measures",
    "evaluate_ratings": "measures",
    "hierarchical_f1": "measures",
    "load": "files.store",
    "measure": "measures",
    "per_label": "measures",
    "read": "inputs",
    "read_vocabulary": "label_vocabulary",
}

# each file may define learners
LEARNERS = ["shortlist.learners"]


def public(name: str) -> Any:
    """What a public name stands for."""
    return getattr(import_module(f"shortlist.{WHERE[name]}"), name)


def storable(kind: str) -> Any:
    """The class of that name that model files may hold: a public one, or a learner that has
    just been added.
    """
    return public(kind) if kind in WHERE else learner_classes().get(kind)


def learner_classes() -> dict[str, type]:
    """The classes that the files of the learners' rooms define, but those that leave something to
    others.

    A package of your own learners is known once its name is in ``LEARNERS``.
    """
    return _classes(tuple(LEARNERS))


@cache
def _classes(rooms: tuple[str, ...]) -> dict[str, type]:
    import inspect  # not above: they load a dozen modules that ``import shortlist`` has no need of
    import pkgutil

    classes_of_rooms: dict[str, type] = {}
    for room in rooms:
        package = import_module(room)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            classes = inspect.getmembers(import_module(module.name), inspect.isclass)
            defined_here = [
                (name, member) for name, member in classes if member.__module__ == module.name
            ]
            classes_of_rooms.update(
                (name, member) for name, member in defined_here if not inspect.isabstract(member)
            )
    return classes_of_rooms
