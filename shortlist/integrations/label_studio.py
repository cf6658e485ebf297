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

LIKELY = 0.5  # the least probability of a suggested label; the best is suggested anyway
K = 100  # labels of the server's ranking in which labels of the project are sought
TAUGHT = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED")
DELETED = "ANNOTATIONS_DELETED"
BETWEEN = " > "  # the parts of a label of a taxonomy
TEXTS = ("Text", "HyperText", "Paragraphs")
MOST = 50_000_000  # bytes of a request


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
        return label in self.paths if self.paths else label != "" and self.kind == "choices"

    def text(self, task: dict[str, Any]) -> str:
        """Return the text of a task."""
        data = task.get("data")
        text = data.get(self.field) if isinstance(data, dict) else None
        if not isinstance(text, str):
            raise InputError(f"task {task.get('id')} has no text in its field {self.field!r}")
        return text

    def labels_in(self, results: object) -> list[str]:
        """Return the labels that were chosen with this tag."""
        found: list[str] = []
        for one in as_list(results, "result"):
            if isinstance(one, dict) and one.get("from_name") == self.name:
                value = one.get("value")
                chosen = as_list(
                    value.get(self.kind) if isinstance(value, dict) else None, self.kind
                )
                found += [
                    BETWEEN.join(map(str, label)) if isinstance(label, list) else str(label)
                    for label in chosen
                ]
        return list(dict.fromkeys(found))

    def as_result(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return labels as if they had been chosen with this tag."""
        chosen = (
            [self.paths[label] for label in labels] if self.kind == "taxonomy" else list(labels)
        )
        return {
            "from_name": self.name,
            "to_name": self.to_name,
            "type": self.kind,
            "value": {self.kind: chosen},
        }


def as_list(given: object, what: str) -> list[Any]:
    """Return a list that may be missing."""
    if given is not None and not isinstance(given, list):
        raise InputError(f"{what} must be a list, not {str(given)[:40]}")
    return given or []


def objects(asked: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a field that holds one JSON object or a list of them."""
    given = asked.get(name)
    every: list[Any] = given if isinstance(given, list) else [given]
    if not all(isinstance(one, dict) for one in every):
        raise InputError(f"{name} must be a JSON object, or a list of them")
    return every


def control_of(config: object) -> Control:
    """Return the first tag of a configuration with which people choose labels of a whole text."""
    try:
        root = ElementTree.fromstring(config if isinstance(config, str) else "")
    except (ElementTree.ParseError, ValueError):
        raise InputError(
            "the labelling configuration of the project is missing, or is no XML"
        ) from None
    fields = {tag.get("name"): tag.get("value", "") for tag in root.iter() if tag.tag in TEXTS}
    for tag in root.iter():
        field = fields.get(tag.get("toName"), "")
        if (
            tag.tag in ("Choices", "Taxonomy")
            and field.startswith("$")
            and tag.get("perRegion") != "true"
        ):
            several = tag.tag == "Taxonomy" or tag.get("choice") == "multiple"
            leaves = {BETWEEN.join(path): path for path in paths_below(tag, [])}
            return Control(
                tag.get("name", ""),
                tag.get("toName", ""),
                tag.tag.lower(),
                field[1:],
                several,
                leaves,
            )
    raise InputError(
        "the labelling configuration needs <Choices> or <Taxonomy> for a <Text> whose value is a "
        "$field"
    )


def paths_below(tag: ElementTree.Element, above: list[str]) -> Iterator[list[str]]:
    """Yield the path to each choice, from the top; the alias of a choice is its name, if it has
    one.
    """
    for below in tag:
        if below.tag == "Choice":
            path = [*above, below.get("alias") or below.get("value") or ""]
            yield path
            yield from paths_below(below, path)
        else:
            yield from paths_below(below, above)


class Backend:
    """Answers Label Studio's questions with a running server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._teaching = threading.Lock()  # two webhooks may report the same annotation

    def setup(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Check the project's configuration; return the version of the model, which changes
        with each example.
        """
        control_of(asked.get("schema"))
        return {"model_version": self._version()}

    def predict(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the labels that fit each task, in the project's form."""
        control = control_of(asked.get("label_config"))
        texts = [control.text(task) for task in objects(asked, "tasks")]
        version = self._version()
        ranked = []
        for some in parts(texts, str):
            ranked += self._server.ask("v1/rank", {"text": some, "k": K})["rankings"]
        results = [suggestion(control, one) | {"model_version": version} for one in ranked]
        return {"results": results, "model_version": version}

    def webhook(self, told: dict[str, Any]) -> dict[str, Any]:
        """Learn new and changed annotations, and undo deleted ones; ignore other events."""
        (project,) = objects({"project": [told.get("project", {})]}, "project")
        done: list[tuple[int, int]] = []
        with self._teaching:
            if told.get("action") in TAUGHT:
                control = control_of(project.get("label_config"))
                tasks = {str(task.get("id")): task for task in objects(told, "task")}
                done = [
                    self._teach(project, control, one, tasks) for one in objects(told, "annotation")
                ]
            elif told.get("action") == DELETED:
                done = [
                    self._take_back(prefix_of(project, one)) for one in objects(told, "annotations")
                ]
        return {"learned": sum(new for new, _ in done), "undone": sum(undone for _, undone in done)}

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
        labels = (
            [] if annotation.get("was_cancelled") else control.labels_in(annotation.get("result"))
        )
        if not labels:
            return self._take_back(prefix)
        task = str(annotation.get("task"))
        text = control.text(tasks.get(task, {"id": task}))
        known = self._known(prefix)
        digest = blake2b(json.dumps([text, sorted(labels)]).encode(), digest_size=8).hexdigest()
        if any(not one["undone"] and one["key"].endswith(digest) for one in known):
            return self._take_back(prefix, but=digest)
        example = {
            "text": text,
            "labels": labels,
            "complete": True,
            "key": f"{prefix}{len(known) + 1}-{digest}",
        }
        (learned,) = self._server.ask("v1/learn", {"examples": [example]})["learned"]
        # last: after a failure in between, the webhook can come again
        _, undone = self._take_back(prefix, but=digest)
        return int(learned["new"]), undone

    def _take_back(self, prefix: str, but: str = "nothing") -> tuple[int, int]:
        """Undo the examples of an annotation, except the one with this digest."""
        gone = [
            one for one in self._known(prefix) if not one["undone"] and not one["key"].endswith(but)
        ]
        for one in gone:
            self._server.ask("v1/undo", {"number": one["number"]})
        return 0, len(gone)

    def _known(self, prefix: str) -> list[dict[str, Any]]:
        """Return the examples of an annotation, newest first, undone or not."""
        found: list[dict[str, Any]] = self._server.ask("v1/examples", key=prefix, limit=1000)[
            "examples"
        ]
        return found


def suggestion(control: Control, ranking: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a prediction of Label Studio, with the probability of the least likely label as
    its score.
    """
    fitting = [
        one | {"label": own} for one in ranking if (own := own_label(control, one)) is not None
    ]
    likely = [
        one for one in fitting if one["probability"] is not None and one["probability"] >= LIKELY
    ]
    chosen = (likely or fitting[:1]) if control.several else fitting[:1]
    if not chosen:
        return {"result": []}
    found: dict[str, Any] = {"result": [control.as_result([one["label"] for one in chosen])]}
    if all(one["probability"] is not None for one in chosen):
        found["score"] = min(one["probability"] for one in chosen)
    return found


def own_label(control: Control, ranked: dict[str, Any]) -> str | None:
    """Return the project's name of a label: the label itself, or its name in the model's
    vocabulary.
    """
    called = (str(ranked["label"]), ranked.get("name") or "")
    return next((name for name in called if control.has(name)), None)


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
                return JSONResponse(
                    {"error": "web pages may not ask here, only Label Studio itself"}, 403
                )
            if not is_allowed(request.headers.get("authorization"), password):
                return JSONResponse(
                    {"error": "a password is needed"}, 401, {"WWW-Authenticate": "Basic"}
                )
            content = bytearray()
            async for part in request.stream():
                content += part
                if len(content) > MOST:
                    return JSONResponse({"error": f"a request may have {MOST:,} bytes"}, 413)
            try:
                asked = msgspec.json.decode(content, type=dict[str, Any])
                return JSONResponse(await run_in_threadpool(work, asked), status)
            except msgspec.DecodeError:
                return JSONResponse({"error": "the request must be a JSON object"}, 422)
            except InputError as problem:
                return JSONResponse({"error": str(problem)}, 422)

        return answer

    async def health() -> dict[str, Any]:
        return {"status": "UP", "model_class": "shortlist"}

    for path in ("/", "/health"):
        app.get(path)(health)
    app.post("/setup")(answering(backend.setup))
    app.post("/predict")(answering(backend.predict))
    app.post("/webhook")(answering(backend.webhook, 201))
    return app


def is_allowed(given: str | None, password: str | None) -> bool:
    """Return whether this header has the password, with any name (HTTP basic authentication)."""
    if password is None:
        return True
    kind, _, encoded = (given or "").partition(" ")
    try:
        found = b64decode(encoded, validate=True).partition(b":")[2]
    except ValueError:
        return False
    return kind.lower() == "basic" and hmac.compare_digest(found, password.encode())
