"""Whatever happens on the way, the model is byte for byte the base and the journal's examples,
one after another.
"""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from shortlist.errors import ModelFileError
from shortlist.files import store
from shortlist.server import background, snapshots
from shortlist.server.background import write_snapshot
from shortlist.server.entries import Judgement
from shortlist.server.journal import Version
from shortlist.server.journal_errors import JournalError
from shortlist.server.middleware import Metrics
from shortlist.server.replica import Replica
from shortlist.server.settings import ServerSettings
from tests.server.servers import state_bytes

WORDS = ["wheat", "corn", "bank", "rates", "river", "gold", "the", "of", "ship", "new"]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
labels = st.lists(
    st.sampled_from(["grain", "money", "metals", "water", "trade"]), min_size=1, max_size=3
)
learning = st.tuples(st.just("learn"), st.lists(st.tuples(texts, labels), min_size=1, max_size=4))
events = st.one_of(
    learning,
    learning,
    learning,
    st.tuples(st.just("undo"), st.integers(1, 20)),
    st.tuples(st.just("snapshot")),
    st.tuples(st.just("restart")),
    st.tuples(st.just("damage")),
    st.tuples(st.just("follow")),
)


@pytest.mark.long
@settings(max_examples=60)
@given(st.lists(events, max_size=14))
def test_any_history_gives_the_model_of_the_journal(model_file, history):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        snapshots.take_base(folder, model_file)
        replica, other = Replica(folder), Replica(folder)
        kept = {}
        for event, *what in history:
            if event == "learn":
                receipts = replica.journal.append([Judgement(text, own) for text, own in what[0]])
                kept |= {
                    one.number: example for one, example in zip(receipts, what[0], strict=True)
                }
            elif event == "undo" and what[0] in kept:
                replica.journal.undo([what[0]])
                del kept[what[0]]
            elif event == "snapshot":
                write_snapshot(folder)
            elif event == "damage" and len(snapshots.snapshots_and_base(folder)) > 1:
                newest = snapshots.snapshots_and_base(folder)[0][1]
                content = bytearray(newest.read_bytes())
                content[-5] ^= 0xFF
                newest.write_bytes(content)
            elif event == "restart":
                replica.close()
                replica = Replica(folder)
            elif event == "follow":
                asyncio.run(other.catch_up())
            asyncio.run(replica.catch_up())
        asyncio.run(other.catch_up())
        expected = sl.load(model_file)
        for number in sorted(kept):
            expected.learn(*kept[number])
        assert state_bytes(replica.model) == state_bytes(expected)
        assert state_bytes(other.model) == state_bytes(expected)
        replica.close()
        other.close()


def test_old_snapshots_go_and_the_base_stays(folder):
    replica = Replica(folder)
    for n in range(5):
        replica.journal.append([Judgement(f"text {n}", ["x"])])
        assert write_snapshot(folder) is not None
    assert write_snapshot(folder) is None, "nothing is new"
    assert [version.examples for version, _ in snapshots.snapshots_and_base(folder)] == [5, 4, 3, 0]
    replica.journal.undo([4])
    write_snapshot(folder)
    assert [version for version, _ in snapshots.snapshots_and_base(folder)] == [
        (5, 1),
        (3, 0),
        (0, 0),
    ]
    replica.close()


def test_nothing_good_is_left(folder):
    (folder / snapshots.BASE).write_bytes(b"no model")
    with pytest.raises(ModelFileError, match="not a model file"):
        Replica(folder)


def test_another_base_is_refused(folder, tmp_path):
    other = tmp_path / "other.shortlist"
    sl.Categorizer().learn("one", ["two"]).save(other)
    with pytest.raises(sl.InputError, match="goes on from another model"):
        snapshots.take_base(folder, other)


