"""Settings as people write them, NAME=VALUE."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from shortlist.errors import InputError


def named_values(option: str, pairs: Sequence[str] | None) -> dict[str, Any]:
    """The values of a repeated option NAME=VALUE: JSON where they are, text otherwise."""
    values: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"{option} takes NAME=VALUE, not {pair!r}")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values
