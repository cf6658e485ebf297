"""The model file of a Categorizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from shortlist.confidence.confidence import Confidence
from shortlist.estimators import clone
from shortlist.files.store import State, build, build_all
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.models.policy import LabelPolicy
from shortlist.models.rules import Rules
from shortlist.models.strikes import Strike, is_strike, words_for_any_label
from shortlist.models.text_parts import n_vector_columns
from shortlist.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from shortlist.models.categorizer import Categorizer

Model = TypeVar("Model", bound="Categorizer")


def state_of_categorizer(model: Categorizer) -> State:
    """The state of a Categorizer, for a model file."""
    model.check_fitted()
    settings = {
        "max_memory": model.max_memory,
        "search": model.search_,
        "encoder": model.encoder_name_,
        "encoder_digest": model.encoder_digest_,
        "retired": list(model.retired_) or None,
        "columns": model.training_columns_ or None,
        "rules": model.rules_.to_dict() if model.rules_ else None,
        "strikes": list(map(list, model.strikes_)) or None,
    }
    parts = {
        # the text part may know more words than the learner, never fewer
        "learner": model.learner_.to_state(),
        "text": model.text_.to_state(),
        "confidence": model.confidence_.to_state(),
    }
    if model.vocabulary_ is not None:
        parts["vocabulary"] = model.vocabulary_.to_state()
    present = {name: value for name, value in settings.items() if value is not None}
    return State("Categorizer", present, parts=in_order(parts))


def categorizer_of_state(kind: type[Model], state: State) -> Model:
    """The Categorizer of a state, checked."""
    text, learner = build_all([state.parts["text"], state.parts["learner"]])
    state.require(isinstance(text, TextVectorizer), "its text part is a TextVectorizer")
    is_learner = isinstance(learner, CategoryLearner)
    state.require(is_learner, "its learner is a learner of categories")
    n_words = max(0, learner.n_features_in_ - n_vector_columns(learner))
    all_words = n_words <= text.n_features_
    state.require(all_words, "each column of the learner is one of its text part")
    # Otherwise a small file could make the model allocate any number of hashed columns.
    all_hashed = text.hashed in (None, n_words)
    state.require(all_hashed, "its learner has all hashed columns")
    max_memory = state.settings.get("max_memory")
    model = kind(learner=clone(learner), text=clone(text), max_memory=max_memory)
    model.text_ = text
    model.learner_ = learner
    model.search_ = state.settings.get("search")
    model.noted_confidence_ = Confidence.from_state(state.parts["confidence"])
    take_encoder(model, state)
    take_policy(model, state)
    columns = state.settings.get("columns")
    are_named = columns is None or are_columns(columns)
    state.require(are_named, "the columns of its training file have names")
    model.training_columns_ = columns
    return model


def take_encoder(model: Categorizer, state: State) -> None:
    """Take the name and the digest of the encoder whose vectors were learned."""
    name = state.settings.get("encoder")
    digest = state.settings.get("encoder_digest")
    kinds = {type(name), type(digest)}
    state.require(kinds <= {str, type(None)}, "its encoder has a name and a digest")
    model.encoder_name_ = name
    model.encoder_digest_ = digest
    if digest is not None:
        model.encoder = name  # its weights are found by its name


def take_policy(model: Categorizer, state: State) -> None:
    """Take vocabulary, retired labels and rules."""
    retired = state.settings.get("retired", [])
    are_known = isinstance(retired, list) and all(map(model.knows_label, retired))
    state.require(are_known, "its retired labels are its own")
    vocabulary = None
    if "vocabulary" in state.parts:
        vocabulary = build(state.parts["vocabulary"])
        is_vocabulary = isinstance(vocabulary, LabelVocabulary)
        state.require(is_vocabulary, "its vocabulary is a LabelVocabulary")
    strikes = state.settings.get("strikes", [])
    are_strikes = isinstance(strikes, list) and all(map(is_strike, strikes))
    state.require(are_strikes, "its struck words are texts, with a label or none")
    model.policy_ = LabelPolicy(
        vocabulary, tuple(retired), strikes=tuple(Strike(*strike) for strike in strikes)
    )
    model.text_.strike(words_for_any_label(model.strikes_))
    if "rules" in state.settings:
        model.set_rules(Rules(**state.settings["rules"]))


def in_order(parts: dict[str, State]) -> dict[str, State]:
    """The parts in the order of a model file."""
    return {name: parts[name] for name in PARTS_OF_A_FILE if name in parts}


PARTS_OF_A_FILE = ("text", "learner", "confidence", "vocabulary")


def are_columns(columns: object) -> bool:
    """Whether these are names of columns, one or several for each purpose."""
    if not isinstance(columns, dict):
        return False
    names = list(columns)
    for value in columns.values():
        names += value if isinstance(value, list) else [value]
    return all(isinstance(name, str) for name in names)
