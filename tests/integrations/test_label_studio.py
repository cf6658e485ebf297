"""The backend for Label Studio: what it reads of a project, what it suggests and learns; and
with the real thing.
"""

import base64
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from shortlist.errors import InputError
from shortlist.integrations.label_studio import Backend, control_of
from shortlist.server.client import Server

CHOICES = """<View><Text name="news" value="$body"/><Choices name="topic" toName="news">
<Choice value="grain"/><Choice value="trade"/><Choice value="money"/></Choices></View>"""
SEVERAL = CHOICES.replace('toName="news"', 'toName="news" choice="multiple"')
TAXONOMY = """<View><Text name="news" value="$body"/><Taxonomy name="topic" toName="news">
<Choice value="goods"><Choice value="grain"/></Choice><Choice value="money"/></Taxonomy></View>"""
PROJECT = {"id": 4, "created_at": "2026-01-01T00:00:00Z", "label_config": CHOICES}
PATIENCE = 900.0  # seconds for what takes a few; Label Studio makes a database first


def chosen(*labels, kind="choices"):
    return [{"from_name": "topic", "to_name": "news", "type": kind, "value": {kind: list(labels)}}]


def test_what_a_configuration_says():
    one, many, tree = map(control_of, (CHOICES, SEVERAL, TAXONOMY))
    assert (one.name, one.to_name, one.kind, one.field, one.several) == (
        "topic",
        "news",
        "choices",
        "body",
        False,
    )
    assert many.several
    assert list(tree.paths) == ["goods", "goods > grain", "money"]
    assert tree.labels_in(tree_result := [tree.as_result(["goods > grain"])]) == ["goods > grain"]
    assert tree_result[0]["value"] == {"taxonomy": [["goods", "grain"]]}
    other = {"from_name": "other", "value": {"choices": ["no"]}}
    assert one.labels_in([*chosen("grain", "grain"), other]) == ["grain"]
    assert one.labels_in([one.as_result(["money"])]) == ["money"]


@pytest.mark.parametrize(
    "config", [None, "", "<View", "<View/>", '<View><Choices name="a" toName="b"/></View>']
)
def test_what_is_no_configuration_is_refused(config):
    with pytest.raises(InputError, match="labelling configuration"):
        control_of(config)


def test_a_configuration_is_not_nested_without_end():
    choices = '<Choice value="a">' * 3000 + "</Choice>" * 3000
    tags = f'<Text name="t" value="$b"/><Choices name="c" toName="t">{choices}</Choices>'
    with pytest.raises(InputError, match="nested more than 100 deep"):
        control_of(f"<View>{tags}</View>")


def test_labels_by_their_alias_and_those_of_other_projects():
    control = control_of(CHOICES.replace('value="grain"', 'value="Grain!" alias="grain"'))
    assert control.has("grain")
    assert not control.has("Grain!")
    assert not control.has("fruit")


@pytest.fixture
def backend(server):
    return Backend(Server(str(server.base_url)))


def predicted(backend, *texts, config=CHOICES):
    tasks = [{"id": n, "data": {"body": text}} for n, text in enumerate(texts)]
    return backend.predict({"tasks": tasks, "label_config": config})["results"]


def test_suggestions_have_the_form_of_the_project(backend):
    first, second, nothing = predicted(backend, "wheat exports", "bank rates", "zeppelin")
    assert first["result"] == chosen("grain")
    assert second["result"] == chosen("money")
    assert nothing["result"] == []
    assert first["model_version"] == backend.setup({"schema": CHOICES})["model_version"]
    (tree,) = predicted(backend, "bank rates", config=TAXONOMY)
    assert tree["result"] == chosen(["money"], kind="taxonomy")
    with pytest.raises(InputError, match="no text in its field 'body'"):
        backend.predict({"tasks": [{"id": 1, "data": {"text": "wheat"}}], "label_config": CHOICES})


def test_the_score_is_how_likely_the_suggestion_is(sure):
    config = CHOICES.replace("grain", "fruit").replace("trade", "metal")
    (found,) = predicted(Backend(Server(str(sure.base_url))), "apple number3", config=config)
    assert found["result"] == chosen("fruit")
    assert 0.5 < found["score"] <= 1


def told(backend, action, labels, annotation=9, text="gold rose", **more):
    said = {"id": annotation, "task": 2, "result": chosen(*labels)} | more
    body = {
        "action": action,
        "project": PROJECT,
        "annotation": said,
        "task": {"id": 2, "data": {"body": text}},
    }
    return backend.webhook(body)


def live(server):
    return [entry["labels"] for entry in server.ask("examples")["examples"] if not entry["undone"]]


