"""A state directory that an earlier version made opens, is read as it is, and goes on."""

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import shortlist as sl
from shortlist.models.relabelling import Change
from shortlist.server.journal import Example, Journal
from shortlist.server.layout import VERSION
from shortlist.server.ledger import FILE, JournalError
from shortlist.server.replica import Replica
from shortlist.server.salvage import salvage
from shortlist.server.serving import check_journal
from tests.server.servers import in_thread, state_bytes

MADE = Path(__file__).parents[1] / "fixtures" / "journals"
LEARNED = [
    (1, "corn harvest", ["grain"]), (2, "bank rates fell", ["money"]),
    (3, "", {"change": "rename", "labels": ["grain"], "into": "cereals"}),
    (5, "rye and oats", ["cereals", "trade"]), (6, "oats after the snapshot", ["cereals"]),
]  # fmt: skip


@pytest.fixture
def earlier(tmp_path):
    """Six rows, of which one is a change of labels and one was taken back; a snapshot of five."""
    return shutil.copytree(MADE / "version-2", tmp_path / "state")


def version_of(folder):
    db = sqlite3.connect(folder / FILE)
    found = db.execute("PRAGMA user_version").fetchone()[0]
    db.close()
    return found


def execute(folder, statement):
    db = sqlite3.connect(folder / FILE)
    db.execute(statement)
    db.commit()
    db.close()


def expected(folder):
    model = sl.load(folder / "base.shortlist")
    for _, text, labels in LEARNED:
        if isinstance(labels, dict):
            model.change_labels(Change.of(labels))
        else:
            model.learn(text, labels)
    return model


def assert_alike(model, other):
    """Weights of the snapshot were added up with 64 bits, those of a replay today with 32."""
    one, two = model.to_state(), other.to_state()
    assert one.header() == two.header()
    own, others = one.all_arrays(), two.all_arrays()
    assert own.keys() == others.keys()
    for name in own:
        np.testing.assert_allclose(own[name], others[name], rtol=1e-6, err_msg=name)


def test_it_is_checked_and_read_as_it_is(earlier):
    before = {path.name: path.read_bytes() for path in earlier.iterdir()}
    check_journal(earlier)
    journal = Journal(earlier, read_only=True)
    assert [lesson[:3] for lesson in journal.after(0, 99)] == LEARNED
    assert all(lesson[3:] == ([], True, "", "") for lesson in journal.after(0, 99))
    assert [entry.undone for entry in journal.entries()] == [False, False, True, False, False, False]
    journal.close()
    with in_thread(earlier, read_only=True) as server:
        assert len(server.get("/v1/journal").text.splitlines()) == 4
        newest = server.ask("examples")["examples"][0]
        assert (newest["wrong"], newest["complete"], newest["person"]) == ([], True, "")
    assert {name: (earlier / name).read_bytes() for name in before} == before


def test_it_goes_on(earlier):
    """With its chain: the snapshot, which is named after it, is still good, and so is the record of the end."""
    replica = Replica(earlier)
    try:
        assert version_of(earlier) == VERSION
        assert replica.version == (6, 1)
        assert_alike(replica.model, expected(earlier))
        replica.journal.append([[Example("next", ["trade"], wrong=["money"], complete=False, person="ada")]])
        assert replica.journal.after(6, 99) == [(7, "next", ["trade"], ["money"], False, "ada", "")]
        (entry,) = replica.journal.entries(limit=1)
        assert (entry.labels, entry.wrong, entry.complete, entry.person) == (["trade"], ["money"], False, "ada")
        assert replica.journal.undo(6, "bob")
    finally:
        replica.close()
    check_journal(earlier)
    assert salvage(earlier) == []
    execute(earlier, "UPDATE undos SET person = 'eve' WHERE number = 2")
    with pytest.raises(JournalError, match="number 2 of its undos on"):
        check_journal(earlier)


def test_a_reader_follows_when_it_goes_on(earlier):
    reader, journal = Journal(earlier, read_only=True), Journal(earlier)
    try:
        journal.append([[Example("next", ["trade"], wrong=["money"], complete=False, person="ada")]])
        assert reader.after(6, 99) == journal.after(6, 99)
        assert reader.version() == (7, 1)
    finally:
        reader.close()
        journal.close()


@pytest.mark.parametrize("opened_first", [False, True])
def test_damage_is_noticed_all_the_same(earlier, opened_first):
    execute(earlier, "DELETE FROM examples WHERE number = 6")
    if opened_first:
        Journal(earlier).close()
    with pytest.raises(JournalError, match="number 6 of its examples on: 6 were acknowledged"):
        check_journal(earlier)
    assert "what came before that is kept, 5 examples and 1 undo" in salvage(earlier)[0]
    assert version_of(earlier) == VERSION
    check_journal(earlier)


@pytest.mark.parametrize("change", ["wrong = '[\"y\"]'", "complete = 0", "person = 'eve'"])
def test_nobody_says_later_that_it_was_judged_otherwise(earlier, change):
    Journal(earlier).close()
    check_journal(earlier)
    execute(earlier, f"UPDATE examples SET {change} WHERE number = 2")
    with pytest.raises(JournalError, match="number 2 of its examples on: that is not what was written"):
        check_journal(earlier)


@pytest.mark.parametrize("change", ["wrong = '[]'", "complete = 1", "person = ''"])
def test_nor_that_it_was_not_judged(tmp_path, change):
    Journal.begin(tmp_path)
    journal = Journal(tmp_path)
    journal.append([[Example("a", ["x"], wrong=["y"], complete=False, person="ada"), Example("b", ["x"])]])
    journal.close()
    check_journal(tmp_path)
    execute(tmp_path, f"UPDATE examples SET {change} WHERE number = 1")
    with pytest.raises(JournalError, match="number 1 of its examples on"):
        check_journal(tmp_path)


def test_one_of_version_3_goes_on_with_what_was_crossed_out(tmp_path):
    """Five rows: plain, of a person, judged in part, only crossed out, and one with a key that was taken back."""
    folder = shutil.copytree(MADE / "version-3", tmp_path / "state")
    sl.Categorizer().fit(["wheat", "bank"] * 4, ["grain", "money"] * 4).save(folder / "base.shortlist")
    check_journal(folder)
    expected = sl.load(folder / "base.shortlist")
    expected.learn("corn harvest", ["grain"])
    expected.learn("bank rates fell", ["money"])
    expected.learn("rye and oats", ["grain"], wrong=["money"], complete=False)
    expected.learn("nothing of money", [], wrong=["money"], complete=False)
    replica = Replica(folder)
    try:
        assert version_of(folder) == VERSION
        assert state_bytes(replica.model) == state_bytes(expected)
        people = [(entry.person, entry.undone) for entry in replica.journal.entries()]
        assert people == [("ada", True), ("", False), ("bob", False), ("ada", False), ("", False)]
        replica.journal.append([[Example({"title": "wheat", "body": "rates"}, ["grain"], wrong=["money"])]])
    finally:
        replica.close()
    check_journal(folder)
    assert salvage(folder) == []
    execute(folder, "UPDATE examples SET fields = 1 WHERE number = 3")
    with pytest.raises(JournalError, match="number 3 of its examples on: that is not what was written"):
        check_journal(folder)
