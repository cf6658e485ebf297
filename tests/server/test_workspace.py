"""A whole workspace as one file."""

import threading
import zipfile

import pytest

import shortlist as sl
from shortlist.server.backup import NEEDED, back_up, open_workspace, save_workspace
from shortlist.server.journal import Example, Journal
from shortlist.server.people import FILE, MARK, Doorkeeper, People, Role, changing
from shortlist.server.replica import Replica
from shortlist.server.serving import check_journal
from tests.server.servers import Client, in_thread, state_bytes


@pytest.fixture
def worked(folder):
    with changing(folder) as people:
        token = people.add("anna", Role.JUDGE)
    with in_thread(folder) as server:
        server.headers["authorization"] = f"Bearer {token}"
        for n in range(30):
            server.learn(f"zebra {n}", ["animals"], key=f"k{n}")
        server.ask("undo", number=3)
        save_workspace(folder, folder.parent / "while-it-serves.zip")
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
    open_workspace(tmp_path / "while-it-serves.zip", tmp_path / "third")
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
    save_workspace(folder, file)
    for arguments, words in [
        (("save", tmp_path / "nothing", file), "is not a state directory"),
        (("open", folder, file), "is not empty"),
        (("open", tmp_path / "new", tmp_path / "nothing.zip"), "is no workspace"),
        (("shut", folder, file), "save or open, not to 'shut'"),
    ]:  # fmt: skip
        said = run("workspace", *arguments)
        assert (said.code, words in said.err) == (2, True), said.err
    evil = tmp_path / "evil.zip"
    for name in ("../people.json", "lock"):
        with zipfile.ZipFile(evil, "w") as archive:
            for part in (*NEEDED, name):
                archive.writestr(part, b"")
        with pytest.raises(sl.InputError, match="is no workspace"):
            open_workspace(evil, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_damaged_workspace_is_not_opened(worked, tmp_path):
    folder, _ = worked
    file, again = tmp_path / "work.zip", tmp_path / "again"
    journal = Journal(folder)
    journal.append([[Example("one more", ["animals"])]])
    save_workspace(folder, file)
    journal.close()
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["journal.sqlite"] = parts["journal.sqlite"].replace(b"one more", b"one less")
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(sl.ShortlistError, match="damaged"):
        open_workspace(file, again)
    assert list(again.iterdir()) == []


def test_a_backup_while_people_work_is_never_damaged(folder, run, tmp_path, start):
    """Learned, taken back and renamed meanwhile; every copy is served, with all that was acknowledged before it."""
    with changing(folder) as people:
        token = people.add("anna", Role.MANAGE)
    server = start("--state", folder)
    client = Client(base_url=server.url, headers={"authorization": f"Bearer {token}"}, timeout=60)
    client.ask("queue", texts=["barley fell", "loans rose"])
    stop = threading.Event()
    learned = []

    def work():
        with Client(base_url=server.url, headers=client.headers, timeout=60) as own:
            while not stop.is_set():
                learned.append(own.learn(f"zebra {len(learned)}", ["animals"])["number"])
                if len(learned) % 5 == 0:
                    own.ask("undo", number=learned[-1])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for n in range(8):
            before = learned[-1] if learned else 0
            back_up(folder, tmp_path / f"copy{n}")
            check_journal(tmp_path / f"copy{n}")
            replica = Replica(tmp_path / f"copy{n}")
            assert replica.version.examples >= before
            replica.close()
    finally:
        stop.set()
        thread.join()
        client.close()
    assert {path.name for path in (tmp_path / "copy7").iterdir()} >= {FILE, MARK, "queue.sqlite", "journal.end"}
    assert "is there already" in run("backup", folder, tmp_path / "copy7").err
    assert "not a state directory" in run("backup", tmp_path, tmp_path / "copy9").err
    said = run("backup", tmp_path / "copy7", tmp_path / "copy8")
    assert (said.code, "serves the copy" in said.out) == (0, True)
    with in_thread(tmp_path / "copy8") as copy:
        copy.headers["authorization"] = f"Bearer {token}"
        assert copy.ask("queue")["total"] == 2
        assert copy.ask("model")["passed_over"] == 0
