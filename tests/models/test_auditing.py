"""Labels that were planted are found, and nobody's own lesson speaks for it."""

import json

import pytest

import shortlist as sl
from shortlist.data.labels import judged, numbered
from shortlist.models.auditing import AUDIT_PARTS, Audit, Confusion, audit, dealt, same
from tests.cli.conftest import run  # noqa: F401

TOPICS = {
    "grain": "wheat corn rye oats",
    "money": "bank rates loan credit",
    "metal": "gold silver tin iron",
}
WRONG = {7: "metal", 31: "metal", 80: "grain"}


def examples(n=120):
    """Texts of one topic each, all different, but for those whose label is another one."""
    names = list(TOPICS)
    words = [TOPICS[names[i % 3]].split() for i in range(n)]
    texts = [f"{own[i % 4]} {own[(i + 1) % 4]} no{i}" for i, own in enumerate(words)]
    labels = [[WRONG.get(i, names[i % 3])] for i in range(n)]
    return texts, labels


def plain():
    return sl.Categorizer(text=sl.TextVectorizer())


def test_what_was_planted_comes_first():
    texts, labels = examples()
    found = plain().audit(texts, labels, n=10)
    assert {one.number for one in found.doubts[:3]} == set(WRONG)
    for one in found.doubts[:3]:
        assert (one.label, one.labels, one.text) == (
            WRONG[one.number],
            labels[one.number],
            texts[one.number],
        )
        assert one.found == list(TOPICS)[one.number % 3]
        assert one.words
        assert all(vote > 0 for _, vote in one.words)
        assert one.words[0][0] in TOPICS[one.found].split(), (
            "whole words, as they stand in the text"
        )
    assert [one.by for one in found.doubts] == sorted(
        (one.by for one in found.doubts), reverse=True
    )
    assert (found.examples, found.contradicted) == (
        120,
        sum(len(one.numbers) for one in found.confusions),
    )
    assert plain().audit(texts, labels, n=10) == found, "the same each time"


def test_nobodys_own_lesson_speaks_for_it():
    """Nor that of an equal text: a model is never asked about what it has learned."""
    texts, labels = examples(60)
    texts[:8] = ["same text", "Same  text", "other", "OTHER", "one", "two", "three", "four"]
    asked = []

    class Noted(sl.Categorizer):
        def rank(self, some, *more):
            asked.append({same(text) for text in some} & self.learned)
            assert some
            return super().rank(some, *more)

    def taught(which):
        model = Noted(text=sl.TextVectorizer()).fit(
            [texts[i] for i in which], [labels[i] for i in which]
        )
        model.learned = {same(texts[i]) for i in which}
        return model

    audit(texts, numbered(labels, 60), taught)
    assert asked == [set()] * AUDIT_PARTS


def test_parts_hold_everything_once():
    groups = [[0, 5, 9], [1], [2], [3, 4], [6], [7], [8]]
    parts = dealt(groups, 3)
    assert sorted(number for part in parts for number in part) == list(range(10))
    assert all(
        len({next(n for n, part in enumerate(parts) if i in part) for i in group}) == 1
        for group in groups
    )
    with pytest.raises(sl.InputError, match="at least 5 different texts; there are 4"):
        dealt([[0], [1], [2], [3, 4, 5]], 0)
    with pytest.raises(sl.InputError, match="at least 5 examples; there are 2"):
        plain().audit(["a", "b"], ["x", "y"])


def test_equal_texts_with_different_labels():
    texts, labels = examples()
    texts += ["Wheat  rose", "wheat rose", "wheat ROSE", "gold fell", "gold fell"]
    labels += [["grain"], ["money"], ["grain"], ["metal"], ["metal"]]
    found = plain().audit(texts, labels)
    assert [(one.numbers, one.labels) for one in found.duplicates] == [
        ([120, 121, 122], [["grain"], ["money"], ["grain"]])
    ]


