"""shortlist rank, explain, and how answers are printed."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from typer import Exit, Option

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import (
    Clustering,
    FilesOrInput,
    Jobs,
    Json,
    ModelFile,
    Reading,
    label_called,
    named_values,
    reads,
)
from shortlist.cli.terminal import (
    lines_of,
    print_json,
    print_table,
    progress,
    say,
    say_when_compiling,
    warnings_as_sentences,
)
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.inputs import Examples, Stream
    from shortlist.label_vocabulary import LabelVocabulary
    from shortlist.models.model import Answers, Model

PAUSED = 3  # exit code
FILE_NAME_LETTERS = 80  # of a wrong file name in an error


@reads
def rank(
    *,
    model_file: ModelFile,
    data: FilesOrInput = None,
    text: Annotated[str | None, Option(help="Rank this one text.", show_default=False)] = None,
    k: Annotated[int, Option("--top", "-k", help="How many labels for each text.")] = 5,
    assign: Annotated[
        bool,
        Option("--assign", help="Assign labels instead of ranking them; a text may get none."),
    ] = False,
    precision: Annotated[
        float | None,
        Option(
            help=(
                "Assign labels with this target precision, such as 0.95; a text without a certain "
                "label gets none."
            )
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        Option(
            help=(
                "List as many labels as it takes to include all true ones for this share of texts, "
                "such as 0.95."
            )
        ),
    ] = None,
    min_probability: Annotated[
        float | None,
        Option(help="Show only labels that are at least this likely to be right."),
    ] = None,
    only: Annotated[list[str] | None, Option(help="Rank only this label; can be repeated.")] = None,
    but: Annotated[
        list[str] | None, Option(help="Rank all labels but this; can be repeated.")
    ] = None,
    below: Annotated[
        list[str] | None,
        Option(help="Rank this label and those below it in the vocabulary; can be repeated."),
    ] = None,
    at_most: Annotated[
        list[str] | None,
        Option(help="LABEL=N: at most N of LABEL and the labels below it; can be repeated."),
    ] = None,
    tame: Annotated[
        float,
        Option(
            help=(
                "Lower the scores of frequent labels by the factor (mean / examples) to this "
                "power, such as 0.05."
            )
        ),
    ] = 0.0,
    with_text: Annotated[
        bool, Option("--with-text", help="Print each text beside its labels.")
    ] = False,
    as_csv: Annotated[
        bool,
        Option("--csv", help="Print CSV, for spreadsheets; with semicolons if the data have them."),
    ] = False,
    reading: Reading,
    cluster: Clustering,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Rank the labels of texts, or assign labels to them.

    Prints one line for each text: label, score, label, score, …, separated by tabs; with --json an
    object with the lists `labels` and `scores`, and `probabilities` where they are known. Assigned
    labels are printed with probabilities instead of scores. If a text gets no label, its line is
    empty, and with --json `reason` says why. Where the model has a vocabulary, the name of each
    label follows it. With --csv each ranked label has columns of its own; assigned labels share one
    column. With --id-column each line, object or row begins with the name of its example. Any
    number of lines is ranked in constant memory.

    With --precision the exit code is 3 if spot checks have paused it: then no label is assigned.
    """
    from shortlist.models.training_settings import open_model

    say_when_compiling()
    model = open_model(model_file, 1 if cluster.asked else n_jobs)
    apply_rules(model, only, but, below, named_values("--at-most", at_most), tame)
    answers = answering(
        model, k, assign=assign, precision=precision, coverage=coverage, least=min_probability
    )
    names = getattr(model, "vocabulary_", None)
    if as_csv and as_json:
        raise InputError("--csv and --json ask for different things; give one of them")
    if text is not None and (as_csv or with_text):
        raise InputError(
            "--csv and --with-text are for files and standard input; leave them out, or --text"
        )
    paused = why_paused(model, precision)
    if text is not None:
        from shortlist.inputs import Examples

        if answers:
            record = next(next(iter(answers([Examples(texts=[text])]))).records())
        else:
            record = next(model.answer_text(text, k).records())
        show_one(AnswerPrinter(names=names).with_names(record), as_json)
        exit_if_paused(paused)
        return
    sources = data or ["-"]
    if not cluster.asked:
        check_sources(sources, of_texts=model.takes_texts)
    reading.recall(model, sources[0])
    with on_cluster(cluster, reading, sources) as parts:
        if parts:
            if answers:
                raise InputError(
                    "labels are assigned, and lists cut, on one machine; leave out --workers and "
                    "--dask"
                )
            if as_csv or with_text or (reading.id_column and not as_json):
                raise InputError(
                    "--csv, --with-text and names on lines need one machine; leave out --workers, "
                    "--dask"
                )
            sys.stdout.writelines(parts.lines(model, k, as_json))
            return
    stream = reading.open_for(model.task, sources[0], model)
    # they are answered query by query, and name their documents themselves
    if model.task == "documents":
        if as_csv or with_text:
            raise InputError("--csv and --with-text are for labels and ratings, not for documents")
        sys.stdout.writelines(
            lines_of(model.answer_batches(progress(stream, "ranking"), k), as_json)
        )
        return
    is_fixed = not assign and precision is None and coverage is None
    printer = AnswerPrinter(
        ids=reading.id_column is not None,
        texts=with_text,
        most=k if is_fixed else None,
        probabilities=bool(getattr(getattr(model, "confidence_", None), "ready", False)),
        names=names,
    )
    if as_csv:
        printer.form = "csv"
    elif as_json:
        printer.form = "json"
    batches = printer.noted(progress(stream, "ranking"))
    # nothing else holds the answers: where writing fails, the threads that make them end at once
    sys.stdout.writelines(
        printer.lines(answers(batches) if answers else model.answer_batches(batches, k), stream)
    )
    exit_if_paused(paused)


