"""Makes the state directory beside this file. Only code that writes version 1 of the journal can:

    PYTHONPATH=THE-OLDER-CODE python make.py

The folder ``state`` is what its server left, and ``expected.json`` what that code said of it.
"""

import contextlib
import json
import shutil
from pathlib import Path

import numpy as np

import shortlist as sl
from shortlist.server import exporting, snapshots
from shortlist.server.journal import Example, Journal
from shortlist.server.replica import Replica, write_snapshot

HERE = Path(__file__).parent
STATE = HERE / "state"


def examples():
    yield Example("wheat exports rose", ["grain", "trade"], "key-1", 1, person="anna")
    yield Example("corn fell", ["grain"], None, None, ["money"], False, "ben")
    yield Example("nothing fits", [], "key-3", None, ["grain"], True)
    yield Example("", {"change": "rename", "labels": ["money"], "into": "finance"}, "key-4")
    yield Example("bank rates", ["finance"], "queue-5", person="anna (decided alone)")
    yield Example("bank notes", ["finance"], "queue-6", person="(decided alone)")
    vector = np.array([0.5, -1.25, 3e-9], dtype=np.float32)
    yield Example("a text with a vector", ["grain"], vector=vector)
    yield Example({"title": "Wheat", "tags": ["a", "b"], "price": 1.5}, ["grain", 7], "key-8")
    yield Example("", {"change": "retire", "labels": ["trade"]}, None, person="anna")
    yield Example("ö 😀 a|b", ["grain"], "key-10", 5, person="ben")


def main():
    shutil.rmtree(STATE, ignore_errors=True)
    STATE.mkdir()
    model = sl.Categorizer(sl.FeatureFocus(margin=0.3), sl.TextVectorizer())
    texts = ["wheat exports", "corn harvest", "bank rates", "central bank", "ships and trade"]
    model.fit(texts, [["grain"], ["grain"], ["money"], ["money"], ["trade"]])
    model.save(HERE / "base.shortlist")
    snapshots.take_base(STATE, HERE / "base.shortlist")
    (HERE / "base.shortlist").unlink()
    with contextlib.closing(Journal(STATE)) as journal:
        for example in examples():
            journal.append([example])
        journal.undo([2], "ben")
        journal.undo([6])
    write_snapshot(STATE)
    with contextlib.closing(Journal(STATE)) as journal:
        journal.append([Example("wheat at last", ["grain"], "key-11", 1, person="anna")])
        expected = {
            "version": journal.version(),
            "seals": [journal.seal((n, min(n, 2))) for n in range(12)],
            "export": "".join(exporting.exported(journal, "jsonl")),
            "places": journal.places(),
            "decision": journal.decision(5),
        }
    with contextlib.closing(Replica(STATE)) as replica:
        expected["ranking"] = [label for label, _ in replica.rank("wheat bank", 5)]
        expected["passed"] = sorted(replica.passed)
    (HERE / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
