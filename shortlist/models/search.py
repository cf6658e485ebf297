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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.validation import MOST_SEED, as_real, as_whole
from shortlist.categories.index.feature_focus import FeatureFocus
from shortlist.categories.index.learner import IndexLearner
from shortlist.categories.index.tuned_index import TunedIndex
from shortlist.categories.learner import CategoryLearner
from shortlist.categories.prototypes.mmp import MMP
from shortlist.categories.prototypes.rocchio import Rocchio
from shortlist.errors import InputError
from shortlist.estimators import Estimator, clone
from shortlist.inputs.examples import Examples
from shortlist.labels import numbered
from shortlist.measures import evaluate, paired_bootstrap
from shortlist.models.base import Table
from shortlist.models.category_model import CategoryModel
from shortlist.models.memory import MOST
from shortlist.models.text_batches import default_text
from shortlist.ranking import Ranking
from shortlist.text.vectorizer import PLAIN, TextVectorizer
from shortlist.texts import Document, WithVectors

# Successive halving: rounds with fewer candidates and more examples, and which examples they learn and are tried on.


FOLDS = 5
MOST_HELD, ENOUGH_HELD = 10_000, 2000
SHARES = ((9, 2000), (3, 4000))  # of the examples that are not held back, and how many at least
MOST_TRIED = 5000  # examples that the candidates of an early round are tried on
FEWER = 8  # candidates that go on after the first round
FINALISTS = 4  # beside the usual model
BEST = 3  # learners, and kinds of features, that are tried together
TIME = (0.4, 0.7, 1.0)  # the share of the time that is over when a round ends, at the latest


class Part(NamedTuple):
    """Numbers of the examples to learn, and of those to be tried on."""

    to_learn: list[int]
    to_try: list[int]


class Round(NamedTuple):
    """What each candidate of a round is tried on, how many of them are left after it, and when it ends."""

    parts: list[Part]
    keep: int
    ends: float  # as a share of the time

    @property
    def n_learned(self) -> int:
        return len(self.parts[0].to_learn)


