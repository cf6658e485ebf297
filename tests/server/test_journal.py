"""The journal keeps what it was given, once, and says so when it cannot."""

import asyncio
import contextlib
import json
import os
import sqlite3
import threading

import pytest

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.entries import Judgement
from shortlist.server.exporting import exported
from shortlist.server.journal import Journal, Receipt
from shortlist.server.journal_errors import Conflict, JournalError
from shortlist.server.journal_file import JOURNAL_FILE
from shortlist.server.journal_history import History
from shortlist.server.journal_writer import JournalWriter


@pytest.fixture
def journal(tmp_path):
    Journal.begin(tmp_path)
    opened = Journal(tmp_path)
    yield opened
    opened.close()


def test_examples_are_numbered_in_order(journal):
    assert journal.append([Judgement("a", ["x"]), Judgement("b", ["y"])]) == [
        Receipt(1, True),
        Receipt(2, True),
    ]
    assert journal.append([Judgement("c", ["x"])]) == [Receipt(3, True)]
    assert [(entry.text, entry.labels) for entry in journal.after(0, 3)] == [
        ("a", ["x"]),
        ("b", ["y"]),
        ("c", ["x"]),
    ]


def test_a_key_counts_once(journal):
    twice = Judgement("b", ["y"], key="j")
    assert journal.append([Judgement("a", ["x"], key="k")]) == [Receipt(1, True)]
    assert journal.append([Judgement("a", ["x"], key="k")]) == [Receipt(1, False)]
    assert journal.append([twice, twice]) == [Receipt(2, True), Receipt(2, False)]


def test_a_key_for_something_else_fails_its_request_whole(journal):
    journal.append([Judgement("a", ["x"], key="k")])
    with pytest.raises(Conflict):
        journal.append([Judgement("c", ["z"]), Judgement("other", ["x"], key="k")])
    assert [entry.text for entry in journal.after(0, 99)] == ["a"]
    assert journal.append([Judgement("d", ["y"])]) == [Receipt(2, True)]


def test_requests_that_wait_share_a_commit_and_fail_alone(tmp_path):
    async def ask_all(writer, go_on):
        first = asyncio.create_task(writer.run(lambda journal: go_on.wait()))
        await asyncio.sleep(0)
        bad = [Judgement("c", ["z"]), Judgement("other", ["x"], key="k")]
        requests = [
            [Judgement("a", ["x"], key="k"), Judgement("b", ["x"])],
            bad,
            [Judgement("d", ["y"])],
        ]
        asked = [asyncio.create_task(writer.run(Journal.append, some)) for some in requests]
        await asyncio.sleep(0)
        go_on.set()
        await first
        return await asyncio.gather(*asked, return_exceptions=True)

    Journal.begin(tmp_path)
    writer, commits = JournalWriter(tmp_path), []
    record = writer.journal.file.record
    record.write = lambda end, write=record.write: commits.append(write(end))
    one, refused, other = asyncio.run(ask_all(writer, threading.Event()))
    assert (one, other) == ([Receipt(1, True), Receipt(2, True)], [Receipt(3, True)])
    assert isinstance(refused, Conflict)
    assert len(commits) == 1
    writer.close()
    with contextlib.closing(Journal(tmp_path)) as journal:
        times = [entry.time for entry in journal.each()]
    assert times[0] == times[1] < times[2], "a request is known by its time"


OTHERS = [
    Judgement("b", ["x"], "k"),
    Judgement("a", ["y"], "k"),
    Judgement("a", ["x", "y"], "k"),
    Judgement("a", ["x"], "k", wrong=["y"]),
    Judgement("a", ["x"], "k", complete=False),
    Judgement("a", ["x"], "k", person="ada"),
]


@pytest.mark.parametrize("other", OTHERS)
def test_a_key_stands_for_a_text_what_was_judged_and_who_judged(journal, other):
    journal.append([Judgement("a", ["x"], "k")])
    with pytest.raises(Conflict):
        journal.append([other])
    assert journal.version().examples == 1


def test_undo_is_remembered_once(journal):
    journal.append([Judgement(text, ["x"]) for text in "abc"])
    assert journal.undo([2]) == 1
    assert journal.undo([2]) == 0
    assert [entry.number for entry in journal.after(0, 3)] == [1, 3]
    assert [entry.undone for entry in History(journal).newest()] == [False, True, False]
    for number in (0, 9):
        with pytest.raises(sl.InputError, match=f"no example {number}"):
            journal.undo([number])


def test_the_export_is_a_training_file(journal, tmp_path):
    journal.append(
        [Judgement('quoted "text"\nof two lines, äö ß 😀', ["x", 7]), Judgement("b\0c", ["y"])]
    )
    journal.append([Judgement("gone", ["z"])])
    journal.undo([3])
    path = tmp_path / "export.jsonl"
    path.write_text(b"".join(exported(journal, "jsonl")).decode())
    batches = list(sl.read(str(path)))
    assert [text for batch in batches for text in batch.texts] == [
        'quoted "text"\nof two lines, äö ß 😀',
        "b\0c",
    ]


def test_the_export_says_what_was_judged_and_by_whom(journal):
    journal.append(
        [
            Judgement("a", ["x"]),
            Judgement("b", ["x"], wrong=["é"], complete=False),
            Judgement("c", [], wrong=["y"], person="ada"),
        ]
    )
    lines = [
        json.loads(line) for piece in exported(journal, "jsonl") for line in piece.splitlines()
    ]
    assert [line.pop("time") for line in lines]
    assert lines == [
        {"text": "a", "labels": ["x"]},
        {"text": "b", "labels": ["x"], "wrong": ["é"], "complete": False},
        {"text": "c", "labels": [], "wrong": ["y"], "complete": True, "person": "ada"},
    ]


def test_another_process_sees_a_commit_at_once(journal, tmp_path):
    other = Journal(tmp_path)
    journal.append([Judgement("a", ["x"])])
    assert other.version() == (1, 0)
    other.close()


def test_a_journal_of_a_later_version_is_refused(tmp_path):
    Journal.begin(tmp_path)
    db = sqlite3.connect(tmp_path / JOURNAL_FILE)
    db.execute("PRAGMA user_version=7")
    db.close()
    with pytest.raises(JournalError, match="version 7"):
        Journal(tmp_path)


def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o555)
    was = os.geteuid()
    if was == 0:
        for parent in tmp_path.parents[:3]:
            parent.chmod(parent.stat().st_mode | 0o055)
        os.seteuid(65534)
    try:
        with pytest.raises(JournalError, match="may this user write"):
            Journal.begin(tmp_path)
        with pytest.raises(sl.InputError, match="cannot write to"):
            snapshots.lock(tmp_path).__enter__()
    finally:
        os.seteuid(was)
        tmp_path.chmod(0o755)


def test_a_folder_is_held_by_one(tmp_path):
    with snapshots.lock(tmp_path), pytest.raises(sl.InputError, match="another server works on"):
        snapshots.lock(tmp_path).__enter__()
    with snapshots.lock(tmp_path):
        pass
