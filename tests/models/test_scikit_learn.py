"""scikit-learn's law: every learner passes its checks, but those listed here, and the models
work with its tools.
"""

import warnings

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import shortlist as sl
from papers.comparators.one_versus_rest import OneVersusRest
from papers.comparators.rocchio_selection import RocchioSelection
from papers.query_scaler import QueryScaler
from shortlist.models.model import learners

COLUMNS_ARRIVE = "columns that were never seen may arrive, and are ranked by those that were"
LABELS_ARRIVE = (
    "a label may arrive at any time: two labels have two columns of scores, in order of first "
    "appearance"
)
NUMBERS = "labels and ratings may be any numbers, halves among them"
LISTS = "a list of lists names the labels of each example; it is no matrix"
ONE_QUERY = "documents are ranked among those of their query, of which one document says nothing"

# scikit-learn's checks that do not apply to a kind of learner, and why.
NOT_OURS = {
    "categories": {
        "check_n_features_in_after_fitting": COLUMNS_ARRIVE,
        "check_estimators_partial_fit_n_features": COLUMNS_ARRIVE,
        "check_classifiers_train": COLUMNS_ARRIVE,
        "check_classifiers_classes": LABELS_ARRIVE,
        "check_classifiers_regression_target": NUMBERS,
        "check_classifiers_multilabel_representation_invariance": LISTS,
    },
    "ratings": {"check_classifiers_regression_target": NUMBERS},
    "documents": {"check_fit2d_1sample": ONE_QUERY},
}


class OneQuery:
    """All documents answer one query, the least ones are not relevant: scikit-learn's checks
    know of neither.
    """

    def fit(self, X, y):
        return super().fit(X, y if y is None else np.asarray(y) - np.min(y), query=self.one(X))

    def score(self, X, y):
        return super().score(X, np.asarray(y) - np.min(y), query=self.one(X))

    @staticmethod
    def one(X):
        return np.zeros(X.shape[0] if hasattr(X, "shape") else len(X))


for entry in learners("documents").values():
    name = f"OneQuery{entry.func.__name__}"
    globals()[name] = type(name, (OneQuery, entry.func), {"__module__": __name__})


def instances():
    for task in NOT_OURS:
        kinds = {entry.func: entry() for entry in reversed(learners(task).values())}
        # the passes of their short names are for rows that a Rater has scaled
        if task == "ratings":
            kinds = {kind: kind() for kind in kinds}
        for kind, learner in kinds.items():
            yield globals()[f"OneQuery{kind.__name__}"]() if task == "documents" else learner


def not_ours(learner):
    task = next(
        task
        for task in NOT_OURS
        if any(isinstance(learner, one.func) for one in learners(task).values())
    )
    return NOT_OURS[task]


CHECKS = parametrize_with_checks(list(instances()), expected_failed_checks=not_ours)
# What is listed may fail: it is left out, since it takes longer to show a failure than to run all
# the others.
OURS = [one for one in CHECKS.args[1] if not getattr(one, "marks", ())]
# One learner of each kind is tried each time, the others in the long run: they share what the
# checks look at.
USUAL = sl.TunedIndex, sl.PRank, sl.MapSVM
OURS = [
    one if isinstance(one[0], USUAL) else pytest.param(*one, marks=pytest.mark.long) for one in OURS
]


@pytest.mark.parametrize(CHECKS.args[0], OURS, **CHECKS.kwargs)
def test_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.parametrize(
    "learner",
    [sl.FeatureFocus(), sl.PRank(), globals()["OneQueryMapSVM"]()],
    ids=lambda one: type(one).__name__,
)
def test_no_check_is_listed_that_would_pass(learner):
    results = check_estimator(
        learner, expected_failed_checks=not_ours(learner), on_fail=None, on_skip=None
    )
    assert {one["check_name"] for one in results if one["status"] == "xfail"} == set(
        not_ours(learner)
    )


# The models with scikit-learn's tools.

WORDS = {
    "grain": "wheat corn rye oats barley",
    "money": "bank rates loan credit bonds",
    "sport": "goal match team league cup",
}
CHANCE = np.random.default_rng(0)
TEXTS, LABELS = [], []
for number in range(90):
    label = list(WORDS)[number % 3]
    TEXTS.append(" ".join(CHANCE.choice(WORDS[label].split(), 3)))
    LABELS.append(label)
LISTS_OF_LABELS = [[label, "news"] if n % 2 else [label] for n, label in enumerate(LABELS)]
INDICATOR = np.array(
    [[label in own for label in [*WORDS, "news"]] for own in LISTS_OF_LABELS]
).astype(int)


