"""A short trial of killing servers while people judge; ``tests/hostile/queue_kills.py --long``
is the long one.
"""

import pytest

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.entries import Judge, Judgement
from shortlist.server.journal import Journal
from shortlist.server.review_queue import Queue
from tests.hostile.kills import trial
from tests.hostile.promotion_kills import Promoting, candidate_of
from tests.hostile.queue_kills import FAULTS, Judging, make_model


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
def test_three_judge_and_a_fourth_has_the_sure_ones_decided(tmp_path):
    kills, found = trial(4, tmp_path, make_model(tmp_path), asking=Judging)
    assert kills.total() >= 4
    assert found["examples"] > 0
    assert {fault: found[fault] for fault in FAULTS} == dict.fromkeys(FAULTS, 0)


def test_what_is_lost_doubled_or_torn_is_found(tmp_path):
    """The tool itself, on a journal that was tampered with."""
    model = make_model(tmp_path)
    folder = tmp_path / "state"
    folder.mkdir()
    snapshots.take_base(folder, model)
    asked = Judging(folder)
    queue = Queue(folder)
    queue.add(["apple one", "bolt two", "bolt three"])
    one, two, three = (item.key for item in reversed(queue.items("waiting")))
    journal = Journal(folder)
    journal.append(
        [
            Judgement("apple one", ["fruit"], one, person="anna"),
            Judgement("bolt two", ["metal"], two),
        ]
    )
    asked.acknowledged[one] = (1, "apple one", ["fruit"], [], True, "anna")
    assert not any(asked.faults(model)[fault] for fault in FAULTS)
    asked.acknowledged[three] = (3, "bolt three", ["metal"], [], True, "ben")
    assert asked.faults(model)["lost"] == 1
    del asked.acknowledged[three]
    asked.acknowledged[one] = (1, "apple one", ["fruit"], [], True, "ben")
    assert asked.faults(model)["lost"] == 1, "by another person"
    del asked.acknowledged[one]
    journal.append(
        [Judgement(f"bolt {n}", ["metal"], f"key {n}", judge=Judge.MODEL) for n in range(2)]
    )
    asked.decided[3] = 2
    assert not asked.faults(model)["lost"]
    asked.undone.add(3)
    journal.undo([3])
    found = asked.faults(model)
    assert (found["torn"], found["lost"]) == (1, 1)
    journal.append([Judgement("apple one", ["fruit"], "another key")])
    assert asked.faults(model)["doubled"] == 1
    queue.close()
    journal.close()


def test_a_base_that_nobody_asked_for_is_found(tmp_path):
    """The tool for promotions, on a base that was put in the other's place."""
    model = make_model(tmp_path)
    folder = tmp_path / "state"
    folder.mkdir()
    snapshots.take_base(folder, model)
    asked = Promoting(folder)
    assert not any(asked.faults(model)[fault] for fault in FAULTS)
    candidate = candidate_of(sl.load(model))
    candidate.save(folder / snapshots.BASE)
    assert asked.faults(model)["lost"] == 1
    assert not any(asked.faults(model)[fault] for fault in FAULTS), (
        "the model is the one of that base"
    )
