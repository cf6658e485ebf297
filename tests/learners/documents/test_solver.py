"""The whole solver against a general QP solver with every constraint written down, and its
certificate.
"""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from shortlist import MapSVM, MrrSVM, NdcgSVM, RocSVM
from shortlist.data.validation import as_rows
from shortlist.learners.documents.structural_svm import add_rows, solve, solve_dual
from tests.reference.documents import (
    average_precision,
    cutting_planes,
    ndcg,
    reciprocal_rank,
    roc_area,
    solve_enumerated,
)

MEASURES = [
    (MapSVM, average_precision),
    (RocSVM, roc_area),
    (MrrSVM, reciprocal_rank),
    (partial(NdcgSVM, 3), partial(ndcg, k=3)),
]
IDS = ["MapSVM", "RocSVM", "MrrSVM", "NdcgSVM"]


def small_problem(seed, n_queries=3, d=3):
    """Queries of 4 or 5 documents, features that tell the relevant ones apart only in part."""
    random = np.random.default_rng(seed)
    queries = []
    for _ in range(n_queries):
        relevant = np.array([True, False, *(random.random(random.integers(2, 4)) < 0.5)])
        queries.append(
            (random.normal(0, 1, (relevant.size, d)) + 0.5 * relevant[:, None], relevant)
        )
    return queries


def stacked(queries):
    X = np.vstack([phi for phi, _ in queries])
    y = np.concatenate([relevant for _, relevant in queries]).astype(float)
    return X, y, np.repeat(np.arange(len(queries)), [len(relevant) for _, relevant in queries])


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**-59])
def test_rows_are_added_up_in_whole_units(unit):
    """Each product rounded on its own, whether the values of a row are equal, different, or
    without a gap.
    """
    random = np.random.default_rng(0)
    X = np.where(random.random((40, 9)) < 0.5, random.choice([1.0, 0.3], (40, 9)), 0.0)
    X[:5] = random.normal(0, 1, (5, 9))
    coefficients = np.where(random.random(40) < 0.8, random.normal(0, 0.1, 40), 0.0)
    rows, sums = as_rows(X), np.zeros(10, dtype=np.int64)
    add_rows(rows.indptr, rows.indices, rows.data, coefficients, unit, sums)
    expected = np.rint(coefficients[:, None] * X / unit).astype(np.int64).sum(axis=0)
    assert sums.tolist() == [*expected.tolist(), 0]


@pytest.mark.parametrize(("kind", "measure"), MEASURES, ids=IDS)
@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_the_enumerated_problem(kind, measure, C, seed):
    queries = small_problem(seed)
    least, w = solve_enumerated(queries, C, lambda ranking: 1 - measure(ranking))
    ranker = kind(C=C, tol=1e-7).fit(*stacked(queries))
    assert ranker.duality_gap_ <= 1e-7
    assert ranker.objective_ == pytest.approx(least, abs=1e-6, rel=1e-6)
    assert ranker.coef_ == pytest.approx(w, abs=2e-3)  # ½‖w − w*‖² ≤ gap, both sides being inexact


@pytest.mark.parametrize(("kind", "measure"), MEASURES, ids=IDS)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    tol=st.sampled_from([1.0, 1e-1, 1e-3]),
)
def test_the_certificate_is_true(kind, measure, seed, C, tol):
    """Whatever tol: the objective is that of the returned w, and no further from the optimum
    than the gap says.
    """
    queries = small_problem(seed, n_queries=2)
    least, _ = solve_enumerated(queries, C, lambda ranking: 1 - measure(ranking))
    ranker = kind(C=C, tol=tol).fit(*stacked(queries))
    assert 0 <= ranker.duality_gap_ <= tol
    assert -1e-7 * (1 + C) <= ranker.objective_ - least <= ranker.duality_gap_ + 1e-7 * (1 + C)


