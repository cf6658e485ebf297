"""Streams with a myriad of labels, made up as they are asked for and never held: any number of
examples fits.

What makes real many-label text hard is in them. Labels and words follow Zipf's law, P(rank r) ∝
1/r: a few labels have most of the examples, and most labels a handful. An example has one label,
often that label's broader label too, and sometimes the one above that: label c lies below c // 16.
Its words come half from a vocabulary common to all, half from those of its own labels. Each label
has 50 words of its own, also by Zipf's law, and shares each with some 25 others: there are two such
words for each label there is, and hashing chooses.

Rank r of n is drawn as ⌊(n+1)^u⌋ with u uniform on [0, 1), for which P(r) = log(1 + 1/r) /
log(n+1).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shortlist.data.labels import LabelSets, NumberedLabels
from shortlist.data.rows import Rows
from shortlist.data.validation import MOST_AMOUNT, as_whole

COMMON = 20_000  # words common to all labels
OWN = 50  # words of one label
OWN_PER_LABEL = 2  # different words of labels for each label
SHORTEST, LONGEST = 10, 30  # words of an example
BRANCHES = 16  # labels below a label
ABOVE = (0.5, 0.2)  # how often an example has the broader label too, and the one above that
BATCH = 5_000
FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)

Numbers = NDArray[np.int64]


def n_words(n_labels: int) -> int:
    """How many different words the examples of so many labels can have."""
    return COMMON + OWN_PER_LABEL * n_labels


def many_labels(
    n_labels: int, n_examples: int, seed: int = 0
) -> Iterator[tuple[Rows, NumberedLabels]]:
    """Batches of rows of word counts, and their labels: whole numbers below n_labels, the most
    frequent first.
    """
    as_whole(n_labels, "n_labels", least=2)
    left = as_whole(n_examples, "n_examples", most=MOST_AMOUNT)
    random = np.random.default_rng(seed)
    while left > 0:
        n = min(left, BATCH)
        labels = _labels(random, n, n_labels)
        yield _rows(random, labels, n_labels), _numbered(labels)
        left -= n


def _zipf(random: np.random.Generator, n: int, size: tuple[int, ...]) -> Numbers:
    """Numbers from 0 to n − 1, number r with a probability that falls as 1/(r + 1)."""
    ranks = np.power(n + 1.0, random.random(size)).astype(np.int64) - 1
    return np.minimum(ranks, n - 1)


def _labels(random: np.random.Generator, n: int, n_labels: int) -> Numbers:
    """n × 3: the label of each example, the broader one and the one above, −1 where it has none."""
    labels = np.full((n, 1 + len(ABOVE)), -1)
    labels[:, 0] = own = _zipf(random, n_labels, (n,))
    for level, share in enumerate(ABOVE, 1):
        own = own // BRANCHES
        has = (random.random(n) < share) & (own != labels[:, level - 1]) & (own != labels[:, 0])
        labels[has, level] = own[has]
    return labels


def _rows(random: np.random.Generator, labels: Numbers, n_labels: int) -> Rows:
    n = labels.shape[0]
    words = _zipf(random, COMMON, (n, LONGEST))
    source = np.take_along_axis(labels, random.integers(0, labels.shape[1], (n, LONGEST)), axis=1)
    source = np.where(source < 0, labels[:, :1], source)
    with np.errstate(over="ignore"):
        mixed = (
            source.astype(np.uint64) * FACTORS[0]
            + _zipf(random, OWN, (n, LONGEST)).astype(np.uint64) * FACTORS[1]
        )
        mixed = (mixed ^ (mixed >> np.uint64(29))) * FACTORS[0]
    own = COMMON + ((mixed >> np.uint64(20)) % np.uint64(OWN_PER_LABEL * n_labels)).astype(np.int64)
    words = np.where(random.random((n, LONGEST)) < 0.5, own, words)
    lengths = random.integers(SHORTEST, LONGEST + 1, (n, 1))
    words[np.arange(LONGEST) >= lengths] = -1
    words.sort(axis=1)
    first = np.ones(words.shape, dtype=bool)
    first[:, 1:] = words[:, 1:] != words[:, :-1]
    ends = np.flatnonzero(first.ravel())
    counts = np.diff(ends, append=words.size)
    kept = words.ravel()[ends] >= 0
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum((first & (words >= 0)).sum(axis=1), out=indptr[1:])
    columns = words.ravel()[ends][kept].astype(np.int32)
    return Rows(indptr, columns, counts[kept].astype(np.float64), n_words(n_labels))


def _numbered(labels: Numbers) -> NumberedLabels:
    """The labels of a batch, numbered among themselves."""
    has = labels >= 0
    names, numbers = np.unique(labels[has], return_inverse=True)
    indptr = np.zeros(labels.shape[0] + 1, dtype=np.int64)
    np.cumsum(has.sum(axis=1), out=indptr[1:])
    return NumberedLabels(names.tolist(), LabelSets(indptr, numbers.astype(np.int32)))
