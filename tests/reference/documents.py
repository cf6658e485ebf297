"""Slow, obvious twins of the document rankers, written from the formulas of paper 003 and
sharing no code with them.
"""

import itertools
import math

import clarabel
import numpy as np
import scipy.sparse


def average_precision(ranking):
    """Of a list of relevances, best first: the mean precision at the relevant places."""
    found = [place for place, relevant in enumerate(ranking, 1) if relevant > 0]
    return sum(hits / place for hits, place in enumerate(found, 1)) / len(found)


def roc_area(ranking):
    """The share of relevant/non-relevant pairs in the right order."""
    pairs = [
        (i, j) for i, a in enumerate(ranking) for j, b in enumerate(ranking) if a > 0 and not b > 0
    ]
    return sum(i < j for i, j in pairs) / len(pairs)


def reciprocal_rank(ranking):
    return 1 / next(place for place, relevant in enumerate(ranking, 1) if relevant > 0)


def ndcg(ranking, k):
    """Σ (2^g − 1)/log2(1 + place) over the first k places, over the greatest value it can have."""

    def dcg(grades):
        return sum(
            (2**grade - 1) / math.log2(1 + place) for place, grade in enumerate(grades[:k], 1)
        )

    return dcg(ranking) / dcg(sorted(ranking, reverse=True))


def rankings(relevant):
    """Every order of the documents, as permutations of their numbers."""
    return itertools.permutations(range(len(relevant)))


def psi(order, relevant, phi):
    """Ψ(x, y) = 1/(R·N) Σ_{i relevant} Σ_{j not} y_ij (φ_i − φ_j), y_ij = +1 if i stands before
    j, else −1.
    """
    place = {document: at for at, document in enumerate(order)}
    good = [d for d in place if relevant[d]]
    bad = [d for d in place if not relevant[d]]
    total = sum((1 if place[i] < place[j] else -1) * (phi[i] - phi[j]) for i in good for j in bad)
    return total / (len(good) * len(bad))


def worst_value(scores, relevant, loss):
    """max over all rankings y of Δ(y) + w·Ψ(x, y) − w·Ψ(x, y_true), by trying them all."""
    true = sorted(range(len(relevant)), key=lambda d: not relevant[d])
    best = -math.inf
    for order in rankings(relevant):
        value = (
            loss([relevant[d] for d in order])
            + psi(order, relevant, scores)
            - psi(true, relevant, scores)
        )
        best = max(best, value)
    return best


def step_up(s, s_bar, j, i):
    """δ_j(i, i + 1) of paper 003: what is gained when non-relevant document j slides up past
    relevant document i.
    """
    R, N = len(s), len(s_bar)
    return (j / (j + i) - (j - 1) / (j + i - 1)) / R - 2 * (s[i - 1] - s_bar[j - 1]) / (R * N)


def paper_search(s, s_bar):
    """Algorithm 2 of paper 003 as printed: opt_j by trying every place for every non-relevant
    document, O(R²·N).
    """
    R, N = len(s), len(s_bar)
    opt = []
    for j in range(1, N + 1):
        deltas = {R + 1: 0.0}
        for i in range(R, 0, -1):
            deltas[i] = deltas[i + 1] + step_up(s, s_bar, j, i)
        opt.append(max(sorted(deltas), key=deltas.get))
    return opt


def solve_enumerated(queries, C, loss):
    """Optimization Problem 1 with every constraint written down, given to a general QP solver.

    queries: list of (φ float[m, d], relevant bool[m]). Gives the least ½‖w‖² + (C/n)·Σξ and its w.
    """
    n, d = len(queries), queries[0][0].shape[1]
    rows, bounds = [], []
    for q, (phi, relevant) in enumerate(queries):
        true = psi(sorted(range(len(relevant)), key=lambda k: not relevant[k]), relevant, phi)
        seen = {}
        for order in rankings(relevant):
            ranked = tuple(bool(relevant[k]) for k in order)
            difference = true - psi(order, relevant, phi)
            seen[tuple(np.round(difference, 12)), ranked] = (difference, loss(list(ranked)))
        for difference, lost in seen.values():
            row = np.zeros(d + n)
            row[:d], row[d + q] = difference, 1
            rows.append(row)
            bounds.append(lost)
    return _least(np.array(rows), np.array(bounds), n, d, C)