def test_labels_that_get_confused():
    numbers = [Confusion("a", "b", [1, 2, 3]), Confusion("b", "a", [4]), Confusion("c", "a", [5])]
    names, counts = Audit(9, 5, [], [], numbers).matrix()
    assert (names, counts) == (["a", "b", "c"], [[0, 3, 0], [1, 0, 0], [1, 0, 0]])
    names, counts = Audit(9, 5, [], [], numbers).matrix(2)
    assert (names, counts) == (["a", "b"], [[0, 3], [1, 0]])


def test_labels_that_nobody_else_has_cannot_be_contradicted():
    texts, labels = examples()
    labels[3] = ["only here"]
    assert 3 not in {one.number for one in plain().audit(texts, labels, 200).doubts}


def test_of_an_open_judgement_only_what_was_crossed_out_contradicts():
    texts, labels = examples()
    wrong = [[] for _ in texts]
    wrong[0], wrong[7] = ["money"], ["grain"]
    found = plain().audit(texts, judged(labels, len(texts), wrong), 200)
    assert 7 not in {one.number for one in found.doubts}, (
        "that it is about money, which it is, was not judged wrong"
    )
    wrong[7] = [list(TOPICS)[7 % 3]]
    found = plain().audit(texts, judged(labels, len(texts), wrong), 200)
    assert 7 in {one.number for one in found.doubts}


def test_several_labels_and_fields():
    texts, labels = examples()
    documents = [{"title": text.split()[0], "body": " ".join(text.split()[1:])} for text in texts]
    found = plain().audit(documents, [[*own, "news"] for own in labels], n=3)
    assert {one.number for one in found.doubts} == set(WRONG)
    assert found.doubts[0].text.count(" · ") == 1


def test_the_command_line(run, tmp_path):  # noqa: F811
    texts, labels = examples()
    texts.append(texts[0].upper())
    labels.append(["metal"])
    lines = [
        json.dumps({"text": text, "labels": own}) for text, own in zip(texts, labels, strict=True)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    found = run("audit", "a.jsonl", "--limit", "4", "--json").json
    assert {one["number"] for one in found["doubts"]} >= {number + 1 for number in WRONG}, (
        "numbered from 1"
    )
    assert found["duplicates"][0]["numbers"] == [1, 121]
    assert set(found["matrix"]) == {"labels", "counts"}
    said = run("audit", "a.jsonl")
    assert said.code == 0
    for words in (
        "of 121 examples are contradicted",
        "Most doubtful",
        "Equal texts, different labels",
        "get confused",
    ):
        assert words in said.out
    (tmp_path / "b.jsonl").write_text(lines[0] + "\n")
    said = run("audit", "b.jsonl")
    assert (said.code, said.err) == (
        2,
        "shortlist: an audit needs at least 5 examples; there are 1\n",
    )


def test_with_the_settings_of_a_model_but_not_what_it_learned(run, tmp_path):  # noqa: F811
    texts, labels = examples()
    lines = [
        json.dumps({"text": text, "labels": own}) for text, own in zip(texts, labels, strict=True)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    model = sl.Categorizer("mmp", sl.TextVectorizer(prefix=2)).fit(texts, labels)
    model.save(tmp_path / "own.shortlist")
    found = run("audit", "a.jsonl", "--model", "own.shortlist", "--json").json
    same_settings = sl.Categorizer("mmp", sl.TextVectorizer(prefix=2)).audit(texts, labels, 50)
    assert [one["number"] - 1 for one in found["doubts"]] == [
        one.number for one in same_settings.doubts
    ]
    assert found["contradicted"] == same_settings.contradicted >= len(WRONG)
    said = run("audit", "a.jsonl", "--model", "own.shortlist", "--learner", "mmp")
    assert (said.code, said.err[:60]) == (
        2,
        "shortlist: --model has a learner and settings; leave out --l",
    )
    sl.FeatureFocus().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).save(tmp_path / "rows.shortlist")
    said = run("audit", "a.jsonl", "--model", "rows.shortlist")
    assert said.code == 2
    assert "rows.shortlist is not a model of texts with labels" in said.err
