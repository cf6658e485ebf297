"""Words that are struck out: they count for nothing, and exactly what they said before is gone."""

import copy

import numpy as np
import pytest

import shortlist as sl
from shortlist.errors import InputError
from shortlist.learners.port import BIAS
from shortlist.models.label_changes import Change

WORDS = ["wheat", "corn", "bank", "rates", "the", "exports", "rose", "fell", "again", "ship"]


def texts_of(n, seed):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, 20))) for _ in range(n)]


def taught(n_labels=6, several=False, **settings):
    random = np.random.default_rng(5)
    texts = texts_of(400, 1)
    labels = []
    for text in texts:
        first = f"about {WORDS.index(text.split()[0]) % n_labels}"
        more = [f"about {random.integers(n_labels)}"] if several and random.random() < 0.5 else []
        labels.append([first, *more] if several else first)
    return sl.Categorizer(**settings).learn_many(texts, labels)


def words_in(text, word):
    places = []
    start = text.find(word)
    while start >= 0:
        places.append((start, start + len(word)))
        start = text.find(word, start + 1)
    whole = f" {text} "
    return [(a, b) for a, b in places if whole[a] == " " and whole[b + 1] == " "]


def slow_scores(model, text, strikes):
    """The scores of all labels of a text, by the votes that are left."""
    plain = copy.deepcopy(model)
    rows = plain.rows_of([text])
    spans = plain.text_.spans(text)
    scores = {}
    for label in plain.classes_.tolist():
        number = plain.learner_.label_index_.find(label)
        columns, votes = plain.learner_.votes(plain.learner_.prepare(rows), number)
        left = []
        for column, vote in zip(columns.tolist(), votes.tolist(), strict=True):
            struck = False
            for word, of_label in strikes:
                letters = {place for a, b in words_in(text, word) for place in range(a, b)}
                places = spans.get(column, [])
                inside = [bool(letters & set(range(a, b))) for a, b in places]
                struck |= of_label == label and bool(places) and all(inside)
            if not struck:
                left.append((column, vote))
        if any(column != BIAS for column, _ in left):
            score = 0.0
            for _, vote in left:
                score += vote
            scores[label] = score
    order = {label: n for n, label in enumerate(plain.classes_.tolist())}
    return sorted(scores.items(), key=lambda pair: (-pair[1], order[pair[0]]))


@pytest.mark.parametrize("several", [False, True])
def test_rankings_as_a_slow_loop_makes_them(several):
    model = taught(several=several)
    strikes = [
        ("wheat", "about 0"),
        ("the", "about 4"),
        ("bank rates", "about 2"),
        ("wheat", "about 3"),
    ]
    texts = texts_of(60, 2)
    expected = [slow_scores(model, text, strikes) for text in texts]
    for word, label in strikes:
        model.strike(word, label)
    for k in (1, 2, 6):
        for ranking, best in zip(model.rank(texts, k), expected, strict=True):
            assert list(ranking) == best[:k]
    for text, best in zip(texts, expected, strict=True):
        assert list(model.rank(text, 3)) == best[:3]
        for label, score in best:
            why = model.explain(text, label)
            assert why.score == score
            assert sum(vote for _, vote in why) == pytest.approx(score)


def test_a_word_struck_out_for_any_label_is_read_as_if_it_was_not_there():
    model = taught()
    texts = [text for text in texts_of(80, 3) if "the" in text.split()]
    model.strike("the")
    without = ["  ".join(word for word in text.split() if word != "the") for text in texts]
    pairs = zip(texts, without, strict=True)
    singles = [
        (text, left) for text, left in pairs if text.split().index("the") == len(left.split())
    ]
    assert singles  # no pair of words arises where the word is at the end
    for text, left in singles:
        if left:
            assert list(model.rank(text, 6)) == list(model.rank(left, 6))
    assert len(model.rank("the", 3)) == 0
    votes = dict(model.explain("the wheat the", "about 0").votes)
    assert not any("the" in str(name) for name in votes)


def test_later_learning_does_not_bring_it_back():
    model = taught().strike("wheat", "about 0").strike("corn")
    edges = model.learner_.n_edges_
    model.learn_many(["corn"] * 20, ["about 1"] * 20)
    assert model.learner_.n_edges_ == edges
    model.learn_many(["wheat"] * 20, ["about 0"] * 20)
    assert "about 0" not in model.rank("wheat", 6).labels.tolist()
    assert len(model.rank("corn", 6)) == 0
    model.fit(["corn rose", "wheat fell"] * 20, ["about 1", "about 0"] * 20)
    assert len(model.rank("corn", 6)) == 0
    assert [name for name, _ in model.explain("wheat corn", "about 0") if "any" not in name] == []
    model.unstrike("corn").unstrike("wheat", "about 0")
    assert model.rank("wheat", 1).labels.tolist() == ["about 0"]
    model.learn_many(["corn"] * 20, ["about 1"] * 20)
    assert model.rank("corn", 1).labels.tolist() == ["about 1"]


