"""Model files of earlier versions open, and answer as they did. A release adds its own files here and changes none."""

from pathlib import Path

import numpy as np
import pytest

import shortlist as sl
from shortlist.files.headers import learned_examples

FILES = Path(__file__).parents[1] / "fixtures" / "models"
CATEGORIZERS = sorted(FILES.glob("categorizer*.shortlist"))
ROWS = np.eye(6)


@pytest.mark.parametrize("path", CATEGORIZERS, ids=lambda path: path.stem)
def test_a_categorizer_ranks_and_goes_on_learning(path, tmp_path):
    model = sl.load(path, kind=sl.Categorizer)
    assert [label for label, _ in model.rank("wheat and bank rates", k=2)] == ["money", "grain"]
    model.learn("satellites in orbit", ["space"])
    model.save(tmp_path / "again.shortlist")
    again = sl.load(tmp_path / "again.shortlist")
    assert again.rank("satellites in orbit", k=1)[0][0] == "space"
    assert [label for label, _ in again.rank("silver", k=1)] == ["metals"]


def test_words_and_vectors_that_had_one_error_rank_as_they_did_and_learn_no_more():
    model = sl.load(FILES / "words-and-vectors.shortlist", kind=sl.Categorizer)
    texts, vectors = ["barley harvest", "barley", "a loan of the bank"], [[0.7, -0.1], [-0.3, 0.2], [0.0, 0.0]]
    found = model.rank(texts, k=2, vectors=vectors)
    assert found.labels.tolist() == [["grain", "money"], ["money", "grain"], ["money", "grain"]]
    before = [0.9596769151495307, -0.7838250357279389, 0.9041096081849098, -0.6104446159527745, 0.9194674595026695,
              -0.04529330940007388]  # fmt: skip
    assert found.scores.ravel().tolist() == pytest.approx(before, abs=1e-7)  # weights had 64 bits
    votes = dict(model.explain("the harvest", "grain", vector=[0.7, -0.1]))
    assert votes["(vector)"] == pytest.approx(0.6054980095862663)
    assert votes["harvest"] == pytest.approx(0.036959305584736306)
    with pytest.raises(sl.InputError, match="in the way of an earlier version"):
        model.learn("barley", "grain", vector=[0.7, -0.1])
    assert model.learner_.n_examples_ == 6
    again = model.copy()
    assert again.rank("barley", k=1, vector=[-0.3, 0.2])[0][1] == pytest.approx(before[2], abs=1e-7)


@pytest.mark.parametrize("name", ["feature-focus", "independent", "mmp"])
def test_a_learner_of_categories_ranks(name):
    ranking = sl.load(FILES / f"{name}.shortlist").rank(np.eye(4), k=1)
    assert ranking.labels[:, 0].tolist() == ["a", "b", "a", "c"]


def test_a_learner_of_ratings_rates():
    assert sl.load(FILES / "prank.shortlist").predict(ROWS).tolist() == [1, 2, 3, 1, 2, 3]


def test_a_learner_of_documents_ranks():
    scores = sl.load(FILES / "map-svm.shortlist").decision_function(ROWS)
    assert scores[::2].min() > scores[1::2].max()


@pytest.mark.parametrize("path", CATEGORIZERS, ids=lambda path: path.stem)
def test_the_header_alone_says_how_much_was_learned(path, tmp_path):
    assert learned_examples(path) == sl.load(path).learner_.n_examples_ == 8
    cut = tmp_path / "cut.shortlist"
    cut.write_bytes(path.read_bytes()[:100])
    with pytest.raises(sl.ModelFileError, match="damaged"):
        learned_examples(cut)
