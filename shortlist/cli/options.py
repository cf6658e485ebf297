"""Options that several commands share."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from inspect import Signature, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.errors import InputError
from shortlist.models.named_values import named_values as named_values

if TYPE_CHECKING:
    from shortlist.inputs import Stream
    from shortlist.label_vocabulary import LabelVocabulary
    from shortlist.models.encoding import Encoder
    from shortlist.models.model import Model


ModelFile = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
Data = Annotated[str, typer.Argument(help="A file or folder of examples; - for standard input.")]
SOME = "A file or folder of examples, or - for standard input; on a cluster, any number of files."
FilesOrNone = Annotated[list[str] | None, typer.Argument(help=SOME, show_default=False)]
FilesOrInput = Annotated[list[str] | None, typer.Argument(help=SOME, show_default="-")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Jobs = Annotated[
    int, typer.Option(help="Threads to use; the result does not depend on it. -1 for all cores.")
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="The model file to write.", show_default=False)
]
ServerAddress = Annotated[str, typer.Option("--server", help="The address of a running server.")]
TokenFile = Annotated[
    Path | None, typer.Option(help="A file with its token; or set SHORTLIST_TOKEN.")
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        help="The most memory to use, such as 2GB: when it is full, the rarest words and weakest "
        "links to labels are "
        "dropped. The model keeps to it whenever it learns.",
        show_default=False,
    ),
]

Settable = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A setting, NAME=VALUE, or text.NAME=VALUE for the text; can be repeated."
    ),
]
# Written down here too, so that help does not load the learners; a test compares the lists.
LEARNERS = {
    "categories": (
        "tuned-index",
        "feature-focus",
        "feature-focus-paper",
        "frequency",
        "independent",
        "mmp",
        "mmp1",
        "mmp2",
        "mmp3",
        "rocchio",
        "topic-perceptron",
    ),
    "ratings": ("prank", "widrow-hoff"),
    "documents": ("map", "mrr", "ndcg", "roc"),
}
MEASURES = (
    "R1, R5, MRR, P@5, recall@5, nDCG@5, AP, micro-F1, macro-F1; MAE, exact, within@1; MAP, ROC"
)
NAMED = "; ".join(f"for {task} {', '.join(names)}" for task, names in LEARNERS.items())


def complete_learner(incomplete: str) -> list[str]:
    """Return the names of learners that begin so, for completion in the shell."""
    return sorted(
        name for names in LEARNERS.values() for name in names if name.startswith(incomplete)
    )


def check_output(target: Path) -> None:
    """Refuse a model file that cannot be written, before anything is learned."""
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise InputError(f"cannot write {target}: there is no folder {folder}; make it first")
    if target.is_dir():
        raise InputError(f"cannot write {target}: it is a folder; name a file in it")
    if not os.access(folder, os.W_OK):
        raise InputError(
            f"cannot write {target}: you may not write to the folder {folder}; name another one"
        )


TABLES = ("csv", "tsv", "numbers")  # tables that may hold rows of numbers
OF_TEXTS = ("json-lines", "json", "parquet")  # tables of texts

# Options of reading in general, which --option refuses, and what to use instead.
NOT_OF_A_FORMAT = {
    "source": "the argument that names the data",
    "addresses": "the argument that names the data",
    "format": "--format",
    "text": "--text-column",
    "labels": "--label-column",
    "label_separator": "--label-separator",
    "one_hot": "--one-hot-column",
    "wrong": "--wrong-column",
    "features": "--feature-column",
    "vector": "--vector-column",
    "encoding": "--encoding",
    "skip_bad": "--skip-bad",
    "part_size": "--part-size",
    "prefer": "--text-column and --feature-column",
}


# Options whose columns a model file keeps, and options that replace the kept columns of labels.
REMEMBERED = ("text_column", "label_column", "one_hot_column", "wrong_column", "label_separator")
LABELS = {"label_column", "one_hot_column"}
OTHER_LABELS = ("label_column", "one_hot_column", "target")


@dataclass
class Reading:
    """The options of every command that reads examples."""

    format: Annotated[
        str | None, typer.Option(help="The format of the data; recognised if not given.")
    ] = None
    text_column: Annotated[
        list[str] | None,
        typer.Option(
            help="The column or field that holds the text; can be repeated: each is a field of it.",
            show_default="text",
        ),
    ] = None
    label_column: Annotated[
        list[str] | None,
        typer.Option(
            help="The column that holds the labels; can be repeated; tag_* stands for several.",
            show_default="labels",
        ),
    ] = None
    one_hot_column: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A column named after a label, with yes or no; can be repeated; tag_* stands for "
                "several."
            )
        ),
    ] = None
    wrong_column: Annotated[
        str | None,
        typer.Option(
            help="The column that holds labels that were crossed out.", show_default="wrong"
        ),
    ] = None
    feature_column: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A column of categories or numbers that belongs to the text; can be repeated; * "
                "as above."
            )
        ),
    ] = None
    vector_column: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A column of vectors, lists of numbers; or columns of numbers, with a star, such "
                "as embedding_*."
            )
        ),
    ] = None
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="A .npy file with a vector for each text, as numpy.save writes a matrix."
        ),
    ] = None
    id_column: Annotated[
        str | None, typer.Option(help="The column that holds a name for each example.")
    ] = None
    label_separator: Annotated[
        str | None, typer.Option(help="What separates the labels in one column.")
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            help="The column that holds the rating to learn, or the label of a row of numbers."
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(help="The encoding of the text, if not the format's own.")
    ] = None
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the format, NAME=VALUE; can be repeated.")
    ] = None
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out bad records, count them, and say so.")
    ] = False

    def open(
        self,
        source: str,
        format: str | None = None,
        prefer: dict[str, Any] | None = None,
        **more: str | None,
    ) -> Stream:
        """Open a data argument, in the format that the user or the task has chosen."""
        from shortlist.inputs import read

        options = self.columns() | more | self.options()
        stream = read(
            source,
            format or self.format,
            encoding=self.encoding,
            skip_bad=self.skip_bad,
            prefer=prefer,
            **options,
        )
        if self.vectors is not None and self.vector_column is not None:
            raise InputError("--vectors and --vector-column both give vectors; give one of them")
        return stream if self.vectors is None else stream.with_vectors(self.vectors)

    @property
    def has_vectors(self) -> bool:
        """Whether texts have vectors."""
        return self.vectors is not None or self.vector_column is not None

    def columns(self) -> dict[str, Any]:
        """Return the arguments of ``read`` that name columns."""
        given = {
            "text": _one_or_all(self.text_column),
            "labels": _one_or_all(self.label_column),
            "one_hot": _one_or_all(self.one_hot_column),
            "wrong": self.wrong_column,
            "features": _one_or_all(self.feature_column),
            "vector": _one_or_all(self.vector_column),
            "id": self.id_column,
            "label_separator": self.label_separator,
        }
        return {name: value for name, value in given.items() if value is not None}

    def to_remember(self) -> dict[str, Any]:
        """Return the named columns for the model file, but not several columns of text, which
        the model knows.
        """
        named = {name: value for name in REMEMBERED if (value := getattr(self, name)) is not None}
        if len(self.text_column or ()) > 1:
            del named["text_column"]
        return named

    def recall(self, model: Model[Any], source: str) -> None:
        """Use the columns that the model was trained from, unless they are named or the source does
        not have them.

        A named column of labels replaces all remembered ones.
        """
        known = getattr(model, "training_columns_", None) or {}
        known = {
            name: value
            for name, value in known.items()
            if name in REMEMBERED and getattr(self, name) is None
        }
        if any(getattr(self, name) is not None for name in OTHER_LABELS):
            known = {name: value for name, value in known.items() if name == "text_column"}
        right = {name: value for name, value in known.items() if name != "wrong_column"}
        text = {name: value for name, value in known.items() if name == "text_column"}
        # a file may have no crossed-out labels, or no labels at all
        for some in (known, right, text):
            labelled = not LABELS.isdisjoint(some)
            if some and replace(self, **some).finds_examples(source, model.fields_, labelled):
                vars(self).update(some)
                return

    def finds_examples(self, source: str, fields: list[str] | None, labelled: bool = False) -> bool:
        """Whether the beginning of a source can be read with these options; pipes are not tried.

        ``fields``: the text fields of the model, if it has several. ``labelled``: the examples must
        have labels.
        """
        tried = replace(self, vectors=None, skip_bad=True)
        prefer: dict[str, Any] = {} if fields is None or self.text_column else {"text": fields}
        try:
            can_be_read_twice = os.path.isfile(source) or os.path.isdir(source)
            return can_be_read_twice and tried.open(source, prefer=prefer).begins(labelled)
        except InputError:
            return False

    def open_for(self, task: str, source: str, model: Model[Any] | None = None) -> Stream:
        """Open a data argument for a task, or for a model and the fields that it has learned from.

        For ratings, a table is read as numbers unless a text column is named. For labels, it is
        read as texts, unless there is a --target or the model has learned rows.
        """
        from shortlist.inputs import sniff

        if model is not None:
            self.recall(model, source)
        of_texts = model is not None and model.takes_texts
        learned: dict[str, Any] = {}
        if model is not None and model.fields_ is not None:
            learned |= {} if self.text_column else {"text": model.fields_}
            learned |= (
                {}
                if self.feature_column or not model.extra_fields_
                else {"known_features": model.extra_fields_}
            )
        if self.has_vectors and task != "categories":
            raise InputError(
                f"--vectors and --vector-column are for labels of texts, not for {task}"
            )
        if task == "documents":
            return self.open(source)
        named: dict[str, Any] = {} if self.target is None else {"labels": self.target}
        if task == "categories" and (
            of_texts or self.text_column or (model is None and self.target is None)
        ):
            return self.open(source, None, prefer=learned, **named)
        found = self.format or (None if source == "-" else sniff(source))
        if task == "ratings" and (of_texts or self.text_column or found in OF_TEXTS):
            return self.open(source, None, prefer=learned | {"fractions": True}, **named)
        if found in TABLES or (found is None and (task == "ratings" or self.target is not None)):
            return self.open(
                source,
                format="numbers",
                target=self.target,
                separator="\t" if found == "tsv" else None,
            )
        if task == "categories" and self.target is not None:
            raise InputError(
                f"--target is for tables of numbers (csv, tsv), not for {found}; name "
                "--label-column instead"
            )
        if task == "categories" or found == "svmlight":
            return self.open(source)
        raise InputError(
            f"ratings are learned from tables of numbers (csv, tsv) or svmlight, not from {found}; "
            "to learn them from "
            "texts, name the column of the texts with --text-column"
        )

    def options(self) -> dict[str, Any]:
        """Return the options of the format; refuse those of reading in general."""
        options = named_values("--option", self.option)
        for name in options:
            if name in NOT_OF_A_FORMAT:
                raise InputError(
                    f"--option {name}=… is not an option of a format; use {NOT_OF_A_FORMAT[name]}"
                )
        return options


@dataclass
class Clustering:
    """The options of the commands that can run on a cluster."""

    workers: Annotated[
        int | None,
        typer.Option(help="Work on parts of the data in so many processes of this machine."),
    ] = None
    dask: Annotated[
        str | None, typer.Option(help="Work on the Dask cluster at this address, tcp://HOST:PORT.")
    ] = None
    part_size: Annotated[
        float | None, typer.Option(help="The size of a part in megabytes; 32 if not given.")
    ] = None
    keep: Annotated[
        Path | None,
        typer.Option(
            help=(
                "A folder for finished parts; after a failure, run the same command again to "
                "continue."
            )
        ),
    ] = None

    @property
    def asked(self) -> bool:
        """Whether a cluster is asked for."""
        return self.workers is not None or self.dask is not None


def _one_or_all(columns: list[str] | None) -> str | list[str] | None:
    return columns[0] if columns is not None and len(columns) == 1 else columns


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of Reading and of Clustering, each group as one argument."""
    parameters = signature(command, eval_str=True).parameters.values()
    together: dict[str, Any] = {
        one.name: one.annotation for one in parameters if is_dataclass(one.annotation)
    }
    shared = {
        name: list(signature(kind, eval_str=True).parameters.values())
        for name, kind in together.items()
    }

    def run(**arguments: Any) -> None:
        for name, kind in together.items():
            arguments[name] = kind(**{one.name: arguments.pop(one.name) for one in shared[name]})
        command(**arguments)

    own = [one for one in parameters if one.name not in together]
    every = [
        one.replace(kind=one.KEYWORD_ONLY) for one in (*own, *chain.from_iterable(shared.values()))
    ]
    run.__signature__ = Signature(every)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in every}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


