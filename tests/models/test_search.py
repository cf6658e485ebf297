"""A search for the best model: what it tries, when it keeps the usual one, and what is left of
it in the file.
"""

import numpy as np
import pytest

import shortlist as sl
from shortlist.data.texts import WithVectors
from shortlist.data.validation import as_rows
from shortlist.inputs.examples import Examples
from shortlist.models import model_search as searching
from shortlist.models.model_search import OUT_OF_TIME, Trial, called, candidates, decide, search
from shortlist.models.row_categorizer import RowCategorizer


def notes(n, seed=0):
    """Short texts whose label follows from one word among others, and is wrong in one of ten."""
    random = np.random.default_rng(seed)
    words = {
        "grain": ["wheat", "corn", "barley"],
        "money": ["bank", "rates", "loan"],
        "space": ["orbit", "moon", "mars"],
    }
    labels = [list(words)[i] for i in random.integers(3, size=n)]
    texts = [f"the {random.choice(words[own])} of day {random.integers(30)}" for own in labels]
    wrong = random.random(n) < 0.1
    return texts, [
        list(words)[random.integers(3)] if bad else own
        for own, bad in zip(labels, wrong, strict=True)
    ]


def examples(n=120, seed=0):
    texts, labels = notes(n, seed)
    return Examples(texts=texts, labels=[[own] for own in labels])


@pytest.fixture
def few(monkeypatch):
    """Say which models are tried."""

    def set_to(*others):
        made = [Trial(called(model.new_learner()), model) for model in others]
        monkeypatch.setattr(
            searching, "candidates", lambda usual, examples: [Trial("the usual", usual), *made]
        )

    return set_to


# Which model is taken.


def test_another_model_is_taken_where_it_is_surely_better(few):
    few(sl.Categorizer("feature-focus"), sl.Categorizer("frequency"))
    found = search(sl.Categorizer("frequency"), examples(400))
    assert found.chosen == found.trials[0].name == "FeatureFocus(margin=0.3)"
    assert found.model.score(*notes(200, seed=5)) > 0.8
    assert found.model.learner_.n_examples_ == 400


@pytest.mark.long
def test_the_usual_model_stays_where_none_is_surely_better():
    texts, labels = notes(150)
    model = sl.Categorizer.tuned(texts, labels)
    usual = sl.Categorizer().fit(texts, labels)
    if model.search_["chosen"] == "the usual":
        ours, theirs = model.to_state().all_arrays(), usual.to_state().all_arrays()
        assert ours.keys() == theirs.keys()
        assert all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in ours)
    assert len(model.search_["tried"]) > 8


def test_better_by_chance_is_not_enough():
    random = np.random.default_rng(0)
    usual, lucky, better = (Trial("", sl.Categorizer()) for _ in range(3))
    usual.values = (random.random(2000) < 0.80).astype(float)
    lucky.values, better.values = usual.values.copy(), usual.values.copy()
    wrong = np.flatnonzero(usual.values == 0)
    lucky.values[wrong[:30]] = 1.0
    lucky.values[np.flatnonzero(usual.values == 1)[:20]] = 0.0  # 30 better, 20 worse
    assert decide(usual, [lucky]) is usual
    assert lucky.verdict.startswith("+0.50 points, p = 0.1")
    better.values[wrong[:40]] = 1.0
    assert decide(usual, [lucky, better]) is better
    assert better.verdict.startswith("chosen: +2.00 points")


def test_many_finalists_need_better_proof():
    usual, other = (Trial("", sl.Categorizer()) for _ in range(2))
    usual.values, other.values = np.zeros(1000), np.zeros(1000)
    usual.values[:8], other.values[8:28] = 1.0, 1.0  # 20 better, 8 worse: p of about 0.03
    assert decide(usual, [other]) is other
    equal = [Trial("", sl.Categorizer(), usual.values.copy()) for _ in range(3)]
    assert decide(usual, [other, *equal]) is usual


@pytest.mark.long
def test_the_same_seed_finds_the_same(few):
    few(sl.Categorizer("feature-focus"), sl.Categorizer("mmp"))
    one, again = (search(sl.Categorizer(), examples(), random_state=3).record for _ in range(2))
    other = search(sl.Categorizer(), examples(), random_state=4).record
    assert one == again
    assert one["tried"] != other["tried"]


# Time, memory, failures.


def test_without_time_the_usual_model_learns():
    found = search(sl.Categorizer(), examples(), seconds=0)
    assert found.chosen == "the usual"
    assert {one.verdict for one in found.trials[1:]} == {OUT_OF_TIME}
    assert found.model.learner_.n_examples_ == 120


def test_within_a_bound_only_learners_that_can_make_room_are_tried():
    bounded = candidates(sl.Categorizer(max_memory="100MB"), examples())
    kinds = {type(one.model.new_learner()).__name__ for one in bounded}
    assert kinds == {"TunedIndex", "FeatureFocus"}
    assert all(one.model.max_memory == "100MB" for one in bounded)
    assert "MMP" in {
        type(one.model.new_learner()).__name__ for one in candidates(sl.Categorizer(), examples())
    }


def test_a_candidate_that_fails_is_left_out(few):
    few(sl.Categorizer(sl.MMP(passes=0)), sl.Categorizer("feature-focus"))
    found = search(sl.Categorizer("frequency"), examples(400))
    assert found.trials[-1].verdict.startswith("failed: passes must be at least 1")
    assert found.model.learner == "feature-focus"


