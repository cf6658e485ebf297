"""Damaged journals: none is accepted that does not say, word for word, what was acknowledged.

    python tests/hostile/journals.py --count 2000
    python tests/hostile/journals.py --long          # 5,000 journals

Several people judge, whole and in part, and labels change. Bytes are flipped, pages zeroed,
exchanged or taken from an older copy, files cut and deleted, after a crash and after a clean stop.
A journal is then refused with a sentence, or holds everything: a flip may hit bytes that say
nothing. What is salvaged from a refused one must be the beginning of what was acknowledged.
"""

import argparse
import collections
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # when it is run as a program

from shortlist.models.label_changes import Change
from shortlist.server.checksums import END_FILE
from shortlist.server.entries import Judge, Judgement, LabelChange
from shortlist.server.journal import Journal, check_journal
from shortlist.server.journal_errors import JournalError
from shortlist.server.journal_file import JOURNAL_FILE
from shortlist.server.salvage import salvage

LOG = f"{JOURNAL_FILE}-wal"
PAGE = 4096


def make_journals(root, chance):
    """State directories by name: of a server that was killed and of one that was stopped; and
    an older copy.
    """
    crashed, stopped, older = (root / name for name in ("crashed", "stopped", "older"))
    crashed.mkdir()
    pid = os.fork()
    if pid == 0:  # whoever ends like this leaves the write-ahead log as it is
        Journal.begin(crashed)
        journal = Journal(crashed)
        for n in range(120):
            words = (f"word{chance.randrange(500)}" for _ in range(chance.choice([5, 50, 900])))
            text = f"example {n} " + " ".join(words)
            key = f"key {n}" if n % 3 else None
            person = ("", "anna", "ben")[n % 3]
            if n % 12 == 5:
                entry = LabelChange(Change("split", ("ä",), f"label{n}"), key, person)
            else:
                labels = [f"label{n % 7}", "ä"]
                wrong = [f"wrong{n}"] * (n % 4 == 3)
                judge = Judge.MODEL if n % 7 == 2 else Judge.PERSON
                entry = Judgement(
                    text, labels, key, n % 5 or None, wrong, not wrong, person, judge=judge
                )
            journal.append([entry])
            if n % 10 == 9:
                journal.undo([chance.randrange(n) + 1], chance.choice(["", "anna"]))
            if n == 80:
                shutil.copytree(crashed, older)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    shutil.copytree(crashed, stopped)
    for folder in (stopped, older):
        Journal(folder).close()
    return {"crashed": crashed, "stopped": stopped}, older


def contents(folder):
    """All that the journal in a folder says."""
    journal = Journal(folder)
    try:
        return [
            list(journal.file.rows(f"SELECT * FROM {table} ORDER BY number"))
            for table in ("entries", "undos")
        ]
    finally:
        journal.close()


def flip(path, older, chance):
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 1, 10])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def flip_text(path, older, chance):
    """A bit of what was learned."""
    content = bytearray(path.read_bytes())
    place = content.find(
        b"word" if chance.random() < 0.5 else b'["label', chance.randrange(len(content))
    )
    content[max(place, 0)] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def zero(path, older, chance):
    with open(path, "r+b") as file:
        file.seek(chance.randrange(max(path.stat().st_size // PAGE, 1)) * PAGE)
        file.write(bytes(min(PAGE, path.stat().st_size)))


def cut(path, older, chance):
    os.truncate(path, chance.randrange(path.stat().st_size))


def exchange(path, older, chance):
    content = path.read_bytes()
    pages = [content[start : start + PAGE] for start in range(0, len(content), PAGE)]
    a, b = chance.randrange(len(pages)), chance.randrange(len(pages))
    pages[a], pages[b] = pages[b], pages[a]
    path.write_bytes(b"".join(pages))


def page_from_before(path, older, chance):
    if not (older / path.name).exists():
        return flip(path, older, chance)
    old = (older / path.name).read_bytes()
    place = chance.randrange(max(len(old) // PAGE, 1)) * PAGE
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(old[place : place + PAGE])


def file_from_before(path, older, chance):
    if (older / path.name).exists():
        shutil.copyfile(older / path.name, path)
    else:
        path.unlink()


def delete(path, older, chance):
    path.unlink()


DAMAGES = [
    flip,
    flip,
    flip,
    flip_text,
    flip_text,
    zero,
    cut,
    exchange,
    page_from_before,
    file_from_before,
    delete,
]


def outcome(folder, expected):
    """What becomes of a damaged journal: refused, whole, or what must not be."""
    try:
        check_journal(folder)
        return "whole" if contents(folder) == expected else "SILENT"
    except JournalError:
        pass
    except Exception as problem:
        return f"RAW {problem!r}"
    try:
        salvage(folder)
        check_journal(folder)
        kept = contents(folder)
    except JournalError:
        return "refused, nothing to salvage"
    except Exception as problem:
        return f"RAW while salvaging {problem!r}"
    fitting = all(part == whole[: len(part)] for part, whole in zip(kept, expected, strict=True))
    return "refused and salvaged" if fitting else "SALVAGED WRONG"


def trial(count, root, seed=7):
    """So many damaged journals. Gives how many met which end, and the damages that were not
    noticed.
    """
    chance = random.Random(seed)
    journals, older = make_journals(root, chance)
    expected = contents(journals["stopped"])
    found, bad = collections.Counter(), []
    victim = root / "victim"
    for n in range(count):
        name = chance.choice(sorted(journals))
        shutil.copytree(journals[name], victim)
        path = victim / chance.choice(
            [JOURNAL_FILE, JOURNAL_FILE, LOG, LOG, END_FILE]
            if name == "crashed"
            else [JOURNAL_FILE, JOURNAL_FILE, JOURNAL_FILE, END_FILE]
        )
        damage = chance.choice(DAMAGES)
        damage(path, older, chance)
        ends = outcome(victim, expected)
        found[ends] += 1
        if ends.split()[0].isupper():
            bad.append((n, name, path.name, damage.__name__, ends))
        shutil.rmtree(victim)
    return found, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="damaged journals")
    parser.add_argument("--long", action="store_true", help="5,000 damaged journals")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found, bad = trial(5000 if arguments.long else arguments.count, Path(name), arguments.seed)
    for one in bad[:20]:
        print(*one)
    kinds = ", ".join(
        f"{n:,} {ends}" for ends, n in found.most_common(5) if not ends.split()[0].isupper()
    )
    silent, raw = (
        sum(n for ends, n in found.items() if ends.startswith(word)) for word in ("S", "RAW")
    )
    print(f"{found.total():,} damaged journals ({kinds}): {silent} silent, {raw} raw exceptions")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