# Options that give labels names.

Vocabulary = Annotated[
    Path | None,
    typer.Option(
        help="A file of what labels are called: TSV of label and name, JSON, or SKOS.",
        show_default=False,
    ),
]
Language = Annotated[
    str | None, typer.Option(help="The language of the names in a SKOS file, such as en.")
]
Policy = Annotated[
    str,
    typer.Option(
        help="Whether labels outside the vocabulary are learned: grow (yes) or known (no)."
    ),
]

Teach = Annotated[
    int,
    typer.Option(
        min=0,
        help=(
            "Also learn from the names of labels with at most this many examples; 5 is a good "
            "number."
        ),
    ),
]


def read_names(
    vocabulary: Path | None, language: str | None, policy: str, teach: int = 0
) -> LabelVocabulary | None:
    """Read the vocabulary that the options name."""
    if vocabulary is None:
        if language is not None or policy != "grow" or teach:
            raise InputError(
                "--language, --policy and --teach need a vocabulary; name its file with "
                "--vocabulary"
            )
        return None
    from shortlist.label_vocabulary import read_vocabulary

    if policy not in ("grow", "known"):
        raise InputError(f"--policy must be grow or known, not {policy!r}")
    return read_vocabulary(vocabulary, language, policy, teach)  # type: ignore[arg-type]


