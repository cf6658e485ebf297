"""What paper 001 says of its tables and figures, as claims that our numbers decide."""

from __future__ import annotations

from collections.abc import Mapping

from papers.experiment import Cell, Claim, Curve

Rows = Mapping[str, Mapping[str, Cell | str]]
LOWER = ("loss1×100", "loss2", "loss3×100", "OneErr×100", "Coverage")
MMPS = ("MMP loss1", "MMP loss2", "MMP loss3")
FOLDS = "how the paper cut its folds, and its stop words, are not known"
FEW = "15,000 documents stand in for 809,383, and MMP loss2 and loss3 are next to equal on them"


def of_tables(corpus: str, rows: Rows) -> tuple[Claim, ...]:
    """Tables 1 and 2, or 3 and 4."""
    own = corpus == "reuters"
    losses, retrieval = ("table 1", "table 2") if own else ("table 3", "table 4")
    why = FOLDS if own else FEW
    claims = [_own_loss(losses, rows, why)]
    claims += [
        Claim(
            retrieval, f"MMP loss1 is best by {measure}", _best(rows, measure) == "MMP loss1", why
        )
        for measure in ("OneErr×100", "AvgP", "maxF1")
    ]
    claims += [
        Claim(
            retrieval,
            "MMP loss2 or loss3 has the best coverage",
            _best(rows, "Coverage") in MMPS[1:],
            why,
        ),
        Claim(
            retrieval,
            "the Perceptron has the worst coverage",
            _worst(rows, "Coverage") == "Perceptron",
            why,
        ),
        Claim(
            retrieval,
            "Rocchio has the lowest average precision",
            _worst(rows, "AvgP") == "Rocchio",
            why,
        ),
    ]
    if own:
        for place, measures in ((losses, LOWER[:3]), (retrieval, (*LOWER[3:], "AvgP", "maxF1"))):
            cells = {
                f"{name} {measure}": row[measure]
                for name, row in rows.items()
                for measure in measures
            }
            claims.append(Claim.close(place, "numbers", cells, why))
    return tuple(claims)


def _own_loss(place: str, rows: Rows, why: str) -> Claim:
    """Every variant of MMP is, among them, the best by its loss, or no further from the best
    than its spread.
    """
    behind = []
    for name, measure in zip(MMPS, LOWER[:3], strict=True):
        cell = rows[name][measure]
        assert isinstance(cell, Cell)
        least = min(_value(rows, other, measure) for other in MMPS)
        if _value(rows, name, measure) > least + (cell.spread or 0.0):
            behind.append(name)
    says = "each variant of MMP does well by the loss it was trained on"
    return Claim(place, says + f" (not {', '.join(behind)})" * bool(behind), not behind, why)


def of_bars(corpus: str, shares: Curve) -> tuple[Claim, ...]:
    """Figure 3."""
    mean = sum(n * share for n, share in zip(shares.x, shares.y, strict=True))
    if corpus == "reuters":
        return (
            Claim(
                "figure 3",
                f"over 80 % of the documents have one topic ({shares.y[0]:.0%})",
                shares.y[0] > 0.8,
            ),
            Claim(
                "figure 3", f"1.24 topics for each document ({mean:.2f})", round(mean, 2) == 1.24
            ),
        )
    three = sum(shares.y[2:])
    return (
        Claim(
            "figure 3",
            f"about 70 % of the documents have at least three topics ({three:.0%})",
            0.65 < three < 0.75,
        ),
        Claim("figure 3", f"3.20 topics for each document ({mean:.2f})", abs(mean - 3.2) < 0.05),
    )


def of_curves(place: str, loss: str, curves: Mapping[str, Curve]) -> tuple[Claim, ...]:
    """Figures 4 and 5: after the last document."""
    last = {name: curves[name].y[-1] for name in MMPS}
    least = min(last.values())
    own = f"MMP {loss}"
    says = (
        f"MMP trained for {loss} is within 2 % of the best MMP by it ({last[own]:.3g} against "
        f"{least:.3g})"
    )
    return (Claim(place, says, last[own] <= 1.02 * least),)


def of_graph(graphs: Mapping[str, Curve]) -> tuple[Claim, ...]:
    """Figure 6."""
    last = {name: curve.y[-1] for name, curve in graphs.items() if name != "Rocchio"}
    return (
        Claim(
            "figure 6",
            "of the online algorithms the Perceptron is the least precise at full recall",
            min(last, key=last.__getitem__) == "Perceptron",
        ),
    )


def _value(rows: Rows, name: str, measure: str) -> float:
    cell = rows[name][measure]
    assert isinstance(cell, Cell)
    assert cell.ours is not None
    return cell.ours


def _best(rows: Rows, measure: str) -> str:
    sign = 1 if measure in LOWER else -1
    return min(rows, key=lambda name: sign * _value(rows, name, measure))


def _worst(rows: Rows, measure: str) -> str:
    sign = 1 if measure in LOWER else -1
    return max(rows, key=lambda name: sign * _value(rows, name, measure))
