"""Ctrl-C at random moments of learning: the model must be what it was, or have learned a whole
number of examples.

    python -m tests.hostile.interrupts --count 200        (--long for 10,000)

Each trial teaches a copy of a small model, sends the process a real SIGINT on the way, and compares
what is left, byte by byte, with a model that learned just as many examples in peace. Then it is
saved, opened, taught on and asked.
"""

from __future__ import annotations

import argparse
import copy
import os
import random
import signal
import tempfile
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import shortlist as sl
from papers.comparators.extended_mmp import ExtendedMMP
from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from papers.comparators.unweighted_index import UnweightedIndex
from shortlist import concurrency as interrupts
from shortlist.files import store

LEARNERS = {
    "default": lambda: None,
    "FeatureFocus": lambda: sl.FeatureFocus(n_jobs=2),
    "MMP": sl.MMP,
    "MMP voted": lambda: ExtendedMMP(hypothesis="voted", voters=3),
    "MMP with a kernel": lambda: ExtendedMMP(kernel="rbf", budget=30),
    "TopicPerceptron": lambda: sl.TopicPerceptron(hypothesis="averaged"),
    "IndependentIndex": sl.IndependentIndex,
    "Rocchio": sl.Rocchio,
    "UnweightedIndex": lambda: UnweightedIndex(classifiers=2),
}
RATERS = {
    "PRank": sl.PRank,
    "WidrowHoff": sl.WidrowHoff,
    "MulticlassPerceptron": MulticlassPerceptron,
}
VERBS = ("learn", "learn_many", "learn_batches", "fit")


def texts_of(n: int, n_labels: int, chance: random.Random) -> tuple[list[str], list[list[str]]]:
    """So many texts, each with a word of its own, and their labels, of which the first is
    always there.
    """
    some = [[f"w{chance.randrange(900)}" for _ in range(12)] for _ in range(n)]
    texts = [" ".join([*words, f"u{chance.randrange(10**6)}"]) for words in some]
    return texts, [["label 0"], *([f"label {chance.randrange(n_labels)}"] for _ in range(n - 1))]


def table_of(n: int, chance: random.Random) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(chance.randrange(2**32))
    return random.normal(size=(n, 6)), random.integers(1, 5, size=n)


