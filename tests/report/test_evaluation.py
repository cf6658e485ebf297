"""A close look at a model: what its labels are called stands in pictures and tables, the labels
themselves in JSON.
"""

import pytest

import shortlist as sl
from shortlist import report
from shortlist.inputs import Examples
from shortlist.label_vocabulary import Concept
from shortlist.report import evaluate_closely

NAMES = {"p1": "grain", "p2": "metal"}


@pytest.fixture
def model():
    return sl.Categorizer().fit(["wheat corn", "gold silver"] * 5, [["p1"], ["p2"]] * 5)


@pytest.fixture
def wrong():
    return [Examples(texts=["wheat", "gold", "corn"], labels=[["p2"], ["p1", "p3"], ["p1"]])]


@pytest.mark.long
@pytest.mark.parametrize("named", [False, True])
def test_pictures_and_errors_show_what_labels_are_called(
    named, model, wrong, tmp_path, monkeypatch
):
    pytest.importorskip("matplotlib")
    drawn = []
    monkeypatch.setattr(report, "plot_confusion", lambda path, labels, counts: drawn.append(labels))
    called = NAMES if named else {}
    if named:
        model.set_vocabulary(
            sl.LabelVocabulary([Concept(label, name) for label, name in NAMES.items()])
        )
    found = evaluate_closely(model, wrong, ["R1"], errors=2, folder=tmp_path)
    assert sorted(drawn[0]) == sorted(called.get(label, label) for label in ("p1", "p2", "p3"))
    (table,) = [one for one in found.tables if one.what == "errors"]
    p1, p2 = called.get("p1", "p1"), called.get("p2", "p2")
    assert sorted(row[1:3] for row in table.rows) == sorted([[p2, p1], [f"{p1}, p3", p2]])
    assert sorted(row["ranked first"] for row in found.details["errors"]) == ["p1", "p2"]
