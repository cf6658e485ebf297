"""How a model fares over time, as the server tells it."""

import re

import pytest

import shortlist as sl
from shortlist.server import snapshots, watching
from shortlist.server.journal import Entry, Example, Journal
from shortlist.server.replica import Replica
from tests.server.servers import in_thread


def entry(number, labels, wrong, place):
    return Entry(number, "a text", labels, wrong, True, "", "", float(number), None, place)


def test_quality_in_windows(monkeypatch):
    monkeypatch.setattr(watching, "WINDOW", 4)
    outcomes = [entry(n + 1, ["a"], [], 1 if n % 4 < 3 else None) for n in range(10)]
    found = watching.quality(outcomes)
    assert [one["last"] for one in found] == [6, 10], "whole windows, of the newest examples"
    assert [one["P@1"] for one in found] == [0.75, 0.75]
    # Wilson's interval of 3 of 4, from the formula.
    z, p, n = 1.959963984540054, 0.75, 4
    middle, half = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    assert found[0]["low"] == pytest.approx((middle - half) / (1 + z * z / n))
    assert found[0]["high"] == pytest.approx((middle + half) / (1 + z * z / n))
    assert watching.quality([]) == []
    assert [one["examples"] for one in watching.quality(outcomes[:3])] == [3]


def test_what_is_corrected_most():
    outcomes = [
        entry(1, ["a"], ["b"], None), entry(2, ["a", "c"], ["b"], 1), entry(3, ["a"], [], 2),
        entry(4, ["c"], ["b"], 1),
    ]  # fmt: skip
    assert watching.corrected(outcomes) == [
        {"label": "b", "judged": 0, "missed": 0, "crossed_out": 3},
        {"label": "a", "judged": 3, "missed": 2, "crossed_out": 0},
    ]


def test_watch_and_its_gauges(server):
    assert server.ask("watch")["quality"] == []
    server.learn("wheat and corn", ["grain"])
    server.learn("zebra", ["animals"])
    server.learn("the harvest of corn", ["grain"])
    server.ask("undo", number=3)
    found = server.ask("watch")
    (window,) = found["quality"]
    assert (window["last"], window["examples"], window["P@1"]) == (2, 2, 0.5)
    assert found["corrected"] == [{"label": "animals", "judged": 1, "missed": 1, "crossed_out": 0}]
    assert 'shortlist_watch{what="P@1"} 0.5' in server.get("/metrics").text


def test_unknown_words_are_noticed(folder, monkeypatch):
    monkeypatch.setattr(watching, "STRIDE", 1)
    monkeypatch.setattr(watching, "RECENT", 2)
    journal = Journal(folder)
    journal.append([[Example("wheat corn", ["grain"]), Example("corn wheat", ["grain"])]])
    journal.append([[Example("one two three four", ["numbers"]), Example("two five", ["numbers"])]])
    journal.close()
    with in_thread(folder) as server:
        unknown = server.ask("watch")["drift"]["unknown"]
        assert unknown["before"] == 0.0
        assert unknown["now"] == pytest.approx((1.0 + 0.5) / 2)
        assert 'shortlist_watch{what="unknown_words"} 0.75' in server.get("/metrics").text


def test_looking_changes_nothing_that_is_learned(folder, monkeypatch):
    from tests.server.servers import state_bytes

    journal = Journal(folder)
    journal.append([[Example(f"some words {n}", ["a"]) for n in range(25)]])
    journal.close()
    often = _bytes_of(folder, state_bytes)
    monkeypatch.setattr(watching, "STRIDE", 1)
    assert _bytes_of(folder, state_bytes) == often


def _bytes_of(folder, state_bytes):
    replica = Replica(folder)
    found = state_bytes(replica.model)
    replica.close()
    return found


def test_a_model_that_knows_how_sure_it_is(tmp_path, sure_file):
    path = tmp_path / "state"
    path.mkdir()
    snapshots.take_base(path, sure_file)
    model = sl.load(sure_file)
    for n in range(640):
        model.learn(f"{('apple', 'bolt')[n % 2]} number{n % 7}", [("fruit", "metal")[n % 2]])
    assert watching.certainty(model)["rankings"] > 0
    journal = Journal(path)
    journal.append([[Example(f"{('apple', 'bolt')[n % 2]} n{n % 7}", [("fruit", "metal")[n % 2]]) for n in range(640)]])
    journal.close()
    with in_thread(path) as server:
        drift = server.ask("watch")["drift"]
        assert drift["decided_alone"] > 0.9
        assert 0 <= drift["calibration_error"] < 0.2
        assert drift["right"] > 0.9
        gauge = re.search(r'shortlist_watch\{what="decided_alone"\} ([0-9.]+)', server.get("/metrics").text)
        assert float(gauge[1]) == pytest.approx(drift["decided_alone"])
