"""Models that rate texts, served: they answer, explain, learn, and take back."""

import json

import numpy as np
import pytest

import shortlist as sl
from shortlist.server import background, snapshots
from shortlist.server.journal import Entry
from shortlist.server.rating import rolling
from shortlist.server.replica import Replica, teach
from tests.server.servers import in_thread, state_bytes

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.random((90, 3)).round(3)
STARS = (1 + (ROWS[:, 0] * 3).astype(int)).tolist()
WORDS = {1: "dull slow weak", 2: "fair plain usual", 3: "joy bright brave"}
TASK = ["--task", "ratings", "--text-column", "text"]
TEXTS = [f"{RANDOM.choice(WORDS[star].split())} film of number {n}" for n, star in enumerate(STARS)]


def made():
    return sl.TextRater().fit(TEXTS, STARS)


@pytest.fixture
def state(tmp_path):
    made().save(tmp_path / "model.shortlist")
    folder = tmp_path / "state"
    folder.mkdir()
    snapshots.take_base(folder, tmp_path / "model.shortlist")
    return folder


@pytest.fixture
def served(state):
    with in_thread(state) as server:
        server.replica.warm_up()
        server.replica.check_can_learn()
        yield server


def examples(*which):
    """Some examples as a request has them."""
    return [{"text": TEXTS[n], "rating": STARS[n]} for n in which]


def given(*which):
    return [TEXTS[n] for n in which]


def same(server, model):
    assert state_bytes(server.replica.served) == state_bytes(model)


def test_it_rates_as_the_model_does(served):
    found = served.ask("rank", text=TEXTS[:9])["answers"]
    model = made()
    assert [one["rating"] for one in found] == model.predict(given(*range(9))).tolist()
    distances = model.neighbour_distances(given(*range(9)))
    expected = [[float(value) if np.isfinite(value) else None for value in pair] for pair in distances]
    assert [[one["from_step_below"], one["from_step_above"]] for one in found] == expected


def test_one_text_alone(served):
    assert len(served.ask("rank", text=TEXTS[0])["answers"]) == 1


def test_votes_sum_to_the_score(served):
    found = served.ask("explain", text=TEXTS[3])
    expected = made().explain(given(3)[0])
    assert found["answer"] == expected.label
    assert sum(one["vote"] for one in found["votes"]) == pytest.approx(found["score"])
    assert [(one["feature"], one["vote"]) for one in found["votes"]] == expected.votes


def test_it_learns_one_at_a_time_and_says_how_far_off_it_was(served):
    model, off = made(), []
    for n in range(5):
        off.append(abs(int(model.predict(given(n))[0]) - STARS[n]))
        model.learn(given(n), [STARS[n]])
    answers = [served.ask("learn", examples=examples(n))["learned"][0] for n in range(5)]
    assert answers == [{"number": n + 1, "new": True, "steps": steps} for n, steps in enumerate(off)]
    same(served, model)
    rolling = served.ask("model")["rolling"]
    assert rolling["steps"] == off
    assert rolling["MAE"] == pytest.approx(np.mean(off))
    assert rolling["exact"] == pytest.approx(np.mean(np.array(off) == 0))
    assert rolling["within_1"] == pytest.approx(np.mean(np.array(off) <= 1))


def test_undo_leaves_the_model_without_it(served):
    for n in range(4):
        served.ask("learn", examples=examples(n))
    assert served.ask("undo", number=2) == {"number": 2, "new": True}
    model = made()
    for n in (0, 2, 3):
        model.learn(given(n), [STARS[n]])
    same(served, model)
    assert served.ask("undo", number=2)["new"] is False
    assert served.post("/v1/undo", json={"number": 9}).status_code == 404


def test_a_key_is_learned_once(served):
    (one,) = examples(1)
    first = served.ask("learn", examples=[one | {"key": "k1"}])["learned"][0]
    again = served.ask("learn", examples=[one | {"key": "k1"}])["learned"][0]
    assert (first["new"], again["new"], again["number"]) == (True, False, first["number"])
    other = served.post("/v1/learn", json={"examples": [one | {"key": "k1", "rating": 3 - STARS[1] % 2}]})
    assert other.status_code == 409
    assert "was used for another example" in other.json()["error"]


def test_what_was_learned_is_there_after_a_restart_with_and_without_a_snapshot(state):
    with in_thread(state) as server:
        server.ask("learn", examples=examples(0, 1, 2))
    model = made()
    for n in range(3):
        model.learn(given(n), [STARS[n]])
    with in_thread(state) as server:
        same(server, model)
    assert background.write(state) is not None
    with in_thread(state) as server:
        same(server, model)
        server.ask("learn", examples=examples(3))
        model.learn(given(3), [STARS[3]])
        same(server, model)
        assert server.ask("model")["snapshot"] == 3


def test_how_far_off_the_last_ratings_were():
    assert rolling([1, 2, 4, None, 1]) == {
        "window": 5, "steps": [0, 1, 3, None, 0], "exact": 0.5, "within_1": 0.75, "MAE": 1.0,
    }  # fmt: skip


def test_the_journal_is_a_training_file(served, tmp_path, run):
    served.ask("learn", examples=examples(*range(40)))
    served.ask("undo", number=7)
    kept = [n for n in range(40) if n != 6]
    file = served.get("/v1/journal")
    (tmp_path / "more.jsonl").write_bytes(file.content)
    assert run("train", "more.jsonl", *TASK, "--output", "new.shortlist").code == 0
    new = sl.load(tmp_path / "new.shortlist")
    assert new.n_examples_ == len(kept)
    lines = [json.loads(line) for line in file.text.splitlines()]
    assert lines == [{"text": TEXTS[n], "labels": [STARS[n]]} for n in kept]
    expected = type(new)().fit(given(*kept), [STARS[n] for n in kept])
    assert new.predict(TEXTS).tolist() == expected.predict(TEXTS).tolist()


