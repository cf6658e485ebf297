"""Learners by their short names, and models as someone asks for them."""

import inspect

import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import shortlist as sl
from shortlist.models.model import TASKS, Model, base, learners, named
from shortlist.models.row_categorizer import RowCategorizer
from shortlist.models.training_settings import TrainingSettings, open_model


@pytest.mark.parametrize("task", TASKS)
def test_every_public_learner_has_a_name(task):
    public = [getattr(sl, name) for name in sl.__all__]
    kinds = {one for one in public if inspect.isclass(one) and issubclass(one, base(task))}
    ours = {
        entry.func
        for entry in learners(task).values()
        if entry.func.__module__.startswith("shortlist.")
    }
    assert ours == kinds
    for name, entry in learners(task).items():
        assert inspect.getdoc(entry.func), name
        assert clone(entry()).get_params().items() >= entry.keywords.items()


@pytest.mark.parametrize("task", TASKS)
def test_the_usual_learner_is_known_without_the_others(task):
    usual, first = named(task), next(iter(learners(task).values()))()
    assert type(usual) is type(first)
    assert usual.get_params() == first.get_params()


def test_names_that_people_type():
    assert next(iter(learners("categories"))) == "tuned-index"
    assert {"feature-focus", "independent", "mmp", "mmp1", "rocchio", "ovr-svm", "top-down"} <= set(
        learners("categories")
    )
    assert {"prank", "widrow-hoff", "multiclass-perceptron"} <= set(learners("ratings"))
    assert {"map", "roc", "ndcg", "mrr", "accuracy"} <= set(learners("documents"))
    assert named("categories", "mmp2").loss == 2
    with pytest.raises(
        sl.InputError, match=r"--learner must be one of tuned-index, .*feature-focus"
    ):
        named("categories", "magic")


def test_settings_make_the_model_that_was_asked_for():
    model = TrainingSettings(learner="mmp1", values={"passes": 3, "text.ngrams": 2}).model(
        of_texts=True
    )
    assert (model.learner.loss, model.learner.passes, model.text.ngrams) == (1, 3, 2)
    assert isinstance(TrainingSettings(learner="rocchio").model(of_texts=False), RowCategorizer)
    rater = TrainingSettings("ratings", "widrow-hoff").model(of_texts=False)
    assert (rater.learner.passes, rater.learner.random_state) == (None, 0)  # as the usual Rater
    assert isinstance(
        TrainingSettings("documents", measure="roc").model(of_texts=False).learner, sl.RocSVM
    )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"task": "poems"}, "--task must be one of categories, ratings, documents"),
        ({"task": "ratings", "max_memory": "1GB"}, "--max-memory is for --task categories"),
        ({"values": {"wings": 2}}, "TunedIndex has no setting wings; its settings are"),
        ({"values": {"text.wings": 2}}, "TextVectorizer has no setting text.wings"),
        ({"task": "documents", "measure": "beauty"}, "--measure must be one of map"),
    ],
)
def test_what_cannot_be_asked_for(settings, sentence):
    with pytest.raises(sl.InputError, match=sentence):
        TrainingSettings(**settings).check()


def test_a_file_opens_as_a_model(tmp_path):
    sl.FeatureFocus().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).save(tmp_path / "rows")
    sl.Categorizer().learn("wheat", "grain").save(tmp_path / "texts")
    sl.PRank().fit([[1.0], [2.0]], [1, 2]).save(tmp_path / "alone")
    rows, texts = open_model(tmp_path / "rows", n_jobs=2), open_model(tmp_path / "texts")
    assert isinstance(rows, Model)
    assert isinstance(texts, Model)
    assert rows.learner_.n_jobs == 2
    assert rows.describe()["labels"] == 2
    assert texts.describe()["labels"] == 1
    with pytest.raises(sl.InputError, match="holds a PRank alone"):
        open_model(tmp_path / "alone")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: sl.Categorizer(LogisticRegression()),
            "of categories, or its name, as 'tuned-index', not Logistic",
        ),
        (
            lambda: sl.Categorizer(sl.TunedIndex),
            "of categories, or its name, as 'tuned-index', not the class Tuned",
        ),
        (
            lambda: sl.Categorizer(sl.PRank()),
            "of categories, or its name, as 'tuned-index', not PRank",
        ),
        (
            lambda: sl.TextRater(sl.TunedIndex()),
            "of ratings, or its name, as 'prank', not TunedIndex",
        ),
        (lambda: sl.Categorizer(7), "of categories, or its name, as 'tuned-index', not 7"),
    ],
)
def test_what_is_no_learner_of_a_task_is_refused(make, sentence):
    with pytest.raises(sl.InputError, match=f"learner must be a learner {sentence}"):
        make().fit(["a b", "c"], [1, 2])
