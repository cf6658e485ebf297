"""Words that are marked as what decides."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.errors import InputError
from shortlist.models import text_features
from shortlist.text.phrases import Phrases, columns_touched

TEXTS = [
    "I want a refund for the order",
    "please refund my order",
    "the app crashes when it starts",
    "it crashes on my phone",
] * 30
LABELS = ["refund", "refund", "bug", "bug"] * 30


def state(model):
    return {
        f"{part}/{name}": array.tobytes()
        for part in ("learner", "text")
        for name, array in model.to_state().parts[part].arrays.items()
        if isinstance(array, np.ndarray)
    }


def slowly_touched(model, text, phrases):
    """Which columns of a text have a feature that shares a letter with a phrase."""
    letters = set()
    for phrase in phrases:
        start = text.lower().find(phrase.lower())
        while start >= 0:
            end = start + len(phrase)
            before = text[start - 1 : start]
            if not before.isalnum() and not text[end : end + 1].isalnum():
                letters |= set(range(start, end))
            start = text.lower().find(phrase.lower(), start + 1)
    return {
        column: [bool(letters & set(range(*span))) for span in spans]
        for column, spans in model.text_.spans(text).items()
    }


def test_features_of_marked_words_as_a_slow_loop_finds_them():
    model = sl.Categorizer().learn_many(TEXTS, LABELS)
    random = np.random.default_rng(0)
    words = ["refund", "order", "the", "crashes", "Phone", "re", "fund"]
    for _ in range(40):
        text = " ".join(random.choice(words, 9))
        phrases = [str(random.choice(words)), " ".join(text.split()[2:4])]
        columns = model.text_.columns_
        marks = Phrases.of(phrases, model.text_, "phrases")
        found = slowly_touched(model, text, phrases)
        for always, decided in ((False, any), (True, all)):
            twice = columns.features(["phone", text, text])
            texts, touched = columns_touched(columns, twice, marks, always=always)
            expected = sorted(column for column, inside in found.items() if decided(inside))
            assert touched[texts == 1].tolist() == touched[texts == 2].tolist() == expected


def test_other_features_count_half_of_their_values():
    plain = sl.Categorizer().learn_many(TEXTS, LABELS)
    taught = []

    def note(rows, *rest):
        taught.append(rows)
        return learn_batch(rows, *rest)

    learn_batch = plain.learner_.learn_batch
    plain.learner_.learn_batch = note
    plain.learn("A refund, please", "refund", because=["refund"])
    del plain.learner_.learn_batch
    (batch,) = taught
    names = plain.feature_names(batch.rows.indices.tolist())
    ratio = dict(zip(names, (batch.rows.data / batch.unmarked.data).tolist(), strict=True))
    assert {ratio[name] for name in ("refund", "refu*", '"und"', "a refund")} == {1.0}
    assert {ratio[name] for name in ("please", "a", '"ase"')} == {0.5}


def test_all_words_marked_learn_as_none():
    marked = sl.Categorizer()
    plain = sl.Categorizer()
    for text, label in zip(TEXTS, LABELS, strict=True):
        marked.learn(text, label, because=[text])
        plain.learn(text, label)
    assert state(marked) == state(plain)
    np.testing.assert_equal(
        marked.confidence_.to_state().arrays, plain.confidence_.to_state().arrays
    )


def test_many_marked_texts_are_learned_as_one_by_one():
    because = [["refund"] if "refund" in text else [] for text in TEXTS]
    many = sl.Categorizer().learn_many(TEXTS, LABELS, because=because)
    one_by_one = sl.Categorizer()
    for text, label, marks in zip(TEXTS, LABELS, because, strict=True):
        one_by_one.learn(text, label, because=marks)
    assert state(many) == state(one_by_one)
    assert state(many) != state(sl.Categorizer().learn_many(TEXTS, LABELS))


def test_confidence_ranks_texts_without_their_marks(monkeypatch):
    """What marks teach must not make the model look more certain than it is of other texts."""
    ranked = []
    rank_unlearned = sl.TunedIndex.rank_unlearned

    def note(learner, rows, *rest):
        ranked.append(rows)
        return rank_unlearned(learner, rows, *rest)

    monkeypatch.setattr(sl.TunedIndex, "rank_unlearned", note)
    model = sl.Categorizer()
    for text, label in zip(TEXTS, LABELS, strict=True):
        model.learn(text, label, because=[text.split()[1]])
    assert len(ranked) == len(TEXTS) // 10
    monkeypatch.undo()
    assert model.confidence_.observed == len(ranked)
    last = TEXTS[len(TEXTS) // 10 * 10 - 1]
    np.testing.assert_array_equal(ranked[-1].data, model.text_.rows([last]).data)


@pytest.mark.parametrize(
    ("because", "problem"),
    [
        (["art"], "'art' does not occur"),
        (["refund", "crash"], "'crash' does not occur"),
        (["  "], "blank"),
        ("refund", "list"),
        ([3], r"because\[0\] is a int"),
    ],
)
def test_marks_that_are_refused_change_nothing(because, problem):
    model = sl.Categorizer().learn_many(TEXTS, LABELS)
    before = state(model)
    with pytest.raises(InputError, match=problem):
        model.learn("party refund", "refund", because=because)
    with pytest.raises(InputError, match="a list of words for each text"):
        model.learn_many(TEXTS[:2], LABELS[:2], because=[["refund"]])
    with pytest.raises(InputError, match="does not occur"):
        model.learn_many(TEXTS[:2], LABELS[:2], because=[["refund"], ["bug"]])
    assert state(model) == before


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Ich möchte mein  GELD zurück", ["mein geld"]),
        ("a nai\u0308ve one", ["naïve"]),
        ("我要退款", ["退款"]),
        ("İstanbul'da", ["istanbul"]),
        ({"title": "wheat", "body": "corn rose", "price": 3.5}, ["corn"]),
    ],
)
def test_marks_in_any_script_and_in_fields(text, marks):
    if text == "İstanbul'da":
        marks = [text[:8]]
    sl.Categorizer().learn(text, "x", because=marks).learn(text, "x")


def test_marks_with_vectors():
    model = sl.Categorizer()
    model.learn("a refund", "x", vector=[1.0, 0.0], because=["refund"])
    model.learn_many(["a b", "c d"], ["y", "x"], vectors=np.eye(2), because=[["a"], []])
    assert model.rank("refund", 1, vector=[1.0, 0.0]).labels.tolist() == ["x"]


def test_marks_within_a_bound_on_memory():
    model = sl.Categorizer(max_memory="64MB")
    for text, label in zip(TEXTS, LABELS, strict=True):
        model.learn(text, label, because=[text.split()[0]])
    assert model.learner_.n_examples_ == len(TEXTS)


def test_marks_help_with_few_examples():
    """Of greetings around the word that decides, the word is learned."""
    random = np.random.default_rng(0)
    greetings = ["good morning", "hello there", "dear all", "hi folks"]
    words = ["refund", "crash", "login", "invoice"]
    texts = [f"{random.choice(greetings)} {word}" for word in words]
    marked = sl.Categorizer().learn_many(texts, words, because=[[word] for word in words])
    plain = sl.Categorizer().learn_many(texts, words)
    tests = [(f"{greeting} {word}", word) for greeting in greetings for word in words]

    def margin(model):
        return sum(model.explain(text, word).score for text, word in tests) - sum(
            score for text, word in tests for label, score in model.rank(text, 4) if label != word
        )

    assert margin(marked) > margin(plain)
    assert text_features.OUTSIDE_MARKS == 0.5
