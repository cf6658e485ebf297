"""Options that give labels names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.concepts.vocabulary import LabelVocabulary
    from shortlist.models.base import Model

Vocabulary = Annotated[
    Path | None,
    typer.Option(help="A file of what labels are called: TSV of label and name, JSON, or SKOS.", show_default=False),
]
Language = Annotated[str | None, typer.Option(help="The language of the names in a SKOS file, such as en.")]
Policy = Annotated[
    str, typer.Option(help="Whether labels outside of the vocabulary may be learned: grow, or known only.")
]

Teach = Annotated[
    int, typer.Option(min=0, help="Teach labels with at most so many examples by their names too; 5 is a good number.")
]


def read_names(vocabulary: Path | None, language: str | None, policy: str, teach: int = 0) -> LabelVocabulary | None:
    """The vocabulary that the options name."""
    if vocabulary is None:
        if language is not None or policy != "grow" or teach:
            raise InputError("--language, --policy and --teach need a vocabulary; name its file with --vocabulary")
        return None
    from shortlist.concepts.reading import read_vocabulary

    chosen = {"grow": "grow", "known": "known", "known only": "known"}.get(policy)
    if chosen is None:
        raise InputError(f"--policy must be grow or known, not {policy!r}")
    return read_vocabulary(vocabulary, language, chosen, teach)  # type: ignore[arg-type]


def with_names(model: Model[Any], names: LabelVocabulary | None) -> Model[Any]:
    """The model, which has the vocabulary from now on."""
    from shortlist.models.categorizer import Categorizer

    if names is not None:
        if not isinstance(model, Categorizer):
            raise InputError("--vocabulary names the labels of texts; this model has others")
        model.set_vocabulary(names)
    return model
