"""What the journal answers: from and up to which number, in which order, with or without what
was taken back.
"""

import json

import pytest

from shortlist.errors import InputError
from shortlist.server.entries import Judgement
from shortlist.server.exporting import exported
from shortlist.server.journal import Journal, Version
from shortlist.server.journal_errors import Conflict
from shortlist.server.journal_history import History


@pytest.fixture
def journal(tmp_path):
    """Five examples; the second and the fourth were taken back, the fourth first."""
    Journal.begin(tmp_path)
    opened = Journal(tmp_path)
    labelled = enumerate(zip("abcde", "vwxyé", strict=True))
    opened.append([Judgement(text, [label], place=n) for n, (text, label) in labelled])
    assert opened.undo([4])
    assert opened.undo([2])
    assert not opened.undo([2])
    yield opened
    opened.close()


def test_versions_and_counts(journal):
    assert journal.version() == Version(5, 2)


def test_what_was_taken_back_since(journal):
    assert journal.undone_since(Version(5, 0)) == 2
    assert journal.undone_since(Version(5, 1)) == 2
    assert journal.undone_since(Version(5, 2)) is None
    assert journal.undone_since(Version(1, 0)) is None, "it had learned neither"
    assert journal.undone_since(Version(2, 0)) == 2
    assert journal.undone_since(Version(4, 0)) == 2


def test_what_comes_after(journal):
    assert [entry.number for entry in journal.after(1, 5)] == [3, 5]
    assert [entry.number for entry in journal.after(0, 3)] == [1, 3]
    assert [entry.number for entry in journal.after(0, 5, limit=1)] == [1]


def test_entries_newest_first(journal):
    assert [
        (entry.number, entry.undone) for entry in History(journal).newest(before=5, limit=3)
    ] == [
        (4, True),
        (3, False),
        (2, True),
    ]
    assert [entry.number for entry in History(journal).newest()] == [5, 4, 3, 2, 1]


def test_lines_and_places(journal):
    lines = b"".join(exported(journal, "jsonl")).decode()
    assert [json.loads(line)["text"] for line in lines.splitlines()] == ["a", "c", "e"]
    assert "é" in lines, "letters as they are, not as escapes"
    assert History(journal).places() == [0, 2, 4]


def test_the_first_example_can_be_taken_back(journal):
    assert journal.undo([1])
    assert [entry.number for entry in journal.after(0, 5)] == [3, 5]
    for number in (0, 6):
        with pytest.raises(InputError, match=f"there is no example {number}"):
            journal.undo([number])


def test_the_end_is_written_down_with_each_undo(journal):
    """Otherwise a journal that has lost its last undo would look whole."""
    assert journal.file.record.line() == journal._newest().line()


def test_a_key_that_was_used_names_its_example(journal):
    journal.append([Judgement("f", ["z"], key="k")])
    with pytest.raises(Conflict, match="the key 'k' was used for another example, number 6"):
        journal.append([Judgement("g", ["z"], key="k")])
