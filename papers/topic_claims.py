"""What paper 001 says of its tables and figures, as claims that our numbers decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import scipy.stats

from papers.cells import Cell, cell_in, number_in
from papers.claims import Claim
from papers.experiment import Curve, Result, Row, Table

LOWER = ("loss1×100", "loss2", "loss3×100", "OneErr×100", "Coverage")
MMPS = ("MMP loss1", "MMP loss2", "MMP loss3")
PAPERS = ("Rocchio", "Perceptron", *MMPS)
FOLDS = (
    "how the paper cut its folds, and its stop words, are not known; neither folds of consecutive "
    "documents nor folds drawn at random have all of its numbers"
)
FEW = "15,000 documents stand in for 809,383, and MMP loss2 and loss3 are next to equal on them"
STRONG_CORRELATION = 0.7
# words of the corpus, and of a document before and after the selection of terms
WORDS = {"reuters": (27_747, 49, 37), "rcv1": (225_329, 137, 121)}


def of_tables(
    corpus: str, rows: dict[str, Row], by_division: Mapping[str, dict[str, Row]]
) -> tuple[Claim, ...]:
    """Tables 1 and 2, or 3 and 4."""
    is_papers = corpus == "reuters"
    losses, retrieval = ("table 1", "table 2") if is_papers else ("table 3", "table 4")
    why = FOLDS if is_papers else FEW
    rows = {name: rows[name] for name in PAPERS}
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
    if is_papers:
        for place, measures in ((losses, LOWER[:3]), (retrieval, (*LOWER[3:], "AvgP", "maxF1"))):
            claims.append(close_in_some_division(place, measures, by_division))
    return tuple(claims)


def close_in_some_division(
    place: str, measures: tuple[str, ...], by_division: Mapping[str, dict[str, Row]]
) -> Claim:
    """That the numbers are as published in one of the ways to cut folds."""
    claims = {}
    for division, rows in by_division.items():
        cells = {
            f"{name} {measure}": rows[name][measure] for name in PAPERS for measure in measures
        }
        claims[division] = Claim.close(place, f"numbers, {division}", cells, FOLDS)
    says = "; ".join(claim.says for claim in claims.values())
    verdicts = [claim.holds for claim in claims.values()]
    holds = None if None in verdicts else any(verdicts)
    return Claim(place, says, holds, FOLDS)


def _own_loss(place: str, rows: dict[str, Row], why: str) -> Claim:
    """Every variant of MMP is, among them, the best by its loss, or no further from the best
    than its spread.
    """
    behind = []
    for name, measure in zip(MMPS, LOWER[:3], strict=True):
        cell = cell_in(rows[name], measure)
        least = min(number_in(rows[other], measure) for other in MMPS)
        if number_in(rows[name], measure) > least + (cell.spread or 0.0):
            behind.append(name)
    says = "each variant of MMP does well by the loss it was trained on"
    return Claim(place, says + f" (not {', '.join(behind)})" * bool(behind), not behind, why)


def of_correlations(by_learner: Mapping[str, list[Result]]) -> tuple[Claim, ...]:
    """Section 4.6: over the algorithms, which numbers go together; each the mean of its trials."""
    claims = []
    for loss, measure in (("loss1×100", "OneErr×100"), ("loss2", "Coverage")):
        pairs = [
            _means((one["measures"][loss], one["measures"][measure]) for one in trials)
            for trials in by_learner.values()
        ]
        claims.append(_correlated(f"{loss} and {measure}", pairs))
    for loss, title in zip(("loss1", "loss2", "loss3"), LOWER, strict=False):
        pairs = [
            _means((one["online"][loss][-1], one["measures"][title]) for one in trials)
            for trials in by_learner.values()
            if "online" in trials[0]
        ]
        claims.append(_correlated(f"{loss} while learning and on test documents", pairs))
    return tuple(claims)


def _means(pairs: Iterable[tuple[float, float]]) -> list[float]:
    return [float(np.mean(values)) for values in zip(*pairs, strict=True)]


def _correlated(what: str, pairs: list[list[float]]) -> Claim:
    r = scipy.stats.pearsonr(*zip(*pairs, strict=True)).statistic
    says = f"{what} are strongly correlated ({r:.2f} over {len(pairs)} algorithms)"
    return Claim("section 4.6", says, r > STRONG_CORRELATION)


def of_words(corpus: str, words: Result) -> Table:
    """Sections 4.1 and 4.4: how many words there are."""
    row: Row = {
        fact: Cell(words[fact], published=expected)
        for fact, expected in zip(words, WORDS[corpus.removesuffix("-v2")], strict=True)
    }
    share = words["after"] / words["before"]
    says = f"the selection leaves most words of a document ({share:.0%}, published 76 % and 88 %)"
    title = "Words of the corpus, and of a document before and after the selection of terms"
    claims = (Claim("section 4.4", says, share > 0.5),)
    return Table(title, list(row), {corpus: row}, claims=claims)


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
    trained = f"MMP {loss}"
    says = (
        f"MMP trained for {loss} is within 2 % of the best MMP by it ({last[trained]:.3g} against "
        f"{least:.3g})"
    )
    return (Claim(place, says, last[trained] <= 1.02 * least),)


def of_graph(corpus: str, graphs: Mapping[str, Curve]) -> tuple[Claim, ...]:
    """Figure 6."""
    last = {name: curve.y[-1] for name, curve in graphs.items() if name != "Rocchio"}
    claims = [
        Claim(
            "figure 6",
            "of the online algorithms the Perceptron is the least precise at full recall",
            min(last, key=last.__getitem__) == "Perceptron",
        )
    ]
    if corpus == "reuters":
        ahead = [
            all(graphs["Perceptron"].y[at] > graphs[name].y[at] for name in MMPS[1:])
            for at, recall in enumerate(graphs["Perceptron"].x)
            if recall < 0.9
        ]
        says = (
            "below recall 0.9 the Perceptron is more precise than MMP loss2 and loss3 (at "
            f"{sum(ahead)} of {len(ahead)} recalls)"
        )
        why = (
            "85 % of the documents have one topic, hence one precision at all recalls: how the "
            "paper averages its graph is not told, and our averages cross earlier"
        )
        claims.append(Claim("figure 6", says, all(ahead), why))
    return tuple(claims)


def _best(rows: dict[str, Row], measure: str) -> str:
    best = min if measure in LOWER else max
    return best(rows, key=lambda name: number_in(rows[name], measure))


def _worst(rows: dict[str, Row], measure: str) -> str:
    worst = max if measure in LOWER else min
    return worst(rows, key=lambda name: number_in(rows[name], measure))