def test_ranking_goes_on_between_two_examples(folder):
    """Another task gets its turn after every single example."""
    replica = Replica(folder)
    replica.journal.append([Judgement(f"text {n}", ["x"]) for n in range(50)])
    seen = []

    async def watch():
        while replica.version.examples < 50:
            seen.append(replica.version.examples)
            replica.rank("wheat", 3)
            await asyncio.sleep(0)

    async def both():
        await asyncio.gather(replica.catch_up(), watch())

    asyncio.run(both())
    assert seen == list(range(0, 50)) or seen == list(range(1, 50))
    replica.close()


def test_numbers_stay_numbers(tmp_path):
    sl.Categorizer().learn("one two", [7]).save(tmp_path / "m")
    snapshots.take_base(tmp_path, tmp_path / "m")
    replica = Replica(tmp_path)
    assert replica.label("7") == 7
    assert replica.label("8") == "8"
    assert replica.model.knows_label(7)
    assert not replica.model.knows_label("8")
    replica.close()


def test_an_example_that_the_bound_has_no_room_for_is_passed_over(tmp_path):
    file, folder = tmp_path / "bounded.shortlist", tmp_path / "state"
    folder.mkdir()
    sl.Categorizer(max_memory="64MB").learn("wheat harvest", "grain").save(file)
    snapshots.take_base(folder, file)
    replica = Replica(folder)
    many = [f"{n:05} {'x' * 200}" for n in range(30_000)]
    with pytest.raises(sl.InputError, match="too small"):
        replica.model.check_labels([many])
    replica.journal.append(
        [
            Judgement("gold fell", ["metals"]),
            Judgement("river", many),
            Judgement("rates", ["money"]),
        ]
    )
    asyncio.run(replica.catch_up())
    assert replica.model.classes_.tolist() == ["grain", "metals", "money"]
    assert replica.version.examples == 3
    replica.close()
    again = Replica(folder)
    assert state_bytes(again.model) == state_bytes(replica.model)
    again.close()


def test_what_cannot_be_served_does_not_stay_as_the_base(tmp_path, model_file):
    wrong, folder = tmp_path / "wrong.shortlist", tmp_path / "state"
    folder.mkdir()
    wrong.write_text("no model")
    with pytest.raises(ModelFileError, match="not a model file"):
        snapshots.take_base(folder, wrong)
    store.save(sl.TextVectorizer().fit(["wheat"]), wrong)
    with pytest.raises(sl.InputError, match="holds a TextVectorizer alone"):
        snapshots.take_base(folder, wrong)
    snapshots.take_base(folder, model_file)
    Replica(folder).close()


def test_a_snapshot_that_goes_while_it_is_looked_at(folder, monkeypatch):
    """A promotion removes snapshots, and so does whoever writes newer ones."""
    replica = Replica(folder)
    there = snapshots.snapshots_and_base(folder)
    gone = snapshots.path_of(folder, Version(7, 0), "0" * 16)
    monkeypatch.setattr(
        snapshots, "snapshots_and_base", lambda folder: [(Version(7, 0), gone), *there]
    )
    replica.find_newest_snapshot()
    assert (replica.snapshot, replica.bytes) == (0, (folder / snapshots.BASE).stat().st_size)
    replica.close()


@pytest.mark.parametrize("problem", [FileNotFoundError("no base"), JournalError("no journal")])
def test_a_problem_that_stays_is_told_once(folder, monkeypatch, problem):
    told, turns = [], iter(range(6))

    async def turn(seconds):
        if next(turns, None) is None:
            raise asyncio.CancelledError

    async def fails():
        raise problem

    replica = Replica(folder)
    monkeypatch.setattr(replica, "follow", fails)
    monkeypatch.setattr(background.asyncio, "sleep", turn)
    monkeypatch.setattr(background, "log", lambda *what, **more: told.append(what))
    monkeypatch.setattr(background, "log_failure", lambda *what: told.append(what))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(background.keep_following(replica, ServerSettings(folder), Metrics()))
    assert len(told) == 1
    replica.close()
