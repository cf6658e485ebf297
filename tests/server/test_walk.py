"""A new user's walk: from a spreadsheet's CSV to a queue with people, decisions, a promoted model and a backup."""

import random

import pytest

import shortlist as sl
from tests.server.servers import Client, in_thread

WORDS = {
    "Rechnung": ["Zahlung", "Mahnung", "Überweisung", "Betrag", "Gutschrift"],
    "Zugang": ["Passwort", "Anmeldung", "Konto", "gesperrt", "Schlüssel"],
    "Gerät": ["Drucker", "Bildschirm", "Kabel", "defekt", "Tastatur"],
}


def ticket(drawn, n):
    label = list(WORDS)[n % 3]
    words = drawn.sample(WORDS[label], 3)
    return f"{words[0]} {words[1]}", f"{words[2]} und Nummer {n % 17}", label


@pytest.fixture
def table(tmp_path):
    """As a spreadsheet saves it: semicolons, a byte order mark, umlauts, cells that are empty or broken."""
    drawn, path = random.Random(0), tmp_path / "Tickets.csv"
    rows = ["Betreff;Text;Team", *(";".join(ticket(drawn, n)) for n in range(600))]
    rows[5:5] = [";;", "#REF!;#REF!;#REF!", "kein Team;steht hier;"]
    path.write_text("\r\n".join(rows) + "\r\n", encoding="utf-8-sig")
    return path


def asked_as(token, server):
    return Client(base_url=server.base_url, headers={"authorization": f"Bearer {token}"}, timeout=60)


def test_from_a_spreadsheet_to_a_promoted_model(run, table, tmp_path):
    columns = ["--text-column", "Betreff", "--text-column", "Text", "--label-column", "Team"]
    trained = run("train", table, *columns, "--skip-bad")
    assert trained.code == 0, trained.err
    model = tmp_path / "Tickets.shortlist"
    assert sl.load(model).classes_.tolist() == ["Gerät", "Rechnung", "Zugang"]
    assert run("evaluate", model, table, "--skip-bad", "--json").json["measures"]["R1"]["value"] > 0.95
    (tmp_path / "neu.csv").write_text("Betreff;Text\nPasswort gesperrt;Anmeldung geht nicht\n;\n", encoding="utf-8-sig")
    decided = run("rank", model, tmp_path / "neu.csv", "--precision", "0.95", "--json").out.splitlines()
    assert '"labels":["Zugang"]' in decided[0].replace(" ", "")

    state = tmp_path / "desk"
    tokens = {}
    for name, role in (("Änne", "manage"), ("Bob", "judge")):
        tokens[name] = run("people", "add", name, "--role", role, "--state", state, "--json").json["token"]
    from shortlist.server import snapshots

    snapshots.take_base(state, model)  # as shortlist serve MODEL --state FOLDER does
    drawn = random.Random(1)
    texts = [{"Betreff": one[0], "Text": one[1]} for one in (ticket(drawn, n) for n in range(40))]
    with in_thread(state) as server:
        assert server.get("/v1/model").status_code == 401
        with asked_as(tokens["Bob"], server) as bob, asked_as(tokens["Änne"], server) as aenne:
            aenne.ask("queue", texts=texts)
            first = bob.ask("queue/next", person="Bob")["item"]
            bob.ask("learn", examples=[{"text": first["text"], "labels": ["Zugang"], "key": first["id"]}])
            assert aenne.ask("queue")["judged"] == 1
            assert bob.post("/v1/labels", json={"change": "retire", "labels": ["Gerät"]}).status_code == 403
            sure = aenne.ask("queue/sure", precision=0.95)
            assert sure["sure"] > 10
            assert aenne.ask("queue/decide", ids=sure["ids"], precision=0.95)["decided"] == len(sure["ids"])
            for n in range(30):
                subject, body, label = ticket(drawn, n)
                bob.ask("learn", examples=[{"text": {"Betreff": subject, "Text": body}, "labels": [label]}])
    exported = run("export", state)
    assert exported.code == 0, exported.err
    rehearsed = run("rehearse", state, "--data", table, "--skip-bad", "--set", "step=0.4")
    assert rehearsed.code == 0, rehearsed.err
    promoted = run("promote", state, "--force")
    assert promoted.code == 0, promoted.err
    assert run("backup", state, tmp_path / "copy").code == 0
    with in_thread(tmp_path / "copy") as copy, asked_as(tokens["Bob"], copy) as bob:
        assert bob.ask("model")["passed_over"] == 0
        ranked = bob.ask("rank", text={"Betreff": "Drucker defekt", "Text": "Kabel"}, k=1)["rankings"][0]
        assert ranked[0]["label"] == "Gerät"
