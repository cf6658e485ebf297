"""Models of rows, served: raters, rankers of documents, and learners of categories alone; they answer and explain."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.replica import Replica
from tests.server.servers import in_thread

RANDOM = np.random.default_rng(3)
X = RANDOM.random((120, 3))
RATINGS = 1 + (X[:, 0] * 3).astype(int)
QUERY = np.repeat(np.arange(12), 10)
RELEVANCE = (X[:, 1] > 0.7).astype(int)
RELEVANCE[::10], RELEVANCE[1::10] = 1, 0

MODELS = {
    "rater": lambda: sl.Rater().fit(X, RATINGS, ["size", "age", "price"]),
    "ranker": lambda: sl.DocumentRanker().fit(X, RELEVANCE, QUERY),
    "learner": lambda: sl.FeatureFocus().fit(X, RATINGS.tolist()),
}


@pytest.fixture(params=MODELS)
def served(request, tmp_path):
    """A server, and the model that it serves."""
    model = MODELS[request.param]()
    model.save(tmp_path / "model.shortlist")
    folder = tmp_path / "state"
    folder.mkdir()
    snapshots.take_base(folder, tmp_path / "model.shortlist")
    with in_thread(folder, read_only=True) as server:
        server.replica.warm_up()
        yield server, model


def answered(model, rows, **named):
    """What the model says itself."""
    if isinstance(model, sl.Rater):
        return model.predict(rows).tolist()
    if isinstance(model, sl.DocumentRanker):
        ((_, order, _),) = model.rank(rows, [0] * len(rows))
        return order.tolist()
    return [[label for label, _ in one] for one in model.rank(rows, 10)]


def test_it_answers_as_the_model_does(served):
    server, model = served
    found = server.ask("rank", rows=X[:7].tolist())["answers"]
    key = "rating" if isinstance(model, sl.Rater) else "labels"
    given = found[0]["documents"] if isinstance(model, sl.DocumentRanker) else [one[key] for one in found]
    assert given == answered(model, X[:7])


def test_votes_sum_to_the_score(served):
    server, model = served
    found = server.ask("explain", rows=X[:7].tolist(), row=4)
    assert sum(vote["vote"] for vote in found["votes"]) == pytest.approx(found["score"])
    if isinstance(model, sl.Rater):
        assert found["answer"] == model.predict(X[4:5])[0]
        assert [(vote["feature"], vote["vote"]) for vote in found["votes"]] == model.explain(X[4]).votes
    elif isinstance(model, sl.DocumentRanker):
        scores = model.decision_function(X[:7], [0] * 7)
        assert (found["answer"], found["score"]) == (4, pytest.approx(scores[4]))
    else:
        best = model.rank(X[4:5], 1)[0]
        assert (found["answer"], found["score"]) == (best.labels[0], pytest.approx(best.scores[0]))


def test_what_it_says_of_itself(served):
    server, model = served
    about = server.ask("model")
    assert about["task"] in ("ratings", "documents", "categories")
    assert about["numbers"]["features"] == 3
    assert about["learner"] == type(getattr(model, "learner_", model)).__name__
    assert server.get("/healthz").json() == {"status": "ok"}
    assert 'shortlist_model{what="features"} 3.0' in server.get("/metrics").text
    assert "API" in server.get("/").text
    paths = server.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/v1/rank", "/v1/explain", "/v1/model", "/v1/me", "/healthz"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"rows": [[1.0, 2.0, 3.0], [1.0]]}, "row 1 has 1 number, and row 0 has 3"),
        ({"rows": [[1.0, 2.0, 3.0]], "columns": ["a"]}, "columns has 1 name where 3 are wanted"),
        ({"rows": [[1.0, 2.0, 3.0]], "ids": ["a", "b"]}, "ids has 2 names where 1 are wanted"),
        ({"rows": [[0.5, 0.5, 0.5]] * 1001}, "1,001 rows are more than the 1,000"),
        ({"rows": []}, "rows"),
        ({"rows": [[]]}, "rows.0"),
        ({"rows": [["1"]]}, "rows.0.0"),
        ({"rows": [[1.0, 2.0, 3.0]], "text": "wheat"}, "text"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(served, asked, said):
    server, _ = served
    answer = server.post("/v1/rank", json=asked)
    assert answer.status_code == 422
    assert said in answer.json()["error"]


def test_numbers_that_are_none_and_rows_that_are_not_there(served):
    server, _ = served
    for body in ('{"rows": [[NaN, 1, 2]]}', '{"rows": [[1e999, 1, 2]]}', '{"rows": [[1, 2, 3]], "row": 1}'):
        path = "/v1/explain" if "row" in body[3:].replace("rows", "") else "/v1/rank"
        answer = server.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422, body
    answer = server.post("/v1/learn", json={"examples": [{"text": "a", "labels": ["b"]}]})
    assert answer.status_code == 404


def test_more_columns_than_were_learned(served):
    server, model = served
    answer = server.post("/v1/rank", json={"rows": [[0.5] * 9]})
    if isinstance(model, sl.FeatureFocus):
        assert answer.status_code == 200  # they say nothing to it
    else:
        assert answer.status_code == 422
        assert "the model learned from 3" in answer.json()["error"]


def test_none_learns(served):
    server, _ = served
    replica = Replica(server.replica.folder, read_only=True)
    with pytest.raises(sl.InputError, match="does not learn labels of texts, which the journal holds"):
        replica.check_can_learn()
    replica.close()
