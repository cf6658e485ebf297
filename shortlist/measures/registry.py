"""The registry: every measure by name. The terminal, the documentation page and the tests read it.

The ``registered`` decorator adds a function to the registry. The function returns one number for
each example, whose mean is the measure, or a row of numbers: then the measure is a function
(``total``) of the sums of those rows over examples and of the number of examples with something
relevant. A bootstrap only draws how often each example counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.data.validation import as_whole
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
    """One measure. Its parameter is a letter in the registry (``P@k``) and a number in
    ``measure("P@5")``.
    """

    name: str
    better: Literal["higher", "lower"]
    families: tuple[Family, ...]
    formula: str
    description: str
    paper: str
    compute: Compute = field(repr=False, compare=False)
    total: Total | None = field(default=None, repr=False, compare=False)
    needs: tuple[Need, ...] = ()
    parameters: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def has_k(self) -> bool:
        """Whether the name in the registry ends in k, a whole number from 1."""
        return self.name.endswith(("@k", "Rk"))


MEASURES: dict[str, Measure] = {}
# what annif eval calls measures, of the ten subjects that it suggests
ANNIF_NAMES = {
    "f1 score (doc avg)": "F1@10",
    "f1 score (microavg)": "micro-F1@10",
    "recall (doc avg)": "recall@10",
    "precision@1": "P@1",
    "precision@3": "P@3",
    "precision@5": "P@5",
}


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
            name,
            better,
            tuple(families),
            formula,
            description,
            paper,
            function,
            total,
            tuple(needs),
        )
        return function

    return enter


def measure(name: str | Measure) -> Measure:
    """The measure of that name, with its parameter.

    Parameters
    ----------
    name : str or Measure
        Such as "P@5", "R1" or "MRR"; capitals do not matter. Annif's names of measures are known
        too, as "F1 score (doc avg)". The error for an unknown name lists the known ones.

    Returns
    -------
    Measure

    Examples
    --------
    >>> from shortlist import measure
    >>> precision = measure("p@5")
    >>> precision.name, precision.better, dict(precision.parameters)
    ('P@5', 'higher', {'k': 5})
    """
    if isinstance(name, Measure):
        return name
    asked_name = str(name).strip()
    asked_name = ANNIF_NAMES.get(asked_name.casefold(), asked_name)
    by_name = {key.casefold(): entry for key, entry in MEASURES.items()}
    entry = by_name.get(asked_name.casefold())
    if entry is not None and not entry.has_k:
        return entry
    parts = re.fullmatch(r"(.*?@?)(-?\d{1,18}(?:\.\d+)?)", asked_name)
    if parts:
        entry = by_name.get(f"{parts[1]}k".casefold())
        if entry is not None and entry.has_k:
            number: object = parts[2]
            if "." not in parts[2]:
                number = int(parts[2])
            k = as_whole(number, f"k of {asked_name}", least=1)
            return replace(entry, name=entry.name[:-1] + parts[2], parameters={"k": k})
    raise InputError(
        f"there is no measure {asked_name!r}; there are {', '.join(MEASURES)} (k: a whole number)"
    )