def _least(rows, bounds, n, d, C):
    """The least ½‖w‖² + (C/n)·Σξ with rows·(w, ξ) ≥ bounds and ξ ≥ 0, and its w."""
    A, b = np.vstack([rows, np.eye(d + n)[d:]]), np.array([*bounds, *[0.0] * n])  # the last: ξ ≥ 0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    found = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.diag([1.0] * d + [0.0] * n)),
        np.array([0.0] * d + [C / n] * n),
        scipy.sparse.csc_matrix(-A),
        -b,
        [clarabel.NonnegativeConeT(b.size)],
        settings,
    ).solve()
    assert str(found.status) in ("Solved", "AlmostSolved"), found.status
    return found.obj_val, np.array(found.x[:d])


def cutting_planes(queries, C, epsilon, loss):
    """Algorithm 1 of paper 003 as printed, one working set for each query, its inner problem given
    to a QP solver.

    Gives w, how many constraints were added, and R̄ and Δ̄ of Theorem 1: the longest difference of
    Ψ, the largest loss.
    """
    n, d = len(queries), queries[0][0].shape[1]
    every = []  # of each query: all rankings as (Ψ(true) − Ψ(y), Δ(y))
    for phi, relevant in queries:
        true = psi(sorted(range(len(relevant)), key=lambda k: not relevant[k]), relevant, phi)
        every.append(
            [
                (true - psi(order, relevant, phi), loss([relevant[k] for k in order]))
                for order in rankings(relevant)
            ]
        )
    working = [[] for _ in queries]
    w, changed = np.zeros(d), True
    while changed:
        changed = False
        for i, own in enumerate(every):
            worst = max(own, key=lambda pair: pair[1] - w @ pair[0])
            xi = max([0.0, *(lost - w @ difference for difference, lost in working[i])])
            if worst[1] - w @ worst[0] > xi + epsilon:
                working[i].append(worst)
                w, changed = _over_working_sets(working, n, d, C), True
    longest = max(np.linalg.norm(difference) for own in every for difference, _ in own)
    return w, sum(map(len, working)), longest, max(lost for own in every for _, lost in own)


def _over_working_sets(working, n, d, C):
    rows, bounds = [], []
    for i, own in enumerate(working):
        for difference, lost in own:
            row = np.zeros(d + n)
            row[:d], row[d + i] = difference, 1
            rows.append(row)
            bounds.append(lost)
    return _least(np.array(rows), np.array(bounds), n, d, C)[1]


def retrieval_score(method, query, document, documents):
    """The score of a document (a list of words) for a query, word by word, from the textbook
    formulas.
    """
    N, length = len(documents), len(document)
    mean_length = sum(map(len, documents)) / N
    K = 1.2 * (1 - 0.75 + 0.75 * length / mean_length)
    known = [word for word in query if any(word in other for other in documents)]

    def df(word):
        return sum(word in other for other in documents)

    def share(word):
        return sum(other.count(word) for other in documents) / sum(map(len, documents))

    def weights(words):
        return {
            word: (1 + math.log(words.count(word))) * math.log(N / df(word)) for word in set(words)
        }

    if method == "cosine":
        q, d = weights(known), weights(document)
        norms = math.hypot(*q.values()) * math.hypot(*d.values()) if q and d else 0
        return sum(q[word] * d.get(word, 0) for word in q) / norms if norms else 0.0
    total = 0.0
    for word in set(known):
        q, tf = known.count(word), document.count(word)
        if method == "tfidf":
            total += q * math.log((N + 1) / (df(word) + 0.5)) ** 2 * 1.2 * tf / (tf + K)
        elif method == "bm25":
            idf = math.log(1 + (N - df(word) + 0.5) / (df(word) + 0.5))
            total += idf * 2.2 * tf / (tf + K) * 8 * q / (7 + q)
        elif method == "dirichlet":
            total += q * math.log((tf + 2500 * share(word)) / (length + 2500))
        elif method == "jelinek_mercer":
            total += q * math.log(0.6 * (tf / length if length else 0) + 0.4 * share(word))
    return total / len(known) if known else 0.0
