"""The second kind of features: a dense vector of either sign, such as an embedding, beside the
words of an example.

Signed values cannot be counted, and their lists would not be sparse. So each column g of a vector
has a weight U_gc for every label, and adds v[g]·U_gc to the score of each label that was learned.
The errors are those of words and vector together (training.py), and both are corrected by them:
U_gc += η·v[g]·e_c.

If an example has both, the squares of its words sum to 1 − share and those of its vector to
``share``, so that the row has unit length. A stream begins with SHARE; ``fit`` compares words and
vectors first (``share_of_vector``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs, fetch, kernel, loop, part
from shortlist.data.rows import Rows
from shortlist.errors import InputError
from shortlist.learners.index.edges import Index
from shortlist.learners.index.vector_share import least_harmful_share
from shortlist.learners.port import BIAS, Allowed
from shortlist.learners.top_labels import LEAST, Scratch, keep_best, room_for_touched

Vectors = NDArray[np.float32]  # rows × columns; a row of zeros where an example has none
Weights = NDArray[np.float32]  # columns × labels, with room for more labels

SHARE = 0.65
MORE = 0.2  # of the vector, at most
AHEAD = 1.2  # errors of words for one of the vector, from which on the vector gets more
ASSUMED = 6.5, 5.0  # errors of words and of the vector before any was counted
# examples by which they are compared, and examples times labels, at most
SAMPLE = 16_384
CELLS = 1 << 22
# a vector whose square is not above that cannot be scaled in float32
TINY = 1e-12
SMALLEST = 1e-70
# the length of the initial weights of a label by its name; in ``fit`` with examples
NAMED = 5.0
NAMED_IN_FIT = 2.0
# times the mean length of learned weights: examples with one label each, and with several
NAMED_BESIDE = 0.8, 0.15
MOST_WEIGHTS = 1 << 30  # 4 GiB
EVERY = np.zeros(0, dtype=np.bool_)  # label
NO_WEIGHTS: Weights = np.zeros((0, 0), dtype=np.float32)


def no_vectors(n_rows: int) -> Vectors:
    return np.zeros((n_rows, 0), dtype=np.float32)


def unit(vectors: Vectors) -> Vectors:
    """The vectors scaled to unit length; zeros stay zeros."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(length > 0.0, length, 1.0)).astype(np.float32)


def split(rows: Rows, n_vector: int) -> tuple[Rows, Vectors]:
    """Split rows into their words and the vectors in the first n_vector columns."""
    if n_vector == 0:
        return rows, no_vectors(rows.n_rows)
    vectors = np.zeros((rows.n_rows, n_vector), dtype=np.float32)
    indptr, indices, data = _split(rows, vectors)
    return Rows(indptr, indices, data, rows.n_features), vectors


@kernel
def _split(rows: Rows, vectors: Vectors) -> tuple[Longs, Ints, Floats]:
    """Write the vectors; return the offsets, columns and values of the words."""
    n_rows, n_vector = vectors.shape
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        n = 0
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            n += rows.indices[j] >= n_vector
        indptr[i + 1] = indptr[i] + n
    indices = np.empty(indptr[n_rows], dtype=np.int32)
    data = np.empty(indptr[n_rows])
    for i in range(n_rows):
        at = indptr[i]
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            if rows.indices[j] < n_vector:
                vectors[i, rows.indices[j]] = rows.data[j]
            else:
                indices[at] = rows.indices[j]
                data[at] = rows.data[j]
                at += 1
    return indptr, indices, data


@kernel
def balance(indptr: Longs, data: Floats, vectors: Vectors, share: float) -> None:
    """Scale vectors to unit length, or vector and words to their shares if a row has both; in
    place.
    """
    for i in range(vectors.shape[0]):
        square = 0.0
        for value in vectors[i]:
            square += np.float64(value) * np.float64(value)
        if square > SMALLEST:
            has_words = indptr[i] < indptr[i + 1]
            vectors[i] *= np.float32(np.sqrt((share if has_words else 1.0) / square))
            for j in range(indptr[i], indptr[i + 1]):
                data[j] = np.float32(data[j] * np.sqrt(1.0 - share))  # float32, as weights are


