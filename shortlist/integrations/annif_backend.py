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

NAME = "shortlist"
FILE = "model.shortlist"
MOST = 1000  # labels that a server gives for one text

Labelled = tuple[str, list[str]]  # a text, and the URIs of its subjects
Batch = tuple[list[str], list[list[str]]]  # some texts, and the URIs of each


class ModelFile:
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
        ranking = self._model.rank(list(texts), k)
        return [
            list(zip([label for label, _ in one], one.probabilities.tolist(), strict=True))
            for one in ranking
        ]

    def learn(self, examples: Iterable[Labelled]) -> None:
        self._model.learn_batches(batches(examples))
        self._model.save(self.path)


class ServedModel:
    """The model of a running server, which keeps what is learned in its journal."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def rank(self, texts: Sequence[str], k: int) -> list[Ranked]:
        found = []
        for some in parts(texts, str):
            answer = self._server.ask("v1/rank", {"text": some, "k": min(k, MOST)})
            found += [
                [(str(one["label"]), one["probability"]) for one in ranking]
                for ranking in answer["rankings"]
            ]
        return found

    def learn(self, examples: Iterable[Labelled]) -> None:
        """Learn each document with its subjects once, so that the same command can be run again."""
        person = self._server.ask("v1/me")["name"]
        for some in parts(examples, lambda example: example[0]):
            asked = []
            for text, labels in some:
                digest = blake2b(
                    json.dumps([person, text, labels]).encode(), digest_size=10
                ).hexdigest()
                asked.append({"text": text, "labels": labels, "key": f"annif-{digest}"})
            self._server.ask("v1/learn", {"examples": asked})


class ShortlistBackend(AnnifLearningBackend):
    """The backend as Annif calls it."""

    name = NAME
    _source: ModelFile | ServedModel | None = None

    @property
    def is_trained(self) -> bool:
        return "server" in self.params or bool(super().is_trained)

    @property
    def modification_time(self) -> datetime | None:
        return None if "server" in self.params else super().modification_time

    def initialize(self, parallel: bool = False) -> None:
        self._opened(self.params)

    def _opened(self, params: dict[str, Any]) -> ModelFile | ServedModel:
        if self._source is None:
            path = Path(self.datadir) / FILE
            if "server" in params:
                token = params.get("token_file")
                self._source = telling(ServedModel)(
                    Server(params["server"], None if token is None else Path(token))
                )
            elif path.exists():
                self._source = telling(ModelFile)(path)
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
            raise NotSupportedException(problem, backend_id=NAME)
        self.info("training")
        telling(train)(Path(self.datadir) / FILE, batches(self._labelled(corpus)), params)
        self._source = None

    def _learn(self, corpus: Any, params: dict[str, Any]) -> None:
        telling(self._opened(params).learn)(self._labelled(corpus))

    def _suggest_batch(self, documents: list[Any], params: dict[str, Any]) -> SuggestionBatch:
        subjects, limit = self.project.subjects, int(params["limit"])
        ranked = telling(self._opened(params).rank)(
            [document.text for document in documents], limit
        )
        suggested = [
            [
                SubjectSuggestion(subject_id=number, score=score)
                for label, score in descending(one)
                if (number := subjects.by_uri(label, warnings=False)) is not None
            ]
            for one in ranked
        ]
        return SuggestionBatch.from_sequence(suggested, subjects, limit=limit)

    def _labelled(self, corpus: Any) -> Iterator[Labelled]:
        """Yield texts with the URIs of their subjects, without documents that have no text or
        no subjects.
        """
        subjects = self.project.subjects
        for document in corpus.documents:
            labels = [subjects[number].uri for number in sorted(document.subject_set)]
            if labels and document.text.strip():
                yield document.text, labels


def train(path: Path, corpus: Iterable[Batch], params: dict[str, Any]) -> None:
    """Train a new model, with the learner and the bound on memory of the project."""
    model = TrainingSettings(
        learner=params.get("learner"), max_memory=params.get("max_memory")
    ).model(of_texts=True)
    assert isinstance(model, Categorizer)
    model.fit_batches(corpus).save(path)


def batches(examples: Iterable[Labelled]) -> Iterator[Batch]:
    for some in parts(examples, lambda example: example[0]):
        yield [text for text, _ in some], [labels for _, labels in some]


def telling(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function, which raises our errors as Annif's."""

    def done(*arguments: Any, **named: Any) -> Any:
        try:
            return work(*arguments, **named)
        except ShortlistError as problem:
            raise OperationFailedException(str(problem), backend_id=NAME) from None

    return done


def register() -> None:
    """Make the project type known to Annif."""
    table = getattr(annif.backend, "_backend_fns", None)
    if not isinstance(table, dict):
        raise InputError(
            f"this version of Annif keeps its backends elsewhere; {installing('annif')}"
        )
    table[NAME] = lambda: ShortlistBackend


def run(arguments: list[str]) -> None:
    """Run Annif's command line with this project type."""
    from annif.cli import cli

    register()
    cli(args=arguments, prog_name="shortlist annif")


def create_app() -> object:
    """Return Annif's web application with this project type."""
    register()
    return annif.create_app()
