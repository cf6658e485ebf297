"""Two plots as SVG, written by hand so that the same figures give the same file."""

import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 60, 150, 20, 50
COLOURS = [
    "#c0392b",
    "#1f6fb2",
    "#2e8b57",
    "#8e5ea2",
    "#b8860b",
    "#555555",
    "#e67e22",
    "#16a2a2",
    "#7f8c8d",
]
HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
    'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
)


def scatter(points):
    """tool -> (times our training time, points of P@1 beyond ours, sets): a mark for each, over
    log time.
    """
    logs, heights = (
        [math.log10(x) for x, _, _ in points.values()],
        [y for _, y, _ in points.values()],
    )
    left, right = math.floor(min(logs)), math.ceil(max(logs))
    low, high = 5 * math.floor(min(heights) / 5), 5 * math.ceil((max(heights) + 0.1) / 5)
    place = axes(low, high, 5)
    parts = [HEAD, place.grid("P@1 beside shortlist, points")]
    for power in range(left, right + 1):
        x = across(power, left, right)
        parts.append(line(x, TOP, x, HEIGHT - BOTTOM, "#dddddd"))
        parts.append(text(x, HEIGHT - BOTTOM + 18, f"{10.0**power:g}", "middle"))
    parts.append(
        text(
            (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 10,
            "training time, times that of shortlist",
            "middle",
        )
    )
    marks = [
        (across(math.log10(x), left, right), place.y(y), tool) for tool, (x, y, _) in points.items()
    ]
    spots = spread([(y, n) for n, (_, y, _) in enumerate(marks)])
    for n, (x, y, tool) in enumerate(marks):
        colour = COLOURS[0] if tool.startswith("shortlist") else COLOURS[1]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>\n')
        parts.append(line(x, y, x + 10, spots[n], "#aaaaaa"))
        parts.append(text(x + 12, spots[n] + 4, tool, "start", colour))
    return "".join(parts) + "</svg>\n"


def lines(curves, names):
    """tool -> a value for each name, or None: a line for each tool, with a mark at each value."""
    values = [100 * value for own in curves.values() for value in own if value is not None]
    place = axes(10 * math.floor(min(values) / 10), 10 * math.ceil(max(values) / 10), 10)
    parts = [HEAD, place.grid("P@1, per cent")]
    where = [across(n, 0, len(names) - 1) for n in range(len(names))]
    for x, name in zip(where, names, strict=True):
        parts.append(text(x, HEIGHT - BOTTOM + 18, name, "middle"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "examples a label", "middle"))
    marks = [
        [
            (x, place.y(100 * value))
            for x, value in zip(where, own, strict=True)
            if value is not None
        ]
        for own in curves.values()
    ]
    spots = {}
    for end in where:
        spots |= spread([(own[-1][1], n) for n, own in enumerate(marks) if own[-1][0] == end])
    for n, (tool, own) in enumerate(zip(curves, marks, strict=True)):
        colour = COLOURS[n % len(COLOURS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in own)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>\n'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>\n' for x, y in own]
        x, y = own[-1]
        parts.append(line(x, y, x + 10, spots[n], colour))
        parts.append(text(x + 13, spots[n] + 4, tool, "start", colour))
    return "".join(parts) + "</svg>\n"


class axes:
    """The vertical axis."""

    def __init__(self, low, high, step):
        self.low, self.high, self.step = low, high, step

    def y(self, value):
        return (
            HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - BOTTOM - TOP)
        )

    def grid(self, title):
        parts = []
        for value in range(self.low, self.high + 1, self.step):
            parts.append(line(LEFT, self.y(value), WIDTH - RIGHT, self.y(value), "#dddddd"))
            parts.append(text(LEFT - 8, self.y(value) + 4, str(value), "end"))
        middle = (TOP + HEIGHT - BOTTOM) / 2
        turned = f'transform="rotate(-90 16 {middle:.1f})"'
        parts.append(
            f'<text x="16" y="{middle:.1f}" text-anchor="middle" {turned}>{title}</text>\n'
        )
        return "".join(parts)


def across(value, left, right):
    return LEFT + (value - left) / max(right - left, 1) * (WIDTH - RIGHT - LEFT)


def spread(heights, gap=14):
    """Heights of labels that do not cover one another: number -> height."""
    placed, last = {}, -math.inf
    for y, n in sorted(heights):
        placed[n] = last = max(y, last + gap)
    return placed


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>\n'


def text(x, y, said, anchor, colour="black"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{said}</text>\n'
