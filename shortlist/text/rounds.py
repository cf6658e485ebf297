"""Texts counted by several threads, with the numbers that one thread would have given their features.

A round is some pieces of text. Its features are looked up by all threads, in a vocabulary that nobody changes
meanwhile. Those that are not known are then numbered by one, piece after piece, in order of first appearance; they are
few once a vocabulary has grown. Meanwhile the others cut the texts of the next round into features, for which they need
no vocabulary. Spelling the names of what was new, and counting, is done by all threads again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Ints, Longs
from shortlist.arrays.rows import Rows
from shortlist.text.counts import count
from shortlist.text.features import Features, Words
from shortlist.text.fielded import FieldFeatures
from shortlist.texts import Document, as_documents, blocks
from shortlist.vocabulary import Vocabulary, encoded

if TYPE_CHECKING:
    from shortlist.text.vectorizer import TextVectorizer

PIECES = 2  # of a round, for each thread
Cut: TypeAlias = tuple[Words, Features | FieldFeatures]


class Found(NamedTuple):
    """The features of some texts, and their numbers, −1 where one is not known: there, and with these hashes."""

    words: Words
    features: Features | FieldFeatures
    numbers: Ints
    unknown: Longs
    hashes: NDArray[np.uint64]


class Numbered(NamedTuple):
    """What was found, and the numbers of what was not known: the first new one, all, and which of them are new."""

    found: Found
    first: int
    numbers: Ints
    new: Longs


class Counted(NamedTuple):
    """Rows of counts, and the names of the features that were new."""

    rows: Rows
    first: int  # number of the first of them
    names: tuple[NDArray[np.uint8], Longs]


def pieces_of(
    batches: Iterable[Sequence[Document]], before: Callable[[Sequence[Document]], None]
) -> Iterator[Sequence[str]]:
    """The texts of batches in pieces, each batch having been shown to somebody before."""
    for batch in batches:
        texts = as_documents(batch)
        before(texts)
        yield from (texts[block] for block in blocks(texts))


def counted_by_threads(vectorizer: TextVectorizer, pieces: Iterable[Sequence[str]], n_threads: int) -> Iterator[Rows]:
    """Learn the features of one piece of text after the other; gives their rows of counts, in order."""
    pieces, vocabulary = iter(pieces), vectorizer.vocabulary_

    def look_up(cut: Future[Cut]) -> Found:
        words, features = cut.result()
        hashed = vectorizer._settings.hashed is not None
        numbers = vectorizer._columns(features.hashes) if hashed else vocabulary.find(features.hashes)
        unknown = np.flatnonzero(numbers < 0)
        return Found(words, features, numbers, unknown, features.hashes[unknown])

    def counted(one: Numbered, n_features: int) -> Counted:
        words, features, numbers, unknown, _ = one.found
        numbers[unknown] = one.numbers
        rows = count(numbers, features.indptr, n_features)
        letters, ends = vectorizer._spelled(words, features, unknown[one.new])
        return Counted(rows, one.first, encoded(letters, ends))

    def taken(counting: list[Future[Counted]]) -> Iterator[Rows]:
        for task in counting:
            rows, first, names = task.result()
            vocabulary.name_from(first, *names)
            yield rows

    counting: list[Future[Counted]] = []
    with ThreadPoolExecutor(n_threads) as pool:

        def cut_next() -> list[Future[Cut]]:
            return [pool.submit(vectorizer._features, texts) for texts in islice(pieces, PIECES * n_threads)]

        cut = cut_next()
        while cut:
            looking = [pool.submit(look_up, one) for one in cut]  # all of which are cut, or being cut, when one is run
            cut = cut_next()
            yield from taken(counting)
            found = [task.result() for task in looking]  # from now on nobody reads the vocabulary
            numbered = [number_new(vocabulary, one) for one in found]
            n_features = vectorizer.n_features_
            counting = [pool.submit(counted, one, n_features) for one in numbered]
        yield from taken(counting)


def number_new(vocabulary: Vocabulary, found: Found) -> Numbered:
    """Number the features that are not known, and do nothing else: meanwhile nobody can look up any."""
    return Numbered(found, len(vocabulary), *vocabulary.learn(found.hashes))
