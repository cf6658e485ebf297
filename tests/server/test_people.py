"""Who may do what, and that tokens stay secret."""

import threading
from unittest.mock import MagicMock

import pytest

import shortlist as sl
from shortlist.server.app import ROUTES_OF_LABELS, ROUTES_OF_RATINGS
from shortlist.server.middleware import FILE_PATHS
from shortlist.server.people import (
    PEOPLE_FILE,
    PEOPLE_MARK,
    PERSON_NAME,
    ROLE_OF_ROUTE,
    Doorkeeper,
    People,
    PeopleError,
    Role,
    changing,
    role_needed,
)
from shortlist.server.settings import ServerSettings
from shortlist.server.snapshots import take_base
from tests.server.servers import in_thread

TOKEN = "a token that is long enough"
QUESTIONS = {  # something that each route answers, so that what is refused is refused for who asks
    "/v1/rank": {"text": "wheat"},
    "/v1/explain": {"text": "wheat", "label": "grain"},
    "/v1/learn": {"examples": [{"text": "zebra", "labels": ["animals"]}]},
    "/v1/undo": {"number": 1},
    "/v1/repair": {"number": 1, "labels": ["grain"]},
    "/v1/labels": {"change": "rename", "labels": ["grain"], "into": "grain"},
    "/v1/strike": {"word": "zebra", "key": "zebra"},
    "/v1/strike/preview": {"word": "wheat"},
    "/v1/queue": {"texts": ["wheat rose"]},
    "/v1/queue/next": {"person": "anna"},
    "/v1/queue/move": {"ids": ["none"], "to": "later", "person": "anna"},
    "/v1/queue/sure": {},
    "/v1/queue/decide": {"ids": ["none"]},
    "/v1/queue/undo": {"decision": 1},
    "/v1/queue/standing": {"on": False},
    "/v1/promote": {"force": False},
    "/v1/go-back": {},
}
AS_FILE = {"content-type": "application/octet-stream"}
ASKED = {
    "/v1/label": {"name": "grain"},
    "/v1/feature": {"name": "wheat"},
    "/v1/taught": {"word": "wheat", "label": "grain"},
}


def routes():
    """Every route that there is, of texts and of rows."""
    found = {("GET", "/openapi.json")}
    for made in {*ROUTES_OF_LABELS, *ROUTES_OF_RATINGS}:
        for route in made(MagicMock()).router().routes:
            found |= {(method, route.path) for method in route.methods}
    return sorted(found)


@pytest.fixture
def tokens(folder):
    """A token of a person of each role."""
    with changing(folder) as people:
        return {role: people.add(f"{role} person", role) for role in Role}


def bearer(token):
    return {} if token is None else {"authorization": f"Bearer {token}"}


def asked(client, method, path, token):
    place = path.replace("{name}", "page.css")
    if method == "GET":
        return client.get(place, params=ASKED.get(path), headers=bearer(token))
    if path in FILE_PATHS:
        return client.post(place, content=b"wheat rose\n", headers=bearer(token) | AS_FILE)
    return client.request(method, place, json=QUESTIONS[path], headers=bearer(token))


def test_every_route_is_in_the_table_and_the_table_has_no_other():
    assert set(routes()) == set(ROLE_OF_ROUTE), (
        "shortlist/server/people.py says who may use each route"
    )


@pytest.fixture(scope="module")
def with_people(tmp_path_factory, model_file):
    """A server, and a token of a person of each role: whatever was asked before, who may ask
    does not change.
    """
    folder = tmp_path_factory.mktemp("people")
    take_base(folder, model_file)
    with changing(folder) as people:
        tokens = {role: people.add(f"{role} person", role) for role in Role}
    with in_thread(folder) as server:
        yield server, tokens


@pytest.mark.parametrize(("method", "path"), routes(), ids=lambda part: part)
def test_who_may_do_what(with_people, method, path):
    needs = ROLE_OF_ROUTE[method, path]
    server, tokens = with_people
    for role in (None, *Role):
        answer = asked(server, method, path, tokens.get(role))
        if needs is None or (role is not None and role >= needs):
            assert answer.status_code not in (401, 403), f"{role} may: {answer.text}"
        elif role is None:
            assert answer.status_code == 401
            assert "a token is needed" in answer.json()["error"]
        else:
            assert answer.status_code == 403
            assert (
                f"needs the role {needs}, and {role} person has the role {role}"
                in answer.json()["error"]
            )


