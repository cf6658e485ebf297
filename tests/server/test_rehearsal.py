"""The journal replayed with a candidate, which can take the present model's place, and be taken
back.
"""

import json
import os
import random

import pytest

import shortlist as sl
from shortlist.models.label_changes import Change
from shortlist.server import promotion, rehearsals, snapshots
from shortlist.server.background import write_snapshot
from shortlist.server.candidates import as_trained
from shortlist.server.entries import Judge, Judgement, LabelChange
from shortlist.server.journal import Journal
from shortlist.server.replica import Replica
from tests.server.servers import in_thread, state_bytes

WORDS = {
    "grain": ["wheat", "corn", "rye"],
    "money": ["bank", "rates", "loan"],
    "animals": ["zebra", "lion", "wolf"],
}


@pytest.fixture
def learned(folder):
    """A state directory whose journal has 120 examples, one of them taken back, and a change of
    labels.
    """
    drawn = random.Random(0)
    journal = Journal(folder)
    for n in range(120):
        label = list(WORDS)[n % 3]
        text = " ".join([*drawn.sample(WORDS[label], 2), f"noise{drawn.randrange(9)}"])
        journal.append([Judgement(text, [label, "all"] if n % 10 == 0 else [label])])
        if n == 60:
            journal.append(
                [
                    LabelChange(
                        Change.of({"change": "rename", "labels": ["animals"], "into": "beasts"})
                    )
                ]
            )
    journal.undo([7])
    journal.close()
    return folder


def base_of(folder):
    return sl.load(folder / snapshots.BASE)


def test_each_is_ranked_before_it_is_learned(learned):
    """The slow way: one example after the other, by hand."""
    found = rehearsals.rehearse(learned, base_of(learned), base_of(learned))
    model, firsts, shares = base_of(learned), [], []
    journal = Journal(learned, read_only=True)
    for lesson in journal.after(0, 10**9, 10**9):
        if isinstance(lesson, LabelChange):
            model.rename_label("animals", "beasts")
            continue
        ranked = [label for label, _ in model.rank(lesson.text, 10)]
        firsts.append(float(ranked[:1] != [] and ranked[0] in lesson.labels))
        shares.append([float(label in ranked[: len(lesson.labels)]) for label in lesson.labels])
        model.learn(lesson.text, lesson.labels)
    journal.close()
    assert len(firsts) == 119
    for results in (found.present, found.candidate):
        assert [one.first for one in results] == firsts
        assert [one.hits for one in results] == shares


def test_a_report_compares_over_time_by_groups_and_by_label():
    def tried(*hits):
        return [rehearsals.Outcome(float(hit), [float(hit)]) for hit in hits]

    n = 200
    labels = [["rare"] if i < 30 else ["frequent"] for i in range(n)]
    present = tried(*([1] * n))
    candidate = tried(*([0] * 15 + [1] * (n - 15)))
    found = rehearsals.report(rehearsals.Rehearsal(labels, present, candidate, {}))
    assert found["all"]["examples"] == n
    assert found["all"]["difference"] == pytest.approx(-15 / n)
    assert [one["to"] for one in found["windows"]] == list(range(20, 201, 20))
    assert found["windows"][0]["candidate"] == 0.25
    groups = {one["group"]: one for one in found["groups"]}
    assert groups["20–99 examples"]["difference"] == -0.5
    assert groups["100 examples and more"]["difference"] == 0
    assert found["falls"] == ["20–99 examples", "all examples"]
    assert [one["label"] for one in found["labels"]] == ["rare", "frequent"]
    assert found["labels"][0]["low"] < -0.5 < found["labels"][0]["high"] < 0
    better = rehearsals.report(rehearsals.Rehearsal(labels, candidate, present, {}))
    assert better["falls"] == []
    assert better["all"]["low"] > 0


def test_a_candidate_that_falls_is_refused_unless_forced_and_goes_back(learned, run):
    before = (learned / snapshots.BASE).read_bytes()
    write_snapshot(learned)
    found = run("rehearse", learned, "--learner", "frequency", "--json")
    assert found.code == 0, found.err
    assert "all examples" in found.json["falls"]
    assert found.json["all"]["candidate"] < found.json["all"]["present"]
    refused = run("promote", learned)
    assert refused.code == 2
    assert "the candidate falls for" in refused.err
    assert (learned / snapshots.BASE).read_bytes() == before
    said = run("promote", learned, "--force")
    assert "The candidate is promoted: P@1" in said.out
    ((_, snapshot), _) = snapshots.snapshots_and_base(learned)  # those of the old base are gone
    assert sl.load(snapshot).describe()["learner"] == "FrequencyBaseline"
    assert "there is no candidate" in run("promote", learned, "--force").err
    with in_thread(learned) as server:
        assert server.ask("model")["learner"] == "FrequencyBaseline"
        server.learn("a new one", ["grain"])
    promoted = (learned / snapshots.BASE).read_bytes()
    assert run("go-back", learned).code == 0
    assert (learned / snapshots.BASE).read_bytes() == before
    replica = Replica(learned)
    assert replica.version.examples == 122, "nothing that was learned meanwhile is lost"
    assert replica.model.describe()["learner"] == "FeatureFocus"
    replica.close()
    assert run("go-back", learned).code == 0
    assert (learned / snapshots.BASE).read_bytes() == promoted


