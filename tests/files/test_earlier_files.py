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
