"""A journal that was changed, cut or taken away from outside is noticed, and it is said from
where on.
"""

import os
import shutil
import sqlite3

import pytest

import shortlist as sl
from shortlist.server.background import write_snapshot
from shortlist.server.checksums import END_FILE, End
from shortlist.server.entries import Judgement
from shortlist.server.journal import Journal, Version, check_journal
from shortlist.server.journal_errors import JournalError
from shortlist.server.journal_file import JOURNAL_FILE
from shortlist.server.replica import Replica
from shortlist.server.salvage import salvage
from tests.server.servers import EXAMPLES, in_thread, state_bytes

LOG = f"{JOURNAL_FILE}-wal"


def examples(n):
    return [[Judgement(f"text {i} of them all", ["x"], key=f"key {i}")] for i in range(n)]


def commit_and_crash(folder, n, undone=()):
    """Commit n examples and some undos, one after another, and leave the files as a crash does."""
    pid = os.fork()
    if pid == 0:
        Journal.begin(folder)
        journal = Journal(folder)
        for one in examples(n):
            journal.append(one)
        for number in undone:
            journal.undo([number])
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def settle(folder):
    """Have everything in the main file, as after a clean stop."""
    Journal(folder).close()
    assert not (folder / LOG).exists()


def flip(path, place, bit=1):
    content = bytearray(path.read_bytes())
    content[place] ^= bit
    path.write_bytes(content)


def test_a_sound_journal_passes(tmp_path):
    commit_and_crash(tmp_path, 20, undone=[3])
    check_journal(tmp_path)
    settle(tmp_path)
    check_journal(tmp_path)
    assert salvage(tmp_path) == []


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_flip_in_the_log_loses_nothing_silently(tmp_path, share):
    commit_and_crash(tmp_path, 60)
    before = {name: (tmp_path / name).read_bytes() for name in (JOURNAL_FILE, LOG)}
    flip(tmp_path / LOG, int(share * len(before[LOG])))
    with pytest.raises(
        JournalError, match=r"damaged from number \d+ of its examples on: 60 were acknowledged"
    ):
        check_journal(tmp_path)
    flip(tmp_path / LOG, int(share * len(before[LOG])))
    assert {name: (tmp_path / name).read_bytes() for name in (JOURNAL_FILE, LOG)} == before, (
        "a check leaves all as it is"
    )
    check_journal(tmp_path)


@pytest.mark.parametrize("what", [b"text 30 of", b"key 30"])
def test_a_flip_in_a_row_is_said_by_its_number(tmp_path, what):
    commit_and_crash(tmp_path, 60)
    settle(tmp_path)
    content = (tmp_path / JOURNAL_FILE).read_bytes()
    for place in [i for i in range(len(content)) if content.startswith(what, i)]:
        flip(tmp_path / JOURNAL_FILE, place)
    with pytest.raises(
        JournalError,
        match=r"number 31 of its examples on: that is not what was written.*30 examples",
    ):
        check_journal(tmp_path)


def test_a_row_taken_out_or_put_in(tmp_path):
    commit_and_crash(tmp_path, 20, undone=[3, 4, 5])
    settle(tmp_path)
    for change, words in (
        ("DELETE FROM undos WHERE number = 2", "number 2 of its undos on"),
        ("DELETE FROM undos WHERE number = 3", "number 3 of its undos on: 3 were acknowledged"),
        (
            "DELETE FROM entries WHERE number = 20",
            "number 20 of its examples on: 20 were acknowledged",
        ),
        (
            "INSERT INTO entries (time, text, labels) VALUES (0, 'a', '[]')",
            "number 21 of its examples on",
        ),
        ("UPDATE entries SET labels = '[\"y\"]' WHERE number = 7", "number 7 of its examples on"),
        ("UPDATE entries SET number = 99 WHERE number = 20", "number 20 of its examples on"),
    ):
        kept = (tmp_path / JOURNAL_FILE).read_bytes()
        db = sqlite3.connect(tmp_path / JOURNAL_FILE)
        db.execute(change)
        db.commit()
        db.close()
        with pytest.raises(JournalError, match=words):
            check_journal(tmp_path)
        (tmp_path / JOURNAL_FILE).write_bytes(kept)
        check_journal(tmp_path)


