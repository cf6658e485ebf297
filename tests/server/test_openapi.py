"""Odd requests by the hundred, made from the server's own OpenAPI document: none may fail inside or surprise."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.server.servers import in_thread

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

FILES = {"/v1/queue/file"}  # the document cannot say which bytes are a file of texts
pytestmark = pytest.mark.filterwarnings("default")  # what a library of the test warns of is not ours


def test_every_answer_is_documented(folder):
    with in_thread(folder, snapshot_seconds=3600) as server:
        server.learn("a first example", ["first"])
        document = schemathesis.openapi.from_url(f"{server.base_url}/openapi.json")
        operations = [found.ok() for found in document.get_all_operations()]
        assert {operation.path for operation in operations} >= {"/v1/rank", "/v1/learn", "/v1/undo", "/v1/labels"}
        for operation in operations:
            positive = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
            try_out(positive, *([] if operation.path not in FILES else [positive_data_acceptance]))
            asked = operation.definition.raw
            if "parameters" in asked or "requestBody" in asked:  # or there is nothing to get wrong
                try_out(operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE))


def try_out(strategy, *excluded):
    @settings(
        max_examples=20, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def ask(case):
        case.call_and_validate(excluded_checks=list(excluded))

    ask()
