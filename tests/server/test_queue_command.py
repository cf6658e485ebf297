"""shortlist queue: against a state folder, and against a server."""

import json

import pytest

from tests.server.servers import in_thread

TOKEN = "a token that is long enough"


def refused(result):
    """What it says; a server in a thread of this process logs to the same place."""
    assert result.code == 2, result
    (said,) = [line for line in result.err.splitlines() if not line.startswith('{"time"')]
    return said


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text("id,text,labels\n" + "".join(f"{n},wheat harvest {n},grain\n" for n in range(1200)))
    return path


def test_add_to_a_state_folder_while_a_server_runs(run, folder, file):
    with in_thread(folder) as server:
        assert run("queue", "add", file, "--state", folder).out == "Added 1,200 texts; 0 were there already.\n"
        assert run("queue", "add", file, "--state", folder, "--json").json == {"added": 0, "known": 1200}
        item = server.ask("queue/next", person="anna", order="date")["item"]
        assert item["text"] == "wheat harvest 0"
        server.learn(item["text"], ["grain"], item["id"])
    assert run("queue", "show", "--state", folder, "--json").json["judged"] == 1
    assert run("queue", "show", "--state", folder).out.startswith("1,199 waiting, 1 judged")


def test_add_over_http(run, folder, file, monkeypatch):
    with in_thread(folder, token=TOKEN) as server:
        address = str(server.base_url)
        assert "a token is needed" in refused(run("queue", "add", file, "--server", address))
        monkeypatch.setenv("SHORTLIST_TOKEN", TOKEN)
        assert run("queue", "add", file, "--server", address, "--json").json == {"added": 1200, "known": 0}
        assert run("queue", "show", "--server", address, "--json").json["waiting"] == 1200
    assert "cannot reach" in refused(run("queue", "show", "--server", address))


def test_any_column_and_standard_input(run, folder, tmp_path):
    path = tmp_path / "mails.jsonl"
    path.write_text(json.dumps({"subject": "wheat", "body": "exports rose"}) + "\n")
    found = run("queue", "add", path, "--state", folder, "--text-column", "subject", "--text-column", "body", "--json")
    assert found.json == {"added": 1, "known": 0}


def test_what_is_refused(run, folder, file, tmp_path):
    assert "--state FOLDER, or --server" in refused(run("queue", "add", file))
    assert "the actions are add, show" in refused(run("queue", "drop", "--state", folder))
    assert "is not a state directory yet" in refused(run("queue", "add", file, "--state", tmp_path))
    assert "http://127.0.0.1:8000/" in refused(run("queue", "show", "--server", "127.0.0.1"))