def test_what_nobody_thought_of_is_for_who_manages():
    assert role_needed("POST", "/v1/new", {"/v1/new"}) == Role.MANAGE
    assert role_needed("GET", "/v1/nothing", {"/v1/new"}) == Role.READ


def test_the_one_token_may_do_everything_beside_people(folder, tokens):
    with in_thread(folder, token=TOKEN) as server:
        assert server.ask("me") == {"name": "", "role": "manage"}
        assert server.get("/v1/me", headers=bearer(tokens[Role.READ])).json() == {
            "name": "read person",
            "role": "read",
        }
        assert server.get("/v1/me", headers=bearer("another")).status_code == 401


def test_without_people_nobody_is_asked(server):
    assert server.ask("me") == {"name": "", "role": "manage"}


def test_who_is_added_or_removed_is_known_at_the_next_request(folder):
    with in_thread(folder) as server:
        assert server.get("/v1/model").status_code == 200
        with changing(folder) as people:
            token = people.add("anna", Role.READ)
        assert server.get("/v1/model").status_code == 401
        server.headers.update(bearer(token))
        assert server.ask("me") == {"name": "anna", "role": "read"}
        with changing(folder) as people:
            people.give_role("anna", Role.MANAGE)
        assert server.ask("me")["role"] == "manage"
        with changing(folder) as people:
            people.remove("anna")
        assert server.get("/v1/model").status_code == 401


def test_every_server_of_a_folder_knows_of_a_removal(folder, capfd):
    with changing(folder) as people:
        token = people.add("anna", Role.READ)
    with in_thread(folder) as writing, in_thread(folder, read_only=True) as reading:
        for server in (writing, reading):
            assert server.get("/v1/model", headers=bearer(token)).status_code == 200
        with changing(folder) as people:
            people.remove("anna")
        for server in (writing, reading):
            assert server.get("/v1/model", headers=bearer(token)).status_code == 401
    assert token not in capfd.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("content", ["", "{", "[]", '{"people": [{"name": "x"}]}', '{"people": 3}'])
def test_a_damaged_file_lets_nobody_in_but_by_the_one_token(folder, tokens, content):
    with in_thread(folder, token=TOKEN) as server:
        (folder / PEOPLE_FILE).write_text(content)
        for damage in ("damaged", "gone"):
            answer = server.get("/v1/model", headers=bearer(tokens[Role.MANAGE]))
            assert answer.status_code == 503
            assert "the people of this server cannot be read" in answer.json()["error"]
            assert server.get("/v1/model").status_code == 200, damage
            for path in ("/healthz", "/"):
                assert server.get(path, headers=bearer("nobody")).status_code == 200, damage
            (folder / PEOPLE_FILE).unlink(missing_ok=True)
    (folder / PEOPLE_FILE).write_text(content)
    with in_thread(folder, token=TOKEN) as server:
        assert server.get("/v1/model").status_code == 200


def test_a_server_that_has_lost_its_people_does_not_start_without_a_token(folder, tokens, run):
    (folder / PEOPLE_FILE).unlink()
    refused = run("serve", "--state", folder, "--port", 0)
    assert refused.code == 2
    assert (
        f"{folder / PEOPLE_FILE} is gone; bring it back, or remove {folder / PEOPLE_MARK}"
        in refused.err
    )
    with in_thread(folder, token=TOKEN) as server:
        assert server.get("/v1/model").status_code == 200
        assert server.get("/v1/model", headers=bearer(tokens[Role.MANAGE])).status_code == 503


