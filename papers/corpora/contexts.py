"""Word prediction (paper 004, the Jane Austen data): which word stands here, given the words around
it?

Every word of a text is an instance and its own class. Words are runs of ``[A-Za-z']``, case kept.
The features are the three words on each side, each with its place, and nine conjunctions of them:
15 a word, fewer at the ends of a text. The paper does not list its conjunctions. Its nine may be
the runs of two and three neighbours (``"runs"``), with which its figures come out; nine chosen with
Feature-Focus on a validation split predict better (``"chosen"``).
"""

from __future__ import annotations

import functools
import string
from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.compiled.kernels import hashing, kernel
from shortlist.data.rows import Rows
from shortlist.data.texts import as_texts
from shortlist.data.validation import as_choice
from shortlist.text.feature_names import Vocabulary, encoded
from shortlist.text.features import HASH_FACTOR, HASH_SEED, features_of, mixed, spell, split

# Each feature by the places of its words: -1 is the word before the gap, 1 the word after it.
PLACES = [(-3,), (-2,), (-1,), (1,), (2,), (3,)]
CONJUNCTIONS = {
    "chosen": [
        (-1, 1),
        (-2, -1),
        (1, 2),
        (-2, 1),
        (-1, 2),
        (-3, -1),
        (1, 3),
        (-2, -1, 1),
        (-1, 1, 2),
    ],
    "runs": [
        (-3, -2),
        (-2, -1),
        (-1, 1),
        (1, 2),
        (2, 3),
        (-3, -2, -1),
        (-2, -1, 1),
        (-1, 1, 2),
        (1, 2, 3),
    ],
}


def word_contexts(
    texts: Iterable[str], conjunctions: str = "chosen"
) -> tuple[scipy.sparse.csr_array, NDArray[np.object_], ContextNames]:
    """The contexts of all words of some texts: a Boolean row for each word, the words, and the
    names of the columns.

    Contexts do not reach from one text into the next. ``conjunctions``: the beginning of this file
    tells of both kinds.
    """
    as_choice(conjunctions, "conjunctions", tuple(CONJUNCTIONS))
    places = PLACES + CONJUNCTIONS[conjunctions]
    templates = np.array([[*place, 0, 0][:3] for place in places], dtype=np.int64)  # 0 is no word
    table = _english_letters()
    seen_words, seen_contexts = Vocabulary(), Vocabulary()
    classes, columns = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int32)]
    lengths, examples = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    n_words = 0
    for text in as_texts(texts):
        words = split([text], table, 1, lowercase=False)
        numbers, new = seen_words.learn(words.hashes)
        seen_words.name(*encoded(*spell(features_of(words, table, 1, 0), new, table, 0, table)))
        classes.append(numbers)
        with hashing():
            hashes, contexts, length = _contexts(words.hashes, templates)
        numbers, new = seen_contexts.learn(hashes)
        columns.append(numbers)
        lengths.append(length)
        examples.append(contexts[new] + n_words * len(templates))
        n_words += length.size
    indices, indptr = np.concatenate(columns), np.cumsum(np.concatenate(lengths))
    matrix = Rows(indptr, indices, np.ones(indices.size), len(seen_contexts)).to_matrix()
    matrix.sort_indices()
    words_in_order = np.array(seen_words.names(), dtype=object)[np.concatenate(classes)]
    return matrix, words_in_order, ContextNames(words_in_order, np.concatenate(examples), templates)


class ContextNames(Sequence[str]):
    """The names of context features, spelled when asked for: there are millions.

    A name shows the context with its gap: ``of the _`` is the pair of words before it, ``so * _``
    the word before the last, ``is _ * good`` one before and the second after.
    """

    def __init__(
        self, words: NDArray[np.object_], examples: NDArray[np.int64], templates: NDArray[np.int64]
    ) -> None:
        self._words = words
        self._templates = templates
        # where each feature first occurred: word · number of templates + template
        self._examples = examples

    def __len__(self) -> int:
        return self._examples.size

    def __getitem__(self, column):  # type: ignore[no-untyped-def]
        if isinstance(column, slice):
            return [self[i] for i in range(*column.indices(len(self)))]
        word, template = divmod(int(self._examples[column]), len(self._templates))
        places = set(self._templates[template].tolist())
        return " ".join(
            "_" if place == 0 else str(self._words[word + place]) if place in places else "*"
            for place in range(min(places | {0}), max(places | {0}) + 1)
        )


@functools.cache
def _english_letters() -> NDArray[np.uint32]:
    table = np.zeros(0x110000, dtype=np.uint32)
    for letter in string.ascii_letters + "'":
        table[ord(letter)] = ord(letter)
    table.flags.writeable = False
    return table


@kernel
def _contexts(
    words: NDArray[np.uint64], templates: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """The features of each word of one text, from the hashes of its words.

    Gives each feature's hash, its place (the word's position times the number of templates, plus
    the template), and each word's number of features.
    """
    hashes = np.empty(words.size * templates.shape[0], np.uint64)
    contexts = np.empty(words.size * templates.shape[0], np.int64)
    lengths = np.zeros(words.size, np.int64)
    n = 0
    for word in range(words.size):
        for t in range(templates.shape[0]):
            h = HASH_SEED ^ np.uint64(t)
            inside = True
            for place in templates[t]:
                other = word + place
                inside = inside and 0 <= other < words.size
                if place != 0 and inside:
                    h = mixed(h * HASH_FACTOR + words[other])
            if inside:
                hashes[n] = h
                contexts[n] = word * templates.shape[0] + t
                lengths[word] += 1
                n += 1
    return hashes[:n], contexts[:n], lengths