def share_of_vector(words: Rows, vectors: Vectors, labels: Ints) -> float:
    """The share of vectors beside words: SHARE, more the more often words alone err where vectors
    do not, and less if vectors would do harm (vector_share.py).

    ``labels`` has one label for each example. Each kind of features takes the label whose other
    examples have the nearest mean (cosine), so the only example of a label says nothing.
    """
    import scipy.sparse  # takes a quarter of a second

    _, label_of_row, counts = np.unique(labels, return_inverse=True, return_counts=True)
    members = scipy.sparse.csr_array(
        (np.ones(label_of_row.size), (label_of_row, np.arange(label_of_row.size)))
    )
    of_words = scipy.sparse.csr_array(
        (words.data, words.indices, words.indptr), (words.n_rows, words.n_features)
    )
    of_vectors = unit(vectors).astype(np.float64)
    by_words = (of_words @ (members @ of_words).T).toarray()
    # by one thread, in a fixed order
    by_vectors = np.einsum("ij,kj->ik", of_vectors, members @ of_vectors)
    wrong = [
        float((~are_nearest(products, label_of_row))[counts[label_of_row] > 1].sum())
        for products in (by_words, by_vectors)
    ]
    ratio = (wrong[0] + ASSUMED[0]) / (wrong[1] + ASSUMED[1])
    share = least_harmful_share(of_words, of_vectors, label_of_row, SHARE)
    if share < SHARE:
        return share
    return SHARE + min(MORE, max(0.0, ratio - AHEAD))


def are_nearest(products: Floats, label_of_row: Longs) -> NDArray[np.bool_]:
    """Whether each row is nearest to the mean of its own label, without itself.

    products: of each row, which has unit length, with the sum of each label's rows.
    """
    at = np.arange(label_of_row.size)
    own_product = products[at, label_of_row]
    squares = np.bincount(label_of_row, own_product)  # of the lengths of the sums
    cosines = products / np.sqrt(np.maximum(squares, TINY))
    cosines[at, label_of_row] = (own_product - 1.0) / np.sqrt(
        np.maximum(squares[label_of_row] - 2.0 * own_product + 1.0, TINY)
    )
    nearest: NDArray[np.bool_] = cosines.argmax(axis=1) == label_of_row
    return nearest


