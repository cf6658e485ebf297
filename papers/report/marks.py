"""How what is shown compares with the paper's tables and figures: met, met on a stand-in, differing
and why, or undecided.
"""

from __future__ import annotations

from collections.abc import Iterable

from papers.claims import Claim
from papers.experiment import Figure, Table

MET = "met"
ON_A_STAND_IN = "met on a stand-in"
DIFFERS = "differs"
UNDECIDED = "undecided"
NO_VERDICT = "no verdict"


def by_place(shown: Iterable[Table | Figure]) -> dict[str, list[Claim]]:
    """What is claimed of each of the paper's tables and figures."""
    claims: dict[str, list[Claim]] = {}
    for one in shown:
        for claim in one.claims:
            claims.setdefault(claim.place, []).append(claim)
    return claims


def mark(claims: list[Claim], stands_in: str, is_quick: bool = False) -> str:
    """The mark of a table or figure; a quick run gives no verdict."""
    if is_quick:
        return NO_VERDICT
    if any(claim.holds is False for claim in claims):
        return DIFFERS
    if any(claim.holds is None for claim in claims):
        return UNDECIDED
    return ON_A_STAND_IN if stands_in else MET


def sentences(one: Table | Figure, stands_in: str, is_quick: bool = False) -> list[str]:
    """For each of the paper's tables and figures that this one shows, what was found."""
    told = []
    for place, claims in by_place([one]).items():
        parts = [f"{place[:1].upper()}{place[1:]}, {mark(claims, stands_in, is_quick)}."]
        parts += [
            f"Not found: {claim.says}. Why: {claim.why or 'unexplained'}."
            for claim in claims
            if claim.holds is False
        ]
        for words, verdict in (("Within the noise", None), ("Found", True)):
            says = "; ".join(claim.says for claim in claims if claim.holds is verdict)
            if says:
                parts.append(f"{words}: {says}.")
        told.append(" ".join(parts))
    return told
