"""What the journal answers: from and up to which number, in which order, with or without what was taken back."""

import json

import pytest

from shortlist.server.journal import Example, Journal, Version


@pytest.fixture
def journal(tmp_path):
    """Five examples; the second and the fourth were taken back, the fourth first."""
    Journal.begin(tmp_path)
    opened = Journal(tmp_path)
    labelled = enumerate(zip("abcde", "vwxyé", strict=True))
    opened.append([[Example(text, [label], place=n) for n, (text, label) in labelled]])
    assert opened.undo(4)
    assert opened.undo(2)
    assert not opened.undo(2)
    yield opened
    opened.close()


def test_versions_and_counts(journal):
    assert journal.version() == Version(5, 2)
    assert journal.counts() == (5, 2)


def test_what_was_taken_back_since(journal):
    assert journal.undone_since(Version(5, 0)) == 2
    assert journal.undone_since(Version(5, 1)) == 2
    assert journal.undone_since(Version(5, 2)) is None
    assert journal.undone_since(Version(1, 0)) is None, "it had learned neither"
    assert journal.undone_since(Version(2, 0)) == 2
    assert journal.undone_since(Version(4, 0)) == 2


def test_what_comes_after(journal):
    assert [number for number, _, _ in journal.after(1, 5)] == [3, 5]
    assert [number for number, _, _ in journal.after(0, 3)] == [1, 3]
    assert [number for number, _, _ in journal.after(0, 5, limit=1)] == [1]


def test_entries_newest_first(journal):
    assert [(entry.number, entry.undone) for entry in journal.entries(before=5, limit=3)] == [
        (4, True), (3, False), (2, True),
    ]  # fmt: skip
    assert [entry.number for entry in journal.entries()] == [5, 4, 3, 2, 1]


def test_lines_and_places(journal):
    last, lines = journal.lines(1)
    assert last == 5
    assert [json.loads(line)["text"] for line in lines.splitlines()] == ["c", "e"]
    assert "é".encode() in lines, "letters as they are, not as escapes"
    assert journal.lines(5) == (0, b"")
    assert journal.places() == [4, 2, 0]
