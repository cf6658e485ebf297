"""Options that several commands share."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from inspect import Parameter, Signature, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, Option

from shortlist.errors import InputError
from shortlist.models.named_values import named_values as named_values

if TYPE_CHECKING:
    from shortlist.inputs import Stream
    from shortlist.label_vocabulary import LabelVocabulary
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.encoding import Encoder
    from shortlist.models.model import Model


ModelFile = Annotated[Path, Argument(help="A model file.", show_default=False)]
Data = Annotated[str, Argument(help="A file or folder of examples; - for standard input.")]
FILES_HELP = (
    "A file or folder of examples, or - for standard input; on a cluster, any number of files."
)
FilesOrNone = Annotated[list[str] | None, Argument(help=FILES_HELP, show_default=False)]
FilesOrInput = Annotated[list[str] | None, Argument(help=FILES_HELP, show_default="-")]
Json = Annotated[bool, Option("--json", help="Print JSON, for machines.")]
Jobs = Annotated[
    int, Option(help="Threads to use; the result does not depend on it. -1 for all cores.")
]
OutputFile = Annotated[
    Path | None, Option("--output", "-o", help="The model file to write.", show_default=False)
]
ServerAddress = Annotated[str, Option("--server", help="The address of a running server.")]
TokenFile = Annotated[Path | None, Option(help="A file with its token; or set SHORTLIST_TOKEN.")]
MaxMemory = Annotated[
    str | None,
    Option(
        help="The most memory to use, such as 2GB: when it is full, the rarest words and weakest "
        "links to labels are dropped. The model keeps to it whenever it learns.",
        show_default=False,
    ),
]

Settable = Annotated[
    list[str] | None,
    Option(
        "--set", help="A setting, NAME=VALUE, or text.NAME=VALUE for the text; can be repeated."
    ),
]
# Written down here too, so that help does not load the learners; a test compares the lists.
LEARNER_NAMES = {
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
KNOWN_MEASURES = (
    "R1, R5, MRR, P@5, recall@5, nDCG@5, AP, micro-F1, macro-F1; MAE, exact, within@1; MAP, ROC"
)
LEARNERS_IN_WORDS = "; ".join(
    f"for {task} {', '.join(names)}" for task, names in LEARNER_NAMES.items()
)


def complete_learner(incomplete: str) -> list[str]:
    """Return the names of learners that begin so, for completion in the shell."""
    names = chain.from_iterable(LEARNER_NAMES.values())
    return sorted(name for name in names if name.startswith(incomplete))


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


NUMBER_FORMATS = ("csv", "tsv", "spreadsheet", "numbers")  # tables that may hold rows of numbers
TEXT_FORMATS = ("json-lines", "json", "parquet")  # tables of texts

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
REMEMBERED_OPTIONS = (
    "text_column",
    "label_column",
    "one_hot_column",
    "wrong_column",
    "label_separator",
)
LABEL_OPTIONS = {"label_column", "one_hot_column"}
LABELLING_OPTIONS = ("label_column", "one_hot_column", "target")


@dataclass
class Reading:
    """The options of every command that reads examples."""

    format: Annotated[
        str | None, Option(help="The format of the data; recognised if not given.")
    ] = None
    text_column: Annotated[
        list[str] | None,
        Option(
            help="The column or field that holds the text; can be repeated: each is a field of it.",
            show_default="text",
        ),
    ] = None
    label_column: Annotated[
        list[str] | None,
        Option(
            help="The column that holds the labels; can be repeated; tag_* stands for several.",
            show_default="labels",
        ),
    ] = None
    one_hot_column: Annotated[
        list[str] | None,
        Option(
            help=(
                "A column named after a label, with yes or no; can be repeated; tag_* stands for "
                "several."
            )
        ),
    ] = None
    wrong_column: Annotated[
        str | None,
        Option(help="The column that holds labels that were crossed out.", show_default="wrong"),
    ] = None
    feature_column: Annotated[
        list[str] | None,
        Option(
            help=(
                "A column of categories or numbers that belongs to the text; can be repeated; * "
                "as above."
            )
        ),
    ] = None
    vector_column: Annotated[
        list[str] | None,
        Option(
            help=(
                "A column of vectors, lists of numbers; or columns of numbers, with a star, such "
                "as embedding_*."
            )
        ),
    ] = None
    vectors: Annotated[
        Path | None,
        Option(help="A .npy file with a vector for each text, as numpy.save writes a matrix."),
    ] = None
    id_column: Annotated[
        str | None, Option(help="The column that holds a name for each example.")
    ] = None
    label_separator: Annotated[
        str | None, Option(help="What separates the labels in one column.")
    ] = None
    target: Annotated[
        str | None,
        Option(help="The column that holds the rating to learn, or the label of a row of numbers."),
    ] = None
    encoding: Annotated[
        str | None, Option(help="The encoding of the text, if not the format's own.")
    ] = None
    option: Annotated[
        list[str] | None, Option(help="An option of the format, NAME=VALUE; can be repeated.")
    ] = None
    skip_bad: Annotated[
        bool, Option("--skip-bad", help="Leave out bad records, count them, and say so.")
    ] = False

    def open(
        self,
        source: str,
        format: str | None = None,
        prefer: dict[str, Any] | None = None,
        **more: str | list[str] | None,
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
        columns = {
            "text": _one_or_all(self.text_column),
            "labels": _one_or_all(self.label_column),
            "one_hot": _one_or_all(self.one_hot_column),
            "wrong": self.wrong_column,
            "features": _one_or_all(self.feature_column),
            "vector": _one_or_all(self.vector_column),
            "id": self.id_column,
            "label_separator": self.label_separator,
        }
        return {name: value for name, value in columns.items() if value is not None}

    def to_remember(self) -> dict[str, Any]:
        """Return the named columns for the model file, but not several columns of text, which
        the model knows.
        """
        columns = {name: getattr(self, name) for name in REMEMBERED_OPTIONS}
        if len(self.text_column or ()) > 1:
            del columns["text_column"]
        return {name: value for name, value in columns.items() if value is not None}

    def recall(self, model: Model[Any], source: str) -> None:
        """Use the columns that the model was trained from, unless they are named or the source does
        not have them.

        A named column of labels replaces all remembered ones.
        """
        columns = {
            name: value
            for name, value in (getattr(model, "training_columns_", None) or {}).items()
            if name in REMEMBERED_OPTIONS and getattr(self, name) is None
        }
        text = {name: value for name, value in columns.items() if name == "text_column"}
        if any(getattr(self, name) is not None for name in LABELLING_OPTIONS):
            columns = text
        right = {name: value for name, value in columns.items() if name != "wrong_column"}
        # a file may have no crossed-out labels, or no labels at all
        for options in (columns, right, text):
            labelled = not LABEL_OPTIONS.isdisjoint(options)
            if options and replace(self, **options).finds_examples(source, model.fields_, labelled):
                vars(self).update(options)
                return

    def finds_examples(self, source: str, fields: list[str] | None, labelled: bool = False) -> bool:
        """Whether the beginning of a source can be read with these options; pipes are not tried.

        ``fields``: the text fields of the model, if it has several. ``labelled``: the examples must
        have labels.
        """
        if not (os.path.isfile(source) or os.path.isdir(source)):
            return False
        options = replace(self, vectors=None, skip_bad=True)
        prefer = None if fields is None or self.text_column else {"text": fields}
        try:
            return options.open(source, prefer=prefer).begins(labelled)
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
            if not self.text_column:
                learned["text"] = model.fields_
            if model.extra_fields_ and not self.feature_column:
                learned["known_features"] = model.extra_fields_
        if self.has_vectors and task != "categories":
            raise InputError(
                f"--vectors and --vector-column are for labels of texts, not for {task}"
            )
        if task == "documents":
            return self.open(source)
        of_texts = of_texts or bool(self.text_column)
        labels = {} if self.target is None else {"labels": self.target}
        if task == "categories" and (of_texts or (model is None and self.target is None)):
            return self.open(source, None, prefer=learned, **labels)
        format = self.format
        if format is None and source != "-":
            format = sniff(source)
        if task == "ratings" and (of_texts or format in TEXT_FORMATS):
            return self.open(source, None, prefer=learned | {"fractions": True}, **labels)
        is_unknown = format is None and (task == "ratings" or self.target is not None)
        if format in NUMBER_FORMATS or is_unknown:
            separator = "\t" if format == "tsv" else None
            return self.open(source, "numbers", target=self.target, separator=separator)
        if task == "categories" and self.target is not None:
            raise InputError(
                f"--target is for tables of numbers (csv, tsv), not for {format}; name "
                "--label-column instead"
            )
        if task == "categories" or format == "svmlight":
            return self.open(source)
        raise InputError(
            f"ratings are learned from tables of numbers (csv, tsv) or svmlight, not from {format};"
            " to learn them from texts, name the column of the texts with --text-column"
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
        Option(help="Work on parts of the data in so many processes of this machine."),
    ] = None
    dask: Annotated[
        str | None, Option(help="Work on the Dask cluster at this address, tcp://HOST:PORT.")
    ] = None
    part_size: Annotated[
        float | None, Option(help="The size of a part in megabytes; 32 if not given.")
    ] = None
    keep: Annotated[
        Path | None,
        Option(
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
    parameters: list[Parameter] = []
    shared: list[Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}  # the dataclass of an argument, and its options
    for parameter in signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            group = cast("type", parameter.annotation)
            options = signature(group, eval_str=True).parameters
            groups[parameter.name] = (group, list(options))
            shared += options.values()
        else:
            parameters.append(parameter)

    def run(**arguments: Any) -> None:
        for name, (group, options) in groups.items():
            arguments[name] = group(**{option: arguments.pop(option) for option in options})
        command(**arguments)

    parameters += shared
    parameters = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__ = command.__name__
    run.__doc__ = command.__doc__
    return run


# Options that give labels names.

VocabularyFile = Annotated[
    Path | None,
    Option(
        help="A file of what labels are called: TSV of label and name, JSON, or SKOS.",
        show_default=False,
    ),
]
Language = Annotated[
    str | None, Option(help="The language of the names in a SKOS file, such as en.")
]
PolicyOption = Annotated[
    str,
    Option(help="Whether labels outside the vocabulary are learned: grow (yes) or known (no)."),
]

Teach = Annotated[
    int,
    Option(
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


def label_called(model: Categorizer, name: str) -> Any:
    """Return the label of a model with this name, or that the vocabulary calls so; or else the
    name.
    """
    labels = {str(label): label for label in model.classes_.tolist()}
    vocabulary = model.vocabulary_
    if vocabulary is not None and name not in labels and name not in vocabulary:
        name = vocabulary.of_name(name) or vocabulary.called(name) or name
    return labels.get(name, name)


# --encoder: what makes vectors of texts.

STATIC_SUFFIX = ":static"  # behind the name of an encoder: its table of tokens
ENDPOINT_PREFIX = "endpoint:"  # before the name of the model of an endpoint

EncoderModel = Annotated[
    str | None,
    Option(help="The model of an endpoint, where --encoder is its address.", show_default=False),
]


def encoder_name(name: str, model: str | None) -> str:
    """Return the name of an encoder. The address of an endpoint is put where all that is loaded
    later looks for it, as no model file has it.
    """
    is_address = name.startswith(("http://", "https://"))
    if model is not None and not is_address:
        raise InputError(
            "--encoder-model names the model of an endpoint; give its address with --encoder "
            "http://HOST:PORT/v1"
        )
    if not is_address:
        return name
    if model is None:
        raise InputError(f"the endpoint {name} needs the name of its model: --encoder-model NAME")
    os.environ["SHORTLIST_ENDPOINT"] = name
    return ENDPOINT_PREFIX + model


def find_encoder(name: str, model: str | None = None) -> Encoder:
    """Return the encoder of a name or folder, or the function of MODULE:FUNCTION."""
    from shortlist.encoders.libraries import library_of
    from shortlist.models.encoding import failure, loaded

    name = encoder_name(name, model)
    module, colon, function = name.partition(":")
    if name.startswith(ENDPOINT_PREFIX):
        return name  # it is asked when it is needed
    is_name = not colon or name.endswith(STATIC_SUFFIX)
    if is_name or library_of(name) is not None or os.path.exists(name):
        loaded(name)  # raises an error if something is missing
        return name
    if not module or not function:
        raise InputError(f"--encoder must be a name, a folder or MODULE:FUNCTION, not {name!r}")
    sys.path.insert(0, os.getcwd())
    try:
        value: Any = importlib.import_module(module)
    except (Exception, SystemExit) as problem:  # a module may raise anything
        reason = (
            f"cannot import {module}: {failure(problem)}; mend it, or name another MODULE:FUNCTION"
        )
        if isinstance(problem, ModuleNotFoundError) and module.startswith(str(problem.name)):
            reason = (
                f"there is no module {problem.name} here or among what is installed; install it"
            )
        raise InputError(f"--encoder: {reason}") from None
    finally:
        sys.path.remove(os.getcwd())
    for attribute in function.split("."):
        if not hasattr(value, attribute):
            raise InputError(
                f"--encoder: the module {module} has no {function}; name a function that it has"
            )
        value = getattr(value, attribute)
    if not callable(value):
        raise InputError(
            f"--encoder: {function} in {module} is not a function but of the type "
            f"{type(value).__name__}; name one that turns a list of texts into a matrix with a row "
            "for each"
        )
    encoder: Encoder = value
    return encoder