def test_annotations_are_learned_once_and_changes_are_undo_and_learn(backend, server):
    assert told(backend, "ANNOTATION_CREATED", ["trade"]) == {"learned": 1, "undone": 0}
    assert told(backend, "ANNOTATION_CREATED", ["trade"]) == {"learned": 0, "undone": 0}
    assert server.best("gold")[0] == "trade"
    assert told(backend, "ANNOTATION_UPDATED", ["money"]) == {"learned": 1, "undone": 1}
    assert live(server) == [["money"]]
    assert server.best("gold") == ["money"]
    assert told(backend, "ANNOTATION_UPDATED", ["trade"]) == {"learned": 1, "undone": 1}
    assert live(server) == [["trade"]]
    assert told(backend, "ANNOTATION_CREATED", ["money"], annotation=99)["learned"] == 1
    assert told(backend, "ANNOTATION_UPDATED", ["trade"], was_cancelled=True) == {
        "learned": 0,
        "undone": 1,
    }
    assert live(server) == [["money"]], "that of another annotation stays"


def test_deleted_annotations_are_taken_back(backend, server):
    both = [{"id": n, "task": n, "result": chosen("trade")} for n in (1, 2)]
    tasks = [{"id": n, "data": {"body": f"gold {n}"}} for n in (1, 2)]
    body = {"action": "ANNOTATIONS_CREATED", "project": PROJECT, "annotation": both, "task": tasks}
    assert backend.webhook(body)["learned"] == 2
    gone = {
        "action": "ANNOTATIONS_DELETED",
        "project": PROJECT,
        "annotations": [{"id": 1}, {"id": 2}],
    }
    assert backend.webhook(gone | {"project": PROJECT | {"created_at": "elsewhere"}})["undone"] == 0
    assert backend.webhook(gone) == {"learned": 0, "undone": 2}
    assert live(server) == []


def test_who_was_interrupted_between_learning_and_undoing_is_told_again(
    backend, server, monkeypatch
):
    told(backend, "ANNOTATION_CREATED", ["trade"])
    with monkeypatch.context() as broken:
        broken.setattr(Backend, "_undo", lambda *_, **__: (_ for _ in ()).throw(InputError("gone")))
        with pytest.raises(InputError, match="gone"):
            told(backend, "ANNOTATION_UPDATED", ["money"])
    assert live(server) == [["money"], ["trade"]]
    assert told(backend, "ANNOTATION_UPDATED", ["money"]) == {"learned": 0, "undone": 1}
    assert live(server) == [["money"]]


def test_what_else_happens_is_left_alone(backend, server):
    assert backend.webhook({"action": "PROJECT_UPDATED", "project": PROJECT}) == {
        "learned": 0,
        "undone": 0,
    }
    with pytest.raises(InputError, match="send payload"):
        told(backend, "ANNOTATION_CREATED", ["trade"], annotation=None)
    with pytest.raises(InputError, match="JSON object"):
        backend.webhook(
            {"action": "ANNOTATION_CREATED", "project": PROJECT, "task": 3, "annotation": "x"}
        )
    assert live(server) == []


def test_over_http_with_a_password(backend):
    testclient = pytest.importorskip("starlette.testclient")
    from shortlist.integrations.label_studio import make_app

    with testclient.TestClient(make_app(backend, "secret")) as client:
        assert client.get("/health").json()["status"] == "UP"
        question = {"tasks": [{"id": 1, "data": {"body": "wheat"}}], "label_config": CHOICES}
        assert client.post("/predict", json=question).status_code == 401
        wrong = {"authorization": "Basic " + base64.b64encode(b"me:secrets").decode()}
        assert client.post("/predict", json=question, headers=wrong).status_code == 401
        assert (
            client.post("/predict", json=question, headers={"authorization": "Basic ?"}).status_code
            == 401
        )
        right = {"authorization": "Basic " + base64.b64encode(b"me:secret").decode()}
        found = client.post("/predict", json=question, headers=right)
        assert found.json()["results"][0]["result"] == chosen("grain")
        refused = client.post("/setup", json={"schema": "<View/>"}, headers=right)
        assert refused.status_code == 422
        assert "<Choices>" in refused.json()["error"]
        for content in (b"[", b'{"project": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"):
            assert client.post("/webhook", content=content, headers=right).status_code == 422
        assert (
            client.post("/webhook", json={"action": "TASKS_CREATED"}, headers=right).status_code
            == 201
        )


def test_a_web_page_teaches_nothing(backend, server):
    """It could send a form, as plain text, to any port of the machine that it is shown on."""
    testclient = pytest.importorskip("starlette.testclient")
    from shortlist.integrations.label_studio import make_app

    made = {"action": "ANNOTATION_DELETED", "project": PROJECT, "annotations": [{"id": 1}]}
    with testclient.TestClient(make_app(backend)) as client:
        assert client.post("/webhook", json=made).status_code == 201
        for origin in ("https://evil.example", "http://127.0.0.1:9090", "null"):
            assert client.post("/webhook", json=made, headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ({"id": 1, "task": 7, "result": 7}, "result must be a list"),
        (
            {"id": 1, "task": 7, "result": [{"from_name": "topic", "value": {"choices": 3}}]},
            "choices must be a list",
        ),
        ({"id": 1, "task": [1], "result": chosen("grain")}, "has no text in its field"),
    ],
)
def test_webhooks_of_another_form_are_refused(backend, annotation, said):
    told = {
        "action": "ANNOTATION_CREATED",
        "project": PROJECT,
        "task": {"id": 7, "data": {"body": "wheat"}},
    }
    with pytest.raises(InputError, match=said):
        backend.webhook(told | {"annotation": annotation})
    empty = {"id": 1, "task": 7, "result": [{"from_name": "topic", "value": None}]}
    assert backend.webhook(told | {"annotation": empty}) == {"learned": 0, "undone": 0}


