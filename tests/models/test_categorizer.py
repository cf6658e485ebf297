"""The object people use."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import shortlist as sl
from tests.contract import as_bytes

TEXTS = [
    "wheat exports rose",
    "wheat and corn prices",
    "corn harvest in the plains",
    "the bank raised its rates",
    "rates of the central bank",
    "the bank lowered rates",
]
LABELS = [["grain", "trade"], ["grain"], ["grain"], ["money"], ["money"], ["money"]]


@pytest.fixture
def learned():
    return sl.Categorizer().learn_many(TEXTS, LABELS)


def test_learn_one_rank_one_explain_one():
    c = sl.Categorizer()
    c.learn("wheat exports rose", ["grain", "trade"])
    c.learn("the bank raised its rates", "money")
    best, score = c.rank("corn and wheat shipments", k=2)[0]
    assert best == "grain"
    why = c.explain("corn and wheat shipments", "grain")
    assert [word for word, _ in why] == ["wheat", "wheat*", "(any text)"]
    assert why.score == score == sum(vote for _, vote in why.votes)


def test_one_by_one_is_many_at_once_where_weights_do_not_depend_on_the_past():
    text = sl.TextVectorizer()
    one = sl.Categorizer(text=text)
    for words, labels in zip(TEXTS, LABELS, strict=True):
        one.learn(words, labels)
    many = sl.Categorizer(text=text).learn_many(TEXTS, LABELS)
    assert list(one.rank("wheat rates")) == list(many.rank("wheat rates"))


def test_many_texts_give_a_ranking_of_many(learned):
    ranking = learned.rank(["wheat", "bank", "never seen"], k=2)
    assert ranking.labels.shape == ranking.scores.shape == (3, 2)
    assert ranking.labels[:2, 0].tolist() == ["grain", "money"]
    assert ranking.labels[2].tolist() == [None, None]
    assert np.isnan(ranking.scores[2]).all()
    assert [len(row) for row in ranking] == [2, 1, 0]
    assert "nothing retrieved" in repr(ranking[2])
    assert "3 rows" in repr(ranking)


def test_new_labels_and_words_arrive(learned):
    learned.learn("satellites in orbit", "space")
    assert learned.rank("orbit")[0][0] == "space"
    assert list(learned.classes_) == ["grain", "trade", "money", "space"]


def test_fit_forgets_and_shuffles():
    c = sl.Categorizer().learn("old words", "old label")
    c.fit(TEXTS, LABELS)
    assert "old label" not in list(c.classes_)
    assert c.score(TEXTS, LABELS) == 1.0
    assert c.predict(["bank rates"]).tolist() == ["money"]


def test_fit_in_batches_is_fit():
    whole = sl.Categorizer().fit(TEXTS, LABELS)
    batches = sl.Categorizer().fit_batches([(TEXTS[:2], LABELS[:2]), (TEXTS[2:], LABELS[2:])])
    assert list(whole.rank("wheat rates")) == list(batches.rank("wheat rates"))


@pytest.mark.parametrize(
    "learner", [sl.IndependentIndex(threshold=0.1), sl.FrequencyBaseline()], ids=str
)
def test_any_learner_and_text(learner, tmp_path):
    c = sl.Categorizer(learner, sl.TextVectorizer(hashed=1000, ngrams=2)).fit(TEXTS, LABELS)
    c.save(tmp_path / "m")
    assert list(sl.load(tmp_path / "m").rank("wheat rates")) == list(c.rank("wheat rates"))
    label, score = c.rank("the bank raised its rates")[0]
    why = c.explain("the bank raised its rates", label)
    assert why.score == pytest.approx(score)
    assert all(isinstance(word, str) for word, _ in why)


def test_hashed_words_are_named_from_the_text():
    c = sl.Categorizer(text=sl.TextVectorizer(hashed=2**20)).learn("wheat exports", "grain")
    assert {word for word, _ in c.explain("wheat exports", "grain")} == {
        "wheat",
        "exports",
        "(any text)",
    }


def test_it_is_a_scikit_learn_estimator():
    search = GridSearchCV(sl.Categorizer(sl.FeatureFocus()), {"learner__margin": [0.0, 0.5]}, cv=2)
    search.fit(TEXTS * 4, [own[0] for own in LABELS] * 4)
    assert search.best_score_ == 1.0
    assert clone(sl.Categorizer(sl.FeatureFocus(margin=0.7))).learner.margin == 0.7


def test_what_is_bad_is_refused_before_anything_is_learned(learned):
    before = list(learned.rank("wheat bank brand new words"))
    for texts, labels, complaint in [
        (["fine", None], ["a", "b"], r"texts\[1\] is a NoneType"),
        (["fine", b"bytes"], ["a", "b"], r"texts\[1\] is a bytes"),
        (["fine"], ["a", "b"], "there is 1 example but labels for 2"),
        (["brand new words"], [[None]], "label of example 0 is missing"),
        ("one text", ["a"], "a list of texts"),
    ]:
        with pytest.raises(sl.InputError, match=complaint):
            learned.learn_many(texts, labels)
    assert list(learned.rank("wheat bank brand new words")) == before
    assert not {"fine", "brand", "new"} & set(learned.text_.get_feature_names_out())


def test_nothing_learned_yet():
    for call in (
        lambda c: c.rank("x"),
        lambda c: c.explain("x", "y"),
        lambda c: c.save("x"),
        lambda c: c.classes_,
    ):
        with pytest.raises(NotFittedError, match="learned nothing"):
            call(sl.Categorizer())


@pytest.mark.parametrize(
    "text", [["wheat"], np.array(["wheat", "corn"]), ("wheat",), {"wheat"}, None, 3]
)
def test_only_one_text_can_be_explained(learned, text):
    with pytest.raises(sl.InputError, match=r"is a|not a text|must"):
        learned.explain(text, "grain")


def test_an_unknown_label_cannot_be_explained(learned):
    with pytest.raises(sl.InputError, match="'sports' has not been learned"):
        learned.explain("wheat", "sports")


def test_pairs_and_prefixes_are_for_short_texts():
    short, long = "wheat exports rose", "wheat exports rose again and again " * 20
    text = sl.TextVectorizer(ngrams="auto")
    assert {"wheat exports", "expor*"} <= set(text.fit([short]).get_feature_names_out())
    assert set(text.fit([long]).get_feature_names_out()) == set(long.split())
    text = sl.TextVectorizer(ngrams="auto").fit([])
    text.partial_fit([short]).partial_fit([long])  # the first texts have chosen
    assert "again and" in text.get_feature_names_out()
    model = sl.Categorizer().learn(short, "grain")
    assert model.text_.spans(short)
    with pytest.raises(sl.InputError, match="ngrams"):
        sl.TextVectorizer(ngrams="many").fit([short])


@pytest.mark.parametrize(
    "given", [(["wheat"], [["grain"]]), (["wheat"],), ("wheat",), (np.array(["wheat"]),)]
)
def test_lists_of_texts_are_no_batches_to_evaluate(given):
    model = sl.Categorizer().fit(["wheat", "oil"], [["grain"], ["energy"]])
    with pytest.raises(
        sl.InputError, match=r"measure those by shortlist\.evaluate\(model\.rank\(texts, k=10\)"
    ):
        model.evaluate(*given)


def test_nothing_to_evaluate_is_said():
    model = sl.Categorizer().fit(["wheat", "oil"], [["grain"], ["energy"]])
    with pytest.raises(sl.InputError, match="no measure is named"):
        model.evaluate([], [])
    with pytest.raises(sl.InputError, match="there are no examples to evaluate"):
        model.evaluate([])
    with pytest.raises(sl.InputError, match=r"evaluate takes a ranking, .* this is a list"):
        sl.evaluate([], [], ["P@1"])


def test_texts_without_idf_teach_the_same_however_a_stream_is_cut():
    texts = [f"word{n % 7} word{n % 5} other{n % 3}" for n in range(60)]
    labels = [[f"label{n % 4}"] for n in range(60)]
    models = set()
    for size in (60, 7, 1):
        model = sl.Categorizer(text=sl.TextVectorizer())
        for first in range(0, 60, size):
            model.learn_many(texts[first : first + size], labels[first : first + size])
        models.add(as_bytes(model))
    assert len(models) == 1
