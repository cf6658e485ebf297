"""The shape of what is ranked and learned: a text, or a document of several fields."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag


def encodable(text: str) -> str:
    """Half a surrogate pair is no character, and no disk takes it."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("holds half a character (a lone surrogate)") from None
    return text


TAKEN = ["labels", "wrong", "complete", "person", "time", "key", "vector"]  # what else a line of an export has


def _field_name(name: str) -> str:
    if name in TAKEN:
        raise ValueError(f"a field cannot be called {name}, which an export has beside the fields")
    if not re.fullmatch(r"[^\x00-\x1f\x7f]{1,100}", name):
        raise ValueError("the name of a field is one line of 1 to 100 characters")
    return encodable(name)


def number(value: object) -> object:
    """In JSON 1 is the number 1.0; true is none."""
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        raise ValueError("is larger than any number that can be kept") from None


Text = Annotated[str, AfterValidator(encodable)]
NAMING: dict[str, Any] = {"minLength": 1, "maxLength": 100, "pattern": r"^[^\x00-\x1f\x7f]+$", "not": {"enum": TAKEN}}
FieldValue = Text | Annotated[float, Field(allow_inf_nan=False), BeforeValidator(number)] | list[Text]
Fields = Annotated[
    dict[Annotated[str, AfterValidator(_field_name)], FieldValue],
    Field(
        min_length=1, max_length=50, json_schema_extra={"propertyNames": NAMING},
        description="A document of fields: texts, numbers, and lists of texts, which are categories.",
    ),
]  # fmt: skip
Document = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Fields, Tag("fields")],
    Discriminator(lambda given: "fields" if isinstance(given, dict) else "text"),
]
