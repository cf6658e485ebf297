"""A rehearsal: the journal is learned anew by the present model and by a candidate, each ranking before it learns.

Both go through the same examples in the same order, one at a time, as a server does (replica.py): what was taken back
is left out, what was judged in part is learned in part, labels change where they were changed. What each made of an
example before it learned it is compared, over time and by label, on the same examples: those that people have judged,
since what the present model decided alone is no truth to measure it by.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from shortlist.arrays.given_labels import Label
from shortlist.errors import InputError, counted
from shortlist.inputs import Stream, read
from shortlist.inputs.labelled import teaching
from shortlist.measures.significance import paired_bootstrap
from shortlist.models.categorizer import Categorizer
from shortlist.models.learners import changed, named
from shortlist.models.making import TEXT, open_model
from shortlist.server.documents import read_vector
from shortlist.server.journal import ALONE, Entry, Version, identity
from shortlist.server.replica import Replica, first_of

# Models that may take the present one's place: opened from a file, or made anew with other settings.


# What the command line calls the columns that a model remembers, and what read calls them.
COLUMNS = {
    "text_column": "text", "label_column": "labels", "one_hot_column": "one_hot", "wrong_column": "wrong",
    "label_separator": "label_separator",
}  # fmt: skip


def opened(path: Path) -> Categorizer:
    """The model in a file, which must be able to learn a journal."""
    model = open_model(path)
    if not isinstance(model, Categorizer) or not model.can_learn:
        raise InputError(f"{path} is not a model of texts with labels that can learn a journal")
    return model


def candidate_like(present: Categorizer, learner: str | None, values: dict[str, Any]) -> Categorizer:
    """A model that has learned nothing, with the settings of the present one but for these."""
    for_text = {name.removeprefix(TEXT): value for name, value in values.items() if name.startswith(TEXT)}
    others = {name: value for name, value in values.items() if not name.startswith(TEXT)}
    own = clone(present.learner_) if learner is None else named("categories", learner)
    made = Categorizer(changed(own, others), changed(clone(present.text_), for_text, prefix=TEXT))
    if present.vocabulary_ is not None:
        made.set_vocabulary(present.vocabulary_)
    return made.learn_many([], [])  # a learner that cannot go on learning refuses


def taught(model: Categorizer, data: str, stream: Stream) -> Categorizer:
    """A candidate that has learned what the present model learned before it was served."""
    model.fit_batches(teaching("categories", data, stream, iter(stream)))
    return model


def as_trained(present: Categorizer, data: str, skip_bad: bool = False) -> Stream:
    """A file read by the columns that the present model was trained from, if it has them."""
    given = {COLUMNS[name]: value for name, value in (present._trained_from or {}).items() if name in COLUMNS}
    options: dict[str, Any] = {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in given.items()
    }
    if present.fields_ is not None:
        options |= {"text": present.fields_, "known_features": present._fields_beside_ or None}
    of_texts = {name: value for name, value in options.items() if name in ("text", "known_features")}
    for some in (options, of_texts):  # what was exported has columns of labels of its own
        with contextlib.suppress(InputError):
            if some and read(data, prefer=some, skip_bad=True).begins(labelled=True):
                return read(data, prefer=some, skip_bad=skip_bad)
    return read(data, skip_bad=skip_bad)


LEAST = 20  # examples that a window, a group or a label must have to be compared
WINDOWS = 10
SHOWN = 20  # labels
RESAMPLES = 2000
GROUPS = ((1, 4), (5, 19), (20, 99), (100, None))  # labels by the number of their examples


class Apprentice(Replica):
    """A model that learns the journal from its beginning."""

    quiet = True

    def __init__(self, folder: Path, model: Categorizer) -> None:
        self._model = model
        super().__init__(folder, read_only=True)

    def _load(self) -> None:
        self._base = identity(self.folder)
        self.served = self.model = self._model
        self.version = Version(0, self.journal.version().undos)
        self._numbers = {str(name): name for name in self.model.classes_.tolist() if not isinstance(name, str)}

    def learn_up_to(self, number: int) -> None:
        for _ in self._steps(Version(number, self.version.undos)):
            pass

    def learn_all(self) -> bool:
        """Learn all that there is now; gives whether nothing that it has learned was taken back meanwhile."""
        now = self.journal.version()
        for _ in self._steps(now):
            pass
        return self.version.undos >= now.undos


class Tried(NamedTuple):
    """What a model made of an example before it learned it."""

    first: float  # 1 where a right label stood first
    found: list[float]  # of each right label, whether it was among as many as are right


class Rehearsal(NamedTuple):
    """What both models made of each example."""

    labels: list[list[Label]]
    present: list[Tried]
    candidate: list[Tried]
    passed: dict[int, str]  # examples that the candidate could not learn, and why

    @property
    def both(self) -> tuple[list[Tried], list[Tried]]:
        return self.present, self.candidate


def rehearse(
    folder: Path,
    present: Categorizer,
    candidate: Categorizer,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Rehearsal:
    """Replay the journal of a state directory with both, which learn it; ``tell`` how much of how much is done."""
    both = [Apprentice(folder, model) for model in (present, candidate)]
    try:
        rehearsal = Rehearsal([], [], [], both[1].passed)
        last = both[0].journal.version().examples
        for lesson in _lessons(both[0], last):
            tell(lesson.number - 1, last)
            if not isinstance(lesson.labels, dict) and lesson.labels and not lesson.person.endswith(ALONE):
                rehearsal.labels.append(lesson.labels)
                for one, results in zip(both, rehearsal.both, strict=True):
                    results.append(tried(one, lesson, lesson.labels))
            for one in both:
                one.learn_up_to(lesson.number)
    finally:
        for one in both:
            one.close()
    if len(rehearsal.labels) < LEAST:
        n = len(rehearsal.labels)
        raise InputError(f"the journal in {folder} has {counted(n, 'examples')}; a rehearsal needs at least {LEAST}")
    return rehearsal


def _lessons(replica: Replica, last: int) -> Iterator[Entry]:
    """The journal up to an example."""
    number = 0
    while some := replica.journal.after(number, last):
        yield from some
        number = some[-1].number


def tried(replica: Replica, lesson: Entry, labels: list[Label]) -> Tried:
    ranked = [label for label, _ in replica.rank(lesson.text, max(1, len(labels)), vector=read_vector(lesson.vector))]
    return Tried(float(bool(ranked) and ranked[0] in labels), [float(label in ranked) for label in labels])


def report(rehearsal: Rehearsal) -> dict[str, Any]:
    """Both side by side: as a whole, over time, by groups of labels, and for single labels."""
    firsts = [np.array([one.first for one in results]) for results in rehearsal.both]
    n = firsts[0].size
    edges = np.linspace(0, n, 1 + max(1, min(WINDOWS, n // LEAST))).astype(int).tolist()
    windows = [
        {"from": begin + 1, "to": end} | compared(*(own[begin:end] for own in firsts)) for begin, end in pairwise(edges)
    ]
    counts = Counter(label for own in rehearsal.labels for label in own)
    groups: list[dict[str, Any]] = []
    for least, most in GROUPS:
        members = {label for label, times in counts.items() if least <= times and (most is None or times <= most)}
        values = by_example(rehearsal, members)
        if values[0].size >= LEAST:
            named = f"{least}–{most} examples" if most else f"{least} examples and more"
            groups.append({"group": named, "labels": len(members)} | compared(*values))
    frequent = [label for label, times in counts.items() if times >= LEAST]
    labels = [{"label": label} | compared(*by_example(rehearsal, {label})) for label in frequent]
    labels.sort(key=lambda one: (-abs(one["difference"]), str(one["label"])))
    whole = compared(*firsts)
    every: list[dict[str, Any]] = [*groups, {"group": "all examples"} | whole]
    falls = [one["group"] for one in every if one["high"] < 0]
    return {
        "all": whole, "windows": windows, "groups": groups, "labels": labels[:SHOWN], "falls": falls,
        "passed_over": len(rehearsal.passed), "passed": first_of(rehearsal.passed),
    }  # fmt: skip


def by_example(rehearsal: Rehearsal, members: set[Label]) -> tuple[np.ndarray[Any, Any], ...]:
    """For each example with labels among these, the share of them that each model found."""
    values: dict[int, list[float]] = defaultdict(list)
    for n, labels in enumerate(rehearsal.labels):
        own = [i for i, label in enumerate(labels) if label in members]
        if own:
            for which, results in enumerate(rehearsal.both):
                values[which].append(sum(results[n].found[i] for i in own) / len(own))
    return np.array(values[0]), np.array(values[1])


def compared(present: np.ndarray[Any, Any], candidate: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Two means on the same examples, and the 95 % interval of their difference (paired bootstrap)."""
    found = paired_bootstrap(candidate, present, resamples=RESAMPLES)
    low, high = found.interval or (found.difference, found.difference)
    return {
        "examples": int(present.size), "present": float(present.mean()), "candidate": float(candidate.mean()),
        "difference": found.difference, "low": float(low), "high": float(high),
    }  # fmt: skip
