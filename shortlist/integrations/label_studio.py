"""A machine learning backend for Label Studio, over a running server.

Label Studio asks ``/predict`` for suggestions, and reports to ``/webhook`` which annotations were
made, changed and deleted. A changed annotation is learned again and its old example undone; a
deleted or skipped one is undone. The keys in the server's journal say which example belongs to
which annotation: this process keeps nothing.
"""

from __future__ import annotations

import hmac
import json
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from xml.etree import ElementTree

import msgspec
import uvicorn
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from shortlist.errors import InputError
from shortlist.server.client import Server, parts
from shortlist.server.settings import is_loopback, listen

LEAST_LIKELY = 0.5  # the least probability of a suggested label; the best is suggested anyway
N_RANKED = 100  # labels of the server's ranking in which labels of the project are sought
LEARNED_ACTIONS = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED")
DELETED_ACTION = "ANNOTATIONS_DELETED"
PATH_SEPARATOR = " > "  # between the parts of a label of a taxonomy
MOST_NESTED = 100  # choices within choices
TEXT_TAGS = ("Text", "HyperText", "Paragraphs")
MOST_REQUEST_BYTES = 50_000_000


@dataclass(frozen=True)
class Control:
    """The tag of a labelling configuration with which people choose labels of a text."""

    name: str
    to_name: str
    kind: str  # choices, taxonomy
    field: str  # of a task's data, which holds the text
    several: bool
    paths: dict[str, list[str]]  # of each label; empty if the labels come with the tasks

    def has(self, label: str) -> bool:
        if self.paths:
            return label in self.paths
        return label != "" and self.kind == "choices"

    def text(self, task: dict[str, Any]) -> str:
        """Return the text of a task."""
        data = task.get("data")
        text = data.get(self.field) if isinstance(data, dict) else None
        if not isinstance(text, str):
            raise InputError(f"task {task.get('id')} has no text in its field {self.field!r}")
        return text

    def labels_in(self, results: object) -> list[str]:
        """Return the labels that were chosen with this tag."""
        labels: dict[str, None] = {}  # each once
        for result in as_list(results, "result"):
            if not isinstance(result, dict) or result.get("from_name") != self.name:
                continue
            value = result.get("value")
            chosen = value.get(self.kind) if isinstance(value, dict) else None
            for label in as_list(chosen, self.kind):
                if isinstance(label, list):
                    label = PATH_SEPARATOR.join(map(str, label))
                labels[str(label)] = None
        return list(labels)

    def as_result(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return labels as if they had been chosen with this tag."""
        chosen: list[Any] = list(labels)
        if self.kind == "taxonomy":
            chosen = [self.paths[label] for label in labels]
        return {
            "from_name": self.name,
            "to_name": self.to_name,
            "type": self.kind,
            "value": {self.kind: chosen},
        }


def as_list(value: object, name: str) -> list[Any]:
    """Return a list that may be missing."""
    if value is not None and not isinstance(value, list):
        raise InputError(f"{name} must be a list, not {str(value)[:40]}")
    return value or []


def objects(request: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a field that holds one JSON object or a list of them."""
    value = request.get(name)
    values: list[Any] = value if isinstance(value, list) else [value]
    if not all(isinstance(value, dict) for value in values):
        raise InputError(f"{name} must be a JSON object, or a list of them")
    return values


def control_of(config: object) -> Control:
    """Return the first tag of a configuration with which people choose labels of a whole text."""
    try:
        root = ElementTree.fromstring(config if isinstance(config, str) else "")
    except (ElementTree.ParseError, ValueError):
        raise InputError(
            "the labelling configuration of the project is missing, or is no XML"
        ) from None
    fields = {tag.get("name"): tag.get("value", "") for tag in root.iter() if tag.tag in TEXT_TAGS}
    for tag in root.iter():
        field = fields.get(tag.get("toName"), "")
        is_whole = field.startswith("$") and tag.get("perRegion") != "true"
        if tag.tag in ("Choices", "Taxonomy") and is_whole:
            return Control(
                name=tag.get("name", ""),
                to_name=tag.get("toName", ""),
                kind=tag.tag.lower(),
                field=field[1:],
                several=tag.tag == "Taxonomy" or tag.get("choice") == "multiple",
                paths={PATH_SEPARATOR.join(path): path for path in paths_below(tag, [])},
            )
    raise InputError(
        "the labelling configuration needs <Choices> or <Taxonomy> for a <Text> whose value is a "
        "$field"
    )


def paths_below(tag: ElementTree.Element, above: list[str], depth: int = 0) -> Iterator[list[str]]:
    """Yield the path to each choice, from the top; the alias of a choice is its name, if it has
    one.
    """
    if depth > MOST_NESTED:
        raise InputError(
            f"the choices of the labelling configuration are nested more than {MOST_NESTED} deep"
        )
    for below in tag:
        if below.tag == "Choice":
            path = [*above, below.get("alias") or below.get("value") or ""]
            yield path
            yield from paths_below(below, path, depth + 1)
        else:
            yield from paths_below(below, above, depth + 1)


class Backend:
    """Answers Label Studio's questions with a running server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._teaching = threading.Lock()  # two webhooks may report the same annotation

    def setup(self, request: dict[str, Any]) -> dict[str, Any]:
        """Check the project's configuration; return the version of the model, which changes
        with each example.
        """
        control_of(request.get("schema"))
        return {"model_version": self._version()}

    def predict(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the labels that fit each task, in the project's form."""
        control = control_of(request.get("label_config"))
        texts = [control.text(task) for task in objects(request, "tasks")]
        version = self._version()
        rankings = []
        for part in parts(texts, str):
            rankings += self._server.ask("v1/rank", {"text": part, "k": N_RANKED})["rankings"]
        results = [
            suggestion(control, ranking) | {"model_version": version} for ranking in rankings
        ]
        return {"results": results, "model_version": version}

    def webhook(self, event: dict[str, Any]) -> dict[str, Any]:
        """Learn new and changed annotations, and undo deleted ones; ignore other events."""
        (project,) = objects({"project": [event.get("project", {})]}, "project")
        counts: list[tuple[int, int]] = []
        with self._teaching:
            if event.get("action") in LEARNED_ACTIONS:
                control = control_of(project.get("label_config"))
                tasks = {str(task.get("id")): task for task in objects(event, "task")}
                counts = [
                    self._teach(project, control, annotation, tasks)
                    for annotation in objects(event, "annotation")
                ]
            elif event.get("action") == DELETED_ACTION:
                counts = [
                    (0, self._undo(prefix_of(project, annotation)))
                    for annotation in objects(event, "annotations")
                ]
        return {"learned": sum(new for new, _ in counts), "undone": sum(old for _, old in counts)}

    def _version(self) -> str:
        about = self._server.ask("v1/model")
        return f"{about['journal']} learned, {about['undone']} taken back"

    def _teach(
        self,
        project: dict[str, Any],
        control: Control,
        annotation: dict[str, Any],
        tasks: dict[str, dict[str, Any]],
    ) -> tuple[int, int]:
        """Learn an annotation; returns how many examples are new, and how many were undone."""
        prefix = prefix_of(project, annotation)
        labels = []
        if not annotation.get("was_cancelled"):
            labels = control.labels_in(annotation.get("result"))
        if not labels:
            return 0, self._undo(prefix)
        task = str(annotation.get("task"))
        text = control.text(tasks.get(task, {"id": task}))
        earlier = self._examples(prefix)
        digest = blake2b(json.dumps([text, sorted(labels)]).encode(), digest_size=8).hexdigest()
        n_new = 0
        if not any(not old["undone"] and old["key"].endswith(digest) for old in earlier):
            example = {
                "text": text,
                "labels": labels,
                "complete": True,
                "key": f"{prefix}{len(earlier) + 1}-{digest}",
            }
            (learned,) = self._server.ask("v1/learn", {"examples": [example]})["learned"]
            n_new = int(learned["new"])
        # last: after a failure in between, the webhook can come again
        return n_new, self._undo(prefix, but=digest)

    def _undo(self, prefix: str, but: str = "nothing") -> int:
        """Undo the examples of an annotation, except the one with this digest; return how many."""
        n_undone = 0
        for example in self._examples(prefix):
            if not example["undone"] and not example["key"].endswith(but):
                self._server.ask("v1/undo", {"number": example["number"]})
                n_undone += 1
        return n_undone

    def _examples(self, prefix: str) -> list[dict[str, Any]]:
        """Return the examples of an annotation, newest first, undone or not."""
        answer = self._server.ask("v1/examples", key=prefix, limit=1000)
        return list(answer["examples"])


def suggestion(control: Control, ranking: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a prediction of Label Studio, with the probability of the least likely label as
    its score.
    """
    fitting = []
    for entry in ranking:
        label = project_label(control, entry)
        if label is not None:
            fitting.append((label, entry["probability"]))
    chosen = fitting[:1]
    if control.several:
        likely = [pair for pair in fitting if pair[1] is not None and pair[1] >= LEAST_LIKELY]
        chosen = likely or chosen
    if not chosen:
        return {"result": []}
    prediction: dict[str, Any] = {"result": [control.as_result([label for label, _ in chosen])]}
    probabilities = [probability for _, probability in chosen]
    if None not in probabilities:
        prediction["score"] = min(probabilities)
    return prediction


def project_label(control: Control, entry: dict[str, Any]) -> str | None:
    """Return the project's name of a label: the label itself, or its name in the model's
    vocabulary.
    """
    names = (str(entry["label"]), entry.get("name") or "")
    return next((name for name in names if control.has(name)), None)


def prefix_of(project: dict[str, Any], annotation: dict[str, Any]) -> str:
    """Return the prefix of the keys of an annotation; the date of the project tells two
    installations apart.
    """
    since = blake2b(str(project.get("created_at")).encode(), digest_size=4).hexdigest()
    try:
        return f"label-studio-{int(project['id'])}.{since}-{int(annotation['id'])}-"
    except (KeyError, TypeError, ValueError):
        raise InputError(
            "a webhook needs the id of the project and of each annotation (send payload)"
        ) from None


# The backend over HTTP, in a process of its own.


def serve(
    backend: Backend, host: str, port: int, password: str | None, tell: Callable[[str], None]
) -> None:
    """Answer until the process is stopped. Other machines need a password."""
    if password is None and not is_loopback(host):
        raise InputError(
            f"listening on {host} lets others teach: give a password with --password-file"
        )
    listening = listen(host, port)
    tell(f"http://{host}:{listening.getsockname()[1]}")
    config = uvicorn.Config(make_app(backend, password), log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


def make_app(backend: Backend, password: str | None = None) -> FastAPI:
    """Return the application. Each request is answered in a thread, and finished also if Label
    Studio gives up.
    """
    app = FastAPI(
        title="shortlist for Label Studio", docs_url=None, redoc_url=None, openapi_url=None
    )

    def answering(
        work: Callable[[dict[str, Any]], dict[str, Any]], status: int = 200
    ) -> Callable[..., Any]:
        async def answer(request: Request) -> JSONResponse:
            if "origin" in request.headers:  # browsers send it with every such request of a page
                return refused("web pages may not ask here, only Label Studio itself", 403)
            if not is_allowed(request.headers.get("authorization"), password):
                return refused("a password is needed", 401, {"WWW-Authenticate": "Basic"})
            content = bytearray()
            async for part in request.stream():
                content += part
                if len(content) > MOST_REQUEST_BYTES:
                    return refused(f"a request may have {MOST_REQUEST_BYTES:,} bytes", 413)
            try:
                decoded = msgspec.json.decode(content, type=dict[str, Any])
                return JSONResponse(await run_in_threadpool(work, decoded), status)
            except (msgspec.DecodeError, RecursionError):
                return refused("the request must be a JSON object", 422)
            except InputError as problem:
                return refused(str(problem), 422)

        return answer

    async def health() -> dict[str, Any]:
        return {"status": "UP", "model_class": "shortlist"}

    for path in ("/", "/health"):
        app.get(path)(health)
    app.post("/setup")(answering(backend.setup))
    app.post("/predict")(answering(backend.predict))
    app.post("/webhook")(answering(backend.webhook, 201))
    return app


def refused(sentence: str, status: int, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": sentence}, status, headers)


def is_allowed(authorization: str | None, password: str | None) -> bool:
    """Return whether this header has the password, with any name (HTTP basic authentication)."""
    if password is None:
        return True
    kind, _, encoded = (authorization or "").partition(" ")
    try:
        decoded = b64decode(encoded, validate=True).partition(b":")[2]
    except ValueError:
        return False
    return kind.lower() == "basic" and hmac.compare_digest(decoded, password.encode())