def test_ratings_with_fractions_are_read_back(served, tmp_path, run):
    halves = [one | {"rating": star} for one, star in zip(examples(0, 1, 2), (1, 2.5, 3), strict=True)]
    served.ask("learn", examples=halves)
    (tmp_path / "more.jsonl").write_bytes(served.get("/v1/journal").content)
    result = run("train", "more.jsonl", *TASK, "--output", "new.shortlist")
    assert result.code == 0, result.err
    assert sl.load(tmp_path / "new.shortlist").classes_.tolist() == [1, 2.5, 3]
    result = run("train", "more.jsonl")
    assert "expected labels that are text or whole numbers, found 2.5" in result.err, "of categories none is half"


def test_the_journal_is_exported_as_it_is_served(served, state, tmp_path, run):
    served.ask("learn", examples=examples(*range(12)))
    served.ask("undo", number=7)
    assert run("export", state, "-o", "out").code == 0
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [(one["text"], one["labels"]) for one in lines] == [(TEXTS[n], [STARS[n]]) for n in range(12) if n != 6]


def test_examples_are_listed_newest_first(served):
    served.ask("learn", examples=examples(0, 1))
    found = served.ask("examples")["examples"]
    assert [(one["number"], one["labels"]) for one in found] == [(2, [STARS[1]]), (1, [STARS[0]])]
    assert found[0]["text"] == TEXTS[1]


def test_a_rating_that_is_new_comes_in_at_its_place(served):
    (one,) = examples(0)
    assert served.ask("learn", examples=[one | {"rating": 2.5}])["learned"][0]["steps"] is None
    assert served.ask("model")["scale"] == [1, 2, 2.5, 3]
    assert served.ask("model")["rolling"]["MAE"] is None
    assert served.ask("learn", examples=[one | {"rating": 3.0}])["learned"][0]["steps"] is not None
    assert repr(served.ask("examples")["examples"][0]["labels"]) == "[3]", "in JSON 3.0 is the whole number 3"


def test_a_given_scale_is_closed(tmp_path):
    model = sl.TextRater(sl.PRank(scale=[1, 2, 3]))
    model.fit(given(*range(90)), STARS).save(tmp_path / "closed.shortlist")
    folder = tmp_path / "closed"
    folder.mkdir()
    snapshots.take_base(folder, tmp_path / "closed.shortlist")
    with in_thread(folder) as server:
        (one,) = examples(0)
        for bad, said in ((4, "outside the scale 1, 2, 3"), ("good", "outside the scale")):
            answer = server.post("/v1/learn", json={"examples": [one, one | {"rating": bad}]})
            assert answer.status_code == 409
            assert said in answer.json()["error"]
        assert server.ask("model")["journal"] == 0, "all or none"


def test_ratings_that_are_none(served):
    (one,) = examples(0)
    answer = served.post("/v1/learn", json={"examples": [one | {"rating": "good"}]})
    assert answer.status_code == 409
    assert "the scale so far holds numbers, but these ratings are text" in answer.json()["error"]
    for bad in (True, None, [], 10**20, "", "two\nlines"):
        assert served.post("/v1/learn", json={"examples": [one | {"rating": bad}]}).status_code == 422, bad
    answer = served.post("/v1/learn", json={"examples": [one | {"rating": 10**400}]})
    assert answer.json() == {"error": f"examples.0.rating: expected a number of at most {2**53}"}
    assert served.post("/v1/learn", json={"examples": [{"rating": 1}]}).status_code == 422
    assert served.post("/v1/learn", json={"examples": []}).status_code == 422
    assert served.ask("model")["journal"] == 0


def test_a_text_that_is_too_long(served):
    assert served.post("/v1/learn", json={"examples": [{"text": "x" * 200_001, "rating": 1}]}).status_code == 422


def test_what_it_says_of_itself(served):
    about = served.ask("model")
    assert (about["task"], about["learner"], about["scale"]) == ("ratings", "PRank", [1, 2, 3])
    assert (about["journal"], about["follows"], about["read_only"]) == (0, 0, False)
    assert about["rolling"] == {"window": 0, "exact": None, "within_1": None, "MAE": None, "steps": []}
    assert "text" in about
    paths = served.get("/openapi.json").json()["paths"]
    verbs = ("rank", "explain", "learn", "undo", "model", "examples", "journal", "me")
    assert set(paths) == {f"/v1/{name}" for name in verbs} | {"/healthz"}
    assert "API" in served.get("/").text
    assert 'shortlist_model{what="ratings"} 3.0' in served.get("/metrics").text


def test_read_only_learns_nothing(state):
    with in_thread(state, read_only=True) as server:
        assert server.post("/v1/learn", json={"examples": examples(0)}).status_code == 403
        assert server.ask("model")["read_only"]


def test_an_example_that_teaches_nothing_is_passed_over(state):
    replica = Replica(state)
    before = state_bytes(replica.served)
    for labels in ([], [1, 2], {"change": "retire"}):
        with pytest.raises(sl.InputError, match="no rating, or several"):
            teach(replica.served, Entry(1, "a film", labels, [], True, "", ""))
    assert state_bytes(replica.served) == before
    replica.close()