def test_a_grid_search_over_a_model_made_with_no_arguments():
    grid = {"learner__step": [0.0, 1.0], "text__ngrams": [1, 2]}
    search = GridSearchCV(sl.Categorizer(), grid, cv=KFold(3)).fit(TEXTS, LABELS)
    assert search.best_score_ > 0.9
    assert search.best_estimator_.learner_.step == search.best_params_["learner__step"]
    assert search.best_estimator_.text_.ngrams == search.best_params_["text__ngrams"]


def test_parameters_of_parts_that_are_the_usual_ones():
    model = sl.Categorizer()
    assert model.get_params()["learner__step"] == sl.TunedIndex().step
    assert model.get_params()["text__tf"] == "log"
    assert model.learner is None
    assert model.set_params(learner__step=0.25).learner.step == 0.25
    assert model.text is None
    assert model.set_params(learner="mmp", learner__loss=2).learner.loss == 2
    assert isinstance(model.learner, sl.MMP)
    assert clone(sl.Categorizer("mmp")).learner == "mmp"
    assert sl.Rater().set_params(learner__passes=2).learner.passes == 2
    assert sl.DocumentRanker().set_params(learner__C=7.0, scale=None).learner.C == 7.0
    with pytest.raises(ValueError, match="Invalid parameter 'wings'"):
        model.set_params(learner__wings=2)


def test_learners_by_their_short_names():
    assert isinstance(sl.Categorizer("mmp").fit(TEXTS, LABELS).learner_, sl.MMP)
    rater = sl.Rater("widrow-hoff").fit([[1.0], [2.0], [3.0]], [1, 2, 3])
    assert isinstance(rater.learner_, sl.WidrowHoff)
    assert rater.learner_.passes is sl.Rater().fit([[1.0], [2.0]], [1, 2]).learner_.passes is None
    ranker = sl.DocumentRanker("ndcg").fit([[1.0], [0.0]], [1, 0], [1, 1])
    assert isinstance(ranker.learner_, sl.NdcgSVM)
    for model in (sl.Categorizer, sl.Rater, sl.DocumentRanker):
        with pytest.raises(sl.InputError, match="learner must be one of"):
            model("magic").new_learner()


def test_partial_fit_and_labels_named_in_advance():
    model = sl.Categorizer().partial_fit(TEXTS[:2], LABELS[:2], classes=["sport", "money", "grain"])
    assert model.classes_.tolist() == ["sport", "money", "grain"]
    assert model.learner_.label_counts_.tolist() == [0, 1, 1]
    model.partial_fit(TEXTS, LABELS, classes=["late"])
    assert model.classes_.tolist() == ["sport", "money", "grain", "late"]
    assert model.learner_.n_examples_ == 92
    bounded = sl.Categorizer(max_memory="100MB").partial_fit(TEXTS, LABELS, classes=["late"])
    assert bounded.classes_.tolist() == ["late", *WORDS]
    never = sl.Categorizer(OneVersusRest())
    with pytest.raises(sl.InputError, match="learns all its examples at once"):
        never.partial_fit(TEXTS, LABELS, classes=["late"])
    assert not hasattr(never, "learner_")
    with pytest.raises(sl.InputError, match="is missing"):
        sl.Categorizer().partial_fit(TEXTS, LABELS, classes=[None])


def test_cross_validation_of_label_lists():
    assert cross_val_score(sl.Categorizer(), TEXTS, LISTS_OF_LABELS, cv=KFold(3)).min() > 0.9


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, pd.DataFrame])
def test_labels_that_come_as_indicators_go_as_such(form):
    model = sl.Categorizer().fit(TEXTS, form(INDICATOR))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    predicted = model.predict(TEXTS)
    assert predicted.shape == INDICATOR.shape
    assert [set(np.flatnonzero(row)) for row in predicted] == [
        set(own) for own in model.assign(TEXTS)
    ]
    # too few to assign: 1.5 labels each, rounded
    few = sl.Categorizer().fit(TEXTS[:30], form(INDICATOR[:30]))
    assert few.predict(TEXTS).sum(axis=1).tolist() == [2] * 90
    assert (predicted[:, :3] == INDICATOR[:, :3]).mean() > 0.9
    assert model.score(TEXTS, form(INDICATOR)) > 0.9


NAMES = ["sport", "money", "grain", "any"]


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.DataFrame])
@pytest.mark.parametrize("learner", ["tuned-index", "mmp", "ovr-svm"])
def test_columns_of_a_data_frame_name_the_labels(frame, learner, tmp_path):
    columns = {name: INDICATOR[:, at] for at, name in enumerate(NAMES)}
    model, unnamed = (
        sl.Categorizer(learner).fit(TEXTS, frame(columns)),
        sl.Categorizer(learner).fit(TEXTS, INDICATOR),
    )
    assert model.classes_.tolist() == NAMES
    assert (model.predict(TEXTS) == unnamed.predict(TEXTS)).all()
    assert model.score(TEXTS, frame(columns)) == unnamed.score(TEXTS, INDICATOR)
    model.save(tmp_path / "model")
    opened = sl.load(tmp_path / "model")
    assert (opened.predict(TEXTS) == model.predict(TEXTS)).all()
    if opened.confidence_.ready:
        assert (opened.predict_proba(TEXTS) == unnamed.predict_proba(TEXTS)).all()


