"""What notebooks show of evaluations, models and learners; frames of rankings; and one
notebook, run.
"""

import importlib.util
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import shortlist as sl

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
found = importlib.util.spec_from_file_location("notebook", ROOT / "scripts" / "notebook.py")
notebook = importlib.util.module_from_spec(found)
found.loader.exec_module(notebook)


@pytest.fixture(scope="module")
def model():
    return sl.Categorizer().fit(
        ["<b>wheat</b> and corn", "bank rates", "corn"], ["<script>", "money", "<script>"]
    )


def test_evaluations(model):
    evaluated = sl.evaluate(
        model.rank(["corn", "bank"], k=2), [["<script>"], ["money"]], ["R1", "P@2"]
    )
    assert evaluated.highest == {"P@2": 0.5}
    assert repr(evaluated) == evaluated.table()
    assert "at most 0.5000" in evaluated.table()


@pytest.mark.parametrize(
    "one", [sl.Categorizer(), sl.Rater(), sl.DocumentRanker(), sl.MMP(), sl.PRank(), sl.MapSVM()]
)
def test_models_and_learners_before_they_have_learned(one):
    assert type(one).__name__ in one._repr_html_()


def test_models_that_have_learned(model):
    assert "Categorizer" in model._repr_html_()


def test_frames_of_pandas(model):
    pandas = pytest.importorskip("pandas")
    frame = model.rank(["corn", "nothing known", "bank"], k=1).to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["row"].tolist() == [0, 2], "what retrieves nothing has no line"
    assert frame["label"].tolist() == ["<script>", "money"]
    assert list(model.rank("corn", k=1).to_frame().columns) == ["place", "label", "score"]


def test_frames_of_polars_where_there_is_no_pandas(model, monkeypatch):
    import polars

    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = model.rank("corn", k=1).to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame["place"].to_list() == [1]


def test_frames_have_probabilities_where_they_are_known():
    known = sl.Ranking(np.array([0], dtype=np.int32), np.array([1.0]), ["a"], np.array([0.5]))
    assert known.to_frame()["probability"].to_list() == [0.5]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_show_what_they_did(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell, shown in zip(notebook.code_of(cells), notebook.run(cells), strict=True):
        assert plain(shown) == plain(cell["outputs"]), (
            f"run python scripts/notebook.py {path.relative_to(ROOT)}"
        )


def plain(outputs):
    """The texts of outputs. Scores are left out: they change whenever a learner gets better."""
    texts = [
        "".join(one["data"]["text/plain"] if "data" in one else one["text"]) for one in outputs
    ]
    return [re.sub(r"[-+]?\d+\.\d+", "#", text) for text in texts]
