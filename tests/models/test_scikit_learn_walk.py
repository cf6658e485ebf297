"""A data scientist's walk: columns, searches, calibration, joblib, permutation, metrics, hints."""

import joblib
import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.inspection import permutation_importance
from sklearn.metrics import f1_score, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler
from sklearn.svm import LinearSVC

import shortlist as sl

TOPICS = {"grain": "wheat corn rye oats", "metal": "gold tin iron", "money": "bank loan rates"}


def examples(n=240, topics=tuple(TOPICS)):
    rng = np.random.default_rng(0)
    labels = [topics[i % len(topics)] for i in range(n)]
    texts = [
        " ".join(rng.choice(TOPICS[label].split(), 2)) + f" no{i}" for i, label in enumerate(labels)
    ]
    return texts, labels


@pytest.fixture(scope="module")
def frame():
    texts, labels = examples()
    return pd.DataFrame({"text": texts, "price": np.arange(len(texts)) % 7.0, "label": labels})


@pytest.fixture(scope="module")
def model(frame):
    return sl.Categorizer().fit(frame["text"], frame["label"])


def test_one_column_in_any_form(frame, model):
    expected = model.predict(list(frame["text"]))
    for column in (
        frame[["text"]],
        polars.DataFrame({"text": list(frame["text"])}),
        frame[["text"]].to_numpy(dtype=object),
        frame["text"].to_numpy(),
    ):
        assert (model.predict(column) == expected).all()
        again = sl.Categorizer().fit(column, frame["label"])
        assert (again.predict(column) == expected).all()
    with pytest.raises(sl.InputError, match="which has columns: give one of them"):
        model.predict(frame)


def test_behind_a_column_transformer(frame):
    for columns in ("text", ["text"]):
        parts = ColumnTransformer(
            [("words", "passthrough", [columns] if columns == "text" else columns)]
        )
        pipeline = make_pipeline(parts, sl.Categorizer()).fit(frame, frame["label"])
        assert pipeline.score(frame, frame["label"]) > 0.9
    both = ColumnTransformer(
        [("words", sl.TextVectorizer(), "text"), ("price", StandardScaler(), ["price"])]
    )
    pipeline = make_pipeline(both, LinearSVC()).fit(frame, frame["label"])
    assert pipeline.score(frame, frame["label"]) > 0.9


def test_set_output_reaches_the_transformers_before_it(frame):
    words = ColumnTransformer([("words", "passthrough", ["text"])], verbose_feature_names_out=False)
    pipeline = make_pipeline(words, sl.Categorizer()).set_output(transform="pandas")
    assert pipeline.fit(frame, frame["label"]).score(frame, frame["label"]) > 0.9


def test_searches(frame):
    grid = {"text__ngrams": [1, 2], "learner__n_jobs": [1]}
    model = sl.Categorizer(learner=sl.TunedIndex())
    found = GridSearchCV(model, grid, cv=3, n_jobs=2).fit(frame[["text"]], frame["label"])
    assert found.best_score_ > 0.9
    draws = {"learner__random_state": [0, 1, 2]}
    found = RandomizedSearchCV(model, draws, n_iter=2, cv=3).fit(frame["text"], frame["label"])
    assert found.best_score_ > 0.9


def test_calibration_and_scores(frame, model):
    scores = model.decision_function(frame["text"])
    assert scores.shape == (240, 3)
    assert (model.classes_[scores.argmax(axis=1)] == model.predict(frame["text"])).all()
    ranking = model.rank([frame["text"][0]], 1)
    assert scores[0].max() == pytest.approx(ranking.scores[0, 0])
    calibrated = CalibratedClassifierCV(sl.Categorizer(), cv=3).fit(frame["text"], frame["label"])
    assert log_loss(frame["label"], calibrated.predict_proba(frame["text"])) < 0.5
    guesses = cross_val_predict(sl.Categorizer(), frame["text"], frame["label"], cv=3)
    assert f1_score(frame["label"], guesses, average="macro") > 0.9


def test_two_labels_have_one_score():
    texts, labels = examples(120, ("grain", "money"))
    model = sl.Categorizer().fit(texts, labels)
    scores = model.decision_function(texts)
    assert scores.shape == (120,)
    assert ((scores > 0) == (model.predict(texts) == "money")).all()
    assert roc_auc_score(labels, scores) > 0.99


def test_permutation_importance(frame, model):
    for column in (frame[["text"]], frame[["text"]].to_numpy(dtype=object)):
        found = permutation_importance(model, column, frame["label"], n_repeats=2, random_state=0)
        assert found.importances_mean[0] > 0.3


def test_joblib(frame, model, tmp_path):
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    texts = list(frame["text"][:60])
    assert (again.predict(texts) == model.predict(texts)).all()
    halves = joblib.Parallel(n_jobs=2)(
        joblib.delayed(model.predict)(half) for half in (texts[:30], texts[30:])
    )
    assert (np.concatenate(halves) == model.predict(texts)).all()


def test_lists_of_labels_in_scikit_learns_metrics():
    texts, labels = examples()
    lists = [[label, "all"] for label in labels]
    binarizer = MultiLabelBinarizer().fit(lists)
    model = sl.Categorizer().fit(texts, lists)
    assigned = binarizer.transform([list(labels) for labels in model.assign(texts)])
    assert f1_score(binarizer.transform(lists), assigned, average="samples") > 0.9
    matrix = sl.Categorizer().fit(texts, binarizer.transform(lists))
    assert f1_score(binarizer.transform(lists), matrix.predict(texts), average="samples") > 0.9
    assert matrix.decision_function(texts).shape == (240, 4)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda model: sl.Categorizer(n_jobs=2), "learner__n_jobs"),
        (lambda model: sl.Categorizer(random_state=1), "learner__random_state"),
        (lambda model: sl.Categorizer(class_weight="balanced"), "tame=0.05"),
        (lambda model: model.set_params(n_jobs=2), "learner__n_jobs"),
        (lambda model: model.set_params(class_weight=None), "tame=0.05"),
        (lambda model: model.fit(["a"], ["b"], sample_weight=[1]), "examples have no weights"),
        (lambda model: model.partial_fit(["a"], ["b"], sample_weight=[1]), "no weights"),
    ],
)
def test_what_there_is_not_says_what_to_do_instead(use, said):
    with pytest.raises(sl.InputError, match=said):
        use(sl.Categorizer())


def test_other_arguments_are_refused_as_ever():
    with pytest.raises(TypeError, match="'learned'"):
        sl.Categorizer(learned=True)
    assert "elsewhere" not in sl.Categorizer().get_params()
