"""What the fields of a record are called that say more of an example than its document: labels, who judged, when.

A document may have a field of the same name. It keeps it, and ours has a _ behind it, in all records of a file alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

BESIDE = ("labels", "wrong", "complete", "person", "time", "key", "vector")


def called(fields: Collection[str]) -> dict[str, str]:
    """What each of ours is called beside documents with these fields."""
    return {name: unlike(name, fields) for name in BESIDE}


def unlike(name: str, others: Collection[str]) -> str:
    """The name, with as many _ behind it as make it unlike all others."""
    while name in others:
        name += "_"
    return name


USUAL = called(())


def renamed(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[name]: value for name, value in record.items()}
