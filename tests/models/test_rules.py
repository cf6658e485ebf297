"""Rules at ranking time: what comes out is the full ranking, filtered."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from shortlist.label_vocabulary import Concept, LabelVocabulary
from shortlist.learners.row_ranker import RowRanker
from shortlist.models import rules as known_rules

WORDS = [
    "wheat",
    "corn",
    "rye",
    "gold",
    "silver",
    "bank",
    "rate",
    "loan",
    "ship",
    "river",
    "port",
    "sea",
]
LABELS = [f"c{n}" for n in range(10)]
CONCEPTS = [
    Concept(label, label, (), (LABELS[n // 3],) if n else ()) for n, label in enumerate(LABELS)
]


def taught(learner=None):
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS, 5)) for _ in range(120)]
    labels = [[LABELS[WORDS.index(word) % 10] for word in text.split()[:2]] for text in texts]
    model = sl.Categorizer(learner, sl.TextVectorizer()).fit(texts, labels)
    return model.set_vocabulary(LabelVocabulary(CONCEPTS))


LEARNERS = {"tuned": None, "focus": sl.FeatureFocus(), "rocchio": sl.Rocchio(), "mmp": sl.MMP()}


@cache
def taught_once(name):
    return taught(LEARNERS[name])


some = st.lists(st.sampled_from(LABELS), max_size=4)


def filtered(model, text, k, rules):
    """The slow twin: the whole ranking, gone through from the top."""
    names, vocabulary = model.classes_.tolist(), model.vocabulary_
    counts = dict(zip(names, model.label_counts_.tolist(), strict=True))
    mean = 1 + np.mean(list(counts.values()))
    scored = [
        (label, score * ((1 + counts[label]) / mean) ** -rules.tame if score > 0 else score)
        for label, score in model.rank(text, len(names))
    ]
    scored.sort(key=lambda pair: (-pair[1], names.index(pair[0])))
    left = dict(rules.at_most)
    found = []
    for label, score in scored:
        below = (
            set().union(*(vocabulary.subtree(one) for one in rules.below))
            if rules.below is not None
            else set(names)
        )
        fine = (
            (rules.only is None or label in rules.only)
            and label not in rules.but
            and label in below
        )
        kinds = [kind for kind in left if label in vocabulary.subtree(kind)]
        if fine and all(left[kind] > 0 for kind in kinds) and len(found) < k:
            found.append((label, pytest.approx(score)))
            for kind in kinds:
                left[kind] -= 1
    return found


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    st.integers(1, 12),
    st.none() | some,
    some,
    st.none() | some,
    st.dictionaries(st.sampled_from(LABELS), st.integers(0, 3), max_size=2),
    st.sampled_from([0.0, 0.3, -0.5]),
)
def test_equal_to_filtering_the_whole_ranking(name, words, k, only, but, below, at_most, tame):
    model, text = taught_once(name), " ".join(words)
    rules = sl.Rules(only=only, but=but, below=below, at_most=at_most, tame=tame)
    assert list(model.rank(text, k, rules)) == filtered(model, text, k, rules)


def test_frequent_labels_are_tamed_beside_vectors_too():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS[:6], 4)) for _ in range(40)]
    labels = [[LABELS[WORDS.index(text.split()[0])], "c9"] for text in texts]
    vectors = random.normal(size=(40, 4)).astype(np.float32)
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(texts, labels, vectors)
    mean = 1 + model.label_counts_.mean()
    times = dict(
        zip(model.classes_.tolist(), ((1 + model.label_counts_) / mean) ** -0.5, strict=True)
    )
    plain = list(model.rank(texts[:3], 7, vectors=vectors[:3]))
    tamed = list(model.rank(texts[:3], 7, sl.Rules(tame=0.5), vectors=vectors[:3]))
    for before, after in zip(plain, tamed, strict=True):
        wanted = [(label, score * times[label] if score > 0 else score) for label, score in before]
        assert dict(after) == pytest.approx(dict(wanted))
        assert [score for _, score in after] == sorted((score for _, score in after), reverse=True)


def test_rules_of_a_model_are_kept_and_go_with_those_of_a_request(tmp_path):
    model = taught().set_rules(sl.Rules(but=["c0"], at_most={"c1": 1}))
    model.save(tmp_path / "m.shortlist")
    again = sl.load(tmp_path / "m.shortlist")
    assert again.rules_ == model.rules_
    text = " ".join(WORDS)
    assert "c0" not in dict(again.rank(text, 10))
    assert sum(label in again.vocabulary_.subtree("c1") for label, _ in again.rank(text, 10)) == 1
    assert set(dict(again.rank(text, 10, sl.Rules(only=["c0", "c2"])))) == {"c2"}
    assert "c0" not in set(again.predict(WORDS * 3))
    again.set_rules(None)
    assert "c0" in dict(again.rank(text, 10))


def test_rules_that_have_no_meaning_are_refused():
    plain = sl.Categorizer().learn("wheat", "a")
    # without a vocabulary nothing is narrower
    for rules in (sl.Rules(below=["a"]), sl.Rules(at_most={"a": 1})):
        assert list(plain.rank("wheat", 1, rules)) == list(plain.rank("wheat", 1))
    assert not list(plain.rank("wheat", 1, sl.Rules(below=["b"])))
    with pytest.raises(sl.InputError, match="at_most"):
        sl.Rules(at_most={"a": -1})
    for tame in (2, float("nan")):
        with pytest.raises(sl.InputError, match="tame"):
            sl.Rules(tame=tame)
    assert not sl.Rules()
    assert sl.Rules(only="a").only == ("a",)


def test_labels_that_are_numbers():
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(
        ["wheat", "gold", "both wheat gold"], [[1], [2], [1, 2]]
    )
    assert dict(model.rank("wheat gold", 5, sl.Rules(but=[1]))).keys() == {2}
    model.set_vocabulary(
        LabelVocabulary([Concept("1", "grain"), Concept("2", "metal", (), ("1",))])
    )
    assert dict(model.rank("wheat gold", 5, sl.Rules(below=["2"]))).keys() == {2}


def test_rules_that_were_asked_before_follow_what_is_learned():
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(["wheat", "gold"], ["grain", "metal"])
    rules = sl.Rules(but=["grain"], tame=0.2)
    first = dict(model.rank("wheat gold", 5, rules))
    assert first.keys() == {"metal"}
    model.learn_many(["gold dust", "silver and gold"] * 3, ["dust", "metal"] * 3)
    found = dict(model.rank("wheat gold", 5, rules))
    assert found.keys() == {"metal", "dust"}
    assert found == dict(model.copy().rank("wheat gold", 5, rules))
    model.retire_labels(["dust"])
    assert dict(model.rank("wheat gold", 5, rules)).keys() == {"metal"}


def test_rules_that_were_asked_before_are_at_hand_until_something_changes():
    """Saved rules, and those of a request, are worked out once; new labels, names or retired
    labels do so anew.
    """
    model, text = taught(), " ".join(WORDS)
    saved, asked = sl.Rules(but=["c0"]), sl.Rules(but=["c1"])
    model.set_rules(saved).rank(text, 10, asked)
    before = model.allowed_labels_.known
    assert [one.rules for one in before._cached] == [asked, saved]
    model.rank(text, 10, sl.Rules(but=["c1"]))
    model.rank(text, 10)
    assert model.allowed_labels_.known is before
    assert len(before._cached) == 2
    model.rank(text, 10, sl.Rules(but=["c2"]))
    assert len(before._cached) == 3
    mine = next(one for one in before._cached if one.rules is saved)
    for n in range(40):
        model.rank(text, 10, sl.Rules(at_most={f"c{n % 10}": n}))
    assert len(before._cached) == 16
    # asked for each time, and never worked out again
    assert any(one is mine for one in before._cached)
    for change in (
        lambda: model.learn("wheat lorry", ["c0", "new"]),
        lambda: model.retire_labels(["c2"]),
        lambda: model.set_vocabulary(
            LabelVocabulary([*CONCEPTS, Concept("new", "new", (), ("c0",))])
        ),
    ):
        kept = model.allowed_labels_.known
        change()
        found = dict(model.rank(text, 10, asked))
        assert model.allowed_labels_.known is not kept
        assert "c0" not in found
        assert "c1" not in found
    assert "new" in dict(model.set_rules(None).rank("lorry", 10, sl.Rules(below=["c0"])))


def test_taming_follows_the_counts():
    model, text = taught(), " ".join(WORDS)
    rules = sl.Rules(tame=0.2)
    assert list(model.rank(text, 10, rules)) == filtered(model, text, 10, rules)
    for _ in range(30):
        model.learn("wheat", ["c9"])
    assert list(model.rank(text, 10, rules)) == filtered(model, text, 10, rules)
    for more in (sl.Rules(tame=0.4), sl.Rules(tame=-0.1)):
        assert list(model.rank(text, 10, more)) == filtered(model, text, 10, more)
    both = sl.Rules(tame=0.1).with_more(sl.Rules(tame=0.95))
    assert (both.tame, both.to_dict()) == (1.0, {"tame": 1.0})


def test_numbers_are_found_by_their_text_and_texts_by_their_number():
    model = sl.Categorizer().fit(["a", "b", "c d", "d"], [[7], ["8"], [2.5], [True]])
    for asked, gone in [
        ("7", 7),
        (8, "8"),
        (7, 7),
        ("2.5", None),
        (2.5, 2.5),
        ("٧", None),
        ("9" * 30, None),
    ]:
        left = [label for label, _ in model.rank("a b c d", 4, sl.Rules(but=[asked]))]
        assert (gone not in left) if gone is not None else len(left) == 4, asked


def test_the_rules_of_a_model_are_worked_out_before_anybody_asks(tmp_path, monkeypatch):
    asked = []
    left_by = known_rules.left_by
    monkeypatch.setattr(
        known_rules, "left_by", lambda rules, *more: asked.append(rules) or left_by(rules, *more)
    )
    model, rules = taught(), sl.Rules(only=LABELS[:4])
    sl.Categorizer().set_rules(rules)  # nothing is learned yet: there is nothing to work out
    assert asked == []
    model.set_rules(rules)
    assert asked == [rules]
    model.save(tmp_path / "model.shortlist")
    again = sl.load(tmp_path / "model.shortlist")
    assert asked == [rules, rules]
    assert list(again.rank("wheat", 3)) == list(model.rank("wheat", 3))
    assert len(asked) == 2


def test_labels_may_be_given_by_their_names():
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(
        ["wheat", "gold", "rye", "tin"], ["p1", "p2", "p3", "Banks"]
    )
    model.set_vocabulary(
        LabelVocabulary(
            [Concept("p1", "Wheat", (), ("p3",)), Concept("p2", "Gold"), Concept("p3", "Cereals")]
        )
    )
    text = "wheat gold rye tin"
    for rules, left in [
        (sl.Rules(only=["Wheat", "p2", "nothing"]), {"p1", "p2"}),
        (sl.Rules(but=["Gold"]), {"p1", "p3", "Banks"}),
        (sl.Rules(below=["Cereals"]), {"p1", "p3"}),
        (sl.Rules(at_most={"Cereals": 0}), {"p2", "Banks"}),
    ]:
        assert dict(model.rank(text, 4, rules)).keys() == left, rules


def test_labels_of_rules_are_looked_up_at_once(monkeypatch):
    """A rule may name a hundred thousand labels, while others wait."""
    model = sl.Categorizer().learn_many(["wheat", "rates"], ["grain", 7])
    monkeypatch.setattr(RowRanker, "label_numbers", None)
    known = ["grain", 7, np.str_("grain"), np.int64(7)]
    unknown = ["Grain", "7", 8, None, ["grain"], {}]
    assert [model.knows_label(label) for label in known + unknown] == [True] * 4 + [False] * 6