def test_what_was_never_acknowledged_may_be_torn(tmp_path):
    commit_and_crash(tmp_path, 19)
    acknowledged = (tmp_path / END_FILE).read_bytes()
    commit_and_crash(tmp_path, 20)
    with open(tmp_path / LOG, "r+b") as file:
        # the last commit did not get to the disk whole
        file.truncate((tmp_path / LOG).stat().st_size - 100)
    with pytest.raises(JournalError, match="number 20 of its examples on: 20 were acknowledged"):
        check_journal(tmp_path)
    (tmp_path / END_FILE).write_bytes(acknowledged)
    check_journal(tmp_path)
    journal = Journal(tmp_path)
    assert journal.version().examples == 19
    assert journal.append(examples(20)[-1])[0].number == 20
    journal.close()


def test_a_page_that_cannot_be_read(tmp_path):
    commit_and_crash(tmp_path, 500)
    settle(tmp_path)
    content = bytearray((tmp_path / JOURNAL_FILE).read_bytes())
    content[8192:12288] = bytes(4096)
    (tmp_path / JOURNAL_FILE).write_bytes(content)
    with pytest.raises(JournalError, match="is damaged"):
        check_journal(tmp_path)
    (tmp_path / JOURNAL_FILE).write_bytes(b"no database at all, not even nearly" * 100)
    with pytest.raises(JournalError, match="is damaged"):
        check_journal(tmp_path)
    (tmp_path / JOURNAL_FILE).write_bytes(b"")
    with pytest.raises(JournalError, match="is damaged"):
        check_journal(tmp_path)
    with pytest.raises(JournalError, match="is empty, and was not"):
        Journal(tmp_path)


def test_a_table_whose_name_for_a_column_is_no_text(tmp_path):
    """SQLite quotes it in what it says, which Python then cannot decode."""
    commit_and_crash(tmp_path, 20)
    settle(tmp_path)
    path = tmp_path / JOURNAL_FILE
    path.write_bytes(
        path.read_bytes().replace(b"example INTEGER NOT NULL", b"example INTEGER NOT \xa8ULL")
    )
    with pytest.raises(JournalError, match="is damaged"):
        check_journal(tmp_path)


def test_the_record_of_the_end(tmp_path):
    assert End.of(End().line()) == End()
    commit_and_crash(tmp_path, 5)
    flip(tmp_path / END_FILE, 14)
    with pytest.raises(
        JournalError, match=r"may have lost its end: the record of it, .*journal.end, is damaged"
    ):
        check_journal(tmp_path)
    (sentence, _) = salvage(tmp_path)
    assert "what came before that is kept, 5 examples and 0 undos" in sentence
    check_journal(tmp_path)
    (tmp_path / END_FILE).unlink()
    with pytest.raises(
        JournalError, match=r"may have lost its end: the record of it, .*journal.end, is gone"
    ):
        check_journal(tmp_path)


# Going on with what is sound


def test_salvage_keeps_what_is_sound_and_sets_all_else_aside(folder, model_file):
    commit_and_crash(folder, 60, undone=[3, 50])
    early = write_snapshot(folder)
    settle(folder)
    db = sqlite3.connect(folder / JOURNAL_FILE)
    db.execute("UPDATE entries SET text = 'other' WHERE number = 41")
    db.commit()
    db.close()
    damaged = (folder / JOURNAL_FILE).read_bytes()
    with pytest.raises(
        JournalError, match=r"40 examples and 2 undos, by shortlist serve --state .* --salvage"
    ):
        check_journal(folder)

    first, second, third = salvage(folder)
    assert "is damaged from number 41 of its examples on" in first
    assert "what came before that is kept, 40 examples and 1 undo" in first
    assert f"the snapshot {early.name} was learned from what the journal does not hold" in second
    (aside,) = folder.glob("damaged-*")
    assert third == f"all that was there is in {aside}"
    assert (aside / JOURNAL_FILE).read_bytes() == damaged
    assert {path.name for path in aside.iterdir()} >= {JOURNAL_FILE, END_FILE, early.name}

    check_journal(folder)
    replica = Replica(folder)
    expected = sl.load(model_file)
    for n in range(40):
        if n != 2:
            expected.learn(f"text {n} of them all", ["x"])
    assert state_bytes(replica.model) == state_bytes(expected)
    receipts = replica.journal.append([Judgement("next", ["x"])])
    assert receipts[0].number == 41
    replica.close()
    assert salvage(folder) == []


