"""Labels that change: renamed, merged, split off, retired, and back."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.label_vocabulary import Concept, LabelVocabulary
from shortlist.models.label_changes import Change
from tests.server.servers import state_bytes

TEXTS = ["wheat exports rose", "corn and rye fell", "the bank raised rates", "gold at the bank"] * 5
LABELS = [["wheat"], ["corn"], ["money"], ["gold", "money"]] * 5
LEARNERS = {
    "tuned": None,
    "focus": sl.FeatureFocus(),
    "rocchio": sl.Rocchio(),
    "independent": sl.IndependentIndex(),
}


@pytest.fixture(params=LEARNERS.values(), ids=LEARNERS)
def model(request):
    return sl.Categorizer(request.param, sl.TextVectorizer()).fit(TEXTS, LABELS)


def scores(model, text="wheat corn bank gold"):
    return dict(model.rank(text, 10))


def test_a_renamed_label_keeps_what_it_learned(model, tmp_path):
    before = scores(model)
    model.rename_label("wheat", "grain")
    after = scores(model)
    assert after == {
        "grain" if label == "wheat" else label: score for label, score in before.items()
    }
    model.save(tmp_path / "m.shortlist")
    assert scores(sl.load(tmp_path / "m.shortlist")) == after
    model.learn("wheat again", "wheat")  # the old name is free
    assert "wheat" in model.classes_.tolist()


@pytest.mark.parametrize("name", ["focus", "rocchio", "independent"])
def test_a_merged_label_has_the_sum(name):
    """Where sums are all that is learned, it is the label that would have been learned at once."""
    text = sl.TextVectorizer()
    learner = LEARNERS[name]
    if name == "focus":
        # it learns from each example, whatever the ranking
        learner = sl.FeatureFocus(margin=100.0, min_weight=0)
    apart = sl.Categorizer(learner, text).fit(TEXTS, LABELS)
    together = [
        ["cereal" if label in ("wheat", "corn") else label for label in own] for own in LABELS
    ]
    at_once = sl.Categorizer(learner, text).fit(TEXTS, together)
    apart.merge_labels(["corn"], "wheat").rename_label("wheat", "cereal")
    expected = scores(at_once)
    assert scores(apart).keys() == expected.keys()
    for label, score in scores(apart).items():
        assert score == pytest.approx(expected[label]), label
    counts = dict(zip(apart.classes_.tolist(), apart.label_counts_.tolist(), strict=True))
    assert (counts["cereal"], counts["corn"]) == (10, 0)


def test_the_scores_of_a_tuned_index_add_up():
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(TEXTS, LABELS)
    before = scores(model, "wheat corn")
    model.merge_labels(["corn"], "wheat")
    assert scores(model, "wheat corn")["wheat"] == pytest.approx(before["wheat"] + before["corn"])
    with pytest.raises(sl.InputError, match="'corn' was retired or merged"):
        model.learn("corn", "corn")


def test_a_label_that_is_split_off_begins_as_the_other():
    for learner in (None, sl.FeatureFocus()):
        model = sl.Categorizer(learner, sl.TextVectorizer()).fit(TEXTS, LABELS)
        before = scores(model)
        model.split_label("money", "banking")
        after = scores(model)
        assert after.pop("banking") == before["money"]
        assert after == before
        model.learn_many(["bank loans"] * 5, ["banking"] * 5)
        assert scores(model, "loans")["banking"] > 0
    with pytest.raises(sl.InputError, match="no index"):
        sl.Categorizer(sl.Rocchio()).fit(TEXTS, LABELS).split_label("money", "banking")


def test_labels_split_off_and_merged_again_have_no_more_than_the_whole_vote_of_a_word(tmp_path):
    for learner in (None, sl.FeatureFocus()):
        model = sl.Categorizer(learner, sl.TextVectorizer()).fit(TEXTS, LABELS)
        model.split_label("money", "banking").split_label("money", "loans")
        model.merge_labels(["banking", "loans"], "money")
        features = model.learner_.index_.features
        feature, edges = model.learner_.index_.all_edges()
        assert (edges["weight"] <= features["total"][feature]).all()
        model.save(tmp_path / "m.shortlist")
        assert scores(sl.load(tmp_path / "m.shortlist")) == scores(model)


def test_labels_that_are_equal_by_chance_are_added_up():
    model = sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()).fit(["bank", "bank"], ["a", "b"])
    before = scores(model, "bank")
    assert before["a"] == before["b"] > 0
    assert scores(model.merge_labels(["b"], "a"), "bank")["a"] == pytest.approx(2 * before["a"])


def test_edges_of_a_label_split_off_can_make_room_where_nothing_leaks(tmp_path):
    for own in (sl.FeatureFocus(leakage=False), sl.TunedIndex()):
        learner = own.fit(np.tile(np.eye(4), (5, 1)), ["a", "b", "a", "b"] * 5)
        learner = learner.with_label_split("a", "c")
        learner.limit_edges(learner.n_edges_ - 1)  # one of two that are equally strong
        assert np.isfinite(learner.decision_function(np.eye(4))).all()
        learner.save(tmp_path / "m.shortlist")
        assert sl.load(tmp_path / "m.shortlist").n_edges_ == learner.n_edges_


def test_retired_labels_are_neither_ranked_nor_learned_and_come_back(model, tmp_path):
    before = scores(model)
    model.retire_labels(["money", "wheat"])
    model.save(tmp_path / "m.shortlist")
    for one in (model, sl.load(tmp_path / "m.shortlist")):
        assert set(scores(one)) == set(before) - {"money", "wheat"}
        assert set(one.predict(TEXTS)) <= {"corn", "gold"}
        with pytest.raises(sl.InputError, match="was retired"):
            one.learn("a", "wheat")
        with pytest.raises(sl.InputError, match="was retired"):
            one.check_labels([["money"]])
        one.restore_labels(["money", "wheat"])
        assert scores(one) == before


CHANGES = [
    Change("rename", ("wheat",), "grain"),
    Change("merge", ("corn", "gold"), "wheat"),
    Change("split", ("money",), "new"),
    Change("retire", ("gold",)),
]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (Change("rename", ("nothing",), "x"), "'nothing' has not been learned"),
        (Change("rename", ("wheat",), "corn"), "there is a label 'corn' already; merge them"),
        (Change("rename", ("wheat", "corn"), "x"), "rename takes a label, and another name for it"),
        (Change("rename", ("wheat",)), "rename takes a label"),
        (Change("merge", ("wheat",), "nothing"), "'nothing' has not been learned"),
        (Change("split", ("wheat",), "corn"), "there is a label 'corn' already"),
        (Change("retire", ()), "retire takes labels"),
        (Change("retire", ("wheat",), "x"), "retire takes labels"),
        (Change("restore", ("wheat",)), "'wheat' is not retired"),
        (Change("destroy", ("wheat",)), "not by 'destroy'"),
    ],
)
def test_changes_that_cannot_be_made(change, sentence):
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(TEXTS, LABELS)
    before = state_bytes(model)
    with pytest.raises(sl.InputError) as problem:
        model.change_labels(change)
    assert sentence in str(problem.value)
    assert state_bytes(model) == before


def test_a_vocabulary_follows_a_new_name():
    names = LabelVocabulary([Concept("wheat", "Wheat"), Concept("corn", "Corn", (), ("wheat",))])
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(TEXTS, LABELS).set_vocabulary(names)
    model.rename_label("wheat", "c1")
    assert model.name_of("c1") == "Wheat"
    assert model.vocabulary_.subtree("c1") == {"c1", "corn"}


def test_a_changed_model_goes_on_learning_as_its_file_does(tmp_path):
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(TEXTS, LABELS)
    model.merge_labels(["corn"], "wheat").split_label("money", "banking").retire_labels(["gold"])
    model.save(tmp_path / "m.shortlist")
    again = sl.load(tmp_path / "m.shortlist")
    for one in (model, again):
        one.learn_many(["bank loans", "new wheat"], [["banking"], ["wheat", "other"]])
    assert state_bytes(model) == state_bytes(again)
    assert np.isfinite(model.rank(TEXTS, 1).scores).all()


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_labels_that_are_expected_and_have_no_examples(change):
    model = sl.Categorizer(text=sl.TextVectorizer())
    model.partial_fit(TEXTS, LABELS, classes=["later", "wheat"])
    model.change_labels(change)
    assert model.predict(TEXTS).size == len(TEXTS)
    assert "later" not in scores(model)
    assert list(model.rank("wheat", 3, sl.Rules(tame=0.1)))
    model.learn("something else", "later")
    assert scores(model, "something")["later"] > 0


@pytest.mark.parametrize("labels", [3, 5, 10])
def test_the_next_label_is_not_likely_where_the_true_one_was_retired(labels):
    """Even to a model that has never been wrong."""
    draws = np.random.default_rng(0)
    true = draws.integers(0, labels, 900).tolist()
    texts = [" ".join(f"{own}w{word}" for word in draws.integers(0, 8, 6)) for own in true]
    model = sl.Categorizer().fit(texts, true)
    asked = [text for text, own in zip(texts, true, strict=True) if own == 0]
    assert np.median(model.rank(asked).probabilities[:, 0]) > 0.99
    assert np.nanmax(model.retire_labels([0]).rank(asked).probabilities, initial=0.0) < 0.5


def test_what_came_as_a_matrix_is_predicted_as_one_without_retired_labels():
    texts = ["wheat corn", "gold coins", "wheat gold", "corn"] * 5
    Y = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]] * 5)
    model = sl.Categorizer().fit(texts, Y).retire_labels([1])
    assert not model.confidence_.ready
    found = model.predict(texts[:4])
    assert found.shape == (4, 3)
    assert not found[:, 1].any()
    assert found[2].tolist() == [1, 0, 1]