def test_what_is_promoted_is_served_byte_for_byte(learned, run, tmp_path):
    found = run("rehearse", learned, "--set", "margin=0.1", "--set", "text.idf=null", "--json")
    assert found.code == 0, found.err
    candidate = sl.load(learned / promotion.CANDIDATE)
    assert candidate.learner_.margin == 0.1
    assert candidate.text_.idf is None
    assert candidate.text_.tf == "log", "the rest is as it was"
    assert run("promote", learned, "--force").code == 0
    journal = Journal(learned, read_only=True)
    for lesson in journal.after(0, 10**9, 10**9):
        if isinstance(lesson, LabelChange):
            candidate.rename_label("animals", "beasts")
        else:
            candidate.learn(lesson.text, lesson.labels)
    journal.close()
    replica = Replica(learned)
    assert state_bytes(replica.model) == state_bytes(candidate)
    replica.close()


def test_a_candidate_with_the_same_data_and_a_plot(learned, run, tmp_path):
    pytest.importorskip("matplotlib")
    data = tmp_path / "base.jsonl"
    data.write_text(
        "".join(
            json.dumps({"text": " ".join(own), "labels": [label]}) + "\n"
            for label, own in WORDS.items()
        )
    )
    said = run("rehearse", learned, "--data", data, "--plot", tmp_path / "both.svg")
    assert said.code == 0, said.err
    assert "P@1 before learning, 119 examples" in said.out
    assert "20–99 examples" in said.out
    assert (tmp_path / "both.svg").stat().st_size > 1000
    assert sl.load(learned / promotion.CANDIDATE).describe()["examples"] == 3


def test_a_model_file_as_the_candidate(learned, run, model_file):
    found = run("rehearse", learned, "--model", model_file, "--json").json
    assert found["all"]["difference"] == 0
    assert found["falls"] == []
    assert run("promote", learned).code == 0
    assert (learned / snapshots.BASE).read_bytes() == model_file.read_bytes()


def test_refusals(folder, learned, run, tmp_path, model_file):
    for arguments, words in [
        (("rehearse", tmp_path), "is not a state directory"),
        (("promote", tmp_path), "is not a state directory"),
        (("promote", learned), "there is no candidate"),
        (("go-back", learned), "nothing was promoted"),
        (
            ("rehearse", learned, "--model", model_file, "--learner", "mmp"),
            "--model is a whole candidate",
        ),
        (("rehearse", learned, "--learner", "nothing"), "nothing"),
        (("rehearse", learned, "--learner", "ovr-svm"), "cannot go on"),
    ]:
        said = run(*arguments)
        assert (said.code, words in said.err) == (2, True), said.err
    assert run("rehearse", learned, "--model", model_file).code == 0
    with in_thread(learned, read_only=True), snapshots.lock(learned):
        assert "another server works on" in run("promote", learned).err
    os.replace(learned / promotion.CANDIDATE, tmp_path / "aside")
    sl.load(model_file).learn("x", ["y"]).save(learned / promotion.CANDIDATE)
    assert "was rehearsed against another model" in run("promote", learned).err


def test_too_few_examples(folder, run):
    assert "has 0 examples; a rehearsal needs at least 20" in run("rehearse", folder).err


def test_a_crash_between_leaves_the_present_model(learned, run, model_file, monkeypatch):
    run("rehearse", learned, "--model", model_file)
    write_snapshot(learned)
    before = (learned / snapshots.BASE).read_bytes()

    def crash(*_):
        raise RuntimeError("crash")

    monkeypatch.setattr(rehearsals.os, "replace", crash)
    monkeypatch.setattr(snapshots, "copy", lambda *_: None)
    with pytest.raises(RuntimeError, match="crash"):
        promotion.promote(learned)
    monkeypatch.undo()
    assert (learned / snapshots.BASE).read_bytes() == before
    replica = Replica(learned)
    assert replica.version.examples == 121
    replica.close()
    assert run("promote", learned).code == 0, "it can be tried again"


def test_what_the_model_decided_alone_is_not_measured(learned):
    journal = Journal(learned)
    journal.append(
        [
            Judgement("zebra zebra", ["beasts"], person=person, judge=judge)
            for person, judge in (
                ("", Judge.MODEL),
                ("anna", Judge.LEARNED_MODEL),
                ("anna", Judge.PERSON),
            )
        ]
    )
    journal.close()
    found = rehearsals.rehearse(learned, base_of(learned), base_of(learned))
    assert len(found.labels) == 119 + 1


def test_the_data_of_a_candidate_may_have_columns_of_any_name(learned, run, tmp_path):
    data = tmp_path / "tickets.csv"
    data.write_text(
        "Subject,Kind\n"
        + "".join(f"{words[0]} {words[1]},{kind}\n" for kind, words in WORDS.items())
    )
    named = ["--text-column", "Subject", "--label-column", "Kind"]
    found = run("rehearse", learned, "--data", data, *named, "--json")
    assert found.code == 0, found.err
    assert run("rehearse", learned, "--data", data).code == 2
    assert run("train", data, *named, "-o", tmp_path / "own.shortlist").code == 0
    (batch,) = as_trained(sl.load(tmp_path / "own.shortlist"), str(data))
    assert list(batch.labels) == [["grain"], ["money"], ["animals"]]