def test_nothing_changes_without_strikes_and_all_is_undone():
    model = taught()
    texts = texts_of(50, 4)
    before = [list(ranking) for ranking in model.rank(texts, 4)]
    header = model.to_state().header()
    assert "strikes" not in str(header)
    model.strike("the", "about 1").strike("wheat exports", person="anna")
    assert [list(ranking) for ranking in model.rank(texts, 4)] != before
    model.unstrike("the", "about 1").unstrike("wheat exports")
    assert [list(ranking) for ranking in model.rank(texts, 4)] == before
    assert model.to_state().header() == header


def test_the_model_file_keeps_strikes(tmp_path):
    model = taught().strike("the", "about 1", person="anna").strike("Wheat")
    model.save(tmp_path / "m.shortlist")
    opened = sl.load(tmp_path / "m.shortlist")
    assert opened.strikes_ == model.strikes_
    assert opened.describe()["struck"] == [
        "'the' does not count for about 1, struck out by anna",
        "'Wheat' does not count for any label",
    ]
    texts = texts_of(30, 6)
    for one, other in zip(opened.rank(texts, 6), model.rank(texts, 6), strict=True):
        assert list(one) == list(other)
    opened.learn("wheat the", "about 1")
    model.learn("wheat the", "about 1")
    assert list(opened.rank("the ship", 6)) == list(model.rank("the ship", 6))


def test_explanations_say_what_is_struck_out():
    model = taught().strike("the", "about 1", person="anna").strike("Wheat", person="ben")
    why = model.explain("Nai\u0308ve: wheat, THE wheat", "about 1")
    assert [tuple(word) for word in why.struck] == [
        ("the", "anna", [(15, 18)]),
        ("Wheat", "ben", [(8, 13), (19, 24)]),
    ]
    assert model.explain("the bank", "about 0").struck == []
    fields = model.explain({"title": "corn", "body": "the wheat"}, "about 1")
    assert [word.spans for word in fields.struck] == [[(5, 8)], [(9, 14)]]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("word", "label"), [("the", "about 1"), ("wheat", None), ("nowhere", None)]
)
def test_a_preview_is_what_then_happens(word, label, several):
    model = taught(several=several)
    texts = texts_of(300, 7)
    changed = model.preview_strike(texts, word, label, precision=0.7)
    other = model.copy().strike(word, label)

    def answers(model):
        best = model.rank(texts, 1).labels[:, 0].tolist()
        decided = map(list, model.assign(texts, precision=0.7))
        return list(zip(best, decided, strict=True))

    expected = []
    for number, (old, new) in enumerate(zip(answers(model), answers(other), strict=True)):
        if old != new:
            expected.append((number, old[0], new[0], old[1], new[1]))
    assert [tuple(one) for one in changed] == expected
    assert bool(changed) == (word != "nowhere")
    assert model.strikes_ == ()
    if word == "wheat":
        assert len(model.rank("wheat", 1)) == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda model: model.strike("the", "sports"), "sports"),
        (lambda model: model.strike("  "), "takes a word"),
        (lambda model: model.strike(3), "takes a word"),
        (lambda model: model.strike("the", "about 1").strike("the", "about 1"), "already"),
        (lambda model: model.unstrike("the"), "is not struck out"),
        (lambda model: model.preview_strike(["the"], "the", "sports"), "sports"),
    ],
)
def test_refused(change, problem):
    with pytest.raises(InputError, match=problem):
        change(taught())


def test_changes_of_labels_and_strikes():
    model = taught().strike("the", "about 1").rename_label("about 1", "one")
    assert model.strikes_[0].label == "one"
    assert model.explain("the", "one").struck
    change = Change("strike", ("one",), word="bank", person="anna")
    assert Change.of(change.to_dict()) == change
    assert str(change) == "strike bank for one"
    assert str(Change("unstrike", (), word="bank")) == "unstrike bank for any label"


def test_strikes_with_vectors_rules_and_other_learners():
    random = np.random.default_rng(0)
    texts = texts_of(60, 8)
    labels = [text.split()[0] for text in texts]
    vectors = random.normal(size=(60, 4)).astype(np.float32)
    model = sl.Categorizer().learn_many(texts, labels, vectors=vectors)
    before = dict(model.rank("wheat the", 20, vector=vectors[0]))
    model.strike("wheat", "wheat")
    after = dict(model.rank("wheat the", 20, vector=vectors[0]))
    assert after["wheat"] == model.explain("wheat the", "wheat", vector=vectors[0]).score
    assert after["wheat"] != before.pop("wheat")
    assert {label: after[label] for label in before} == before
    for learner in ("mmp", "rocchio", "feature-focus"):
        other = sl.Categorizer(learner=learner).fit(texts, labels)
        scores = dict(other.rank("wheat the", 20))
        assert "wheat" in scores, learner
        other.strike("wheat", "wheat")
        struck = dict(other.rank("wheat the", 20))
        assert struck.get("wheat") != scores["wheat"]
        rules = sl.Rules(but=["wheat"], tame=0.1, at_most={"corn": 0})
        assert not {"wheat", "corn"} & set(dict(other.rank("wheat the", 20, rules)))
        assert (
            other.predict(["wheat the"]).tolist() == other.rank(["wheat the"], 1).labels[0].tolist()
        )
