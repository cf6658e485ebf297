"""A whole workspace as one file."""

import zipfile

import pytest

import shortlist as sl
from shortlist.server import workspace
from shortlist.server.journal import Example, Journal
from shortlist.server.people import FILE, Doorkeeper, People, Role, changing
from shortlist.server.replica import Replica
from tests.server.servers import in_thread, state_bytes


@pytest.fixture
def worked(folder):
    with changing(folder) as people:
        token = people.add("anna", Role.JUDGE)
    with in_thread(folder) as server:
        server.headers["authorization"] = f"Bearer {token}"
        for n in range(30):
            server.learn(f"zebra {n}", ["animals"], key=f"k{n}")
        server.ask("undo", number=3)
        workspace.save(folder, folder.parent / "while-it-serves.zip")
    return folder, token


def all_of(folder):
    journal = Journal(folder, read_only=True)
    entries = journal.entries(limit=1000)
    journal.close()
    replica = Replica(folder, read_only=True)
    model = state_bytes(replica.model)
    replica.close()
    return entries, model


def test_what_is_saved_is_opened_again(worked, run, tmp_path):
    folder, token = worked
    file, again = tmp_path / "work.zip", tmp_path / "again"
    assert run("workspace", "save", folder, file).code == 0
    assert run("workspace", "open", again, file).code == 0
    assert all_of(again) == all_of(folder)
    assert all_of(again)[0][0].person == "anna"
    person = People(again / FILE).everyone["anna"]
    assert (person.role, person.hash) == (Role.JUDGE, "")
    assert People(folder / FILE).everyone["anna"].hash.encode() not in file.read_bytes()
    with in_thread(again) as server:
        assert server.get("/v1/model", headers={"authorization": f"Bearer {token}"}).status_code == 401
    assert Doorkeeper(again, None).who(b"Bearer ") is None
    workspace.open_in(tmp_path / "while-it-serves.zip", tmp_path / "third")
    assert all_of(tmp_path / "third") == all_of(folder)
    with changing(again) as people:
        people.remove("anna")
        new = people.add("anna", Role.JUDGE)
    with in_thread(again) as server:
        server.headers["authorization"] = f"Bearer {new}"
        assert server.learn("another", ["animals"])["number"] == 31


def test_refusals(worked, run, tmp_path):
    folder, _ = worked
    file = tmp_path / "work.zip"
    workspace.save(folder, file)
    for arguments, words in [
        (("save", tmp_path / "nothing", file), "is no state directory"),
        (("open", folder, file), "is not empty"),
        (("open", tmp_path / "new", tmp_path / "nothing.zip"), "is no workspace"),
        (("shut", folder, file), "save or open, not to 'shut'"),
    ]:  # fmt: skip
        said = run("workspace", *arguments)
        assert (said.code, words in said.err) == (2, True), said.err
    evil = tmp_path / "evil.zip"
    for name in ("../people.json", "lock"):
        with zipfile.ZipFile(evil, "w") as archive:
            for part in (*workspace.NEEDED, name):
                archive.writestr(part, b"")
        with pytest.raises(sl.InputError, match="is no workspace"):
            workspace.open_in(evil, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_damaged_workspace_is_not_opened(worked, tmp_path):
    folder, _ = worked
    file, again = tmp_path / "work.zip", tmp_path / "again"
    journal = Journal(folder)
    journal.append([[Example("one more", ["animals"])]])
    workspace.save(folder, file)
    journal.close()
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["journal.sqlite"] = parts["journal.sqlite"].replace(b"one more", b"one less")
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(sl.ShortlistError, match="damaged"):
        workspace.open_in(file, again)
    assert list(again.iterdir()) == []