def with_names(model: Model[Any], names: LabelVocabulary | None) -> Model[Any]:
    """Give the model the vocabulary, if there is one; return the model."""
    from shortlist.models.categorizer import Categorizer

    if names is not None:
        if not isinstance(model, Categorizer):
            raise InputError("--vocabulary names the labels of texts; this model has others")
        model.set_vocabulary(names)
    return model


# --encoder: what makes vectors of texts.

STATIC = ":static"  # behind the name of an encoder: its table of tokens
ENDPOINT_PREFIX = "endpoint:"  # before the name of the model of an endpoint

EncoderModel = Annotated[
    str | None,
    typer.Option(
        help="The model of an endpoint, where --encoder is its address.", show_default=False
    ),
]


def encoder_name(named: str, model: str | None) -> str:
    """Return the name of an encoder. The address of an endpoint is put where all that is loaded
    later looks for it, as no model file has it.
    """
    is_address = named.startswith(("http://", "https://"))
    if model is not None and not is_address:
        raise InputError(
            "--encoder-model names the model of an endpoint; give its address with --encoder "
            "http://HOST:PORT/v1"
        )
    if not is_address:
        return named
    if model is None:
        raise InputError(f"the endpoint {named} needs the name of its model: --encoder-model NAME")
    os.environ["SHORTLIST_ENDPOINT"] = named
    return ENDPOINT_PREFIX + model