def test_salvage_of_a_lost_log(folder):
    commit_and_crash(folder, 60)
    size = (folder / LOG).stat().st_size
    os.truncate(folder / LOG, size // 2)
    kept = int(salvage(folder)[0].partition(" examples and")[0].rpartition(" ")[2])
    assert 10 < kept < 60
    journal = Journal(folder)
    assert journal.version() == (kept, 0)
    journal.close()


# Snapshots and the journal they were learned from


@pytest.mark.parametrize("beyond", [Version(30, 0), Version(20, 5), Version(10, 5)])
def test_a_journal_that_ends_before_a_snapshot_is_refused(folder, model_file, beyond):
    commit_and_crash(folder, 20, undone=[12])
    shutil.copyfile(
        model_file, folder / f"snapshot-{beyond.examples:012}-{beyond.undos:09}-{0:016x}.shortlist"
    )
    with pytest.raises(JournalError, match="its end is lost"):
        Replica(folder)


def test_another_journal_under_a_snapshot_is_refused(folder, tmp_path):
    commit_and_crash(folder, 20)
    write_snapshot(folder)
    Replica(folder).close()
    for path in folder.glob("journal*"):
        path.unlink()
    commit_and_crash(folder, 30)  # at other times
    check_journal(folder)
    with pytest.raises(JournalError, match="or it is another one"):
        Replica(folder)


# Taken away while it is in use


def refused(answer):
    assert answer.status_code == 503, answer.text
    assert "was deleted or replaced while the server worked with it" in answer.json()["error"]


@pytest.mark.parametrize(
    "gone",
    [[JOURNAL_FILE, LOG, f"{JOURNAL_FILE}-shm", END_FILE], [JOURNAL_FILE], [LOG], [END_FILE]],
)
def test_a_journal_deleted_under_a_server(folder, gone):
    body = {"examples": [{"text": "b", "labels": ["x"]}]}
    with in_thread(folder) as server:
        server.learn("a", ["x"])
        for name in gone:
            (folder / name).unlink()
        refused(server.post("/v1/learn", json=body))
        refused(server.post("/v1/undo", json={"number": 1}))
        if JOURNAL_FILE in gone:
            with pytest.raises(JournalError, match="is gone"):
                Journal(folder)
        assert server.best(EXAMPLES[0][0]), "ranking goes on"
    assert [name for name in gone if (folder / name).exists()] == [], (
        "no other is made in its place"
    )


def test_a_journal_replaced_by_a_copy(folder):
    with in_thread(folder) as server:
        server.learn("a", ["x"])
        copy = folder / "copy"
        shutil.copyfile(folder / JOURNAL_FILE, copy)
        os.replace(copy, folder / JOURNAL_FILE)
        refused(server.post("/v1/learn", json={"examples": [{"text": "b", "labels": ["x"]}]}))


def test_a_journal_changed_in_place(folder):
    """Two processes, or an older file copied over: what was acknowledged must be there before
    more is written.
    """
    journal = Journal(folder)
    journal.append(examples(1)[0])
    db = sqlite3.connect(folder / JOURNAL_FILE)
    db.execute("DELETE FROM entries")
    db.commit()
    db.close()
    with pytest.raises(
        JournalError, match="number 1 of its examples on: 1 were acknowledged; stop the server"
    ):
        journal.append(examples(1)[0])
    journal.close()


def test_a_state_directory_that_has_lost_its_journal(folder):
    for path in folder.glob("journal*"):
        path.unlink()
    with pytest.raises(JournalError, match="is gone; bring back a copy of it"):
        check_journal(folder)
    with pytest.raises(JournalError, match="is gone"):
        Replica(folder)
    assert list(folder.glob("journal*")) == []
