"""An Annif project type, ``backend=shortlist``, that goes on learning.

Annif has a fixed table of backends, so ``shortlist annif …`` adds this one and then runs Annif's
own command line; ``uvicorn --factory shortlist.integrations.annif_backend:create_app`` serves it.

A project has a model file in Annif's data folder, or asks a running server (``server=http://…``),
whose journal keeps what ``learn`` brings. Labels are the URIs of subjects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import annif
import annif.backend
from annif.backend.backend import AnnifLearningBackend
from annif.exception import NotInitializedException, NotSupportedException, OperationFailedException
from annif.suggestion import SubjectSuggestion, SuggestionBatch

from shortlist.errors import InputError, ShortlistError, installing
from shortlist.integrations import Ranked, descending
from shortlist.models.categorizer import Categorizer
from shortlist.models.training_settings import TrainingSettings, open_model
from shortlist.server.client import Server, parts

BACKEND_NAME = "shortlist"
MODEL_FILE_NAME = "model.shortlist"
MOST_SERVED_LABELS = 1000  # for one text

SubjectExample = tuple[str, list[str]]  # a text, and the URIs of its subjects
SubjectBatch = tuple[list[str], list[list[str]]]  # some texts, and the URIs of each


class LocalModel:
    """A model in Annif's data folder. Only one process at a time may teach it: the last to save
    wins.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        model = open_model(path)
        if not isinstance(model, Categorizer):
            raise InputError(f"{path} holds no model of texts; train the project again")
        self._model = model

    def rank(self, texts: Sequence[str], k: int) -> list[Ranked]:
        rankings = []
        for ranking in self._model.rank(list(texts), k):
            labels = [label for label, _ in ranking]
            rankings.append(list(zip(labels, ranking.probabilities.tolist(), strict=True)))
        return rankings

    def learn(self, examples: Iterable[SubjectExample]) -> None:
        self._model.learn_batches(batches(examples))
        self._model.save(self.path)


class ServedModel:
    """The model of a running server, which keeps what is learned in its journal."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def rank(self, texts: Sequence[str], k: int) -> list[Ranked]:
        rankings = []
        for part in parts(texts, str):
            answer = self._server.ask("v1/rank", {"text": part, "k": min(k, MOST_SERVED_LABELS)})
            rankings += [
                [(str(entry["label"]), entry["probability"]) for entry in ranking]
                for ranking in answer["rankings"]
            ]
        return rankings

    def learn(self, examples: Iterable[SubjectExample]) -> None:
        """Learn each document with its subjects once, so that the same command can be run again."""
        person = self._server.ask("v1/me")["name"]
        for part in parts(examples, lambda example: example[0]):
            records = []
            for text, labels in part:
                content = json.dumps([person, text, labels]).encode()
                key = f"annif-{blake2b(content, digest_size=10).hexdigest()}"
                records.append({"text": text, "labels": labels, "key": key})
            self._server.ask("v1/learn", {"examples": records})


class ShortlistBackend(AnnifLearningBackend):
    """The backend as Annif calls it."""

    name = BACKEND_NAME
    _source: LocalModel | ServedModel | None = None

    @property
    def is_trained(self) -> bool:
        return "server" in self.params or bool(super().is_trained)

    @property
    def modification_time(self) -> datetime | None:
        return None if "server" in self.params else super().modification_time

    def initialize(self, parallel: bool = False) -> None:
        self._opened(self.params)

    def _opened(self, params: dict[str, Any]) -> LocalModel | ServedModel:
        if self._source is None:
            path = Path(self.datadir) / MODEL_FILE_NAME
            if "server" in params:
                token = params.get("token_file")
                server = Server(params["server"], None if token is None else Path(token))
                self._source = telling(ServedModel)(server)
            elif path.exists():
                self._source = telling(LocalModel)(path)
            else:
                raise NotInitializedException(
                    f"there is no model {path}; train it first", backend_id=self.backend_id
                )
        return self._source

    def _train(self, corpus: Any, params: dict[str, Any], jobs: int = 0) -> None:
        problem = None
        if "server" in params:
            problem = (
                "the model of a server is trained with shortlist train; annif learn teaches it"
            )
        elif corpus == "cached":
            problem = "nothing is kept of earlier training; give the documents"
        elif corpus.is_empty():
            problem = "cannot train without documents"
        if problem is not None:
            raise NotSupportedException(problem, backend_id=BACKEND_NAME)
        self.info("training")
        telling(train)(
            Path(self.datadir) / MODEL_FILE_NAME, batches(self._labelled(corpus)), params
        )
        self._source = None

    def _learn(self, corpus: Any, params: dict[str, Any]) -> None:
        telling(self._opened(params).learn)(self._labelled(corpus))

    def _suggest_batch(self, documents: list[Any], params: dict[str, Any]) -> SuggestionBatch:
        subjects = self.project.subjects
        limit = int(params["limit"])
        texts = [document.text for document in documents]
        suggestions = []
        for ranking in telling(self._opened(params).rank)(texts, limit):
            suggested = []
            for label, score in descending(ranking):
                number = subjects.by_uri(label, warnings=False)
                if number is not None:
                    suggested.append(SubjectSuggestion(subject_id=number, score=score))
            suggestions.append(suggested)
        return SuggestionBatch.from_sequence(suggestions, subjects, limit=limit)

    def _labelled(self, corpus: Any) -> Iterator[SubjectExample]:
        """Yield texts with the URIs of their subjects, without documents that have no text or
        no subjects.
        """
        subjects = self.project.subjects
        for document in corpus.documents:
            labels = [subjects[number].uri for number in sorted(document.subject_set)]
            if labels and document.text.strip():
                yield document.text, labels


def train(path: Path, corpus: Iterable[SubjectBatch], params: dict[str, Any]) -> None:
    """Train a new model, with the learner and the bound on memory of the project."""
    settings = TrainingSettings(learner=params.get("learner"), max_memory=params.get("max_memory"))
    model = settings.model(of_texts=True)
    assert isinstance(model, Categorizer)
    model.fit_batches(corpus).save(path)


def batches(examples: Iterable[SubjectExample]) -> Iterator[SubjectBatch]:
    for part in parts(examples, lambda example: example[0]):
        yield [text for text, _ in part], [labels for _, labels in part]


def telling(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function, which raises our errors as Annif's."""

    def done(*arguments: Any, **named: Any) -> Any:
        try:
            return work(*arguments, **named)
        except ShortlistError as problem:
            raise OperationFailedException(str(problem), backend_id=BACKEND_NAME) from None

    return done


def register() -> None:
    """Make the project type known to Annif."""
    table = getattr(annif.backend, "_backend_fns", None)
    if not isinstance(table, dict):
        raise InputError(
            f"this version of Annif keeps its backends elsewhere; {installing('annif')}"
        )
    table[BACKEND_NAME] = lambda: ShortlistBackend


def run(arguments: list[str]) -> None:
    """Run Annif's command line with this project type."""
    from annif.cli import cli

    register()
    cli(args=arguments, prog_name="shortlist annif")


def create_app() -> object:
    """Return Annif's web application with this project type."""
    register()
    return annif.create_app()
