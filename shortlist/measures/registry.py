"""The registry: every measure by name. The terminal, the documentation page and the tests read it.

The ``registered`` decorator adds a function to the registry. The function returns one number for each example, whose
mean is the measure, or a row of numbers: then the measure is a function (``total``) of the sums of those rows over
examples and of the number of examples with something relevant. A bootstrap only draws how often each example counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.validation import as_whole
from shortlist.errors import InputError

if TYPE_CHECKING:
    import scipy.sparse

Values = NDArray[np.float64]
Family = Literal["categories", "documents", "ratings"]
Need = Literal["complete rankings", "propensities"]
Total = Callable[[Values, float], float]
Compute: TypeAlias = "Callable[..., Values | scipy.sparse.csr_array]"
Function = TypeVar("Function", bound=Compute)


@dataclass(frozen=True)
class Measure:
    """One measure. Its parameter is a letter in the registry (``P@k``) and a number in ``measure("P@5")``."""

    name: str
    better: Literal["higher", "lower"]
    families: tuple[Family, ...]
    formula: str
    description: str
    paper: str
    compute: Compute = field(repr=False, compare=False)
    total: Total | None = field(default=None, repr=False, compare=False)
    needs: tuple[Need, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def parameter(self) -> str | None:
        """The letter at the end of a registry name: k is a whole number from 1; t, in papers/, any number."""
        return self.name[-1] if self.name.endswith(("@k", "@t", "Rk")) else None


MEASURES: dict[str, Measure] = {}


def registered(
    name: str,
    better: Literal["higher", "lower"],
    formula: str,
    *,
    families: Iterable[Family] = ("categories", "documents"),
    paper: str = "",
    total: Total | None = None,
    needs: Iterable[Need] = (),
) -> Callable[[Function], Function]:
    """Add a function to the registry; the first paragraph of its docstring is the description."""

    def enter(function: Function) -> Function:
        description = " ".join((function.__doc__ or "").split("\n\n")[0].split())
        MEASURES[name] = Measure(
            name, better, tuple(families), formula, description, paper, function, total, tuple(needs)
        )
        return function

    return enter


def measure(name: str | Measure) -> Measure:
    """The measure of that name, with its parameter.

    Parameters
    ----------
    name : str or Measure
        Such as "P@5", "R1" or "MRR"; capitals do not matter. The error for an unknown name lists the known ones.

    Returns
    -------
    Measure

    Examples
    --------
    >>> from shortlist import measure
    >>> found = measure("p@5")
    >>> found.name, found.better, dict(found.parameters)
    ('P@5', 'higher', {'k': 5})
    """
    if isinstance(name, Measure):
        return name
    given = str(name).strip()
    by_name = {key.casefold(): entry for key, entry in MEASURES.items()}
    exact = by_name.get(given.casefold())
    if exact is not None and exact.parameter is None:
        return exact
    parts = re.fullmatch(r"(.*?)(@?)(-?\d{1,18}(?:\.\d+)?)", given)
    if parts:
        stem, at, number = parts.groups()
        for letter in ("k", "t") if at else ("k",):
            entry = by_name.get(f"{stem}{at}{letter}".casefold())
            if entry is not None and entry.parameter == letter:
                whole = number if "." in number else int(number)  # as_whole refuses a fraction
                value = float(number) if letter == "t" else as_whole(whole, f"k of {given}", least=1)
                return replace(entry, name=entry.name[:-1] + number, parameters={letter: value})
    raise InputError(f"there is no measure {given!r}; there are {', '.join(MEASURES)} (k: a whole number)")
