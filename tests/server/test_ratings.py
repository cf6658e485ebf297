"""Models that rate texts, served: they answer and explain."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.replica import Replica
from tests.server.servers import in_thread

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.random((90, 3)).round(3)
STARS = (1 + (ROWS[:, 0] * 3).astype(int)).tolist()
WORDS = {1: "dull slow weak", 2: "fair plain usual", 3: "joy bright brave"}
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
    with in_thread(state, read_only=True) as server:
        server.replica.warm_up()
        yield server


def given(*which):
    return [TEXTS[n] for n in which]


def test_it_rates_as_the_model_does(served):
    found = served.ask("rank", text=TEXTS[:9])["answers"]
    model = made()
    assert [one["rating"] for one in found] == model.predict(given(*range(9))).tolist()
    distances = model.neighbour_distances(given(*range(9)))
    expected = [
        [float(value) if np.isfinite(value) else None for value in pair] for pair in distances
    ]
    assert [[one["from_step_below"], one["from_step_above"]] for one in found] == expected


def test_one_text_alone(served):
    assert len(served.ask("rank", text=TEXTS[0])["answers"]) == 1


def test_votes_sum_to_the_score(served):
    found = served.ask("explain", text=TEXTS[3])
    expected = made().explain(given(3)[0])
    assert found["answer"] == expected.label
    assert sum(one["vote"] for one in found["votes"]) == pytest.approx(found["score"])
    assert [(one["feature"], one["vote"]) for one in found["votes"]] == expected.votes


def test_a_text_that_is_too_long(served):
    assert served.post("/v1/rank", json={"text": "x" * 200_001}).status_code == 422


def test_what_it_says_of_itself(served):
    about = served.ask("model")
    assert (about["task"], about["learner"], about["numbers"]["ratings"]) == ("ratings", "PRank", 3)
    paths = served.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/v1/rank", "/v1/explain", "/v1/model", "/v1/me", "/healthz"}
    assert "API" in served.get("/").text
    assert 'shortlist_model{what="ratings"} 3.0' in served.get("/metrics").text


def test_it_does_not_learn(served):
    replica = Replica(served.replica.folder, read_only=True)
    with pytest.raises(sl.InputError, match="PRank does not learn labels of texts"):
        replica.check_can_learn()
    replica.close()
    answer = served.post("/v1/learn", json={"examples": [{"text": "a film", "rating": 3}]})
    assert answer.status_code == 404