def test_a_judge_takes_back_examples_and_no_changes_of_labels(folder, tokens):
    with in_thread(folder) as server:
        judge, manager = bearer(tokens[Role.JUDGE]), bearer(tokens[Role.MANAGE])
        retired = {"change": "retire", "labels": ["trade"]}
        assert server.post("/v1/labels", json=retired, headers=manager).status_code == 200
        refused = server.post("/v1/undo", json={"number": 1}, headers=judge)
        assert (refused.status_code, "needs the role manage" in refused.json()["error"]) == (
            403,
            True,
        )
        assert (
            server.post(
                "/v1/repair", json={"number": 1, "labels": ["grain"]}, headers=judge
            ).status_code
            == 404
        )
        learned = {"examples": [{"text": "zebra", "labels": ["animals"]}]}
        assert server.post("/v1/learn", json=learned, headers=manager).status_code == 200
        assert server.post("/v1/undo", json={"number": 2}, headers=judge).status_code == 200
        assert server.post("/v1/undo", json={"number": 1}, headers=manager).status_code == 200


def test_a_file_that_is_gone_does_not_open_the_doors(folder, tokens):
    with in_thread(folder) as server:
        (folder / PEOPLE_FILE).unlink()
        assert server.get("/v1/model", headers=bearer(tokens[Role.MANAGE])).status_code == 503
        assert server.get("/v1/model").status_code in (401, 503)


def test_tokens_are_nowhere(folder, tokens, capsys):
    """Not on disk, not in logs, not in answers, not in metrics."""
    with in_thread(folder) as server:
        manager = bearer(tokens[Role.MANAGE])
        for role in Role:
            server.post("/v1/learn", json=QUESTIONS["/v1/learn"], headers=bearer(tokens[role]))
            server.get("/v1/nothing", headers=bearer(tokens[role]))
        answers = "".join(
            server.get(path, headers=manager).text
            for method, path in routes()
            if method == "GET" and "{" not in path and path not in ASKED
        )
    kept = b"".join(path.read_bytes() for path in folder.iterdir())
    said = capsys.readouterr()
    hashes = [person.hash for person in People(folder / PEOPLE_FILE).everyone.values()]
    for secret in (*tokens.values(), *hashes):
        assert secret not in answers
        assert secret not in said.err + said.out
    for secret in tokens.values():
        assert secret.encode() not in kept


def test_many_changes_at_once_are_all_kept(folder):
    def add(n):
        with changing(folder) as people:
            people.add(f"person {n}", Role.JUDGE)

    threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(People(folder / PEOPLE_FILE).everyone) == 8


def test_a_change_that_fails_changes_nothing(folder, tokens):
    before = (folder / PEOPLE_FILE).read_bytes()
    for bad in ("", " anna", "=1+1", "a\nb", "x" * 101, "a,b", "anna."):
        with pytest.raises(sl.InputError, match="is not a name"), changing(folder) as people:
            people.add(bad, Role.READ)
    with pytest.raises(sl.InputError, match="already"), changing(folder) as people:
        people.add("read person", Role.READ)
    with (
        pytest.raises(sl.InputError, match="there is read person, judge person"),
        changing(folder) as people,
    ):
        people.remove("nobody")
    with pytest.raises(
        sl.InputError, match="there is no role 'king'; the roles are read, judge, manage"
    ):
        Role.of("king")
    assert (folder / PEOPLE_FILE).read_bytes() == before
    assert all(PERSON_NAME.fullmatch(good) for good in ("a", "Anna Müller", "a.b@c.org", "7", "李"))


def test_a_doorkeeper_compares_whole_tokens(folder, tokens):
    door = Doorkeeper(folder, None)
    token = tokens[Role.JUDGE].encode()
    assert door.who(b"Bearer " + token).name == "judge person"
    other = [b"bearer " + token, b"Bearer " + token[:-1], b"Bearer " + token + b" "]
    for bad in (b"", b"Bearer", b"Bearer ", token, *other):
        assert door.who(bad) is None
    stored = People(folder / PEOPLE_FILE).everyone["judge person"].hash
    assert door.who(b"Bearer " + stored.encode()) is None, "the hash is no token"


