"""A copy of the state directory of a server that runs."""

import threading

from shortlist.server.backup import back_up
from shortlist.server.journal import check_journal
from shortlist.server.people import PEOPLE_FILE, PEOPLE_MARK, Role, changing
from shortlist.server.replica import Replica
from tests.server.servers import Client, in_thread


def test_a_backup_while_people_work_is_never_damaged(folder, run, tmp_path, start):
    """Learned, taken back and renamed meanwhile; every copy is served, with all that was
    acknowledged before it.
    """
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
    assert {path.name for path in (tmp_path / "copy7").iterdir()} >= {
        PEOPLE_FILE,
        PEOPLE_MARK,
        "queue.sqlite",
        "journal.end",
    }
    assert "already exists" in run("backup", folder, tmp_path / "copy7").err
    assert "not a state directory" in run("backup", tmp_path, tmp_path / "copy9").err
    said = run("backup", tmp_path / "copy7", tmp_path / "copy8")
    assert (said.code, "serves the copy" in said.out) == (0, True)
    with in_thread(tmp_path / "copy8") as copy:
        copy.headers["authorization"] = f"Bearer {token}"
        assert copy.ask("queue")["total"] == 2
        assert copy.ask("model")["passed_over"] == 0
