"""Ids and chosen columns of users' tables: from the queue to the page and into exports."""

import contextlib
import csv
import io
import json
import sqlite3

import pytest

from shortlist.server.review_queue import QUEUE_FILE, QUEUE_MIGRATION, QUEUE_VERSION, Queue
from tests.server.servers import in_thread

TICKETS = """Nr;date;channel;text
4711;2026-01-05;mail;wheat exports rose
4712;2026-01-06;phone;bank rates fell
4713;2026-01-07;;wheat exports rose
"""


@pytest.fixture
def tickets(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(TICKETS)
    return path


def judge_all(server):
    while (item := server.ask("queue/next", person="anna", order="date")["item"]) is not None:
        server.learn(item["text"], ["grain"], item["id"])


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def check_export(run, folder):
    rows = table(run("export", folder, "--format", "csv").out)
    assert [(row["Nr"], row["date"], row["channel"]) for row in rows] == [
        ("4711", "2026-01-05", "mail"),
        ("4713", "2026-01-07", ""),
        ("4712", "2026-01-06", "phone"),
    ]
    assert list(rows[0])[:4] == ["Nr", "date", "channel", "text"]
    assert {row["labels"] for row in rows} == {"grain"}
    first, second = map(json.loads, run("export", folder).out.splitlines())
    assert [row["Nr"] for row in first["rows"]] == ["4711", "4713"]
    assert second["rows"] == [{"Nr": "4712", "date": "2026-01-06", "channel": "phone"}]


KEEPING = ("--id-column", "Nr", "--keep-columns", "date, channel")


def test_they_go_from_the_file_to_the_export(run, folder, tickets):
    with in_thread(folder) as server:
        said = run("queue", "add", tickets, "--state", folder, *KEEPING)
        assert said.out == "Added 2 texts; 1 was there already.\n"
        item = server.ask("queue/items")["items"][-1]
        assert item["rows"] == [
            {"Nr": "4711", "date": "2026-01-05", "channel": "mail"},
            {"Nr": "4713", "date": "2026-01-07"},
        ]
        judge_all(server)
    check_export(run, folder)


def test_adding_again_brings_back_what_a_lost_queue_had(run, folder, tickets):
    with in_thread(folder) as server:
        run("queue", "add", tickets, "--state", folder, *KEEPING)
        judge_all(server)
    for path in folder.glob(f"{QUEUE_FILE}*"):
        path.unlink()
    assert "Nr" not in table(run("export", folder, "--format", "csv").out)[0]
    for _ in range(2):  # twice changes nothing
        run("queue", "add", tickets, "--state", folder, *KEEPING)
    check_export(run, folder)


def test_over_http(run, folder, tickets):
    with in_thread(folder) as server:
        assert run("queue", "add", tickets, "--server", str(server.base_url), *KEEPING).code == 0
        judge_all(server)
        exported = server.get("/v1/export", params={"format": "csv"}).text
        assert exported == run("export", folder, "--format", "csv").out
    check_export(run, folder)


@pytest.mark.parametrize("keep", ["Nr,date,channel", "*"])
def test_a_sent_file(run, folder, tickets, keep):
    with in_thread(folder) as server:
        answer = server.post(
            "/v1/queue/file",
            params={"name": "tickets.csv", "keep": keep},
            content=tickets.read_bytes(),
            headers={"content-type": "application/octet-stream"},
        )
        assert answer.json() == {"added": 2, "known": 1}
        judge_all(server)
    check_export(run, folder)


def test_a_file_without_columns_has_nothing_to_keep(folder, run, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("wheat\nbank\n")
    with in_thread(folder) as server:
        answer = server.post(
            "/v1/queue/file",
            params={"name": "lines.txt", "keep": "*"},
            content=path.read_bytes(),
            headers={"content-type": "application/octet-stream"},
        )
        assert answer.json() == {"added": 2, "known": 0}
    refused = run("queue", "add", path, "--state", folder, "--id-column", "Nr")
    assert refused.code == 2
    assert "has no option 'keep'" in refused.err


def test_a_row_for_each_text(server):
    assert server.post("/v1/queue", json={"texts": ["a", "b"], "rows": [{}]}).status_code == 409


def test_a_column_that_an_export_has_is_called_otherwise(run, folder, tmp_path):
    path = tmp_path / "tickets.jsonl"
    path.write_text(json.dumps({"text": "wheat", "key": 17.0, "time": None}) + "\n")
    with in_thread(folder) as server:
        run("queue", "add", path, "--state", folder, "--keep-columns", "key,time")
        judge_all(server)
    (row,) = table(run("export", folder, "--format", "csv").out)
    assert row["key (kept)"] == "17"
    assert row["key"].startswith("queue-")


def test_a_queue_of_version_1_is_migrated(folder):
    with contextlib.closing(Queue(folder)) as queue:
        queue.add(["wheat"])
    with contextlib.closing(sqlite3.connect(folder / QUEUE_FILE)) as db:
        db.execute("DROP INDEX by_draw")
        db.execute("DROP INDEX by_look")
        for statement in QUEUE_MIGRATION:
            if " COLUMN " in statement:
                column = statement.split(" COLUMN ")[1].split()[0]
                db.execute(f"ALTER TABLE items DROP COLUMN {column}")
        db.execute("PRAGMA user_version=1")
    with contextlib.closing(Queue(folder)) as queue:
        assert queue.add_rows([("wheat", {"Nr": "1"})]) == {"added": 0, "known": 1}
        (item,) = queue.items("waiting")
        assert item.rows == [{"Nr": "1"}]
        assert queue.db.execute("PRAGMA user_version").fetchone() == (QUEUE_VERSION,)
