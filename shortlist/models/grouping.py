"""Groups of texts that share words which a model has not learned: labels that nobody has named.

A word weighs by its TF-IDF among these texts, times its novelty: with the share p of these texts
that have it, and the share q of the learned ones,

    max(0, (p − q) / (p + q)).

A word that was never learned counts in full, and one that is as frequent in learned texts not at
all. Where there are vectors, words and meaning count half each. The texts are joined by average
linkage of the cosine distance (Sokal and Michener, 1958), as long as it is below a bound. Groups
with most that is new come first: the sum over their texts of the length of the row with novelties,
divided by the length without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.texts import Vectors
from shortlist.models.strikes import words_for_any_label
from shortlist.text.vectorizer import TextVectorizer

MOST_TEXTS_GROUPED = 3000  # a distance is kept for each pair of them
FEWEST_IN_GROUP = 4
WIDEST_DISTANCE = 0.8  # of the texts of a group, on average
TYPICAL_TEXTS = 3
TELLING_WORDS = 5


@dataclass(frozen=True)
class TextGroup:
    """Texts that may share a label that nobody has named."""

    words: list[str]  # those that tell the group from other texts, strongest first
    typical: list[str]  # the texts nearest to its centre
    numbers: list[int]  # of its texts, the typical ones first

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def novelties(texts_with: Longs, n_texts: int, learned: Floats) -> Floats:
    """The novelty of words that so many of these texts have, and this share of the learned ones."""
    share = texts_with / n_texts
    return np.maximum(0.0, (share - learned) / (share + learned))


def groups_of(
    texts: Sequence[str], text: TextVectorizer, strikes: Any, vectors: Vectors | None = None
) -> list[TextGroup]:
    """The groups among these texts, those with most that is new first; ``text`` has read what was
    learned.

    Of very many texts only the first are grouped.
    """
    texts = texts[:MOST_TEXTS_GROUPED]
    if len(texts) < FEWEST_IN_GROUP:
        return []
    vectorizer = TextVectorizer(
        lowercase=text.lowercase,
        composed=text.composed,
        stop_words=text.stop_words,
        fold_digits=text.fold_digits,
        min_df=2,
        tf="log",
        idf="smooth",
    )
    vectorizer.strike(words_for_any_label(strikes))
    rows = scipy.sparse.csr_array(vectorizer.fit_transform(texts))
    words = vectorizer.names(range(vectorizer.n_features_))
    texts_with = np.bincount(rows.indices, minlength=len(words))
    weights = novelties(texts_with, len(texts), text.document_shares(words))
    new_rows = rows @ scipy.sparse.diags_array(weights)
    lengths = lengths_of(rows)
    shares = np.divide(lengths_of(new_rows), lengths, out=np.zeros_like(lengths), where=lengths > 0)
    rows = of_length_one(new_rows)
    similarity = (rows @ rows.T).toarray()
    if vectors is not None:
        centred = vectors[: len(texts)] - vectors[: len(texts)].mean(axis=0)
        centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
        similarity = (similarity + centred @ centred.T) / 2
    groups = []
    for numbers in clusters(similarity):
        near = similarity[np.ix_(numbers, numbers)].sum(axis=1)
        numbers = numbers[np.argsort(-near, kind="stable")]
        centre = np.asarray(rows[numbers].sum(axis=0)).ravel()
        strongest = [n for n in np.argsort(-centre, kind="stable")[:TELLING_WORDS] if centre[n] > 0]
        groups.append(
            TextGroup(
                [words[n] for n in strongest],
                [texts[n] for n in numbers[:TYPICAL_TEXTS]],
                numbers.tolist(),
            )
        )
    groups.sort(key=lambda group: (-shares[group.numbers].sum(), group.numbers))
    return groups


def lengths_of(rows: Any) -> Floats:
    """The Euclidean length of each row."""
    squares: Floats = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.sqrt(squares)


def of_length_one(rows: Any) -> Any:
    """The rows scaled to length 1; empty ones stay so."""
    lengths = lengths_of(rows)
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return scipy.sparse.csr_array(scipy.sparse.diags_array(scales) @ rows)


def clusters(similarity: Floats) -> list[Longs]:
    """The numbers of the texts of each cluster that is large enough."""
    from scipy.cluster.hierarchy import fcluster, linkage  # late: most never group texts
    from scipy.spatial.distance import squareform

    distance = np.clip(1.0 - similarity, 0.0, None)
    np.fill_diagonal(distance, 0.0)
    joined = linkage(squareform(distance, checks=False), "average")
    cluster_of = fcluster(joined, WIDEST_DISTANCE, "distance")
    numbers = [np.flatnonzero(cluster_of == cluster) for cluster in np.unique(cluster_of)]
    return [of_cluster for of_cluster in numbers if of_cluster.size >= FEWEST_IN_GROUP]