def find_encoder(named: str, model: str | None = None) -> Encoder:
    """Return the encoder of a name or folder, or the function of MODULE:FUNCTION."""
    from shortlist.encoders.libraries import library_of
    from shortlist.models.encoding import failure, loaded

    named = encoder_name(named, model)
    module, colon, function = named.partition(":")
    if named.startswith(ENDPOINT_PREFIX):
        return named  # it is asked when it is needed
    is_name = not colon or named.endswith(STATIC)
    if is_name or library_of(named) is not None or os.path.exists(named):
        loaded(named)  # raises an error if something is missing
        return named
    if not module or not function:
        raise InputError(f"--encoder must be a name, a folder or MODULE:FUNCTION, not {named!r}")
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as problem:  # a module may raise anything
        said = (
            f"cannot import {module}: {failure(problem)}; mend it, or name another MODULE:FUNCTION"
        )
        if isinstance(problem, ModuleNotFoundError) and module.startswith(str(problem.name)):
            said = f"there is no module {problem.name} here or among what is installed; install it"
        raise InputError(f"--encoder: {said}") from None
    finally:
        sys.path.remove(os.getcwd())
    for name in function.split("."):
        if not hasattr(found, name):
            raise InputError(
                f"--encoder: the module {module} has no {function}; name a function that it has"
            )
        found = getattr(found, name)
    if not callable(found):
        kind = type(found).__name__
        raise InputError(
            f"--encoder: {function} in {module} is not a function but of the type {kind}; name one "
            "that turns a list "
            "of texts into a matrix with a row for each"
        )
    encoder: Encoder = found
    return encoder
