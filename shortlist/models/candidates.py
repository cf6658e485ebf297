"""What a search tries: the usual model first, then other learners, and other features of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone

from shortlist.categories.index.feature_focus import FeatureFocus
from shortlist.categories.index.learner import IndexLearner
from shortlist.categories.index.tuned_index import TunedIndex
from shortlist.categories.learner import CategoryLearner
from shortlist.categories.one_versus_rest import OneVersusRest
from shortlist.categories.prototypes.mmp import MMP
from shortlist.categories.prototypes.rocchio import Rocchio
from shortlist.inputs.examples import Examples
from shortlist.labels import numbered
from shortlist.models.category_model import CategoryModel
from shortlist.models.text_batches import default_text
from shortlist.text.settings import PLAIN
from shortlist.text.vectorizer import TextVectorizer
from shortlist.texts.beside import WithVectors
from shortlist.texts.fields import Document

# Scores of all labels are made for each example, by one, and a problem for each label is solved, by the other: they are
# tried where examples times labels are no more than these.
MOST_SCORES, MOST_PROBLEMS = 2 * 10**9, 2 * 10**6

LEARNERS: tuple[CategoryLearner, ...] = (
    TunedIndex(min_weight=0.002, max_edges=100),
    TunedIndex(min_weight=0.0005, max_edges=1000, passes=4),
    TunedIndex(passes=5),
    MMP(step="passive-aggressive", margin=1.0, hypothesis="averaged", passes=5),
    OneVersusRest(),
    OneVersusRest(C=0.3),
    FeatureFocus(margin=0.3),
    Rocchio(),
)
# What texts can have beside single words, and how they are weighted.
PAIRS: dict[str, Any] = {"min_length": 1, "ngrams": 2, "character_weight": 0.6}  # of words of any length
FEATURES: tuple[dict[str, Any], ...] = (
    {"idf": None}, PLAIN | {"ngrams": 2}, PLAIN, PLAIN | {"ngrams": 2, "prefix": 5},
    PLAIN | PAIRS | {"characters": (2, 4)}, PLAIN | PAIRS | {"characters": (3, 4), "prefix": 4},
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A model that may be the best one, and how it differs from the usual one."""

    model: CategoryModel
    learner: CategoryLearner | None = None
    text: TextVectorizer | None = None

    @property
    def name(self) -> str:
        """The learner and its settings, and those of the text, where they are not the usual ones."""
        own = [] if self.learner is None else [called(self.learner)]
        own += [] if self.text is None else [f"text {changes(self.text, default_text())}"]
        return ", ".join(own) or "the usual"


def candidates(usual: CategoryModel, examples: Examples) -> list[Candidate]:
    """The usual model, and those that differ from it by other features or another learner.

    Where texts have vectors, another learner is the usual one with other settings: no other learns both.
    """
    labels = numbered(examples.labels or [], len(examples))
    n_scores = len(examples) * len(labels.names)
    bounded = getattr(usual, "max_memory", None) is not None
    some = [] if examples.texts is None else examples.texts[:1000]
    learners = [one for one in LEARNERS if fits(one, n_scores, bounded)]
    if isinstance(some, WithVectors):
        learners, some = [one for one in learners if isinstance(one, TunedIndex)], some.texts
    texts = features(some, labels.sets.recurring) if examples.texts is not None else []
    others = [candidate(usual, None, text) for text in texts] + [candidate(usual, one, None) for one in learners]
    return [Candidate(usual), *others]


def candidate(usual: CategoryModel, learner: CategoryLearner | None, text: TextVectorizer | None) -> Candidate:
    """The usual model with another learner, other features, or both."""
    parts = {"learner": learner, "text": text}
    model = clone(usual).set_params(**{name: part for name, part in parts.items() if part is not None})
    return Candidate(model, learner, text)


def fits(learner: CategoryLearner, n_scores: int, bounded: bool) -> bool:
    """Whether a learner can be tried on so many examples times labels, in memory that may be bounded."""
    if isinstance(learner, IndexLearner):
        return True
    most = MOST_PROBLEMS if isinstance(learner, OneVersusRest) else MOST_SCORES
    return n_scores <= most and not bounded


def features(texts: Sequence[Document], recurring: bool) -> list[TextVectorizer]:
    """The features that differ from the usual ones of such texts."""
    usual = default_text().settled(texts, recurring).get_params()
    found = [default_text().set_params(**settings) for settings in FEATURES]
    return [text for text in found if text.settled(texts, recurring).get_params() != usual]


def called(learner: BaseEstimator) -> str:
    """A learner by its class and the settings that are not those it has by itself."""
    settings = changes(learner, type(learner)())
    return type(learner).__name__ + (f"({settings})" if settings else "")


def changes(part: BaseEstimator, usual: BaseEstimator) -> str:
    """The settings of a part that are not those of the usual one, as they would be written."""
    own, others = part.get_params(deep=False), usual.get_params(deep=False)
    return ", ".join(f"{name}={value!r}" for name, value in own.items() if _plain(value) != _plain(others.get(name)))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
