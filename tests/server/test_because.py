"""Marked words over HTTP and in the journal, and journals from before there were any."""

import contextlib
import json
import sqlite3

import pytest

from shortlist.server import journal_file
from shortlist.server.entries import Judge, Judgement
from shortlist.server.journal import Journal, check_journal
from shortlist.server.journal_errors import Conflict, JournalError
from shortlist.server.journal_file import JOURNAL_FILE
from tests.server.servers import in_thread

OLD = [
    Judgement("wheat exports rose", ["grain"], "one", person="anna"),
    Judgement("bank rates", ["money"], judge=Judge.MODEL, wrong=["grain"]),
]
MARKED = Judgement("corn and wheat", ["grain"], "two", person="ben", because=["corn"])


@pytest.fixture
def version_2(tmp_path):
    """A journal without the column of marked words, as version 2 wrote it."""
    Journal.begin(tmp_path)
    with contextlib.closing(Journal(tmp_path)) as journal:
        journal.append(OLD)
    with contextlib.closing(sqlite3.connect(tmp_path / JOURNAL_FILE)) as db:
        db.execute("ALTER TABLE entries DROP COLUMN because")
        db.execute("PRAGMA user_version=2")
    return tmp_path


def judged(journal):
    return [(entry.text, entry.labels, entry.wrong, entry.because) for entry in journal.each()]


def test_a_journal_of_version_2_is_read_and_converted(version_2):
    expected = [(entry.text, entry.labels, list(entry.wrong), []) for entry in OLD]
    with contextlib.closing(Journal(version_2, read_only=True)) as reader:
        reader.check()
        assert judged(reader) == expected
        with contextlib.closing(Journal(version_2)) as journal:
            journal.append([MARKED])
        assert judged(reader)[:2] == expected
        assert judged(reader)[2][-1] == ["corn"]
    check_journal(version_2)


def test_marks_are_exported_as_json_lines(folder, run):
    with contextlib.closing(Journal(folder)) as journal:
        journal.append([*OLD, MARKED])
    lines = [json.loads(line) for line in run("export", folder).out.splitlines()]
    assert [line.get("because") for line in lines] == [None] * len(OLD) + [["corn"]]


def test_no_field_is_called_as_the_marks(server):
    assert server.post("/v1/rank", json={"text": {"because": "corn"}}).status_code == 422


def test_a_conversion_that_fails_changes_nothing(version_2, monkeypatch):
    statements = (*journal_file.MIGRATION_OF_VERSION_2, "SELECT no_such_function()")
    monkeypatch.setitem(journal_file.MIGRATIONS, 2, statements)
    with pytest.raises(JournalError):
        Journal(version_2)
    monkeypatch.undo()
    check_journal(version_2)


def test_checksums_cover_marked_words(tmp_path):
    Journal.begin(tmp_path)
    with contextlib.closing(Journal(tmp_path)) as journal:
        journal.append([*OLD, MARKED])
        with pytest.raises(Conflict):  # the same key with other marks
            journal.append([Judgement("corn and wheat", ["grain"], "two", person="ben")])
    check_journal(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / JOURNAL_FILE)) as db, db:
        db.execute("UPDATE entries SET because = '[\"wheat\"]' WHERE number = 3")
    with pytest.raises(JournalError, match="number 3"):
        check_journal(tmp_path)


def test_a_server_learns_marks_and_learns_them_again_after_a_start(folder):
    example = {"text": "corn rose again", "labels": ["grain"], "because": ["corn"], "key": "k"}

    def votes(server):
        return server.ask("explain", text="corn rose again", label="grain")["votes"]

    with in_thread(folder) as server:
        before = votes(server)
        assert server.ask("learn", examples=[example])["learned"][0]["learned"]
        after = votes(server)
        assert after != before
        refused = server.post(
            "/v1/learn", json={"examples": [example | {"key": "l", "because": ["oats"]}]}
        )
        assert refused.status_code == 409
        assert "'oats' does not occur" in refused.json()["error"]
    with in_thread(folder) as server:
        assert votes(server) == after