def test_the_slack_bounds_the_loss():
    """Proposition 1: (P(w) − ½‖w‖²)/C, the mean slack, is at least the mean loss, also with
    more than two grades.
    """
    for seed, kind in itertools.product(range(5), [MapSVM, RocSVM, MrrSVM, NdcgSVM]):
        X, y, query = stacked(small_problem(seed, n_queries=6))
        data = X, y * (1 + np.arange(y.size) % 3), query  # grades 0 to 3
        ranker = kind(C=10).fit(*data)
        slack = (ranker.objective_ - 0.5 * ranker.coef_ @ ranker.coef_) / 10
        assert slack >= 1 - ranker.score(*data) - 1e-12


def test_stopping_early_says_so_and_still_tells_the_gap():
    data = stacked(small_problem(0))
    with pytest.warns(ConvergenceWarning, match="after 3 passes the duality gap is"):
        ranker = MapSVM(C=1000, tol=1e-6, max_iter=3).fit(*data)
    least, _ = solve_enumerated(
        small_problem(0), 1000, lambda ranking: 1 - average_precision(ranking)
    )
    assert ranker.duality_gap_ > 1e-6
    assert ranker.objective_ - least <= ranker.duality_gap_ + 1e-4
    assert ranker.n_iter_ == 3


def test_dropping_unused_constraints_does_not_change_the_optimum(monkeypatch):
    random = np.random.default_rng(0)
    X, query = random.normal(0, 1, (400, 10)), np.repeat(np.arange(20), 20)
    y = (X[:, 0] + random.normal(0, 2, 400) > 1).astype(float)
    y[::20], y[1::20] = 1, 0
    usual = MapSVM(C=1e3, tol=1e-3).fit(X, y, query)
    monkeypatch.setattr("shortlist.learners.documents.structural_svm.UNUSED_PASSES", 5)
    forgetful = MapSVM(C=1e3, tol=1e-3).fit(X, y, query)
    assert usual.objective_ == pytest.approx(forgetful.objective_, abs=2e-3)
    assert usual.n_constraints_ > 50


def test_small_dual_reaches_its_optimum():
    """max b·α − ½‖Aᵀα‖² over a simplex: no direction gains at the end, and the weights still
    sum to C.
    """
    random = np.random.default_rng(3)
    A, b = random.normal(0, 1, (30, 5)), random.random(30)
    alpha = np.full(30, 0.5)
    solve_dual(A @ A.T, b, alpha, 1e-10, 100_000)
    gradient = b - A @ (A.T @ alpha)
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(15)
    assert 15 * gradient.max() - alpha @ gradient <= 1e-9


def test_solver_on_a_problem_known_by_hand():
    """R(w) = max(0, 1 − w): P = ½w² + C·R(w) has its minimum at w = min(C, 1)."""
    for C, w in [(0.25, 0.25), (4.0, 1.0)]:
        found = solve(
            lambda v: (np.array([1.0]), 1.0) if v[0] < 1 else (np.array([0.0]), 0.0),
            1,
            C=C,
            tol=1e-9,
            max_iter=1000,
        )
        assert found.w[0] == pytest.approx(w, abs=1e-4)
        assert found.gap <= 1e-9


@pytest.mark.parametrize("epsilon", [0.3, 0.1, 0.01])
@pytest.mark.parametrize("C", [0.1, 3.0])
@pytest.mark.parametrize("seed", range(2))
def test_the_paper_s_algorithm_stays_within_the_bound_of_theorem_1(seed, C, epsilon):
    """At most max{2nΔ̄/ε, 8CΔ̄R̄²/ε²} constraints; and our solver finds what Algorithm 1 does,
    to within C·ε.
    """
    queries = small_problem(seed)
    w, added, longest, largest = cutting_planes(
        queries, C, epsilon, lambda ranking: 1 - average_precision(ranking)
    )
    bound = max(2 * len(queries) * largest / epsilon, 8 * C * largest * longest**2 / epsilon**2)
    assert 0 < added <= bound
    ranker = MapSVM(C=C, tol=1e-6).fit(*stacked(queries))
    assert 0.5 * np.sum((w - ranker.coef_) ** 2) <= C * epsilon + 1e-5
