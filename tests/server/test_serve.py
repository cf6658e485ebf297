"""``shortlist serve`` as people start and stop it."""

import json

import httpx
import pytest

TOKEN = "a token that is long enough"


def events(process):
    return [json.loads(line) for line in process.lines if line.startswith("{")]


def test_from_first_start_to_second(start, tmp_path, model_file):
    state = tmp_path / "state"
    first = start(model_file, "--state", state)
    assert first.client.learn("zebra", ["animals"])["number"] == 1

    second = start("--state", state, wait=False)
    assert second.process.wait(120) == 2
    second._end()
    assert second.lines[-1].startswith(f"shortlist: another server works on {state}; stop it")

    assert first.stop() == 0
    assert [event["event"] for event in events(first)] == ["serving", "request", "stopped"]

    again = start("--state", state, "--host", "0.0.0.0", SHORTLIST_TOKEN=TOKEN)
    port = httpx.URL(again.url).port
    again.client.headers["authorization"] = f"Bearer {TOKEN}"
    again.client.base_url = f"http://127.0.0.1:{port}"
    assert again.client.best("zebra") == ["animals"]
    assert again.stop() == 0


@pytest.mark.long
def test_the_demo_needs_nothing(start):
    demo = start()
    assert "forgotten when it stops" in "".join(demo.lines)
    assert (
        demo.client.best("Parse an XML document into an element tree and return the root element.")[
            0
        ]
        == "xml"
    )
    assert demo.client.get("/").text.startswith("<!doctype html>")
    assert demo.stop() == 0


def test_refusals(run, model_file, tmp_path, monkeypatch):
    """Bad options are one line and exit code 2."""
    monkeypatch.delenv("SHORTLIST_TOKEN", raising=False)

    def refused(words, *arguments):
        result = run("serve", *arguments)
        assert result.code == 2
        assert words in result.err.splitlines()[-1]
        assert "Traceback" not in result.err

    refused("lets others in", model_file, "--host", "0.0.0.0")
    refused("there is no model file", tmp_path / "nothing")
    refused("no limit size", model_file, "--limit", "size=3")
    refused("at least 1", model_file, "--limit", "text=0")
    refused("cannot read the token file", model_file, "--token-file", tmp_path / "nothing")
    (tmp_path / "file").write_text("short")
    refused("at least 16", model_file, "--token-file", tmp_path / "file")
    refused("cannot make the folder", model_file, "--state", tmp_path / "file" / "state")
    refused("is not a model file", tmp_path / "file")
    (tmp_path / "token").write_text(TOKEN)
    elsewhere = ("--host", "203.0.113.7", "--port", 1, "--token-file", tmp_path / "token")
    refused(
        "cannot listen on 203.0.113.7, port 1: ", model_file, "--state", tmp_path / "s", *elsewhere
    )
    assert "--token " not in run("serve", "--help").out, "never on the command line"
