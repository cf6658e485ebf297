"""Learners side by side."""

import json

import numpy as np
import pytest

from shortlist import Categorizer
from shortlist.measures import wilcoxon
from shortlist.models.model import learners
from shortlist.models.model_search import Contestant, compare, differences
from tests.cli.test_bad_input import refused


@pytest.fixture
def many(tmp_path):
    """Sixty texts whose label follows from one word among others."""
    path = tmp_path / "many.jsonl"
    words = {"grain": "wheat", "money": "bank", "space": "orbit"}
    lines = []
    for n in range(60):
        label = list(words)[n % 3]
        lines.append(json.dumps({"text": f"the {words[label]} of day {n % 7}", "labels": [label]}))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_learner_on_the_same_splits(run, many):
    result = run("compare", many, "--learners", "all", "--splits", 2, "--json")
    assert result.code == 0, result.err
    found = {one["name"]: one for one in result.json["learners"]}
    assert list(found) == list(learners("categories"))
    assert found["feature-focus"]["quality"]["R1"] == [1.0, 1.0]
    assert found["ovr-svm"]["quality"]["R1"] == [1.0, 1.0]
    assert max(found["frequency"]["quality"]["R1"]) < 0.7
    pairs = {(one["first"], one["second"]): one for one in result.json["differences"]}
    assert pairs["feature-focus", "frequency"]["wilcoxon"] < 0.05
    assert pairs["feature-focus", "frequency"]["difference"] > 0.3


def test_the_table_names_what_is_more_than_chance(run, many):
    shown = run("compare", many, "--learners", "feature-focus,frequency", "--splits", 3).out
    assert "feature-focus > frequency" in shown
    assert "yes" in shown


def test_the_usual_learner_is_compared_as_a_categorizer_has_it(run, many):
    found = run("compare", many, "--splits", 1, "--json").json["learners"]
    assert found[0]["name"] == "tuned-index"
    own = [json.loads(line) for line in many.read_text().splitlines()]
    texts, labels = [one["text"] for one in own], [one["labels"] for one in own]
    (compared,) = compare(["tuned-index"], texts, labels, splits=1, random_state=3)
    order = np.random.default_rng(3).permutation(60)
    test, train = order[:12], order[12:]
    model = Categorizer().fit([texts[i] for i in train], [labels[i] for i in train])
    assert compared[0].weights == model.learner_.n_edges_
    assert compared[0].quality["R1"] == [
        model.score([texts[i] for i in test], [labels[i] for i in test])
    ]


def test_what_is_tested_is_what_the_learners_are_ordered_by():
    """One is right a little more often; the other is nearer wherever both are wrong, which
    reciprocal ranks reward.
    """
    bold, careful = np.array([1.0] * 52 + [0.05] * 48), np.array([1.0] * 50 + [0.5] * 50)
    # were reciprocal ranks tested, "bold" would seem surely better
    assert wilcoxon(bold, careful).p_value < 0.001
    first, second = Contestant("careful"), Contestant("bold")
    for one, ranks in ((first, careful), (second, bold)):
        one.per_row.append(np.float64(ranks == 1))
        one.quality["R1"].append(float(np.mean(ranks == 1)))
        one.quality["MRR"].append(float(ranks.mean()))
    (found,) = differences([first, second])
    assert (found.first, found.second) == ("bold", "careful")
    assert found.difference == pytest.approx(0.02)
    assert found.wilcoxon > 0.1


def test_the_rows_that_are_tested_have_the_measure_of_the_order():
    texts = ["wheat and corn", "bank and rates", "wheat and rates", "corn and bank"] * 10
    labels = [["grain"], ["money"], ["grain", "money"], ["grain", "money"]] * 10
    (found,) = compare(["tuned-index", "frequency"], texts, labels, splits=1)
    for one in found:
        assert set(np.concatenate(one.per_row).tolist()) <= {0.0, 1.0}
        assert one.mean("R1") == np.concatenate(one.per_row).mean()


def test_bad_comparisons(run, many, tmp_path):
    refused(run("compare", many, "--learners", "oracle"), "oracle", "rocchio")
    refused(run("compare", many, "--learners", " , "), "--learners", "rocchio")
    result = run("compare", many, "--splits", 0)
    assert (result.code, "'--splits'" in result.err) == (2, True)
    (tmp_path / "one.jsonl").write_text('{"text": "a b", "labels": ["x"]}\n')
    refused(run("compare", "one.jsonl"), "two examples")


def test_any_of_them_can_be_trained(run, many):
    assert run("train", many, "--learner", "mmp1", "--set", "passes=2").code == 0
    assert run("rank", "many.shortlist", "--text", "wheat", "--json").json["labels"][0] == "grain"
