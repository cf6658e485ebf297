"""A figure of an experiment as an inline SVG that takes its text colour from the page around it."""

from __future__ import annotations

import io
from typing import Any

from papers.experiment import Figure
from shortlist.errors import InputError, installing

INK = "#010203"  # a colour that nothing else has; the page replaces it by its own
STYLE: dict[Any, Any] = {
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9,
    "legend.framealpha": 0.0,
}
# colour-blind safe
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#999999")
LINES = ("-", "--", "-.", ":")


def to_svg(figure: Figure) -> str:
    """Draw a figure: lines with bands, or bars."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise InputError(f"figures need matplotlib; {installing('plot')}") from None
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": figure.title}):
        canvas = Canvas(figsize=(6, 3.8), layout="constrained")
        _draw(canvas.subplots(), figure)
        text = io.StringIO()
        canvas.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :].replace(INK, "currentColor")


def _draw(axes: Any, figure: Figure) -> None:
    axes.set(xlabel=figure.x, ylabel=figure.y)
    axes.grid(alpha=0.25)
    if figure.log_x:
        axes.set_xscale("log")
    if figure.log_y:
        axes.set_yscale("log")
    n = len(figure.curves)
    for i, (name, curve) in enumerate(figure.curves.items()):
        colour, line = COLOURS[i % len(COLOURS)], LINES[i // len(COLOURS) % len(LINES)]
        if figure.bars:
            step = min((b - a for a, b in zip(curve.x, curve.x[1:], strict=False)), default=1.0)
            width = 0.8 * step / n
            axes.bar(
                [x + (i - (n - 1) / 2) * width for x in curve.x],
                curve.y,
                width,
                color=colour,
                label=name,
            )
        else:
            few = "o" if len(curve.x) <= 30 else None
            axes.plot(
                curve.x,
                curve.y,
                line,
                color=colour,
                marker=few,
                markersize=3,
                linewidth=1.3,
                label=name,
            )
            if curve.low is not None and curve.high is not None:
                axes.fill_between(
                    curve.x, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0
                )
    for axis, is_log in ((axes.xaxis, figure.log_x), (axes.yaxis, figure.log_y)):
        if is_log:  # the usual ticks are mathematics, which is not parsed, for the sake of names
            axis.set_major_formatter(lambda value, place: f"{value:,g}")
            axis.set_minor_formatter(lambda value, place: "")
    if n > 1:
        axes.legend(fontsize=8)
