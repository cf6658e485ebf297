"""The strongest features of a label: what a person would name."""

import numpy as np

import shortlist as sl
from shortlist.models.explanations import worth_naming


def named(*features):
    names, says = zip(*features, strict=True)
    return [names[i] for i in worth_naming(names, says)]


def test_a_word_is_named_once():
    assert named(
        ('"eath"', 9.0), ("weather", 8.0), ("the weather", 6.0), ("rain", 5.0), ("weath*", 4.0)
    ) == [
        "weather",
        "rain",
    ]


def test_what_no_word_says_is_named_as_it_is():
    assert named(('"天气"', 9.0), ("今天天气怎么样", 1.0), ("明天", 0.5)) == ['"天气"', "明天"]
    assert named(("expor*", 9.0), ("exports", 3.0), ("wheat", 2.0)) == ["expor*", "wheat"]


def test_what_was_seen_once_or_everywhere_comes_last():
    """Pairs that were seen once go to their label with all their weight, and said the most
    before.
    """
    random = np.random.default_rng(0)
    texts = [f"the crop of {random.choice(['wheat', 'corn'])} was number{n}" for n in range(60)]
    texts += [
        f"the bank of {random.choice(['rome', 'oslo'])} was number{n + 60}" for n in range(60)
    ]
    model = sl.Categorizer().fit(texts, ["grain"] * 60 + ["money"] * 60)
    found = [name for name, _ in model.strongest("grain", 3)]
    assert "crop" in found[0]
    assert not any("number" in name or name in ("the", "of", "was") for name in found)
    counted = sl.Categorizer("feature-focus").fit(texts, [1] * 60 + [2] * 60)
    assert "bank" in counted.strongest(2, 1)[0][0]


def test_the_weights_are_the_shares_that_go_to_the_label():
    model = sl.Categorizer("feature-focus").fit(
        ["wheat corn", "wheat bank"] * 20, ["grain", "money"] * 20
    )
    weights = dict(model.strongest("grain", 5))
    assert weights["corn"] == 1.0
    assert 0.4 < dict(model.learner_.strongest("grain", 20)).get(0, 0.5) < 0.6
    X = np.eye(2)
    assert sl.FeatureFocus().fit(X, ["a", "b"]).strongest("b", 5) == [(1, 1.0)]
