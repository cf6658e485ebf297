"""Paper 004's ablations: what differs from the published direction is told, and what is changed to find out why."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from shortlist.experiments import index_comparison, index_leakage
from shortlist.experiments.experiment import Cell
from shortlist.experiments.index_ablations import ABLATIONS, ablation_jobs, ablation_show, directions
from shortlist.experiments.index_leakage import CASES, FINNA, RCV1


def rows(**cells):
    return {name: {"R1": Cell(ours, published=published)} for name, (ours, published) in cells.items()}


def test_a_direction_that_is_not_the_published_one_is_told():
    same = rows(default=(0.75, 0.79), Boolean=(0.74, 0.78), other=(0.70, None))
    assert directions(same) == "Every change of 0.005 and more has the published direction."
    small = rows(default=(0.75, 0.79), Boolean=(0.754, 0.787))
    assert directions(small).startswith("Every change")
    found = directions(rows(default=(0.747, 0.787), **{"no leakage": (0.759, 0.780), "Boolean": (0.744, 0.780)}))
    assert found == (
        "Changes that do not have the published direction: no leakage +0.012, published -0.007; index-leakage looks "
        "for the reason."
    )


def test_the_ablations_of_a_quick_run_are_shown():
    done = [(job, {"R1": [0.8, 0.9]}) for job in ablation_jobs(quick=True)]
    (table,) = ablation_show(done)
    assert list(table.rows) == list(ABLATIONS)
    assert table.rows["default"]["best at"] == "δ=0.5, pass 2"
    assert {job["trial"] for job, _ in done} == {0}
    full = ablation_jobs(quick=False)
    assert all(job in full for job, _ in done)  # a full run takes them up


def test_a_quick_comparison_leaves_out_the_slowest():
    done = [(job, {"R1": 0.8, "data": dict.fromkeys(("instances", "features", "classes", "active", "labels"), 7)})
            for job in index_comparison.jobs("newsgroups", quick=True)]  # fmt: skip
    (table,) = index_comparison.show(done)
    assert "SVM C=1" in table.rows
    assert "committee" not in table.rows
    assert table.note.startswith("Figure 8 here: 7 instances, 7 features, 7 classes, 7.0 active")


def test_which_method_is_the_best_is_told():
    there = rows(FF=(0.74, 0.886), SVM=(0.85, 0.872), baseline=(0.9, None))
    assert index_comparison.best_of(there) == (
        "Of the methods with a published R1, SVM has the highest here, in the paper FF. "
        "Higher still without a published one: baseline."
    )
    there = rows(FF=(0.86, 0.865), SVM=(0.85, 0.852))
    assert index_comparison.best_of(there).endswith("FF has the highest here, also in the paper.")
    assert index_comparison.best_of(rows(FF=(0.2, None), SVM=(0.3, 0.4))) == ""


def test_the_leakage_table_says_what_it_shows():
    def done(gain, quick):
        for job in index_leakage.jobs(quick):
            R1 = 0.7 + (gain[job["case"]] if job["leakage"] else 0)
            yield job, {"R1": R1, "leaked": 0.4, "quiet": 0.1}

    gains = dict.fromkeys(CASES, -0.01) | {FINNA: 0.012}
    for quick in (True, False):
        (table,) = index_leakage.show(list(done(gains, quick)))
        spread = None if quick else pytest.approx(0, abs=1e-12)
        assert table.rows[RCV1]["gain"] == Cell(pytest.approx(-0.01), spread, pytest.approx(0.007))
        assert "On RCV1 it gains -0.010, where +0.007 was published." in table.note
        assert "and 60 empty words -0.010" in table.note
        assert ("one topic of each -0.010" in table.note) == (not quick)
        assert "Changes with which it gains 0.005 or more: none." in table.note
    (table,) = index_leakage.show(list(done(gains | {"rcv1, without idf": 0.02}, False)))
    assert "Changes with which it gains 0.005 or more: without idf." in table.note
    (table,) = index_leakage.show(list(done(gains | {RCV1: 0.01}, True)))
    assert table.note.endswith("On RCV1 it gains +0.010, as published.")


def test_what_is_changed_about_the_documents():
    random = np.random.default_rng(0)
    X = csr_array(random.random((200, 30)) * (random.random((200, 30)) < 0.3))
    Y = np.empty(200, dtype=object)
    Y[:] = [[f"c{i % 12}", f"d{i % 2}"] for i in range(200)]
    few, labels = index_leakage.a_quarter(X, Y)
    assert few.shape == (50, 30)
    assert len(labels) == 50
    _, labels = index_leakage.one_label(X, Y)
    assert all(len(own) == 1 and own[0] in both for own, both in zip(labels, Y, strict=True))
    _, labels = index_leakage.ten_largest(X, Y)
    assert {label for own in labels for label in own} == {"d0", "d1", *(f"c{i}" for i in range(8))}
    changed, _ = index_leakage.without_idf(X, Y)
    df = np.diff(X.tocsc().indptr)
    np.testing.assert_allclose(changed.toarray() * np.log(201 / df), X.toarray())
    more, _ = index_leakage.empty_words(X, Y)
    assert (more[:, :30] != X).nnz == 0
    assert more[:, 30:].nnz == round(0.7 * 60 * 200)
