"""Odd requests by the hundred, made from the server's own OpenAPI document: none may fail
inside or surprise.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.middleware import FILE_PATHS
from tests.server.servers import in_thread

# The document cannot say which bytes are a file of texts (FILE_PATHS).
# the same ones each time: more only where more is asked for
MANY = int(os.environ.get("SHORTLIST_FUZZ", "6"))
# What a library of the test warns of is not ours.
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module", params=["labels", "ratings of texts"])
def state(request, model_file, tmp_path_factory):
    """A state directory in which something was learned."""
    path = tmp_path_factory.mktemp("served")
    model = path / "model.shortlist"
    if request.param == "ratings of texts":
        sl.TextRater().fit(["dull", "fair", "a joy"], [1, 2, 3]).save(model)
    state = path / "state"
    state.mkdir()
    snapshots.take_base(state, model if model.exists() else model_file)
    first = {"labels": [{"text": "a", "labels": ["first"]}]}
    return state, first.get(request.param)


def test_every_answer_is_documented(state):
    # which takes its time
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    folder, examples = state
    with in_thread(folder, snapshot_seconds=3600, read_only=examples is None) as server:
        if examples:
            server.ask("learn", examples=examples)
        document = schemathesis.openapi.from_url(f"{server.base_url}/openapi.json")
        operations = [found.ok() for found in document.get_all_operations()]
        learning = {"/v1/learn", "/v1/undo"} if examples else set()
        assert {operation.path for operation in operations} >= {
            "/v1/rank",
            "/v1/explain",
        } | learning
        for operation in operations:
            positive = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
            excluded = (
                [positive_data_acceptance] if operation.path in FILE_PATHS or not examples else []
            )
            try_out(positive, *excluded)
            asked = operation.definition.raw
            if "parameters" in asked or "requestBody" in asked:  # or there is nothing to get wrong
                try_out(operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE))


def try_out(strategy, *excluded):
    @settings(
        max_examples=MANY,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def ask(case):
        case.call_and_validate(excluded_checks=list(excluded))

    ask()