def why_paused(model: Model[Any], precision: float | None) -> str | None:
    """Return why nothing is assigned at this precision; None if spot checks have not paused it."""
    if precision is None:
        return None
    examined = model.examined(precision)
    if not examined.paused:
        return None
    return (
        f"nothing is assigned at {precision:g}, since spot checks showed that fewer labels would "
        f"be right; since then: {examined}"
    )


def exit_if_paused(paused: str | None) -> None:
    if paused is not None:
        say(paused)
        raise Exit(PAUSED)


def check_sources(sources: list[str], *, of_texts: bool) -> None:
    """Refuse sources that do not exist; suggest --text if the model ranks texts."""
    for source in sources:
        if source != "-" and not os.path.exists(source):
            if len(source) > FILE_NAME_LETTERS:
                source = f"{source[:FILE_NAME_LETTERS]}…"
            hint = "; to rank one text, write it behind --text, in quotes" if of_texts else ""
            raise InputError(f"there is no file or folder {source}{hint}")


def apply_rules(
    model: Model[Any],
    only: list[str] | None,
    but: list[str] | None,
    below: list[str] | None,
    at_most: dict[str, Any],
    tame: float,
) -> None:
    """Add the rules of the options to those of the model."""
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.rules import Rules

    if not Rules(only=only, but=but or (), below=below, at_most=at_most, tame=tame):
        return
    if not isinstance(model, Categorizer):
        raise InputError(
            "--only, --but, --below, --at-most and --tame are for models of texts with labels"
        )
    labels = {str(label) for label in model.classes_.tolist()}

    def called(names: list[str] | None) -> list[str] | None:
        return None if names is None else [str(label_called(model, name)) for name in names]

    only, but, below = called(only), called(but), called(below)
    at_most = {str(label_called(model, name)): n for name, n in at_most.items()}
    for name in (*(only or ()), *(but or ()), *(below or ()), *at_most):
        if name not in labels and name not in (model.vocabulary_ or ()):
            raise InputError(
                f"a rule names {name!r}, which is neither a label of the model nor a name of one; "
                "shortlist labels MODEL-FILE list PART finds them"
            )
    rules = Rules(only=only, but=but or (), below=below, at_most=at_most, tame=tame)
    if model.rules_ is not None:
        rules = model.rules_.with_more(rules)
    model.set_rules(rules)


