"""Learners and models side by side: comparisons on random splits, and a search for the best
model of a fixed list.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from shortlist.compiled.kernels import Floats
from shortlist.data.batch import RowBatch
from shortlist.data.labels import numbered
from shortlist.data.ranking import Ranking
from shortlist.data.rows import Rows
from shortlist.data.texts import WithVectors
from shortlist.data.validation import MOST_SEED, as_real, as_whole
from shortlist.errors import InputError
from shortlist.estimators import Estimator, clone
from shortlist.inputs.examples import Examples
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.index.feature_focus import FeatureFocus
from shortlist.learners.index.tuned_index import TunedIndex
from shortlist.learners.port import BoundsMemory, TakesVectors
from shortlist.learners.prototypes.mmp import MMP
from shortlist.learners.prototypes.rocchio import Rocchio
from shortlist.measures import evaluate, paired_bootstrap, wilcoxon
from shortlist.models.category_model import CategoryModel
from shortlist.models.model import ReportTable, named
from shortlist.models.text_batches import default_text
from shortlist.text.text_settings import PLAIN
from shortlist.text.vectorizer import TextVectorizer

# The search. The usual model and each candidate learn the same examples and are measured on the
# same held-out part; where there are many examples, first on a sample, then the best few on all.
# Another model replaces the usual one only if it is better by a paired bootstrap with p < 0.05,
# divided by the number of finalists. The chosen model learns all examples in the end. The measure
# is R1 where examples have one label each, otherwise nDCG@5.


HELD_OUT_SHARE = 5  # a fifth of the examples is held out,
MOST_HELD_OUT = 10_000  # but at most so many
SAMPLE_SIZE = 20_000  # examples to learn from in the first round
FINALISTS = 4  # candidates of the second round, beside the usual model
SIGNIFICANCE = 0.05
SEARCH_RESAMPLES = 2000
SEARCH_DEPTH = 5
LEAST_EXAMPLES = 20  # that a search needs
MOST_SCORES = 2 * 10**9  # examples × labels, for a learner that scores all labels of each example
OUT_OF_TIME = "no time left"

LEARNERS_TRIED: tuple[CategoryLearner, ...] = (
    TunedIndex(passes=5),
    TunedIndex(min_weight=0.0005, max_edges=1000, passes=4),
    TunedIndex(min_weight=0.002, max_edges=100),
    MMP(step="passive-aggressive", margin=1.0, hypothesis="averaged", passes=5),
    FeatureFocus(margin=0.3),
    Rocchio(),
)
# of words of any length
SHORT_WORDS_AND_PAIRS: dict[str, Any] = {"min_length": 1, "ngrams": 2, "character_weight": 0.6}
FEATURES_TRIED: tuple[dict[str, Any], ...] = (
    {"idf": None},
    PLAIN,
    PLAIN | {"ngrams": 2, "prefix": 5},
    PLAIN | SHORT_WORDS_AND_PAIRS | {"characters": (2, 4)},
    PLAIN | SHORT_WORDS_AND_PAIRS | {"characters": (3, 4), "prefix": 4},
)


@dataclass
class Trial:
    """A candidate and the result of its last trial."""

    name: str
    model: CategoryModel[Any]
    # the measure of each held-out example
    values: Floats = field(default_factory=lambda: np.zeros(0))
    n_learned: int = 0
    seconds: float = 0.0  # of all trials
    verdict: str = ""

    @property
    def value(self) -> float:
        return float(self.values.mean()) if self.values.size else -1.0


@dataclass
class Found:
    """The chosen model, which has learned all examples, and all trials, the best first."""

    model: CategoryModel[Any]
    trials: list[Trial]
    measure: str

    @property
    def record(self) -> dict[str, Any]:
        """The part that a model file keeps."""
        tried = [
            {
                "name": trial.name,
                "learned": trial.n_learned,
                "value": trial.value,
                "came of it": trial.verdict,
            }
            for trial in self.trials
        ]
        return {"measure": self.measure, "chosen": self.chosen, "tried": tried}

    @property
    def chosen(self) -> str:
        return next(trial.name for trial in self.trials if trial.verdict.startswith("chosen"))

    def table(self) -> ReportTable:
        rows = []
        for trial in self.trials:
            value = trial.value if trial.values.size else None
            seconds = f"{trial.seconds:.1f}"
            rows.append([trial.name, trial.n_learned, value, seconds, trial.verdict])
        return ReportTable(
            "Tried",
            ["what", "learned from", self.measure, "seconds", "what came of it"],
            rows,
            "trials",
        )


def candidates(usual: CategoryModel[Any], examples: Examples) -> list[Trial]:
    """The usual model, and models that differ from it by their features or their learner.

    For texts with vectors only settings of TunedIndex are tried: no other learner takes vectors.
    Within a bound on memory only learners that can make room are tried.
    """
    labels = numbered(examples.labels or [], len(examples))
    recurring = labels.sets.recurring
    is_bounded = getattr(usual, "max_memory", None) is not None
    few_scores = len(examples) * len(labels.names) <= MOST_SCORES
    learners = list(LEARNERS_TRIED)
    if is_bounded or not few_scores:
        learners = [learner for learner in learners if isinstance(learner, BoundsMemory)]
    beginning = [] if examples.texts is None else examples.texts[:1000]
    if isinstance(beginning, WithVectors):
        learners = [learner for learner in learners if isinstance(learner, TakesVectors)]
        beginning = beginning.texts
    trials = [Trial("the usual", usual)]
    if len(beginning):
        usual_params = default_text().settled(beginning, recurring).get_params()
        for settings in FEATURES_TRIED:
            text = default_text().set_params(**settings)
            if text.settled(beginning, recurring).get_params() != usual_params:
                name = f"text {changes(text, default_text())}"
                trials.append(Trial(name, clone(usual).set_params(text=text)))
    return trials + [
        Trial(called(learner), clone(usual).set_params(learner=learner)) for learner in learners
    ]


def search(
    usual: CategoryModel[Any],
    examples: Examples,
    *,
    seconds: float = 600.0,
    random_state: int = 0,
    progress: Callable[[int, int], None] = lambda done, trials: None,
) -> Found:
    """The usual model, or one that is better for these examples, after it has learned all of them.

    Before ``seconds`` are over, no trial begins that would take longer than what is left; a
    candidate counts as taking as long as the usual model did.
    """
    as_real(seconds, "seconds", least=0)
    n = len(examples)
    seed = as_whole(random_state, "random_state", most=MOST_SEED)
    if n < LEAST_EXAMPLES:
        raise InputError(
            f"a search holds examples back, and needs at least {LEAST_EXAMPLES}, not {n}"
        )
    single = numbered(examples.labels or [], n).sets.single
    measure = "R1" if single else f"nDCG@{SEARCH_DEPTH}"
    trials = candidates(usual, examples)
    start = time.perf_counter()
    order = np.random.default_rng(seed).permutation(n).tolist()
    n_test = min(n // HELD_OUT_SHARE, MOST_HELD_OUT)
    test = examples.take(order[:n_test])
    to_learn = order[n_test:]
    rounds = [len(to_learn)]
    if len(to_learn) > SAMPLE_SIZE:
        rounds = [SAMPLE_SIZE, len(to_learn)]
    n_planned = len(trials) + (FINALISTS + 1) * (len(rounds) - 1)
    n_done = 0
    in_round = list(trials)
    for size in rounds:
        part = examples.take(to_learn[:size])
        for trial in in_round:
            progress(n_done, n_planned)
            n_done += 1
            needed = trials[0].seconds * (size + n) / max(1, trials[0].n_learned)
            if trial is not trials[0] and time.perf_counter() - start + needed > seconds:
                trial.verdict = OUT_OF_TIME
                continue
            try:
                _attempt(trial, part, test, measure)
            except (ValueError, MemoryError) as problem:  # an InputError is a ValueError
                if trial is trials[0]:
                    raise
                trial.verdict = f"failed: {problem}"
        rivals = [trial for trial in in_round[1:] if not trial.verdict]
        rivals.sort(key=lambda trial: -trial.value)
        if size != rounds[-1]:
            for trial in rivals[FINALISTS:]:
                trial.verdict = "left behind on the sample"
            rivals = rivals[:FINALISTS]
        in_round = [trials[0], *rivals]
    chosen = decide(trials[0], in_round[1:])
    chosen.model.fit_batches([examples])
    trials.sort(key=lambda trial: (-trial.n_learned, -trial.value))
    result = Found(chosen.model, trials, measure)
    if hasattr(chosen.model, "search_"):
        chosen.model.search_ = result.record
    return result


def _attempt(trial: Trial, part: Examples, test: Examples, measure: str) -> None:
    """Let a copy of the candidate learn these examples, and measure it on the test examples."""
    start = time.perf_counter()
    model = clone(trial.model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the chosen model will warn
        model.fit_batches([part])
    ranking = Ranking.stack([model.rank_examples(test, SEARCH_DEPTH)], SEARCH_DEPTH)
    truth = model.learner_.label_numbers(test.labels)
    n_labels = len(model.learner_.classes_)
    evaluation = evaluate(ranking, truth, [measure], n_labels=n_labels, resamples=0)
    trial.values = np.nan_to_num(evaluation.per_instance[measure])
    trial.n_learned = len(part)
    trial.seconds += time.perf_counter() - start


def decide(usual: Trial, rivals: list[Trial]) -> Trial:
    """The best of those that are better than the usual model by more than chance; that model,
    if none is.
    """
    chosen = usual
    for trial in rivals:
        test = paired_bootstrap(trial.values, usual.values, resamples=SEARCH_RESAMPLES)
        trial.verdict = f"{100 * test.difference:+.2f} points, p = {test.p_value:.3f}"
        is_better = test.difference > 0 and test.p_value < SIGNIFICANCE / len(rivals)
        if is_better and trial.value > chosen.value:
            chosen = trial
    if chosen is usual:
        usual.verdict = "chosen"
    else:
        usual.verdict = "beaten"
        chosen.verdict = f"chosen: {chosen.verdict}"
    return chosen


def called(learner: Estimator) -> str:
    """A learner by its class and the settings that differ from its defaults."""
    settings = changes(learner, type(learner)())
    return type(learner).__name__ + (f"({settings})" if settings else "")


def changes(part: Estimator, usual: Estimator) -> str:
    """The settings of a part that differ from those of the usual one, as they would be written."""

    def plain(value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value

    usual_params = usual.get_params(deep=False)
    return ", ".join(
        f"{name}={value!r}"
        for name, value in part.get_params(deep=False).items()
        if plain(value) != plain(usual_params.get(name))
    )


# Comparing learners: the same splits, quality and cost of each, and tests of their differences.


MEASURES_COMPARED = ("R1", "R5", "MRR")
ORDERED_BY = "R1"  # learners are ordered and tested by it
DEPTH_COMPARED = 50  # labels ranked for each row: enough for MRR


@dataclass
class Contestant:
    """What one learner did on every split."""

    name: str
    quality: dict[str, list[float]] = field(
        default_factory=lambda: {name: [] for name in MEASURES_COMPARED}
    )
    per_row: list[Any] = field(default_factory=list)  # R1 of the rows of each split: 1 or 0
    seconds: list[float] = field(default_factory=list)  # to learn
    microseconds: list[float] = field(default_factory=list)  # to rank one row
    weights: int | None = None  # edges or weights of the last model
    n_bytes: int = 0  # arrays of the last model

    def mean(self, measure: str) -> float:
        return float(np.mean(self.quality[measure]))

    def _add_split(self, learner: Any, train: Rows, labels: Any, test: Rows, truth: Any) -> None:
        """Let a new learner learn the training rows, and measure it on the test rows."""
        start = time.process_time()
        learner.fit_batch(RowBatch.of(train, labels))
        self.seconds.append(time.process_time() - start)
        start = time.process_time()
        ranking = learner.rank_rows(test, DEPTH_COMPARED)
        self.microseconds.append(1e6 * (time.process_time() - start) / test.n_rows)
        stacked = ranking.stack([ranking], DEPTH_COMPARED)
        truth_numbers = learner.label_numbers(truth)
        evaluation = evaluate(stacked, truth_numbers, MEASURES_COMPARED, resamples=0)
        for name in MEASURES_COMPARED:
            self.quality[name].append(evaluation[name])
        self.per_row.append(np.nan_to_num(evaluation.per_instance[ORDERED_BY]))
        self.weights = getattr(learner, "n_edges_", getattr(learner, "n_weights_", None))
        self.n_bytes = sum(array.nbytes for array in learner.to_state().all_arrays().values())


@dataclass(frozen=True)
class Difference:
    """Two learners: the difference of R1, and the p-value of a test over all rows of all splits."""

    first: str
    second: str
    difference: float
    wilcoxon: float


def compare(
    names: list[str],
    data: list[str] | Rows,
    labels: list[list[str]],
    *,
    splits: int = 5,
    held_out: float = 0.2,
    random_state: int = 0,
    text: TextVectorizer | None = None,
) -> Iterator[list[Contestant]]:
    """Train and test the learners on random splits of texts or rows. Gives the results after
    each split.
    """
    contestants = [Contestant(name) for name in names]
    learners: list[Any] = [named("categories", name, "--learners") for name in names]
    n = len(labels)
    if isinstance(data, Rows):
        for learner in learners:
            learner.checked_signs(data)
    if n < 2:
        raise InputError("a comparison needs at least two examples")
    generator = np.random.default_rng(random_state)
    for _ in range(splits):
        order = generator.permutation(n)
        n_test = min(max(1, round(held_out * n)), n - 1)
        test = order[:n_test].tolist()
        train = order[n_test:].tolist()
        learned = [labels[i] for i in train]
        truth = [labels[i] for i in test]
        if isinstance(data, Rows):
            train_rows = data.take(train)
            test_rows = data.take(test)
        else:  # rows as a Categorizer that learned the training texts would make them
            texts = [data[i] for i in train]
            recurring = numbered(learned, len(learned)).sets.recurring
            vectorizer = (default_text() if text is None else text).settled(texts, recurring)
            train_rows = vectorizer.fit_counts([texts]).all()
            test_rows = vectorizer.rows([data[i] for i in test])
        for contestant, learner in zip(contestants, learners, strict=True):
            if not contestant.seconds:  # compile before the clock starts
                first = RowBatch.of(train_rows.take([0]), learned[:1])
                trained = clone(learner).fit_batch(first)
                trained.rank_rows(test_rows.take([0]))
            contestant._add_split(clone(learner), train_rows, learned, test_rows, truth)
        yield contestants


def differences(contestants: list[Contestant]) -> list[Difference]:
    """Every pair, the better one first."""
    ranked = sorted(contestants, key=lambda contestant: -contestant.mean(ORDERED_BY))
    results = []
    for first, second in combinations(ranked, 2):
        test = wilcoxon(np.concatenate(first.per_row), np.concatenate(second.per_row))
        difference = first.mean(ORDERED_BY) - second.mean(ORDERED_BY)
        results.append(Difference(first.name, second.name, difference, test.p_value))
    return results
