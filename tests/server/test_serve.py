"""``shortlist serve`` as people start and stop it."""

import contextlib
import json

import httpx
import pytest

from shortlist.server.entries import Judgement
from shortlist.server.journal import Journal
from shortlist.server.snapshots import BASE, LOCK, check_state, copy, take_base

TOKEN = "a token that is long enough"


@pytest.fixture
def nowhere(tmp_path):
    """Arguments with which a server that would start stops, as it cannot listen."""
    (tmp_path / "token").write_text(TOKEN)
    return "--host", "203.0.113.7", "--port", 1, "--token-file", tmp_path / "token"


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


def test_refusals(run, model_file, tmp_path, monkeypatch, nowhere):
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
    refused(
        "cannot listen on 203.0.113.7, port 1: ", model_file, "--state", tmp_path / "s", *nowhere
    )
    assert "--token " not in run("serve", "--help").out, "never on the command line"


def test_no_other_model_takes_the_place_of_a_lost_one(run, folder, model_file, tmp_path, nowhere):
    """A demo model is served only where nothing was named; a read-only server begins nothing."""

    def refused(words, *arguments):
        result = run("serve", *arguments, *nowhere)
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert words in result.err

    missing = tmp_path / "missing"
    for arguments in (["--state", missing], ["--read-only", "--state", missing]):
        refused("is not a state directory yet: start shortlist serve MODEL", *arguments)
    refused("is not a state directory yet", model_file, "--read-only", "--state", missing)
    assert not missing.exists()

    with contextlib.closing(Journal(folder)) as journal:
        journal.append([Judgement("zebra", ["animals"])])
    (folder / BASE).unlink()
    files = sorted(folder.iterdir())
    lost = "has a journal but no base.shortlist, the model that learned its examples: restore"
    refused(lost, "--state", folder)
    refused(lost, "--read-only", "--state", folder)
    refused(lost, model_file, "--state", folder)
    assert lost in run("export", folder).err
    assert set(folder.iterdir()) - set(files) <= {folder / LOCK}

    copy(model_file, folder / BASE)
    refused("cannot listen on", "--state", folder)


def test_a_start_that_was_cut_short_begins_again(folder, model_file):
    (folder / BASE).unlink()  # killed after the journal was begun
    take_base(folder, model_file)
    check_state(folder)