def rounds(n: int, random_state: int) -> list[Round]:
    """The rounds of a search with n examples."""
    order = np.random.default_rng(random_state).permutation(n)
    held = min(max(1, n // FOLDS), MOST_HELD)
    n_learned = n - held
    plan = []
    for number, (share, least) in enumerate(SHARES):
        size = min(max(n_learned // share, least), n_learned)
        parts = [early(order, size)] if size < n_learned else [fold(order, held, own) for own in range(number + 1)]
        plan.append(Round(parts, 1 + (FEWER if number == 0 else FINALISTS), TIME[number]))
    n_folds = min(FOLDS, -(-ENOUGH_HELD // held))
    return [*plan, Round([fold(order, held, own) for own in range(n_folds)], 1 + FINALISTS, TIME[-1])]


def early(order: Longs, size: int) -> Part:
    """Learn the first so many, and be tried on those that come next."""
    return Part(order[:size].tolist(), order[size : size + MOST_TRIED].tolist())


def fold(order: Longs, held: int, number: int) -> Part:
    """Learn all but a part that is held back: the last one first."""
    last = order.size - number * held
    own = np.arange(last - held, last)
    return Part(np.delete(order, own).tolist(), order[own].tolist())


# What a search tries: the usual model first, then other learners, and other features of texts.


MOST_SCORES = 2 * 10**9  # examples times labels, of a learner that scores all labels of each example

LEARNERS: tuple[CategoryLearner, ...] = (
    TunedIndex(min_weight=0.002, max_edges=100),
    TunedIndex(min_weight=0.0005, max_edges=1000, passes=4),
    TunedIndex(passes=5),
    MMP(step="passive-aggressive", margin=1.0, hypothesis="averaged", passes=5),
    FeatureFocus(margin=0.3),
    Rocchio(),
)
# What texts can have beside single words, and how they are weighted.
PAIRS: dict[str, Any] = {"min_length": 1, "ngrams": 2, "character_weight": 0.6}  # of words of any length
FEATURES: tuple[dict[str, Any], ...] = (
    {"idf": None}, PLAIN | {"ngrams": 2}, PLAIN, PLAIN | {"ngrams": 2, "prefix": 5},
    PLAIN | PAIRS | {"characters": (2, 4)}, PLAIN | PAIRS | {"characters": (3, 4), "prefix": 4},
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A model that may be the best one, and how it differs from the usual one."""

    model: CategoryModel[Any]
    learner: CategoryLearner | None = None
    text: TextVectorizer | None = None

    @property
    def name(self) -> str:
        """The learner and its settings, and those of the text, where they are not the usual ones."""
        own = [] if self.learner is None else [called(self.learner)]
        own += [] if self.text is None else [f"text {changes(self.text, default_text())}"]
        return ", ".join(own) or "the usual"


def candidates(usual: CategoryModel[Any], examples: Examples) -> list[Candidate]:
    """The usual model, and those that differ from it by other features or another learner.

    Where texts have vectors, another learner is the usual one with other settings: no other learns both.
    """
    labels = numbered(examples.labels or [], len(examples))
    n_scores = len(examples) * len(labels.names)
    bounded = getattr(usual, "max_memory", None) is not None
    some = [] if examples.texts is None else examples.texts[:1000]
    learners = [one for one in LEARNERS if fits(one, n_scores, bounded)]
    if isinstance(some, WithVectors):
        learners, some = [one for one in learners if isinstance(one, TunedIndex)], some.texts
    texts = features(some, labels.sets.recurring) if examples.texts is not None else []
    others = [candidate(usual, None, text) for text in texts] + [candidate(usual, one, None) for one in learners]
    return [Candidate(usual), *others]


def candidate(usual: CategoryModel[Any], learner: CategoryLearner | None, text: TextVectorizer | None) -> Candidate:
    """The usual model with another learner, other features, or both."""
    parts = {"learner": learner, "text": text}
    model = clone(usual).set_params(**{name: part for name, part in parts.items() if part is not None})
    return Candidate(model, learner, text)


def fits(learner: CategoryLearner, n_scores: int, bounded: bool) -> bool:
    """Whether a learner can be tried on so many examples times labels, in memory that may be bounded."""
    return isinstance(learner, IndexLearner) or (n_scores <= MOST_SCORES and not bounded)


def features(texts: Sequence[Document], recurring: bool) -> list[TextVectorizer]:
    """The features that differ from the usual ones of such texts."""
    usual = default_text().settled(texts, recurring).get_params()
    found = [default_text().set_params(**settings) for settings in FEATURES]
    return [text for text in found if text.settled(texts, recurring).get_params() != usual]


def called(learner: Estimator) -> str:
    """A learner by its class and the settings that are not those it has by itself."""
    settings = changes(learner, type(learner)())
    return type(learner).__name__ + (f"({settings})" if settings else "")


def changes(part: Estimator, usual: Estimator) -> str:
    """The settings of a part that are not those of the usual one, as they would be written."""
    own, others = part.get_params(deep=False), usual.get_params(deep=False)
    return ", ".join(f"{name}={value!r}" for name, value in own.items() if _plain(value) != _plain(others.get(name)))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


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
        kind = type(trial.candidate.model._new_learner())
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
        ranking = Ranking.stack([model._rank_examples(test, DEPTH)], DEPTH)
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
    tried: dict[str, type] = {"name": str, "learned": int, "value": float, "came of it": str}
    if not _has(given, {"measure": str, "chosen": str, "tried": list}):
        return False
    return all(_has(one, tried) for one in given["tried"])


def _has(given: object, kinds: dict[str, type]) -> TypeGuard[dict[str, Any]]:
    if not isinstance(given, dict) or given.keys() != kinds.keys():
        return False
    return all(isinstance(given[name], kind) for name, kind in kinds.items())
