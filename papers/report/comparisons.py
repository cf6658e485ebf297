"""The contrasts of a section as a table: differences with their confidence intervals, effect sizes,
and p-values, corrected for their number.
"""

from __future__ import annotations

from collections.abc import Mapping

from papers.cells import Cell
from papers.contrasts import Contrast, holm
from papers.experiment import Figure, Row, Table

NOTE = (
    "Paired by split, trial or query. Intervals are 95 % intervals of the mean difference; the "
    "effect size is Cohen's d of paired values; Holm's correction is for all comparisons of this "
    "table."
)


def compared_in(shown: list[Table | Figure]) -> dict[str, Contrast]:
    """The contrasts that claims rest on."""
    return {
        f"{claim.place}: {claim.says}": claim.contrast
        for part in shown
        for claim in part.claims
        if claim.contrast is not None
    }


def comparisons(contrasts: Mapping[str, Contrast]) -> Table:
    corrected = holm([contrast.p_value for contrast in contrasts.values()])
    rows: dict[str, Row] = {}
    for (name, contrast), p in zip(contrasts.items(), corrected, strict=True):
        rows[name] = {
            "difference": Cell(contrast.difference),
            "95 % interval": f"[{contrast.low:+.4f}, {contrast.high:+.4f}]",
            "effect size": "" if contrast.effect is None else f"{contrast.effect:.2f}",
            "p": f"{contrast.p_value:.2g}",
            "p, Holm": f"{p:.2g}",
            "cases": str(contrast.cases),
        }
    columns = ["difference", "95 % interval", "effect size", "p", "p, Holm", "cases"]
    return Table("Comparisons", columns, rows, NOTE)
