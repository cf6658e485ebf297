"""Groups over HTTP: found, named with a new label, and undone."""

import pytest

import shortlist as sl
from shortlist.server import snapshots
from tests.server.servers import in_thread

STOLEN = [f"parcel stolen from the porch {n}" for n in range(4)]
LEARNED = ["apple number{n}", "bolt number{n}"]


@pytest.fixture
def fruit(tmp_path):
    """A server on a model that decides what it knows."""
    texts = [text.format(n=n % 9) for n in range(200) for text in LEARNED]
    sl.Categorizer().fit(texts, ["fruit", "metal"] * 200).save(tmp_path / "m.shortlist")
    folder = tmp_path / "fruit"
    folder.mkdir()
    snapshots.take_base(folder, tmp_path / "m.shortlist")
    with in_thread(folder) as server:
        yield server


def test_found_named_and_undone(fruit):
    assert fruit.ask("queue/groups") == {"waiting": 0, "none_of_these": 0, "groups": []}
    fruit.ask("queue", texts=[*STOLEN, "apple number3", "apple number4"])
    for n in range(2):
        none = {"text": f"apple parcel stolen {n}", "labels": [], "complete": True}
        fruit.ask("learn", examples=[none])
    found = fruit.ask("queue/groups")
    assert (found["waiting"], found["none_of_these"]) == (6, 2)
    (group,) = found["groups"]
    assert {"parcel", "stolen"} <= set(group["words"])
    assert len(group["typical"]) == 3
    assert sorted(item["text"] for item in group["items"]) == STOLEN
    assert sorted(group["examples"]) == [1, 2]
    assert fruit.ask("queue/groups") == found, "the same each time"

    lessons = [
        {"text": item["text"], "labels": ["theft"], "key": item["id"]} for item in group["items"]
    ]
    learned = fruit.ask("learn", examples=lessons)["learned"]
    for number in group["examples"]:
        fruit.ask("repair", number=number, labels=["theft"])
    assert fruit.best("a stolen parcel")[0] == "theft"
    assert fruit.ask("queue")["judged"] == 4
    found = fruit.ask("queue/groups")
    assert (found["waiting"], found["none_of_these"], found["groups"]) == (2, 0, [])

    for receipt in learned:
        fruit.ask("undo", number=receipt["number"])
    found = fruit.ask("queue/groups")
    assert found["waiting"] == 6
    assert sorted(item["text"] for item in found["groups"][0]["items"]) == STOLEN


def test_limits(fruit):
    assert fruit.get("/v1/queue/groups?limit=0").status_code == 422
    assert fruit.get("/v1/queue/groups?precision=2").status_code == 422
    fruit.ask("queue", texts=STOLEN + [f"invoice for customer {n}" for n in range(4)])
    assert len(fruit.ask("queue/groups")["groups"]) == 2
    assert len(fruit.ask("queue/groups?limit=1")["groups"]) == 1


def test_a_server_that_is_read_only_has_no_queue(folder):
    with in_thread(folder):
        pass
    with in_thread(folder, read_only=True) as server:
        assert server.get("/v1/queue/groups").status_code == 403
