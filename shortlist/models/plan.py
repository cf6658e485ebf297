"""Before training: how much memory, processor time and disk a model of all examples of a file will take.

A sample, the first examples of the file, is learned three times: a quarter of it, half, and all. What grows in
proportion to the examples (the rows, the time) is scaled up. What grows ever more slowly (the words of a language, by
Heaps' law V = a·n^b; the edges; the labels; the model file) follows its exponent b from one doubling to the next: b
falls from the first doubling to the second, and is taken to fall by half as much with each further one. Where it does
not fall, the mean of the two is kept.

Memory is what training holds at its peak, in bytes counted from the code (sizes.py), and what the libraries take.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn.base import clone

from shortlist.categories.index.tuned_index import TunedIndex
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.models.base import Model
from shortlist.models.categorizer import Categorizer
from shortlist.models.category_model import CategoryModel
from shortlist.models.sizes import USUAL
from shortlist.models.vector_model import vector_of

LEAST = 40  # examples of which one can take a quarter
ALONE = 0.05  # of the time that learning takes, what one thread does while the others wait (benchmarks/cores.py)
IN_BLOCKS = 1.35  # times as long as one by one, on one thread, from text to model (docs/scale.md)
# Bytes that training holds at its peak, beside what sizes.py counts, for each ...
GIVEN = 32  # entry of a row that was given: as it was read, as part of the whole, and scaled
ROW = 40  # row: where it begins, its labels, its place in the order


@dataclass(frozen=True)
class Plan:
    """What training on all examples will take; ``sample`` of the ``examples`` were tried."""

    sample: int
    examples: int
    labels: int
    features: int
    edges: int
    memory: int
    model_size: int
    seconds: float  # of processor time
    cores: int
    elapsed: float  # seconds by the clock on that many cores, if they do nothing else


class Trial(NamedTuple):
    """What a model of some of the examples held and took."""

    labels: float
    words: float
    n_bytes: float  # of the names of the words
    edges: float
    entries: float
    model_size: float
    seconds: float
    weights: float  # of vectors beside the words


def plan(batches: Sequence[Examples], share: float, model: Model[Any], reading: float) -> Plan:
    """Plan the training of a model on a file of which these batches, its beginning, are that share.

    ``reading`` is the processor time, in seconds, that it took to read them.
    """
    n = sum(len(batch) for batch in batches)
    if n < LEAST:
        raise InputError(f"a plan needs at least {LEAST} examples to try, not {n}")
    examples = max(n, round(n / share))
    _tried(_first(batches, LEAST), model)  # compiles, or loads what was compiled
    trials = [_tried(_first(batches, size), model) for size in (n // 4, n // 2, n)]
    last, doublings = trials[-1], math.log2(examples / n)
    end = Trial(*(extrapolated([trial[what] for trial in trials], doublings) for what in range(len(last))))
    entries = last.entries * examples / n
    divides = in_blocks(model, examples)
    learning = last.seconds * (IN_BLOCKS if divides and not in_blocks(model, n) else 1.0) * examples / n
    return Plan(
        sample=n,
        examples=examples,
        labels=round(end.labels),
        features=round(end.words),
        edges=round(end.edges),
        memory=USUAL.libraries + peak(isinstance(model, Categorizer), examples, end._replace(entries=entries)),
        model_size=round(end.model_size),
        seconds=reading * examples / n + learning,
        cores=(cores := os.cpu_count() or 1 if divides else 1),
        elapsed=elapsed(reading * examples / n, learning, cores),
    )


def in_blocks(model: Model[Any], examples: int) -> bool:
    """Whether so many examples are learned in blocks, by all cores."""
    learner = model.new_learner() if isinstance(model, CategoryModel) else None
    return isinstance(learner, TunedIndex) and learner.block_for(examples) > 1


def elapsed(reading: float, learning: float, cores: int) -> float:
    """By Amdahl's law. Where there are several cores, one reads ahead while the others tokenise."""
    return reading + learning if cores == 1 else max(reading, learning * (ALONE + (1.0 - ALONE) / cores))


def _first(batches: Sequence[Examples], n: int) -> list[Examples]:
    """The first n examples."""
    first: list[Examples] = []
    for batch in batches:
        n -= len(batch)
        first.append(batch if n >= 0 else batch.take(list(range(len(batch) + n))))
        if n <= 0:
            break
    return first


def _tried(batches: list[Examples], model: Model[Any]) -> Trial:
    fitted: CategoryModel = clone(model)
    began = time.process_time()
    fitted.fit_batches(batches)
    seconds = time.process_time() - began
    learner, n_bytes = fitted.learner_, fitted.n_name_bytes
    entries = sum(int(fitted._rows(batch).indices.size) for batch in batches)
    size = sum(array.nbytes for array in fitted.to_state().all_arrays().values())
    n_edges = getattr(learner, "n_edges_", 0)
    n_labels, n_vector = len(learner.label_counts_), vector_of(learner)
    words, weights = learner.n_features_in_ - n_vector, n_vector * n_labels
    return Trial(n_labels, words, n_bytes, n_edges, entries, size, seconds, weights)


def extrapolated(values: Sequence[float], doublings: float) -> float:
    """What has grown to these values at a quarter, at half and at all of a sample, after so many more doublings."""
    quarter, half, whole = (max(value, 1.0) for value in values)
    earlier, exponent = math.log2(half / quarter), math.log2(whole / half)
    if exponent >= earlier:
        return whole * 2 ** (doublings * (earlier + exponent) / 2)
    fall = earlier - exponent
    grown = whole
    while doublings > 0:
        fall /= 2
        exponent = max(0.0, exponent - fall)
        grown *= 2 ** (exponent * min(1.0, doublings))
        doublings -= 1
    return grown


def peak(of_texts: bool, examples: float, end: Trial) -> int:
    """The bytes that training takes when it holds the most."""
    rows = (USUAL.entry if of_texts else GIVEN) * end.entries + ROW * examples
    names = USUAL.name_byte * end.n_bytes + USUAL.weight * end.weights
    return round(rows + USUAL.edge * end.edges + USUAL.word * end.words + names + USUAL.label * end.labels)
