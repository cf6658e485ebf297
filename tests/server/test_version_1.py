"""A state directory of the journal's version 1 opens, whoever opens it first, and says the same.

``state_of_version_1/make.py`` made it with the code of that time.
"""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from shortlist.models.label_changes import Change
from shortlist.server import journal_file
from shortlist.server.entries import Judge, Judgement, LabelChange
from shortlist.server.exporting import exported
from shortlist.server.journal import Journal, Receipt, Version, check_journal
from shortlist.server.journal_errors import JournalError
from shortlist.server.journal_file import JOURNAL_FILE
from shortlist.server.journal_history import History
from shortlist.server.replica import Replica
from shortlist.server.salvage import salvage
from tests.server.servers import in_thread

HERE = Path(__file__).parent / "state_of_version_1"
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def old(tmp_path):
    return Path(shutil.copytree(HERE / "state", tmp_path / "state"))


def version_of(folder):
    with contextlib.closing(sqlite3.connect(folder / JOURNAL_FILE)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def facts(journal):
    """What the older code said of it."""
    return {
        "version": list(journal.version()),
        "seals": [journal.seal(Version(n, min(n, 2))) for n in range(12)],
        "export": b"".join(exported(journal, "jsonl")).decode(),
        "places": History(journal).places(),
        "decision": History(journal).decision(5),
    }


@pytest.mark.parametrize("read_only", [True, False])
def test_it_says_the_same(old, read_only):
    with contextlib.closing(Journal(old, read_only)) as journal:
        journal.check()
        assert facts(journal).items() <= EXPECTED.items()
    assert version_of(old) == (1 if read_only else journal_file.JOURNAL_VERSION)


def test_the_checksums_hold_and_go_on(old):
    with contextlib.closing(Journal(old)) as journal:
        journal.append([Judgement("corn", ["grain"], person="anna", judge=Judge.LEARNED_MODEL)])
        journal.undo([1])
        assert journal.version() == (12, 3)
    check_journal(old)


@pytest.mark.parametrize(
    ("number", "entry"),
    [
        (1, Judgement("wheat exports rose", ["grain", "trade"], "key-1", 3, person="anna")),
        (4, LabelChange(Change("rename", ("money",), "finance"), "key-4")),
        (
            5,
            Judgement(
                "bank rates", ["finance"], "queue-5", person="anna", judge=Judge.LEARNED_MODEL
            ),
        ),
    ],
)
def test_what_is_sent_again_with_its_key_is_known(old, number, entry):
    with contextlib.closing(Journal(old)) as journal:
        assert journal.append([entry]) == [Receipt(number, new=False)]


def test_who_judged_and_what_changed_have_columns(old):
    with contextlib.closing(Journal(old)) as journal:
        entries = {entry.number: entry for entry in reversed(History(journal).newest())}
    assert [number for number, entry in entries.items() if isinstance(entry, LabelChange)] == [4, 9]
    assert str(entries[4].change) == "rename money to finance"
    people = [(entries[n].person, entries[n].judge) for n in (1, 5, 6)]
    assert people == [("anna", "person"), ("anna", "model"), ("", "model")]
    assert entries[8].text == {"title": "Wheat", "tags": ["a", "b"], "price": 1.5}
    assert entries[7].vector.tolist() == [0.5, -1.25, 3.000000026176508e-09]
    assert [number for number, entry in entries.items() if entry.undone] == [2, 6]


def test_a_server_goes_on_with_it(old):
    with in_thread(old) as server:
        assert sorted(server.replica.unlearnable) == EXPECTED["passed"]
        assert server.best("wheat bank", 5) == EXPECTED["ranking"]
        again = server.learn("wheat exports rose", ["grain"], "another-key")
        assert again["number"] == 12
    check_journal(old)


def test_a_reader_sees_another_process_migrate(old):
    with contextlib.closing(Journal(old, read_only=True)) as reader:
        assert reader.version() == (11, 2)
        Journal(old).close()
        assert facts(reader).items() <= EXPECTED.items()


@pytest.mark.parametrize("done", range(len(journal_file.MIGRATION_OF_VERSION_1) + 1))
def test_a_migration_that_fails_changes_nothing(old, monkeypatch, done):
    statements = (*journal_file.MIGRATION_OF_VERSION_1[:done], "SELECT no_such_function()")
    monkeypatch.setitem(journal_file.MIGRATIONS, 1, statements)
    with pytest.raises(JournalError):
        Journal(old)
    monkeypatch.undo()
    assert version_of(old) == 1
    with contextlib.closing(Journal(old)) as journal:
        journal.check()
        assert facts(journal).items() <= EXPECTED.items()


def test_a_damaged_one_is_salvaged(old):
    with contextlib.closing(sqlite3.connect(old / JOURNAL_FILE)) as db:
        db.execute("UPDATE examples SET text = 'other' WHERE number = 11")
        db.commit()
    with pytest.raises(JournalError, match="damaged from number 11 of its examples on"):
        check_journal(old)
    first, *_ = salvage(old)
    assert "what came before that is kept, 10 examples and 2 undos" in first
    check_journal(old)
    with contextlib.closing(Replica(old)) as replica:
        assert replica.journal.version() == (10, 2)