def answering(
    model: Model[Any],
    k: int,
    *,
    assign: bool,
    precision: float | None,
    coverage: float | None,
    least: float | None,
) -> Callable[[Iterable[Examples]], Iterator[Answers]] | None:
    """Return what answers the batches if the options ask for more than rankings; None otherwise."""
    from shortlist.data.validation import as_real
    from shortlist.models.category_model import CategoryModel

    options = {"--coverage": coverage, "--min-probability": least, "--precision": precision}
    chosen = [name for name, value in options.items() if value is not None]
    if assign and precision is None:
        chosen.append("--assign")
    if not chosen:
        return None
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)} ask for different things; give one of them")
    if not isinstance(model, CategoryModel):
        raise InputError(f"{chosen[0]} is for models that rank labels")
    if not model.confidence_.ready:
        say("the model has not seen enough examples for probabilities; teach it more of them")
    if coverage is not None:
        share = as_real(coverage, "--coverage", least=0, most=1)
        with warnings_as_sentences():
            model.warn_of_broken_promise(share)
        return lambda batches: model.shortlist_batches(batches, share)
    if least is not None:
        probability = as_real(least, "--min-probability", least=0, most=1)
        return lambda batches: model.likely_batches(batches, k, probability)
    target = model.aim(precision)
    return lambda batches: model.assign_batches(batches, target)


# The columns of a table of labels, and where a record has their values.
LABEL_COLUMNS = {
    "label": "labels",
    "name": "names",
    "score": "scores",
    "probability": "probabilities",
}


def show_one(record: dict[str, Any], as_json: bool) -> None:
    """Print the answer to one text."""
    if as_json:
        print_json(record)
        return
    if "labels" not in record:
        print_table("", list(record), [record.values()])
        return
    columns = [name for name, key in LABEL_COLUMNS.items() if key in record]
    rows = zip(*(record[LABEL_COLUMNS[name]] for name in columns), strict=True)
    print_table(record.get("reason", ""), columns, rows)


def explain(
    model_file: ModelFile,
    text: Annotated[str, Option(help="The text to explain.", show_default=False)],
    label: Annotated[
        str | None, Option(help="The label to explain; the best one if not given.")
    ] = None,
    top: Annotated[
        int, Option("--top", "-n", min=0, help="How many votes to show; 0 for all.")
    ] = 10,
    as_json: Json = False,
) -> None:
    """Show why a text gets a label: the votes of its words, which sum to the label's score.

    A text of several sentences also shows those that speak most for the label.
    """
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.training_settings import open_model

    say_when_compiling()
    model = open_model(model_file)
    if label is not None and isinstance(model, Categorizer):
        label = str(label_called(model, label))
    explanation = model.explain_text(text, label)
    votes = list(explanation.votes)
    n_shown = top or len(votes)
    rest = votes[n_shown:]
    votes = votes[:n_shown]
    name = model.name_of(explanation.label)
    if as_json:
        record: dict[str, Any] = {"label": explanation.label, "name": name}
        if getattr(model, "vocabulary_", None) is None:
            del record["name"]
        passages = [
            passage._asdict() | {"text": explanation.characters(passage)}
            for passage in explanation.passages
        ]
        record |= {"score": explanation.score, "votes": votes, "passages": passages}
        if explanation.encoded is not None:
            record["encoded"] = explanation.encoded
        if explanation.struck:
            record["struck"] = [word._asdict() for word in explanation.struck]
        print_json(record)
        return
    if rest:
        votes.append((f"{len(rest)} others", sum(vote for _, vote in rest)))
    title = name
    if name != str(explanation.label):
        title = f"{name} ({explanation.label})"
    print_table(f"{title}: {explanation.score:.4f}", ["word", "vote"], votes)
    if explanation.encoded is not None:
        whole = len("\n".join(explanation.texts))
        print(f"The encoder read the first {explanation.encoded:,} of {whole:,} characters.")
    for struck in explanation.struck:
        by = f" by {struck.person}" if struck.person else ""
        print(f"{struck.word}: struck out{by}")
    if len(explanation.passages) > 1:
        best = sorted(explanation.passages, key=lambda passage: -passage.vote)[:PASSAGES_SHOWN]
        rows = [
            (" ".join(explanation.characters(passage).split()), passage.vote) for passage in best
        ]
        print_table(f"{len(explanation.passages)} sentences", ["sentence", "vote"], rows)


PASSAGES_SHOWN = 3
BETWEEN_LABELS = "; "  # in one cell