def widened(weights: Weights, n_labels: int) -> Weights:
    """The weights with room for that many labels, and for some more if labels were added."""
    n_vector, room = weights.shape
    if room >= n_labels or n_vector == 0:
        return weights
    if n_vector * n_labels > MOST_WEIGHTS:
        raise InputError(
            "rows with negative values are learned as vectors, with a weight for each column and "
            f"label: {n_vector:,} "
            f"columns with {n_labels:,} labels would take {4 * n_vector * n_labels / 1e9:,.0f} GB; "
            "use shorter "
            "vectors, or values of at least 0"
        )
    wider = np.zeros((n_vector, n_labels + (n_labels // 4 if room else 0)), dtype=np.float32)
    wider[:, :room] = weights
    return wider


@part
def has_vector(vector: Vectors) -> bool:
    """Whether an example has a vector (float32[columns]) that is not all 0."""
    g = 0
    while g < vector.size and vector[g] == 0.0:
        g += 1
    return g < vector.size


@part
def add_vector_votes(
    vector: Vectors,
    weights: Weights,
    bias: Floats,
    met: NDArray[np.bool_],
    less: float,
    scores: Floats,
    touched: Ints,
) -> int:
    """Add v[g]·U_gc to the scores of all labels that were learned, and list these; returns their
    number.

    A label that was learned has a bias or a score. If its votes cancel, it gets the least score,
    not 0. met: bool[labels]; all others get ``less``. Empty for ranking, where nobody does.
    """
    for g in range(vector.size):
        v = np.float64(vector[g])
        weights_of_column = weights[g]
        for c in range(scores.size):
            scores[c] += v * weights_of_column[c]
    n = 0
    for c in range(scores.size):
        if bias[c] != 0.0 or scores[c] != 0.0:
            if met.size > 0 and not met[c]:
                scores[c] -= less
            touched[n] = c
            n += 1
            scores[c] = scores[c] if scores[c] != 0.0 else LEAST
    return n


@part
def correct_vector(vector: Vectors, weights: Weights, scratch: Scratch, n: int, eta: float) -> None:
    """U_gc += η·v[g]·e_c for those of the first n touched labels whose error, stored as a
    score, is not 0.
    """
    wrong = scratch.rising
    n_wrong = 0
    for c in scratch.touched[:n]:
        wrong[n_wrong] = c
        n_wrong += scratch.scores[c] != 0.0
    for g in range(vector.size):
        shift = eta * np.float64(vector[g])
        for c in wrong[:n_wrong]:
            weights[g, c] += shift * scratch.scores[c]


# Ranking with an index (paper 004, section 3.2, RankedRetrieval).


# cache lines of each list that are prefetched, and edges in one
LINES = 4
EDGES_IN_LINE = 5
ALL = Allowed(np.zeros(0, dtype=np.bool_))  # every label may be ranked
NONE = np.zeros(0)


class Dense(NamedTuple):
    """The vectors of rows and their weights; both empty for most learners."""

    vectors: Vectors
    weights: Weights


def rank(
    rows: Rows,
    index: Index,
    bias: Floats,
    max_edges: int,
    rare: int,
    ids: Ints,
    scores: Floats,
    allowed: Allowed = ALL,
    dense: Dense | None = None,
) -> None:
    """Write the best allowed labels of each row to ids and scores (n × k); bias: the score of a
    label before votes.
    """
    factors = NONE if allowed.factors is None else allowed.factors
    dense = dense or Dense(no_vectors(rows.n_rows), NO_WEIGHTS)
    label_scores = np.zeros(bias.size)
    touched = room_for_touched(bias.size)
    best_labels(
        rows,
        dense,
        index,
        bias,
        max_edges,
        rare,
        allowed.labels,
        factors,
        label_scores,
        touched,
        ids,
        scores,
    )


def all_scores(
    rows: Rows, index: Index, bias: Floats, max_edges: int, rare: int, dense: Dense | None = None
) -> Floats:
    """The scores of all labels, n × labels. A label not retrieved has 0, or the lowest score if
    that is less.
    """
    all_of_them = np.zeros((rows.n_rows, bias.size))
    dense = dense or Dense(no_vectors(rows.n_rows), NO_WEIGHTS)
    touched = room_for_touched(bias.size)
    for i, scores in enumerate(all_of_them):
        retrieved = touched[
            : retrieve(rows, i, dense, index, bias, max_edges, rare, scores, touched)
        ]
        retrieved_scores = scores[retrieved] + bias[retrieved]
        scores[:] = min(0.0, retrieved_scores.min(initial=0.0))
        scores[retrieved] = retrieved_scores
    return all_of_them


def votes(
    row: Rows,
    index: Index,
    bias: Floats,
    label: int,
    max_edges: int,
    rare: int,
    dense: Dense | None = None,
) -> tuple[Ints, Floats]:
    """The features of one row that vote for a label, then the bias, and their votes, in the
    order of addition.
    """
    out = np.zeros(row.indices.size)
    _votes(row, index, label, max_edges, rare, out)
    columns = row.indices[out != 0]
    out = out[out != 0]
    is_retrieved = out.size > 0  # a bias alone does not retrieve a label
    if dense is not None and dense.vectors.any():
        of_vector = dense.vectors[0].astype(np.float64) * dense.weights[:, label]
        if is_retrieved or bias[label] != 0.0 or of_vector.any():
            is_retrieved = True
            columns = np.append(columns, np.arange(of_vector.size, dtype=np.int32))
            out = np.append(out, of_vector)
    if not is_retrieved or bias[label] == 0.0:
        return columns, out
    return np.append(columns, np.int32(BIAS)), np.append(out, bias[label])


@part
def share_of(feature: np.void, x: float, rare: int) -> float:
    """r_f · x[f] / w′_f; times w′_fc it is the vote of f for c. r_f = min(1, #_f / rare), or 1
    where rare is 0.
    """
    rating = 1.0 if feature["seen"] >= rare else feature["seen"] / rare
    return x * rating / feature["total"]


@part
def fetch_lists(rows: Rows, i: int, index: Index) -> None:
    """Prefetch the lists of the features of row i."""
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        if rows.indices[j] < index.features.size:
            first = index.features[rows.indices[j]]["start"]
            for line in range(LINES):
                fetch(index.edges, first + line * EDGES_IN_LINE)


@loop
def retrieve(
    rows: Rows,
    i: int,
    dense: Dense,
    index: Index,
    bias: Floats,
    max_edges: int,
    rare: int,
    scores: Floats,
    touched: Ints,
) -> int:
    """Add the votes of row i and of its vector to scores, and list the scored labels, as
    ``add_votes`` does.
    """
    fetch_lists(rows, i, index)
    n = add_votes(rows, i, index, max_edges, rare, scores, touched)
    if has_vector(dense.vectors[i]):
        n = add_vector_votes(dense.vectors[i], dense.weights, bias, EVERY, 0.0, scores, touched)
    return n


@part
def add_votes(
    rows: Rows, i: int, index: Index, max_edges: int, rare: int, scores: Floats, touched: Ints
) -> int:
    """Add the votes of row i to scores (float64[labels], zero before); list the scored labels in
    touched.

    Each label c receives (r_f · w_fc + u_fc) · x[f] from each active feature f that has it among
    its max_edges heaviest edges. Only TunedIndex has corrections u_fc other than 0. A label whose
    votes cancel, or vanish in rounding, is retrieved with the least score. The loop has no branch,
    since it could not be predicted; once all labels are listed, as happens soon if they are few,
    none is new.
    """
    n = 0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        if rows.indices[j] >= index.features.size or index.features[rows.indices[j]]["length"] == 0:
            continue
        feature = index.features[rows.indices[j]]
        x = rows.data[j]
        share = share_of(feature, x, rare)
        first = feature["start"]
        voting_edges = index.edges[first : first + min(feature["length"], max_edges)]
        if n == scores.size:
            for edge in voting_edges:
                scores[edge["label"]] += share * edge["weight"] + x * edge["tuned"]
            continue
        for edge in voting_edges:
            c = edge["label"]
            score_before = scores[c]
            touched[np.uint64(n)] = c  # to be overwritten by the next one, unless c is new
            n += score_before == 0.0
            score = score_before + (share * edge["weight"] + x * edge["tuned"])
            scores[c] = score if score != 0.0 else LEAST
    if n == scores.size:
        for c in range(n):
            scores[c] = scores[c] if scores[c] != 0.0 else LEAST
    return n


@loop
def best_labels(
    rows: Rows,
    dense: Dense,
    index: Index,
    bias: Floats,
    max_edges: int,
    rare: int,
    allowed: NDArray[np.bool_],
    factors: Floats,
    scores: Floats,
    touched: Ints,
    ids: Ints,
    best: Floats,
) -> None:
    """Retrieve for each row and keep the k best labels (ids int32[n,k], best float64[n,k]); ties to
    the lower id.

    allowed: bool[labels], or empty for all. Scores above 0 are multiplied by factors
    (float64[labels], or empty). scores: float64[labels], all 0; touched: int32[labels + 1].
    """
    for i in range(rows.indptr.size - 1):
        retrieved = touched[
            : retrieve(rows, i, dense, index, bias, max_edges, rare, scores, touched)
        ]
        n = 0
        for a in range(retrieved.size):
            c = retrieved[a]
            scores[c] += bias[c]
            if factors.size and scores[c] > 0.0:
                scores[c] *= factors[c]
            if allowed.size == 0 or allowed[c]:
                retrieved[n] = c
                n += 1
            else:
                scores[c] = 0.0
        keep_best(retrieved[:n], scores, ids[i], best[i])
        for c in retrieved[:n]:
            scores[c] = 0.0


@loop
def _votes(row: Rows, index: Index, label: int, max_edges: int, rare: int, out: Floats) -> None:
    """out[j] = the vote of the j-th active feature for the label."""
    for j in range(row.indices.size):
        if row.indices[j] >= index.features.size or index.features[row.indices[j]]["length"] == 0:
            continue
        feature = index.features[row.indices[j]]
        share = share_of(feature, row.data[j], rare)
        first = feature["start"]
        for e in range(first, first + min(feature["length"], max_edges)):
            if index.edges[e]["label"] == label:
                out[j] = share * index.edges[e]["weight"] + row.data[j] * index.edges[e]["tuned"]


# Rankings of examples before they are learned, at little cost: learning scores each example first
# anyway.


class Ahead(NamedTuple):
    """Arrays for the rankings of some rows."""

    # int32[rows], the number of the ranking of a row, −1 for none; empty if none is wanted
    place: Ints
    ids: Ints  # int32[rankings, k], −1 where there is no label
    scores: Floats  # float64[rankings, k], NaN where there is no label
    known: NDArray[np.float32]  # the share of the features of each that earlier examples had
    unit_length: bool  # whether the known part of a row is scaled to unit length


def room_for_rankings(n_rows: int, which: Longs, k: int, unit_length: bool) -> Ahead:
    """Arrays for rankings of k labels of the rows ``which``."""
    place = np.full(n_rows if which.size else 0, -1, dtype=np.int32)
    place[which] = np.arange(which.size)
    shape = which.size, k
    return Ahead(
        place,
        np.full(shape, -1, dtype=np.int32),
        np.full(shape, np.nan),
        np.ones(which.size, dtype=np.float32),
        unit_length,
    )


NO_RANKINGS = room_for_rankings(0, np.zeros(0, dtype=np.int64), 0, unit_length=False)


@part
def rank_ahead(
    rows: Rows, i: int, index: Index, bias: Floats, scratch: Scratch, n: int, ahead: Ahead
) -> None:
    """Write the ranking of row i, which has votes for n labels, if it is wanted."""
    if ahead.place.size == 0 or ahead.place[i] < 0:
        return
    at = ahead.place[i]
    n_known = 0
    square = 0.0
    first = rows.indptr[i]
    last = rows.indptr[i + 1]
    for j in range(first, last):
        if index.features[rows.indices[j]]["seen"] > 0:
            n_known += 1
            square += rows.data[j] * rows.data[j]
    length = 1.0
    if n_known < last - first:
        ahead.known[at] = n_known / (last - first)
        if ahead.unit_length and square > 0.0:
            length = np.sqrt(square)
    retrieved = scratch.touched[:n]
    for c in retrieved:
        scratch.kept[c] = scratch.scores[c] / length + bias[c]
    keep_best(retrieved, scratch.kept, ahead.ids[at], ahead.scores[at])