def test_columns_with_names_may_come_in_another_order_and_with_others():
    learner = sl.FeatureFocus().partial_fit(
        np.eye(3), pd.DataFrame(np.eye(3, dtype=int), columns=list("abc"))
    )
    learner.partial_fit(np.eye(2, 4, 2), pd.DataFrame({"d": [1, 0], "a": [0, 1]}))
    assert learner.classes_.tolist() == list("abcd")
    assert learner.label_counts_.tolist() == [2, 1, 1, 1]
    assert learner.predict(np.eye(4)).tolist()[1] == [0, 1, 0, 0]
    other = sl.FeatureFocus().fit(
        np.eye(3), pd.DataFrame(np.eye(3, dtype=int), columns=list("bex"))
    )
    assert learner.merge(other).predict(np.eye(3)).shape == (3, 6)
    # 0 and 1 are other labels
    assert learner.partial_fit(np.eye(2), np.eye(2)).predict(np.eye(2)).dtype == object


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame([[1, 0], [0, 1]], columns=["a", "a"]), "two columns of Y have the name 'a'"),
        (pd.DataFrame([[1, 0], [0, 1]], columns=[("a", "b"), ("a", "c")]), "names no label"),
        (pd.DataFrame({"a": [1, 0], "b": [0, None]}), "indicator matrix of 0 and 1"),
        (
            pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [0, 1]}),
            "indicator matrix of 0 and 1",
        ),
        (pd.DataFrame({"a": ["yes", "no"], "b": ["no", "yes"]}), "indicator matrix of 0 and 1"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "indicator matrix of 0 and 1"),
    ],
)
def test_a_table_that_indicates_no_labels_is_refused(frame, said):
    with pytest.raises(sl.InputError, match=said):
        sl.FeatureFocus().fit(np.eye(2), frame)


def test_columns_of_several_kinds_indicate_labels():
    mixed = pd.DataFrame(
        {"a": [True, False], "b": pd.array([0, 1], dtype="Int64"), "c": [1.0, 1.0]}
    )
    assert sl.FeatureFocus().fit(np.eye(2), mixed).label_counts_.tolist() == [1, 1, 2]


def test_indicators_with_scores_of_scikit_learn():
    scores = cross_val_score(sl.Categorizer(), TEXTS, INDICATOR, scoring="f1_micro", cv=KFold(3))
    assert scores.min() > 0.7
    ranked = cross_val_score(
        sl.Categorizer("mmp"), TEXTS, INDICATOR, scoring=label_ranking, cv=KFold(3)
    )
    assert ranked.min() > 0.8


def label_ranking(model, texts, Y):
    return label_ranking_average_precision_score(
        Y, model.learner_.decision_function(model.text_.transform(texts))
    )


@pytest.mark.parametrize(
    "learner", ["tuned-index", "mmp", "rocchio", "independent", "ovr-svm", "top-down", "frequency"]
)
def test_a_column_that_never_occurs_is_a_label_all_the_same(learner, tmp_path):
    wider = np.hstack([INDICATOR, np.zeros((90, 1), dtype=int)])
    model = sl.Categorizer(learner).fit(TEXTS, wider)
    assert model.predict(TEXTS[:2]).shape == (2, 5)
    model.save(tmp_path / "model")
    opened = sl.load(tmp_path / "model")
    assert (opened.predict(TEXTS) == model.predict(TEXTS)).all()
    if opened.can_learn:  # labels that come as lists end it
        assert opened.learn("oats", "feed").predict(["oats"]).shape == (1,)


def test_more_columns_of_labels_may_arrive():
    model = sl.Categorizer().fit(TEXTS, INDICATOR[:, :3])
    model.partial_fit(TEXTS, INDICATOR)
    assert model.predict(TEXTS).shape == (90, 4)
    one, other = sl.FeatureFocus(), sl.FeatureFocus()
    one.fit(np.eye(3), INDICATOR[:3, :3])
    other.fit(np.eye(3), INDICATOR[:3])
    assert one.merge(other).predict(np.eye(3)).shape == (3, 4)
    assert one.merge(sl.FeatureFocus().fit(np.eye(3), ["a", "b", "c"])).predict(
        np.eye(3)
    ).shape == (3,)


