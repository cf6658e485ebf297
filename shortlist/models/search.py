"""The best model for some examples: many candidates learn from few of them, the better ones from more (halving.py).

The usual model is a candidate in every round. Another one takes its place only if it is better on examples that were
held back, by more than chance: a paired bootstrap with p < 0.05, divided by the number of finalists. So a search costs
time, and never more than noise in quality. What is chosen learns all examples in the end.

Where examples have one label each the measure is R1, the share whose best label is right; where they have several it is
nDCG@5. Time is looked at before each trial, by what the candidate's last one took: while time is left over, the same
seed gives the same model.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from shortlist.arrays.kernels import Floats
from shortlist.arrays.validation import MOST_SEED, as_real, as_whole
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.labels import numbered
from shortlist.measures import evaluate, paired_bootstrap
from shortlist.models.base import Table
from shortlist.models.candidates import Candidate, candidate, candidates
from shortlist.models.category_model import CategoryModel
from shortlist.models.halving import BEST, Part, Round, rounds
from shortlist.models.sizes import MOST
from shortlist.ranking import Ranking

SURE = 0.05
DEPTH = 5
LEAST = 20  # examples: of fewer none can be held back
ROOM = 4 * 10**9  # bytes that a model may come to, where no bound is set
RESAMPLES = 2000
OUT_OF_TIME, OUT_OF_MEMORY = "no time left", "would take too much memory"


@dataclass
class Trial:
    """A candidate, and what came of its last trial."""

    candidate: Candidate
    values: Floats = field(default_factory=lambda: np.zeros(0))  # of the measure, for each example that it was tried on
    n_learned: int = 0
    n_weights: int = 0
    seconds: float = 0.0  # of the last trial, for each example that it learned; expected ones before the first
    spent: float = 0.0
    rounds: int = 0  # that it has gone through
    verdict: str = ""

    @property
    def value(self) -> float:
        return float(self.values.mean()) if self.values.size else -1.0


@dataclass
class Step:
    """How far a search is: for the bar on the terminal."""

    name: str
    done: int
    trials: int


@dataclass
class Found:
    """The model that was chosen, which has learned all examples, and all trials, the best first."""

    model: CategoryModel[Any]
    trials: list[Trial]
    measure: str

    @property
    def record(self) -> dict[str, Any]:
        """What a model file keeps of it."""
        tried = [
            {"name": one.candidate.name, "learned": one.n_learned, "value": one.value, "came of it": one.verdict}
            for one in self.trials
        ]
        return {"measure": self.measure, "chosen": self.chosen, "tried": tried}

    @property
    def chosen(self) -> str:
        return next(one.candidate.name for one in self.trials if one.verdict.startswith("chosen"))

    def table(self) -> Table:
        rows = [
            [one.candidate.name, one.n_learned, one.value if one.rounds else None, f"{one.spent:.1f}", one.verdict]
            for one in self.trials
        ]
        return Table("Tried", ["what", "learned from", self.measure, "seconds", "what came of it"], rows, "trials")


def search(
    usual: CategoryModel[Any],
    examples: Examples,
    *,
    seconds: float = 600.0,
    random_state: int = 0,
    progress: Callable[[Step], None] = lambda step: None,
) -> Found:
    """The usual model, or one that is better for these examples, after it has learned all of them."""
    as_real(seconds, "seconds", least=0)
    as_whole(random_state, "random_state", most=MOST_SEED)
    if len(examples) < LEAST:
        raise InputError(f"a search holds examples back, and needs at least {LEAST}, not {len(examples)}")
    trials = [Trial(one) for one in candidates(usual, examples)]
    course = Course(examples, seconds, progress)
    chosen = course.run(trials, rounds(len(examples), random_state))
    model = chosen.candidate.model
    model.fit_batches([examples])
    found = Found(model, sorted(trials, key=lambda one: (-one.rounds, -one.value)), course.measure)
    if hasattr(model, "search_"):
        model.search_ = found.record
    return found


class Course:
    """One search: the time that it may take, and what it measures."""

    def __init__(self, examples: Examples, seconds: float, progress: Callable[[Step], None]) -> None:
        self.examples, self.progress = examples, progress
        single = numbered(examples.labels or [], len(examples)).sets.single
        self.measure = "R1" if single else f"nDCG@{DEPTH}"
        self.began, self.seconds = time.perf_counter(), seconds
        self.done = self.planned = 0
        self.compiled: set[type] = set()

    def run(self, trials: list[Trial], plan: list[Round]) -> Trial:
        """Go through the rounds; the first of the trials is the usual model. Gives the one to take."""
        usual, left = trials[0], list(trials)
        self.planned = len(trials) + BEST**2 + sum(one.keep for one in plan[:-1])
        for number, now in enumerate(plan, 1):
            tried = [trial for trial in left if self.attempt(trial, now, usual)]
            if number == 1:
                both = together(usual, tried)
                trials += both
                tried += [trial for trial in both if self.attempt(trial, now, usual)]
            others = sorted((trial for trial in tried if trial is not usual), key=lambda trial: -trial.value)
            for trial in others[now.keep - 1 :]:
                trial.verdict = f"left behind in round {number}"
            left = [usual, *others[: now.keep - 1]]
            if not others:  # there was no time for any
                break
        return decide(usual, left[1:])

    def attempt(self, trial: Trial, now: Round, usual: Trial) -> bool:
        """Let a candidate learn and be measured, unless there is no time or memory; gives whether it was."""
        trial.verdict = "" if trial is usual else self.why_not(trial, now, usual)
        self.progress(Step(trial.candidate.name, self.done, self.planned))
        self.done += 1
        if trial.verdict:
            return False
        try:
            self.compile(trial, now.parts[0])
            began = time.perf_counter()
            trial.values = np.concatenate([self.measured(trial, part) for part in now.parts])
        except (ValueError, MemoryError) as problem:  # an InputError is a ValueError
            if trial is usual:
                raise
            trial.verdict = f"failed: {problem}"
            return False
        spent = time.perf_counter() - began
        trial.n_learned, trial.rounds = now.n_learned, trial.rounds + 1
        trial.seconds, trial.spent = spent / (len(now.parts) * now.n_learned), trial.spent + spent
        return True

    def compile(self, trial: Trial, part: Part) -> None:
        """Let a kind of learner learn a little at first: what is compiled then says nothing of the time it takes."""
        kind = type(trial.candidate.model.new_learner())
        if kind not in self.compiled:
            self.measured(trial, Part(part.to_learn[:LEAST], part.to_try[:1]))
            self.compiled.add(kind)

    def why_not(self, trial: Trial, now: Round, usual: Trial) -> str:
        """Why a candidate is not tried: it needs time to learn in this round, and all examples in the end."""
        each = trial.seconds or usual.seconds
        after = time.perf_counter() + each * now.n_learned * len(now.parts) - self.began
        if after > now.ends * self.seconds or after + each * len(self.examples) > self.seconds:
            return OUT_OF_TIME
        grown = MOST.edge * trial.n_weights * len(self.examples) / max(1, trial.n_learned)
        bounded = getattr(trial.candidate.model, "max_memory", None) is not None
        return OUT_OF_MEMORY if grown > ROOM and not bounded else ""

    def measured(self, trial: Trial, part: Part) -> Floats:
        """The measure of each example of a part that a candidate is tried on, after it has learned the others."""
        model = clone(trial.candidate.model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it will be said of the model that is chosen
            model.fit_batches([self.examples.take(part.to_learn)])
        test = self.examples.take(part.to_try)
        ranking = Ranking.stack([model.rank_examples(test, DEPTH)], DEPTH)
        learner = model.learner_
        trial.n_weights = getattr(learner, "n_edges_", getattr(learner, "n_weights_", 0))
        truth = learner.label_numbers(test.labels)
        found = evaluate(ranking, truth, [self.measure], n_labels=len(learner.classes_), resamples=0)
        return np.nan_to_num(found.per_instance[self.measure])


def together(usual: Trial, tried: list[Trial]) -> list[Trial]:
    """The best learners, each with the best features; both may take as long as the slower of the two did alone."""
    best = sorted((trial for trial in tried if trial is not usual), key=lambda trial: -trial.value)
    learners = [trial for trial in best if trial.candidate.learner is not None][:BEST]
    texts = [trial for trial in best if trial.candidate.text is not None][:BEST]
    model = usual.candidate.model
    return [
        Trial(candidate(model, a.candidate.learner, b.candidate.text), seconds=max(a.seconds, b.seconds))
        for a in learners
        for b in texts
    ]


def decide(usual: Trial, others: list[Trial]) -> Trial:
    """The best of those that are better than the usual model by more than chance; that model, if none is."""
    chosen = usual
    for trial in others:
        found = paired_bootstrap(trial.values, usual.values, resamples=RESAMPLES)
        trial.verdict = f"{100 * found.difference:+.2f} points, p = {found.p_value:.3f}"
        if found.difference > 0 and found.p_value < SURE / len(others) and trial.value > chosen.value:
            chosen = trial
    chosen.verdict = "chosen" + (f": {chosen.verdict}" if chosen.verdict else "")
    usual.verdict = usual.verdict or "beaten"
    return chosen


def is_record(given: object) -> bool:
    """Whether something that was read is what ``Found.record`` makes, or None."""
    if given is None:
        return True
    if not isinstance(given, dict) or not isinstance(given.get("tried"), list):
        return False
    named = {"name": str, "learned": int, "value": float, "came of it": str}
    tried = [one for one in given["tried"] if isinstance(one, dict)]
    known = all(isinstance(one.get(name), kind) for one in tried for name, kind in named.items())
    whole = len(tried) == len(given["tried"]) and set(given) == {"measure", "chosen", "tried"}
    return whole and known and isinstance(given["measure"], str) and isinstance(given["chosen"], str)