def test_where_all_have_the_same_label_the_usual_model_learns_it():
    texts, _ = notes(40)
    assert sl.Categorizer.tuned(texts, ["grain"] * 40).predict(texts[:1]).tolist() == ["grain"]


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(sl.InputError, match="needs at least 20, not 3"):
        sl.Categorizer.tuned(["a", "b", "c"], ["x", "y", "z"])
    with pytest.raises(sl.InputError, match="seconds must be at least 0"):
        sl.Categorizer.tuned(*notes(30), seconds=-1)
    with pytest.raises(sl.InputError, match="passes must be at least 1"):
        search(sl.Categorizer(sl.MMP(passes=0)), examples())


# What is tried, on which examples.


def texts_tried(texts, single):
    some = Examples(
        texts=texts, labels=[["a"] if single else ["a", str(n)] for n in range(len(texts))]
    )
    return [one for one in candidates(sl.Categorizer(), some) if one.model.text is not None], some


def test_only_features_that_differ_are_tried():
    short, long = notes(100)[0], [text * 40 for text in notes(100)[0]]
    tried, _ = texts_tried(long, True)
    settled = [one.model.text.settled(long, True).get_params() for one in tried]
    assert settled
    assert sl.Categorizer().new_text().settled(long, True).get_params() not in settled
    # they have single words by themselves
    assert [one.model.text.ngrams for one in tried].count(1) == 0
    assert [one.model.text.ngrams for one in texts_tried(short, True)[0]].count(1) == 1


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("longer", [1, 40])
def test_runs_of_characters_weigh_less_than_words(single, longer):
    """As they do in the usual features of short texts."""
    texts = [text * longer for text in notes(100)[0]]
    found = [
        one for one in texts_tried(texts, single)[0] if isinstance(one.model.text.characters, tuple)
    ]
    assert [
        (text.characters, text.character_weight, text.prefix)
        for text in (one.model.text for one in found)
    ] == [
        ((2, 4), 0.6, None),
        ((3, 4), 0.6, 4),
    ]
    for one in found:
        assert "character_weight=0.6" in one.name
        one.model.text.fit(texts)


def test_rows_of_features_have_other_learners_only():
    X = np.random.default_rng(0).random((60, 4))
    some = Examples(rows=as_rows(X), labels=[[int(x[0] > 0.5)] for x in X])
    assert all(
        not one.name.startswith("text") for one in candidates(RowCategorizer(sl.TunedIndex()), some)
    )
    found = search(RowCategorizer(sl.TunedIndex()), some)
    assert found.model.rank_examples(some, 1).labels.shape == (60, 1)


def test_texts_with_vectors_are_tried_with_learners_of_both(few):
    texts, labels = notes(120)
    names = sorted(set(labels))
    V = np.random.default_rng(1).normal(size=(120, 6))
    # which say all, where words are wrong
    V[np.arange(120), [names.index(own) for own in labels]] += 9.0
    some = Examples(
        texts=WithVectors(texts, V.astype(np.float32)), labels=[[own] for own in labels]
    )
    tried = candidates(sl.Categorizer(), some)
    assert {type(one.model.new_learner()).__name__ for one in tried} == {"TunedIndex"}
    assert len({one.name for one in tried}) == len(tried) > 4
    few(sl.Categorizer(sl.TunedIndex(passes=5)))
    model = sl.Categorizer.tuned(texts, labels, vectors=V)
    assert [one["name"] for one in model.search_["tried"] if one["value"] > 0.95]
    assert model.n_vector_ == 6
    assert model.score(texts, labels, vectors=V) > 0.95
    with pytest.raises(sl.InputError, match="a row of numbers for each text, 120 rows"):
        sl.Categorizer.tuned(texts, labels, vectors=V[:5])


def test_many_examples_are_sampled_first(few, monkeypatch):
    """All candidates learn the sample, the best few and the usual model all but the held-out
    part.
    """
    monkeypatch.setattr(searching, "SAMPLE_SIZE", 100)
    monkeypatch.setattr(searching, "FINALISTS", 1)
    learned, attempt = [], searching._attempt

    def note(trial, part, test, measure):
        learned.append((trial.name, len(part), len(test), test.texts[0]))
        attempt(trial, part, test, measure)

    monkeypatch.setattr(searching, "_attempt", note)
    few(sl.Categorizer("feature-focus"), sl.Categorizer("rocchio"))
    steps = []
    found = search(
        sl.Categorizer("frequency"), examples(400), progress=lambda *step: steps.append(step)
    )
    assert [one[1:3] for one in learned] == [(100, 80)] * 3 + [(320, 80)] * 2
    assert len({one[3] for one in learned}) == 1  # always the same part is held out
    assert [one.n_learned for one in found.trials] == [320, 320, 100]
    assert found.trials[-1].verdict == "left behind on the sample"
    assert steps == [(n, 5) for n in range(5)]


# What is left of it.


def test_the_file_has_what_was_tried(few, tmp_path):
    few(sl.Categorizer("feature-focus"))
    model = search(sl.Categorizer("frequency"), examples(400)).model
    model.save(tmp_path / "best.shortlist")
    opened = sl.load(tmp_path / "best.shortlist", kind=sl.Categorizer)
    assert opened.search_ == model.search_
    assert opened.search_["measure"] == "R1"
    assert [one["name"] for one in opened.search_["tried"]][-1] == "the usual"
    assert opened.learn("wheat", "grain").search_ == model.search_


def test_several_labels_are_measured_by_ndcg(few):
    few(sl.Categorizer("feature-focus"))
    some = examples(100)
    some.labels = [[*own, "all"] for own in some.labels]
    assert search(sl.Categorizer("frequency"), some).measure == "nDCG@5"