def test_one_column_of_labels_is_taken_and_said():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = sl.FeatureFocus().fit(np.eye(2), np.array([["a"], ["b"]]))
    assert model.predict(np.eye(2)).tolist() == ["a", "b"]


def test_in_a_pipeline():
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    shouted = [text.upper() for text in TEXTS]
    pipeline = Pipeline(
        [("lower", lower), ("model", sl.Categorizer(text=sl.TextVectorizer(lowercase=False)))]
    )
    assert pipeline.fit(shouted, LABELS).score(TEXTS, LABELS) > 0.9


def test_behind_a_column_transformer():
    frame = pd.DataFrame(
        {"title": TEXTS, "body": [text.split()[0] for text in TEXTS], "size": np.arange(90) / 90}
    )
    columns = ColumnTransformer(
        [
            ("title", sl.TextVectorizer(), "title"),
            ("body", sl.TextVectorizer(), "body"),
            ("size", "passthrough", ["size"]),
        ]
    )
    pipeline = Pipeline([("columns", columns), ("learner", sl.MMP(passes=5))])
    assert pipeline.fit(frame, LABELS).score(frame, LABELS) > 0.6
    assert "title__wheat" in columns.fit(frame).get_feature_names_out().tolist()
    around = ColumnTransformer([("title", sl.TextVectorizer(), "title")]).fit(frame)
    assert (
        sl.TunedIndex().fit(around.transform(frame), LABELS).score(around.transform(frame), LABELS)
        > 0.9
    )


# The names of columns.

FRAME = pd.DataFrame({"height": [1.0, 0.0, 2.0, 0.0], "width": [0.0, 1.0, 0.0, 2.0]})


@pytest.mark.parametrize("learner", [sl.FeatureFocus(), sl.MMP(), sl.Rocchio(), sl.PRank()])
def test_columns_whose_names_changed_are_refused(learner, tmp_path):
    learner = clone(learner).fit(FRAME, [1, 2, 1, 2])
    assert learner.feature_names_in_.tolist() == ["height", "width"]
    changed = FRAME[["width", "height"]]
    for call in (
        learner.predict,
        learner.decision_function,
        lambda X: learner.partial_fit(X, [1, 2, 1, 2]),
    ):
        with pytest.raises(sl.InputError, match="feature names should match"):
            call(changed)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        learner.predict(FRAME.to_numpy())
    assert not hasattr(learner.fit(FRAME.to_numpy(), [1, 2, 1, 2]), "feature_names_in_")


def test_names_are_kept_in_the_file_and_columns_may_arrive(tmp_path):
    sl.FeatureFocus().fit(FRAME, ["a", "b", "a", "b"]).save(tmp_path / "model")
    learner = sl.load(tmp_path / "model")
    with pytest.raises(sl.InputError, match="feature names should match"):
        learner.rank(FRAME[["width", "height"]])
    learner.partial_fit(FRAME.assign(depth=1.0), ["a", "b", "a", "b"])
    assert learner.feature_names_in_.tolist() == ["height", "width", "depth"]
    assert learner.n_features_in_ == 3
    with pytest.raises(sl.InputError, match="feature names should match"):
        learner.partial_fit(FRAME.assign(length=1.0), ["a", "b", "a", "b"])


def test_models_refuse_columns_whose_names_changed():
    rater = sl.Rater().fit(FRAME, [1, 2, 1, 2])
    with pytest.raises(sl.InputError, match="the columns are width, height"):
        rater.predict(FRAME[["width", "height"]])
    ranker = sl.DocumentRanker().fit(FRAME, [1, 0, 1, 0], [1, 1, 2, 2])
    assert ranker.feature_names_in_.tolist() == ["height", "width"]
    with pytest.raises(sl.InputError, match="feature names should match"):
        ranker.rank(FRAME[["width", "height"]], [1, 1, 2, 2])


# Transformers.


def test_transformers_give_frames_where_asked():
    scaled = QueryScaler().set_output(transform="pandas").fit_transform(FRAME, query=[1, 1, 2, 2])
    assert list(scaled.columns) == ["height", "width"]
    assert scaled["width"].tolist() == [0.0, 1.0, 0.0, 1.0]
    selection = (
        RocchioSelection(least=1).set_output(transform="pandas").fit(FRAME, ["a", "b", "a", "b"])
    )
    assert list(selection.transform(FRAME).columns) == ["height", "width"]


def test_explain_of_a_rater_checks_what_it_is_given():
    learner = sl.PRank().fit([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]], [2, 1, 3])
    with pytest.raises(sl.InputError, match="3 names for 2 columns"):
        learner.explain([1.0, 0.0], ["a", "b", "c"])
    with pytest.raises(NotFittedError):
        sl.PRank().explain([1.0])