def test_elsewhere_with_people(tmp_path):
    with pytest.raises(sl.InputError, match="shortlist people add"):
        ServerSettings(tmp_path, host="0.0.0.0").check()
    with changing(tmp_path) as people:
        people.add("anna", Role.READ)
    ServerSettings(tmp_path, host="0.0.0.0").check()
    with changing(tmp_path) as people:
        people.remove("anna")
    with pytest.raises(sl.InputError, match="lets others in"):
        ServerSettings(tmp_path, host="0.0.0.0").check()
    (tmp_path / PEOPLE_FILE).write_text("{")
    with pytest.raises(PeopleError, match="cannot be read from"):
        ServerSettings(tmp_path).check()


def test_a_person_who_is_added_gets_a_token_once(run, folder):
    said = run("people", "add", "anna", "--role", "judge", "--state", folder)
    token = said.out.strip()
    assert len(token) == 43
    assert "shown this once" in said.err
    assert token not in (folder / PEOPLE_FILE).read_text()
    assert token not in run("people", "--state", folder, "--json").out


def test_people_are_listed_with_their_roles(run, folder):
    run("people", "add", "anna", "--role", "judge", "--state", folder)
    changed = run("people", "role", "anna", "--role", "read", "--state", folder)
    assert changed.out == "anna may read.\n"
    added = run("people", "add", "bob", "--state", folder, "--json").json
    assert added == {"name": "bob", "role": "judge", "token": added["token"]}
    listed = run("people", "--state", folder, "--json").json["people"]
    assert [(person["name"], person["role"]) for person in listed] == [
        ("anna", "read"),
        ("bob", "judge"),
    ]
    shown = run("people", "list", "--state", folder).out
    assert "anna" in shown
    assert "bob" in shown


def test_a_removed_person_is_refused_and_the_others_are_not(run, folder):
    token = run("people", "add", "anna", "--state", folder).out.strip()
    other = run("people", "add", "bob", "--state", folder).out.strip()
    assert run("people", "remove", "anna", "--state", folder).out == "anna is removed.\n"
    with in_thread(folder) as server:
        assert server.get("/v1/me", headers=bearer(token)).status_code == 401
        assert server.get("/v1/me", headers=bearer(other)).json()["name"] == "bob"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("add",), "add needs the name of a person"),
        (("list", "x"), "list takes no name"),
        (("king", "x"), "people can be asked to list, add, remove, role, not to 'king'"),
        (("add", "x", "--role", "king"), "there is no role 'king'"),
    ],
)
def test_commands_that_are_refused(run, folder, arguments, sentence):
    refused = run("people", *arguments, "--state", folder)
    assert refused.code == 2
    assert sentence in refused.err


def test_a_folder_that_is_not_there_is_refused(run, folder):
    for action in ("remove", "role"):
        assert run("people", action, "x", "--state", folder / "nothing").code == 2
    assert run("people", "add", "x", "--state", folder / "no" / "thing").code == 2


def test_people_may_be_there_before_the_first_model(run, tmp_path, model_file):
    state = tmp_path / "news.shortlist.state"
    added = run("people", "add", "anna", "--role", "manage", "--state", state)
    assert (added.code, f"{state} is new" in added.err) == (0, True)
    take_base(state, model_file)
    with in_thread(state) as server:
        assert server.get("/v1/model").status_code == 401
        assert server.get("/v1/model", headers=bearer(added.out.strip())).status_code == 200


def test_who_manages_frees_a_text_that_another_has(folder, tokens):
    with in_thread(folder) as server:

        def ask(role, path, **body):
            return server.post(f"/v1/queue{path}", json=body, headers=bearer(tokens[role]))

        assert ask(Role.MANAGE, "", texts=["wheat rose"]).status_code == 200
        item = ask(Role.JUDGE, "/next", person="x").json()["item"]
        move = {"ids": [item["id"]], "person": "x"}
        assert ask(Role.MANAGE, "/next", person="x").json()["item"] is None
        assert ask(Role.MANAGE, "/move", to="skipped", **move).status_code == 409
        assert ask(Role.MANAGE, "/move", to="waiting", **move).json()["moved"] == 1
        assert ask(Role.MANAGE, "/next", person="x").json()["item"]["id"] == item["id"]
        refused = ask(Role.JUDGE, "/move", to="waiting", **move)
        assert refused.status_code == 409
        assert refused.json()["error"].startswith("another person has the text")
