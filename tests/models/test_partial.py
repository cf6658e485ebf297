"""Judgements in part, learned by a Categorizer: one at a time, many at once, from files and by
the command line.
"""

import json

import pytest

import shortlist as sl
from shortlist.inputs.examples import Examples
from tests.cli.conftest import run  # noqa: F401
from tests.server.servers import state_bytes

TOPICS = {
    "grain": "wheat corn rye oats barley",
    "money": "bank rates loan credit coin",
    "metal": "gold silver tin iron",
}


def stream(n):
    """Texts, their labels, what was crossed out, and whether that is all; the label "late"
    comes last.
    """
    names = list(TOPICS)
    for i in range(n):
        topic, other = names[i % 3], names[(i * 5 + i // 3) % 3]
        words = TOPICS[topic].split()
        text = f"{words[i % len(words)]} {TOPICS[other].split()[i % 4]} number{i % 11}"
        if i % 4 == 1:
            yield text, [topic], [other] if other != topic else [], False
        elif i % 4 == 2:
            yield text, [], [names[(i + 1) % 3], "late", "never seen"], None
        else:
            yield text, [topic, "late"] if i > 2 * n // 3 and i % 5 == 0 else [topic], [], None


def learned(parts, learner=None):
    model = sl.Categorizer(learner, sl.TextVectorizer())
    for part in parts:
        model.learn_many(*map(list, zip(*part, strict=True)))
    return model


@pytest.mark.parametrize(
    "learner", [None, sl.MMP(), sl.TopicPerceptron(), sl.TunedIndex(max_edges=3)], ids=str
)
def test_it_does_not_matter_how_a_stream_is_cut(learner):
    examples = list(stream(120))
    one_by_one = sl.Categorizer(learner, sl.TextVectorizer())
    for text, labels, wrong, complete in examples:
        one_by_one.learn(text, labels, wrong, complete)
    for size in (7, 120):
        parts = [examples[first : first + size] for first in range(0, 120, size)]
        assert state_bytes(learned(parts, learner).learner_) == state_bytes(one_by_one.learner_)
    assert "never seen" not in one_by_one.classes_, "what was only ever crossed out is no label"


def test_how_sure_it_is_is_not_told_by_what_nobody_judged():
    model = sl.Categorizer(text=sl.TextVectorizer())
    examples = [
        (f"{words.split()[n % 4]} number{n % 7}", label)
        for n in range(300)
        for label, words in TOPICS.items()
    ]
    texts, labels = zip(*examples, strict=True)
    model.fit(list(texts), list(labels))
    before = model.confidence_.to_state().all_arrays()
    # Open judgements, all of them of the label that is not right: were they complete, nothing would
    # be sure any more.
    for text, label in examples[:400]:
        model.learn(text, [], wrong=["grain" if label != "grain" else "money"])
    assert {
        name: array.tobytes() for name, array in model.confidence_.to_state().all_arrays().items()
    } == {name: array.tobytes() for name, array in before.items()}
    for text, label in examples[:400]:
        model.learn(text, [label])
    after = model.confidence_.to_state().all_arrays()
    assert any(after[name].tobytes() != before[name].tobytes() for name in before)


def test_fit_leaves_open_what_is_open():
    """A file of judgements, as the server exports it, is learned as it was judged, in all
    passes.
    """
    texts = [f"{word} number{n % 7}" for n in range(60) for word in ("gold", "wheat", "coin")]
    labels = [["metal"], ["grain"], ["money"]] * 60
    open_ = [{"text": "gold wheat", "labels": [], "wrong": ["grain"]}] * 40
    closed = [one | {"complete": True} for one in open_]

    def fitted(more):
        batch = Examples(
            texts=texts + [one["text"] for one in more],
            labels=labels + [one["labels"] for one in more],
            wrong=[[]] * 180 + [one["wrong"] for one in more],
            complete=[None] * 180 + [one.get("complete") for one in more],
        )
        return dict(
            sl.Categorizer(text=sl.TextVectorizer()).fit_batches([batch]).rank("gold wheat", 5)
        )

    without, partly, wholly = fitted([]), fitted(open_), fitted(closed)
    assert partly["grain"] < without["grain"]
    assert wholly["metal"] < partly["metal"], "closed, it says that gold is wrong, too"


def test_what_cannot_be_learned_changes_nothing():
    model = sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()).learn("wheat rose", ["grain"])
    before = state_bytes(model)
    with pytest.raises(sl.InputError, match="FeatureFocus learns only from complete judgements"):
        model.learn("new words", ["grain"], wrong=["money"])
    model = sl.Categorizer(text=sl.TextVectorizer()).learn("wheat rose", ["grain"])
    with pytest.raises(sl.InputError, match="both right and wrong"):
        model.learn("new words", "grain", wrong=["grain"])
    with pytest.raises(sl.InputError, match="2 examples"):
        model.learn_many(["a", "b"], ["x", "y"], complete=[True])
    assert (
        state_bytes(
            sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()).learn("wheat rose", ["grain"])
        )
        == before
    )


def test_the_command_line(run, tmp_path):  # noqa: F811
    examples = list(stream(60))
    model = learned([examples])
    model.save(tmp_path / "a.shortlist")
    lines = [
        {"text": "wheat at the bank", "labels": ["grain"], "wrong": ["money"]},
        {"text": "gold", "labels": [], "wrong": ["grain"]},
    ]
    (tmp_path / "judged.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (tmp_path / "judged.csv").write_text(
        "text,labels,no\nwheat at the bank,grain,money\ngold,,grain\n"
    )
    for data, options in (("judged.jsonl", ()), ("judged.csv", ("--wrong-column", "no"))):
        result = run("learn", "a.shortlist", data, "--output", "b.shortlist", *options)
        assert result.code == 0, result.err
        expected = sl.load(tmp_path / "a.shortlist")
        for one in lines:
            expected.learn(one["text"], one["labels"], one["wrong"])
        assert state_bytes(sl.load(tmp_path / "b.shortlist")) == state_bytes(expected)


def test_texts_that_can_be_gone_through_once_are_judged_too():
    texts, labels, wrong = ["wheat rose", "gold fell"], ["grain", "metal"], [["money"], []]
    expected = sl.Categorizer().learn_many(texts, labels, wrong)
    assert state_bytes(sl.Categorizer().learn_many(iter(texts), labels, wrong)) == state_bytes(
        expected
    )