def test_a_body_that_does_not_say_how_long_it_is_has_the_same_limit(backend, monkeypatch):
    testclient = pytest.importorskip("starlette.testclient")
    from shortlist.integrations import label_studio as label_studio_app

    monkeypatch.setattr(label_studio_app, "MOST_REQUEST_BYTES", 1000)
    with testclient.TestClient(label_studio_app.make_app(backend)) as client:
        assert client.post("/setup", content=(b" " * 100 for _ in range(20))).status_code == 413
        assert client.post("/setup", content=b" " * 2000).status_code == 413


def test_others_than_this_machine_need_a_password(run):
    found = run("label-studio", "--host", "0.0.0.0")
    assert found.code == 2
    assert "--password-file" in found.err


# With the real Label Studio.


@pytest.fixture
def studio(tmp_path):
    """Label Studio, in a folder of its own: its address and a token."""
    pytest.importorskip(
        "label_studio_sdk", reason="needs the package label-studio: make integrations"
    )
    command = Path(sys.executable).with_name("label-studio")
    if not command.exists():
        pytest.skip("needs the package label-studio: make integrations")
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    token = secrets.token_hex(20)
    environment = os.environ | {
        "LABEL_STUDIO_BASE_DATA_DIR": str(tmp_path / "studio"),
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "SSRF_PROTECTION_ENABLED": "false",
        "ML_BLOCK_LOCAL_IP": "false",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "WEBHOOK_TIMEOUT": "60",
        "ML_CONNECTION_TIMEOUT": "60",
        "ML_TIMEOUT_SETUP": "60",
        "ML_TIMEOUT_HEALTH": "60",
    }
    asked = [
        "--no-browser",
        "--port",
        port,
        "--internal-host",
        "127.0.0.1",
        "--username",
        "a@example.org",
    ]
    asked += ["--password", secrets.token_hex(10), "--user-token", token]
    with open(tmp_path / "studio.log", "w") as log:
        started = subprocess.Popen(
            [command, "start", *map(str, asked)],
            env=environment,
            stdout=log,
            stderr=log,
            cwd=tmp_path,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers(f"{address}/health") or started.poll() is not None)
        assert started.poll() is None, (tmp_path / "studio.log").read_text()[-3000:]
        yield address, token
    finally:
        started.terminate()
        started.wait(60)


def answers(url):
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def wait_for(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.1)


@pytest.fixture
def started_backend(server, tmp_path):
    """``shortlist label-studio`` as a process."""
    command = [
        sys.executable,
        "-m",
        "shortlist.cli",
        "label-studio",
        "--port",
        "0",
        "--server",
        str(server.base_url),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = process.stderr.readline()
        assert said.startswith("add http://"), said
        yield said.split()[1]
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


@pytest.mark.real
@pytest.mark.filterwarnings("default")
def test_label_studio_itself(studio, started_backend, server):
    """A project with this backend: predictions come, annotations are learned, changes and
    deletions taken back.
    """
    import label_studio_sdk

    address, token = studio
    client = label_studio_sdk.LabelStudio(base_url=address, api_key=token)
    project = client.projects.create(title="news", label_config=CHOICES).id
    client.ml.create(url=started_backend, project=project, title="shortlist")
    client.projects.import_tasks(
        project, request=[{"body": "wheat exports"}, {"body": "gold rose"}]
    )
    wheat, gold = sorted(client.tasks.list(project=project, fields="all"), key=lambda task: task.id)
    # Predictions come when a task is opened.
    url, headers = f"{address}/api/tasks/{wheat.id}/", {"authorization": f"Token {token}"}
    found = httpx.get(url, params={"project": project}, headers=headers, timeout=60).json()
    if not found["predictions"]:
        asked = {
            "selectedItems": {"all": True, "excluded": []},
            "filters": {"conjunction": "and", "items": []},
        }
        action = {"id": "retrieve_tasks_predictions", "project": project}
        httpx.post(
            f"{address}/api/dm/actions", params=action, json=asked, headers=headers, timeout=60
        )
        found = httpx.get(url, params={"project": project}, headers=headers, timeout=60).json()
    assert found["predictions"][0]["result"][0]["value"] == {"choices": ["grain"]}

    annotation = client.annotations.create(gold.id, result=chosen("trade")).id
    wait_for(lambda: live(server) == [["trade"]])
    assert server.best("gold")[0] == "trade"
    client.annotations.update(annotation, result=chosen("money"))
    wait_for(lambda: live(server) == [["money"]])
    client.annotations.delete(annotation)
    wait_for(lambda: live(server) == [])
