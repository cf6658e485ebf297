"""How what is shown compares with the paper's tables and figures: met, met on a stand-in, or
differing, and why.
"""

from __future__ import annotations

from collections.abc import Iterable

from papers.experiment import Claim, Figure, Table

MET, ON_A_STAND_IN, DIFFERS = "met", "met on a stand-in", "differs"


def by_place(shown: Iterable[Table | Figure]) -> dict[str, list[Claim]]:
    """What is claimed of each of the paper's tables and figures."""
    found: dict[str, list[Claim]] = {}
    for one in shown:
        for claim in one.claims:
            found.setdefault(claim.place, []).append(claim)
    return found


def mark(claims: list[Claim], stands_in: str) -> str:
    """One of the three."""
    if not all(claim.holds for claim in claims):
        return DIFFERS
    return ON_A_STAND_IN if stands_in else MET


def reasons(claims: list[Claim]) -> str:
    """What does not hold, and why, in sentences."""
    return " ".join(
        f"Not found: {one.says}. Why: {one.why or 'unexplained'}."
        for one in claims
        if not one.holds
    )


def sentences(one: Table | Figure, stands_in: str) -> list[str]:
    """For each of the paper's tables and figures that this one shows, what was found."""
    found = []
    for place, claims in by_place([one]).items():
        kind, named = mark(claims, stands_in), f"{place[:1].upper()}{place[1:]}"
        held = "; ".join(claim.says for claim in claims if claim.holds)
        if kind != DIFFERS:
            found.append(f"{named}, {kind}: {held}.")
        else:
            found.append(
                f"{named}, {kind}. {reasons(claims)}" + (f" Found: {held}." if held else "")
            )
    return found