def stopped(call, seconds: float) -> bool:
    """Whether Ctrl-C, sent after so many seconds, has stopped a call."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    try:
        try:
            timer.start()
            call()
        finally:
            timer.cancel()
            timer.join()
    except KeyboardInterrupt:
        return True
    return False


def mark(model, *, observed: bool = True) -> str:
    """A digest of a model; if asked, without what it has observed, which depends on where
    learning paused.
    """
    state = model.to_state()
    if not observed:
        state.parts.pop("confidence", None)
    return store.checksum(state)


class OfTexts:
    """Trials of a Categorizer."""

    def __init__(self, name: str, verb: str, chance: random.Random) -> None:
        self.name, self.verb, self.chance = f"{name} {verb}", verb, chance
        self.base = sl.Categorizer(LEARNERS[name]()).learn_many(*texts_of(60, 8, chance))
        self.base.rank("w1", 1)
        self.texts, self.labels = texts_of(120, 30, chance)
        self.batches = [
            (self.texts[i : i + 30], self.labels[i : i + 30]) for i in range(0, 120, 30)
        ]
        self.after: dict[int, str] = {0: mark(self.base, observed=False)}

    def teach(self, model, n: int = 120) -> None:
        """Teach the first n texts, as the verb does."""
        if self.verb == "learn":
            for text, labels in zip(self.texts[:n], self.labels[:n], strict=True):
                model.learn(text, labels)
        elif self.verb == "learn_batches":
            model.learn_batches(iter(self.batches[: n // 30]))
            if n % 30:
                self.teach_part(model, *self.batches[n // 30], n % 30)
        elif self.verb == "learn_many":
            self.teach_part(model, self.texts, self.labels, n)
        elif n:
            model.fit(self.texts, self.labels)

    def teach_part(self, model, texts, labels, n: int) -> None:
        """Teach the first n of a batch whose texts are all weighed together."""
        if n == len(texts):
            model.learn_many(texts, labels)
            return
        taken = model.text_.take(texts)
        rows = model.text_.weighted(taken.rows)
        width = int(rows.indices[: rows.indptr[n]].max(initial=-1)) + 1
        model.learner_.partial_fit(rows.to_matrix()[:n, :width], labels[:n])
        model.text_.give_back(taken, n)

    def learned(self, model) -> int:
        n = int(model.learner_.n_examples_) - 60
        return 120 if self.verb == "fit" and n == 60 else n

    def as_in_peace(self, n: int) -> str:
        if n not in self.after:
            model = copy.deepcopy(self.base)
            self.teach(model, n)
            self.after[n] = mark(model, observed=False)
        return self.after[n]

    def go_on(self, model) -> None:
        model.learn_many(*texts_of(5, 50, self.chance))
        model.rank(["w1 w2"], 3)


class OfNumbers(OfTexts):
    """Trials of a Rater."""

    def __init__(self, name: str, verb: str, chance: random.Random) -> None:
        self.name, self.verb, self.chance = f"Rater {name} {verb}", verb, chance
        self.base = sl.Rater(RATERS[name]()).fit(*table_of(60, chance))
        self.X, self.y = table_of(4000, chance)
        self.after = {0: mark(self.base, observed=False)}

    def teach(self, model, n: int = 4000) -> None:
        if self.verb == "learn":
            model.learn(self.X[:n], self.y[:n])
        elif n:
            model.fit(self.X, self.y)

    def learned(self, model) -> int:
        return 4000 if self.verb == "fit" and model.n_examples_ == 4000 else model.n_examples_ - 60

    def go_on(self, model) -> None:
        model.learn(*table_of(5, self.chance))
        model.predict(self.X[:3])


def trials(chance: random.Random) -> list[OfTexts]:
    of_texts = [OfTexts(name, verb, chance) for name in LEARNERS for verb in VERBS]
    return of_texts + [
        OfNumbers(name, verb, chance) for name in RATERS for verb in ("learn", "fit")
    ]


def check(trial: OfTexts, model, path: Path) -> str | None:
    """What is wrong with a model whose learning was stopped."""
    n = trial.learned(model)
    found = mark(model)
    if mark(model, observed=False) != trial.as_in_peace(n):
        return f"after {n} examples it is not what {n} examples make"
    try:
        model.save(path)
        if mark(sl.load(path)) != found:
            return "opened, it is another model"
    except sl.ShortlistError as problem:
        return f"its file is refused: {problem}"
    try:
        trial.go_on(model)
        model.save(path)
        trial.go_on(sl.load(path))
    except Exception as problem:
        return f"it cannot go on: {problem!r}"
    return None


def run(count: int, seed: int = 0) -> tuple[int, Counter[str]]:
    """So many interrupts: how many there were, and what went wrong."""
    chance, wrong, n_stopped = random.Random(seed), Counter(), 0
    every = trials(chance)
    lasts = {}
    for trial in every:  # once in peace: most loops are compiled, and it shows how long each takes
        trial.go_on(copy.deepcopy(trial.base))
        model, start = copy.deepcopy(trial.base), time.perf_counter()
        trial.teach(model)
        lasts[trial.name] = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        while n_stopped < count:
            for trial in every:
                interrupts.RUN = chance.choice([7, 50, 1 << 13])
                model, start = copy.deepcopy(trial.base), time.perf_counter()
                if stopped(
                    lambda trial=trial, model=model: trial.teach(model),
                    chance.random() * lasts[trial.name],
                ):
                    n_stopped += 1
                    problem = check(trial, model, Path(folder) / "model.shortlist")
                    if problem:
                        wrong[f"{trial.name}: {problem}"] += 1
                else:  # it was too late, as where something was compiled before
                    lasts[trial.name] = min(lasts[trial.name], time.perf_counter() - start)
    return n_stopped, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--long", action="store_true", help="10,000 interrupts")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    n, wrong = run(10_000 if given.long else given.count, given.seed)
    for what, times in wrong.most_common():
        print(f"{times:6,d}  {what}")
    print(f"{n:,} interrupts: {wrong.total():,} models that are not whole")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
