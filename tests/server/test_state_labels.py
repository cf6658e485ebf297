"""shortlist labels on a state folder, whether or not a server runs on it."""

import time

import pytest

from tests.server.servers import in_thread


def names_in(run, folder):
    return {one["label"]: one["retired"] for one in run("labels", folder, "--json").json["labels"]}


def refused(result):
    assert result.code == 2, result
    return result.err


@pytest.fixture(params=[False, True], ids=["no server", "a server"])
def state(request, folder):
    """A state folder, and a server that may run on it."""
    if not request.param:
        yield folder, None
        return
    with in_thread(folder) as server:
        yield folder, server


def has_label(server, name):
    for _ in range(300):
        if any(one["label"] == name for one in server.ask("labels")["labels"]):
            return True
        time.sleep(0.05)
    return False


def test_change_and_take_back(run, state):
    folder, server = state
    assert names_in(run, folder).keys() >= {"grain", "money"}
    done = run("labels", folder, "rename", "grain", "cereals")
    assert done.out.startswith("Done: rename grain to cereals. To take it back: shortlist labels")
    assert "cereals" in names_in(run, folder)
    if server is not None:
        assert has_label(server, "cereals"), "the server follows"
        server.learn("rye and oats", ["cereals"])
    assert run("labels", folder, "retire", "money").code == 0
    assert names_in(run, folder)["money"]
    assert run("labels", folder, "restore", "money").code == 0
    assert run("labels", folder, "split", "money", "banking").code == 0
    assert run("labels", folder, "merge", "banking", "money", "--json").json["done"]
    assert names_in(run, folder)["banking"], "a merged label is retired"
    for _ in range(4):
        assert "took back" in run("labels", folder, "undo").out
    said = names_in(run, folder)
    assert not said["money"]
    assert "banking" not in said


def test_what_cannot_be_done_is_refused(run, folder, tmp_path):
    assert "not been learned" in refused(run("labels", folder, "rename", "nothing", "x"))
    assert "no change of labels" in refused(run("labels", folder, "undo"))
    assert "not by 'name'" in refused(run("labels", folder, "name"))
    (tmp_path / "empty").mkdir()
    assert "not a state directory" in refused(run("labels", tmp_path / "empty"))