@dataclass
class AnswerPrinter:
    """Prints answers. ``most``: how many labels each has, if that is fixed: then CSV has
    columns for each.
    """

    form: str = "lines"
    ids: bool = False
    texts: bool = False
    most: int | None = None
    probabilities: bool = False
    names: LabelVocabulary | None = None
    _separator: str = ","
    _waiting: deque[Examples] = field(default_factory=deque)

    def noted(self, batches: Iterable[Examples]) -> Iterator[Examples]:
        """Yield the same batches, and keep them until their answers are printed."""
        for batch in batches:
            self._waiting.append(batch)
            yield batch

    def lines(self, answers: Iterable[Answers], stream: Stream | None = None) -> Iterator[str]:
        """Yield the lines of the answers to the noted batches."""
        if self.form == "csv":
            yield from self._csv_lines(answers, stream)
            return
        for batch in answers:
            inputs = self._inputs(self._waiting.popleft())
            if self.form == "json":
                for columns, record in zip(inputs, batch.records(), strict=True):
                    line = json.dumps(columns | self.with_names(record), ensure_ascii=False)
                    yield f"{line}\n"
                continue
            lines = batch.lines()
            if self.names is not None:
                lines = (named_line(self.with_names(record)) for record in batch.records())
            for columns, line in zip(inputs, lines, strict=True):
                cells = [" ".join(value.split()) for value in columns.values()]
                yield "\t".join([*cells, line]) + "\n"

    def _csv_lines(self, answers: Iterable[Answers], stream: Stream | None) -> Iterator[str]:
        header: list[str] | None = None
        for batch in answers:
            inputs = self._inputs(self._waiting.popleft())
            for columns, record in zip(inputs, batch.records(), strict=True):
                if header is None and stream is not None:
                    self._separator = stream.progress.separator or ","
                cells = self._cells(columns | self.with_names(record))
                if header is None:
                    header = list(cells)
                    yield self._row(header)
                yield self._row(cells.get(name) for name in header)

    def _inputs(self, batch: Examples) -> Iterator[dict[str, str]]:
        """Yield the id and the text that are printed with each answer."""
        has_ids = batch.ids is not None and (self.ids or self.form == "csv")
        for n in range(len(batch)):
            columns = {}
            if batch.ids is not None and has_ids:
                columns["id"] = batch.ids[n]
            if batch.texts is not None and self.texts:
                columns["text"] = as_one_cell(batch.texts[n])
            yield columns

    def with_names(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the answer with the names of its labels behind the labels."""
        if self.names is None or "labels" not in record:
            return record
        first = {name: record[name] for name in ("id", "labels") if name in record}
        names = [self.names.name(label) for label in record["labels"]]
        return first | {"names": names} | record

    def _cells(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the cells of a row by the names of their columns."""
        if "labels" not in record:
            return record
        cells = {name: value for name, value in record.items() if not isinstance(value, list)}
        if self.most is None:
            if "names" in record:
                cells["names"] = BETWEEN_LABELS.join(record["names"])
            cells["labels"] = BETWEEN_LABELS.join(map(str, record["labels"]))
            probabilities = map(self._number, record.get("probabilities", ()))
            cells["probabilities"] = BETWEEN_LABELS.join(probabilities)
            return {"reason": None} | cells
        left_out = {"probability": not self.probabilities, "name": self.names is None}
        for n in range(self.most):
            for name, key in LABEL_COLUMNS.items():
                if not left_out.get(name):
                    values = record.get(key, ())
                    cells[f"{name} {n + 1}"] = values[n] if n < len(values) else None
        return cells

    def _row(self, cells: Iterable[Any]) -> str:
        from shortlist.inputs.tables import as_line, guarded

        row = []
        for n, cell in enumerate(cells):
            if isinstance(cell, str):
                cell = guarded(cell, is_first=n == 0)
            elif isinstance(cell, float):
                cell = self._number(cell)
            row.append(cell)
        return as_line(row, self._separator)

    def _number(self, number: float) -> str:
        """Return a number as text, with a decimal comma if semicolons separate cells."""
        text = f"{number:.6g}"
        return text.replace(".", ",") if self._separator == ";" else text


def named_line(record: dict[str, Any]) -> str:
    """Return label, name and score or probability, one after the other, between tabs."""
    numbers = record.get("scores", record.get("probabilities", ()))
    cells = []
    for label, name, number in zip(record["labels"], record["names"], numbers, strict=True):
        cells += [" ".join(str(label).split()), " ".join(name.split()), f"{number:.6g}"]
    return "\t".join(cells)


def as_one_cell(text: Any) -> str:
    """Return a text, or the fields of a document, as one cell."""
    if isinstance(text, str):
        return text
    return "\n".join(value for value in text.values() if isinstance(value, str))
