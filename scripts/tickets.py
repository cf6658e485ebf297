"""Made-up tickets of a support desk, as a spreadsheet saves them: ``python scripts/tickets.py
[FOLDER]``.

Writes tickets.csv and held-out.csv, which have teams, and new.csv, which has none: always the same
rows, with semicolons and a byte order mark, and here and there an empty row, a broken cell, or a
ticket that could be any team's.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

# What tickets for each team are about: subject; body.
TEAMS = {
    "Account": [
        "Cannot log in; my password is not accepted.",
        "Password; the link to reset my password does not work.",
        "Account locked; my account has been locked.",
        "E-mail; I want to change the e-mail address of my account.",
        "No code; the code for logging in never comes.",
        "Delete account; please delete my account and my data.",
    ],
    "Billing": [
        "Wrong invoice; the invoice shows the wrong amount.",
        "Charged twice; I was charged twice this month.",
        "Payment refused; my card is refused when I pay.",
        "Invoice; I need an invoice with our tax number.",
        "Discount; the discount is missing on my bill.",
        "Reminder; I got a reminder for a bill that I have paid.",
    ],
    "Delivery": [
        "Where is my parcel?; my parcel has not arrived yet.",
        "Not delivered; the courier left it with nobody.",
        "Wrong address; the parcel was sent to my old address.",
        "Tracking; the tracking has not moved for days.",
        "Order incomplete; only half of it has arrived.",
        "Delivery date; can you deliver it on a Saturday?",
    ],
    "Returns": [
        "Return; I want to send the shoes back.",
        "Exchange; the coat is too small, can I exchange it?",
        "Refund; I sent it back but got no refund yet.",
        "Return label; the return label cannot be printed.",
        "Broken lamp; the lamp was broken when I unpacked it.",
        "Present; may I return a present?",
    ],
    "Technical": [
        "App crashes; the app crashes when I open the settings.",
        "Error; the page shows an error when I order.",
        "Search; the search finds nothing since the update.",
        "Pictures; pictures do not load on my tablet.",
        "Basket; the basket is empty whenever I log in.",
        "App does not start; the app does not start any more.",
    ],
}
VAGUE = [
    "Call me; please call me back about my order.",
    "Still waiting; nobody has answered me for a week.",
]
GREETINGS = ["Hello,", "Good morning,", "Dear team,", "Hi there,", "Grüezi,"]
ENDS = ["Thank you!", "Please help.", "It is urgent.", "What can I do?", "This is the second time."]
NAMES = [
    "Jürgen, Köln",
    "Zoë, Genève",
    "Bjørn, Tromsø",
    "Ana, São Paulo",
    "Łukasz, Łódź",
    "Mary, Cork",
]
BAD = ["", ""], ["#REF!", "#REF!"], ["A ticket", "that nobody has sorted yet"]
ROWS = {"tickets": 600, "held-out": 200, "new": 150}


def tickets(table: str) -> Iterator[tuple[str, str, str]]:
    """The subject, the body and the team of each ticket of a table."""
    drawn = random.Random(table)
    for number in range(ROWS[table]):
        team = drawn.choice(list(TEAMS))
        subject, what = drawn.choice(VAGUE if drawn.random() < 0.2 else TEAMS[team]).split("; ")
        if drawn.random() < 0.15:
            subject = drawn.choice(["Question", "Help!", "My order", "Problem"])
        order = f" Order {70000 + 13 * number}." if drawn.random() < 0.4 else ""
        yield (
            subject,
            f"{drawn.choice(GREETINGS)} {what}{order} {drawn.choice(ENDS)} {drawn.choice(NAMES)}",
            team,
        )


def write(folder: Path) -> None:
    """Write the three tables."""
    for name in ROWS:
        rows = [["Subject", "Body", "Team"], *map(list, tickets(name))]
        rows[5:5] = [[*cells, cells[0] if cells[0] == "#REF!" else ""] for cells in BAD]
        columns = 2 if name == "new" else 3
        text = "".join(";".join(row[:columns]) + "\r\n" for row in rows)
        (folder / f"{name}.csv").write_text(text, encoding="utf-8-sig", newline="")


if __name__ == "__main__":
    write(Path(*sys.argv[1:2]))
