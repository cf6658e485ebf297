"""--encoder: what makes vectors of texts."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.models.encoding import Encoder

STATIC = ":static"  # behind the name of an encoder: its table of tokens


def find_encoder(named: str) -> Encoder:
    """The encoder of a name or folder; or the callable that MODULE:FUNCTION names, found here or installed."""
    from shortlist.models.encoding import failure, loaded

    module, colon, function = named.partition(":")
    if not colon or named.endswith(STATIC) or os.path.exists(named):
        loaded(named)  # or it is said now what is missing
        return named
    if not module or not function:
        raise InputError(f"--encoder must be a name, a folder or MODULE:FUNCTION, not {named!r}")
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as problem:  # whatever a module does when it is imported
        if isinstance(problem, ModuleNotFoundError) and module.startswith(str(problem.name)):
            said = (
                f"there is no module {problem.name} here or among what is installed; start where it is, or install it"
            )
        else:
            said = f"cannot import {module}: {failure(problem)}; mend it, or name another MODULE:FUNCTION"
        raise InputError(f"--encoder: {said}") from None
    finally:
        sys.path.remove(os.getcwd())
    for name in function.split("."):
        if not hasattr(found, name):
            raise InputError(f"--encoder: the module {module} has no {function}; name a function that it has")
        found = getattr(found, name)
    if not callable(found):
        kind = type(found).__name__
        raise InputError(
            f"--encoder: {function} in {module} is not a function but of the type {kind}; name one that makes a matrix "
            "of a list of texts, with a row for each"
        )
    encoder: Encoder = found
    return encoder
