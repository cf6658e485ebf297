"""shortlist: learn to rank from a stream."""

from typing import TYPE_CHECKING, Any

from shortlist.public_names import VERSION, WHERE, public

__version__ = VERSION
__all__ = ["__version__", *WHERE]

if TYPE_CHECKING:
    from shortlist.confidence.spot_checks import drawn_for_check as drawn_for_check
    from shortlist.data.ranking import Explanation as Explanation
    from shortlist.data.ranking import Ranking as Ranking
    from shortlist.errors import InputError as InputError
    from shortlist.errors import ModelFileError as ModelFileError
    from shortlist.errors import ShortlistError as ShortlistError
    from shortlist.files.store import load as load
    from shortlist.inputs import read as read
    from shortlist.label_vocabulary import LabelVocabulary as LabelVocabulary
    from shortlist.label_vocabulary import read_vocabulary as read_vocabulary
    from shortlist.learners.documents.queries import QueryRanking as QueryRanking
    from shortlist.learners.documents.retrieval_index import RetrievalIndex as RetrievalIndex
    from shortlist.learners.documents.svms import MapSVM as MapSVM
    from shortlist.learners.documents.svms import MrrSVM as MrrSVM
    from shortlist.learners.documents.svms import NdcgSVM as NdcgSVM
    from shortlist.learners.documents.svms import RocSVM as RocSVM
    from shortlist.learners.frequency import FrequencyBaseline as FrequencyBaseline
    from shortlist.learners.index.feature_focus import FeatureFocus as FeatureFocus
    from shortlist.learners.index.independent import IndependentIndex as IndependentIndex
    from shortlist.learners.index.tuned_index import TunedIndex as TunedIndex
    from shortlist.learners.prototypes.mmp import MMP as MMP
    from shortlist.learners.prototypes.rocchio import Rocchio as Rocchio
    from shortlist.learners.prototypes.topic_perceptron import TopicPerceptron as TopicPerceptron
    from shortlist.learners.ratings.prank import PRank as PRank
    from shortlist.learners.ratings.widrow_hoff import WidrowHoff as WidrowHoff
    from shortlist.measures import Evaluation as Evaluation
    from shortlist.measures import Propensities as Propensities
    from shortlist.measures import evaluate as evaluate
    from shortlist.measures import evaluate_documents as evaluate_documents
    from shortlist.measures import evaluate_ratings as evaluate_ratings
    from shortlist.measures import hierarchical_f1 as hierarchical_f1
    from shortlist.measures import measure as measure
    from shortlist.measures import per_label as per_label
    from shortlist.models.categorizer import Categorizer as Categorizer
    from shortlist.models.document_ranker import DocumentRanker as DocumentRanker
    from shortlist.models.rater import Rater as Rater
    from shortlist.models.rater import TextRater as TextRater
    from shortlist.models.row_categorizer import RowCategorizer as RowCategorizer
    from shortlist.models.rules import Rules as Rules
    from shortlist.text.vectorizer import TextVectorizer as TextVectorizer


def __getattr__(name: str) -> Any:
    if name not in WHERE:
        raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
    return public(name)


def __dir__() -> list[str]:
    return sorted(__all__)
