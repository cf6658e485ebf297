"""shortlist strike."""

import pytest

import shortlist as sl
from tests.cli.test_bad_input import refused


@pytest.fixture
def model(tmp_path):
    texts = ["wheat exports rose", "corn fell", "bank rates", "wheat corn"] * 4
    path = tmp_path / "m.shortlist"
    sl.Categorizer().learn_many(texts, ["grain", "corn", "money", "grain"] * 4).save(path)
    (tmp_path / "mail.txt").write_text("wheat\nbank corn\nwheat, the bank rates\n")
    return path


def best(run, model, text):
    return run("rank", model, "--text", text, "--json").json["labels"][:1]


def test_strike_and_undo(run, model):
    before = model.read_bytes()
    assert best(run, model, "wheat") == ["grain"]
    done = run("strike", model, "wheat", "--label", "grain", "--person", "anna").out
    assert "'wheat' does not count for grain, struck out by anna" in done
    assert best(run, model, "wheat") != ["grain"]
    assert "Struck out: 'wheat' does not count for grain" in run("inspect", model).out
    assert len(run("inspect", model, "--json").json["struck"]) == 1
    assert (
        "wheat: struck out by anna"
        in run("explain", model, "--text", "wheat corn", "--label", "grain").out
    )
    refused(run("strike", model, "wheat", "--label", "grain"), "is struck out already")
    assert run("strike", model, "corn", "--json").json["struck"][1] == (
        "'corn' does not count for any label"
    )
    run("labels", model, "undo")
    assert len(run("inspect", model, "--json").json["struck"]) == 1
    assert "counts again" in run("strike", model, "wheat", "--label", "grain", "--undo").out
    assert model.read_bytes() == before
    refused(run("strike", model, "wheat", "--undo"), "is not struck out")
    refused(run("strike", model, "wheat", "--label", "sports"), "sports")


def test_preview_changes_nothing(run, model, tmp_path):
    before = model.read_bytes()
    mail = tmp_path / "mail.txt"
    found = run("strike", model, "wheat", "--label", "grain", "--preview", mail, "--json").json
    assert found["texts"] == 3
    assert found["changed"][0]["number"] == 0
    assert found["changed"][0]["best"] == "grain"
    shown = run("strike", model, "wheat", "--preview", mail).out
    assert "of 3 texts would change" in shown
    assert "(grain)" in shown
    assert model.read_bytes() == before
    refused(run("strike", model, "wheat", "--undo", "--preview", mail), "leave out --undo")


def test_models_without_labels_of_texts(run, tmp_path):
    path = tmp_path / "rows.shortlist"
    sl.RowCategorizer().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).save(path)
    refused(run("strike", path, "wheat"), "models of texts with labels")
