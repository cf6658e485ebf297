"""shortlist queue: against a state folder, and against a server."""

import json

import pytest

from shortlist.server import snapshots
from tests.server.servers import in_thread

TOKEN = "a token that is long enough"
AS_FILE = {"content-type": "application/octet-stream"}
NAMED = (("wheat", "grain"), ("bank", "money"))


def refused(result):
    """What it says; a server in a thread of this process logs to the same place."""
    assert result.code == 2, result
    (said,) = [line for line in result.err.splitlines() if not line.startswith('{"time"')]
    return said


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(
        "id,text,labels\n" + "".join(f"{n},wheat harvest {n},grain\n" for n in range(1200))
    )
    return path


def test_add_to_a_state_folder_while_a_server_runs(run, folder, file):
    with in_thread(folder) as server:
        assert (
            run("queue", "add", file, "--state", folder).out
            == "Added 1,200 texts; 0 were there already.\n"
        )
        assert run("queue", "add", file, "--state", folder, "--json").json == {
            "added": 0,
            "known": 1200,
        }
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
        assert run("queue", "add", file, "--server", address, "--json").json == {
            "added": 1200,
            "known": 0,
        }
        assert run("queue", "show", "--server", address, "--json").json["waiting"] == 1200
    assert "cannot reach" in refused(run("queue", "show", "--server", address))


def test_any_column_and_standard_input(run, folder, tmp_path):
    path = tmp_path / "mails.jsonl"
    path.write_text(json.dumps({"subject": "wheat", "body": "exports rose"}) + "\n")
    found = run(
        "queue",
        "add",
        path,
        "--state",
        folder,
        "--text-column",
        "subject",
        "--text-column",
        "body",
        "--json",
    )
    assert found.json == {"added": 1, "known": 0}


def test_columns_are_those_that_the_model_was_trained_from(run, tmp_path):
    """One or several of them; a file that has others is read as it is for any model."""
    rows = "".join(f"{n};{word} again;{word};{label}\n" for n in range(9) for word, label in NAMED)
    (tmp_path / "old.csv").write_text("Nr;Body;Subject;Team\n" + rows)
    (tmp_path / "new.csv").write_text("Subject;Body\nbank;rates\n;\n#REF!;#REF!\n#N/A;loans\n")
    (tmp_path / "other.jsonl").write_text('{"text": "wheat"}\n')
    for columns in (["Subject"], ["Subject", "Body"]):
        model, folder = tmp_path / f"{len(columns)}.shortlist", tmp_path / f"{len(columns)}"
        named = [word for column in columns for word in ("--text-column", column)]
        assert run("train", "old.csv", *named, "--label-column", "Team", "-o", model).code == 0
        folder.mkdir()
        snapshots.take_base(folder, model)
        added = len(columns)  # with the body, the row whose subject is broken says something
        assert run("queue", "add", "new.csv", "--state", folder, "--json").json == {
            "added": added,
            "known": 0,
        }
        assert run("queue", "add", "other.jsonl", "--state", folder, "--json").json == {
            "added": 1,
            "known": 0,
        }
        with in_thread(folder) as server:
            sent = server.post(
                "/v1/queue/file",
                params={"name": "new.csv"},
                headers=AS_FILE,
                content=(tmp_path / "new.csv").read_bytes(),
            )
            assert sent.json() == {"added": 0, "known": added}
            sent = server.post(
                "/v1/queue/file", params={"name": "other.txt"}, headers=AS_FILE, content=b"wheat\n"
            )
            assert sent.json() == {"added": 0, "known": 1}
            sent = run("queue", "add", "new.csv", "--server", server.base_url, "--json")
            assert sent.json == {"added": 0, "known": added}


def test_what_is_refused(run, folder, file, tmp_path):
    assert "--state FOLDER, or --server" in refused(run("queue", "add", file))
    assert "the actions are add, show" in refused(run("queue", "drop", "--state", folder))
    assert "is not a state directory yet" in refused(run("queue", "add", file, "--state", tmp_path))
    assert "http://127.0.0.1:8000/" in refused(run("queue", "show", "--server", "127.0.0.1"))
