"""Labels that change, and rules, on the terminal."""

import pytest

import shortlist as sl
from tests.cli.test_bad_input import refused


@pytest.fixture
def model(run, tmp_path):
    lines = [
        '{"text": "wheat exports rose", "labels": ["c1"]}',
        '{"text": "corn fell", "labels": ["c2"]}',
        '{"text": "bank rates", "labels": ["c3"]}',
        '{"text": "wheat corn bank", "labels": ["c1", "c2", "c3"]}',
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(lines * 4) + "\n")
    (tmp_path / "names.json").write_text(
        '{"c1": "wheat", "c2": {"name": "corn", "broader": ["c1"]}, "c3": "money"}'
    )
    assert run("train", "data.jsonl", "--vocabulary", "names.json").code == 0
    return tmp_path / "data.shortlist"


def ranked(run, model, *options):
    return run("rank", model, "--text", "wheat corn bank", "--json", *options).json["labels"]


def test_change_and_take_back(run, model):
    before = model.read_bytes()
    assert "rename c1 to grain" in run("labels", model, "rename", "c1", "grain").out
    assert "grain" in ranked(run, model)
    assert run("labels", model, "undo").code == 0
    assert model.read_bytes() == before
    refused(run("labels", model, "undo"), "nothing was changed that could be taken back")
    run("labels", model, "merge", "c2", "c1")
    assert set(ranked(run, model)) == {"c1", "c3"}
    run("labels", model, "retire", "c3")
    assert ranked(run, model) == ["c1"]
    assert run("labels", model, "restore", "c3", "--json").json["done"] == "restore c3"
    run("labels", model, "split", "c3", "banking")
    assert set(ranked(run, model)) == {"c1", "c3", "banking"}
    refused(run("labels", model, "rename", "c9", "x"), "'c9' has not been learned")
    refused(run("labels", model, "vanish", "c1"), "not by 'vanish'")


def test_list_and_name(run, model, tmp_path):
    found = run("labels", model, "list", "corn", "--json").json["labels"]
    assert [(one["label"], one["name"]) for one in found] == [("c2", "corn")]
    assert "3 labels" in run("labels", model).out
    (tmp_path / "fi.tsv").write_text("c1\tvehnä\n")
    assert (
        "gave names to 1 label"
        in run("labels", model, "name", "--vocabulary", "fi.tsv").out.lower()
    )
    assert sl.load(model).name_of("c1") == "vehnä"
    refused(run("labels", model, "name"), "with --vocabulary")


def test_rules(run, model):
    assert set(ranked(run, model)) == {"c1", "c2", "c3"}
    assert ranked(run, model, "--only", "c2") == ["c2"]
    assert set(ranked(run, model, "--but", "c2")) == {"c1", "c3"}
    assert set(ranked(run, model, "--below", "c1")) == {"c1", "c2"}
    assert len(ranked(run, model, "--at-most", "c1=1")) == 2
    every = [one for label in ("c1", "c2", "c3") for one in ("--only", label)]
    assert ranked(run, model, "--tame", "0.5") == ranked(run, model, "--tame", "0.5", *every)
    assert set(ranked(run, model, "--tame", "0.5")) == {"c1", "c2", "c3"}
    refused(run("rank", model, "--text", "a", "--at-most", "c1"), "--at-most takes NAME=VALUE")


def test_labels_by_their_names(run, tmp_path, news):
    (tmp_path / "names.tsv").write_text("grain\tCereals\nmoney\tFinance\n")
    assert run("train", news, "--vocabulary", tmp_path / "names.tsv").code == 0
    model = news.with_name("news.shortlist")
    # equal texts
    news.write_text(news.read_text() + '{"text": "wheat and corn prices", "labels": ["money"]}\n')
    assert "Cereals" in run("audit", news, "--model", model).out
    assert run("labels", model, "rename", "Cereals", "crops").code == 0
    assert "crops" in [
        one["label"] for one in run("labels", model, "list", "--json").json["labels"]
    ]
    refused = run("rank", model, "--text", "wheat", "--only", "grian")
    assert (refused.code, "a rule names 'grian'" in refused.err) == (2, True)


def test_names_wherever_a_label_is_typed(run, model):
    assert set(ranked(run, model, "--below", "Wheat")) == {"c1", "c2"}, "capitals do not matter"
    assert ranked(run, model, "--only", "corn") == ["c2"]
    assert "c2" not in ranked(run, model, "--but", "corn")
    assert len(ranked(run, model, "--at-most", "wheat=1")) == 2
    said = run("explain", model, "--text", "wheat corn bank", "--label", "money")
    assert said.out.lstrip().startswith("money (c3)")
    refused(run("rank", model, "--text", "a", "--below", "fruit"), "neither a label", "'fruit'")
    assert "rename c3 to funds" in run("labels", model, "rename", "Money", "funds").out
