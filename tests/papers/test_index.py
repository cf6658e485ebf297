"""Paper 004's ablations: what differs from the published direction is told, and what is changed
to find out why.
"""

import gzip
from unittest.mock import ANY

import numpy as np
import pytest
from scipy.sparse import csr_array

from papers import index_ablations as ablations
from papers import (
    index_boolean,
    index_comparison,
    index_data,
    index_leakage,
    index_older,
    index_own,
    index_properties,
)
from papers.cells import Cell
from papers.index_ablations import ablation_jobs, ablation_show, settings_of
from papers.index_leakage import CASES, FINNA, RCV1
from shortlist import FeatureFocus, IndependentIndex, InputError

DATA = dict.fromkeys(("instances", "features", "classes", "active", "labels"), 7)


def test_the_ablations_of_a_quick_run_are_shown():
    done = [(job, {"R1": [0.8, 0.9], "seconds": 0.1}) for job in ablation_jobs(quick=True)]
    (table,) = ablation_show(done)
    assert list(table.rows) == settings_of("newsgroups")
    assert table.rows["no constraints"]["best at"] == "δ=0.5, pass 2; δ=0.5, pass 2"
    assert table.rows["no constraints"]["gain"].published == pytest.approx(0.001)
    assert {job["trial"] for job, _ in done} == {0}
    full = ablation_jobs(quick=False)
    assert all(job in full for job, _ in done)  # a full run takes them up


def test_a_quick_comparison_leaves_out_the_slowest():
    done = [
        (job, {"R1": 0.8, "R5": 0.9, "HR": 1.1, "data": DATA})
        for job in index_comparison.jobs("newsgroups", True)
    ]
    table, described = index_comparison.show(done)
    assert "SVM C=1" in table.rows
    assert "committee" not in table.rows
    assert described.rows["newsgroups"]["instances"] == Cell(7, published=20e3)
    assert [claim.holds for claim in described.claims] == [False]


def test_the_leakage_table_says_what_it_shows():
    def done(gain, quick):
        for job in index_leakage.jobs(quick):
            R1 = 0.7 + job["trial"] / 100 + (gain[job["case"]] if job["leakage"] else 0)
            yield job, {"R1": R1, "leaked": 0.4, "quiet": 0.1}

    gains = dict.fromkeys(CASES, 0.012) | {RCV1: -0.01, "newsgroups": 0.0}
    for quick in (True, False):
        (table,) = index_leakage.show(list(done(gains, quick)))
        assert table.rows[RCV1]["gain"].ours == pytest.approx(-0.01)
        assert table.rows[RCV1]["gain"].published == pytest.approx(0.007)
        assert [claim.holds for claim in table.claims] == [True, True, True, False]
        assert "and 60 empty words +0.012" in table.claims[-1].why
        assert ("one topic of each +0.012" in table.claims[-1].why) == (not quick)
    (table,) = index_leakage.show(list(done(gains | {FINNA: 0.0}, False)))
    assert table.claims[1].holds is None  # no difference at all is no verdict


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
    _, labels = index_leakage.sets_as_classes(X, Y)
    assert {len(own) for own in labels} == {1}
    assert len({own[0] for own in labels}) == 12


def test_sign_tests_pair_the_splits():
    """Ten splits: 9 or 10 wins are significant."""

    def done(method, R1):
        return [
            (
                {"table": "newsgroups", "set": "newsgroups", "method": method, "trial": n},
                {"R1": r, "R5": 0.9, "HR": 1.1, "data": DATA},
            )
            for n, r in enumerate(R1)
        ]

    ours, other = index_comparison.PAIRED["newsgroups"]
    first = done("FF δ=0, 1 pass", [0.7] * 10)
    behind = [*first, *done(ours, [0.8] * 10), *done(other, [0.9] * 9 + [0.7])]
    table, _ = index_comparison.show(behind)
    assert "R1 1 wins, 9 losses, p 0.021" in table.note
    (claim,) = (one for one in table.claims if one.place == "sign tests")
    assert not claim.holds
    level = [*first, *done(ours, [0.8] * 10), *done(other, [0.9] * 5 + [0.7] * 5)]
    (claim,) = (one for one in index_comparison.show(level)[0].claims if one.place == "sign tests")
    assert claim.holds
    assert "at least 3.64" in table.note  # the misprint


def test_what_methods_cost_is_told_in_medians():
    ours, other = index_comparison.PAIRED["newsgroups"]
    costs = {
        ours: [9, 1, 1],
        other: [2, 2, 3],
        "IND": [0.1],
        index_comparison.BASELINE: [0.1],
        "Perceptron": [5],
    }
    found = {
        method: [{"T_tr": value, "d": 12} for value in values] for method, values in costs.items()
    }
    faster, fewer = index_comparison.efficiency("newsgroups", found)
    assert faster.holds
    assert (
        faster.says == f"{ours} trains faster than every classifier (T_tr 1 against 2 of {other})"
    )
    assert not fewer.holds  # as many is not fewer
    assert index_comparison.efficiency("austen", found) == ()
    assert index_comparison.efficiency("newsgroups", {ours: found[ours]}) == ()


def test_the_best_p_min_of_a_tree_is_taken_on_the_test_rows(monkeypatch):
    random = np.random.default_rng(0)
    X = csr_array(random.random((60, 6)))
    Y = np.empty(60, dtype=object)
    Y[:] = [[f"{'ab'[i % 2]}.{i % 4}"] for i in range(60)]
    monkeypatch.setattr(index_comparison, "load", lambda data, name: (X, Y))
    monkeypatch.setattr(
        index_comparison, "tree", lambda data, name, labels: [(one, one[0]) for one in labels]
    )
    found = index_comparison.run(
        None, {"set": "rcv1", "method": "top-down SVM, 0 trials", "trial": 0}
    )
    assert found["p_min"] in index_comparison.P_MIN
    assert found["edges"] > 0


@pytest.fixture
def focus():
    """Feature 0 goes with a alone, feature 1 with everything, and loses the weight of most
    classes.
    """
    labels = [[f"c{i % 50}"] for i in range(500)] + [["a"]] * 100
    X = np.zeros((600, 2))
    X[:500, 1] = 1
    X[500:, 0] = 1
    return FeatureFocus(0.05, margin=1e9, random_state=None).fit(X, labels)


def test_strong_connections_and_leaks_are_counted(focus):
    assert focus.strongest("a", 5) == [(0, 1.0)]
    (worst, lost), *_ = focus.leaks(2)
    assert worst == 1
    assert lost > 0.75
    found = index_properties.connections(focus, 2)
    assert (found["strong"], found["strong and rated"]) == (1, 1)
    assert (found["leaky"], found["seen ten times"]) == (1, 2)


def test_indegrees_count_edges_that_vote():
    X = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 0, 0]])
    focus = FeatureFocus(0.0, max_edges=1, margin=1e9, rare=0, random_state=None).fit(
        X, ["a", "b", "a", "b"]
    )
    assert focus.classes_.tolist() == ["a", "b"]
    # feature 0 votes for its first edge alone
    assert index_properties.indegree(focus).tolist() == [2, 1]
    Y = np.empty(1, dtype=object)
    Y[:] = [["b"]]
    found = index_properties.indegrees(focus, X[1:2], Y)
    assert found["true"] == 1
    assert found["uniform"] == 1.5


def test_max_f1_of_a_ranking_of_documents():
    Y = np.empty(4, dtype=object)
    Y[:] = [["a"], ["a"], ["b"], ["b"]]
    scores = np.array([[4, 1], [3, 2], [2, 3], [1, 4.0]])
    assert index_properties.max_f1(scores, ["a", "b", "unseen"], Y) == 1.0
    assert index_properties.max_f1(-scores, ["a", "b"], Y) == pytest.approx(2 / 3)


def test_the_other_tables_of_paper_004_claim_what_they_show():
    older = [
        (job, {"R1": [0.6, 0.7] if job["tolerance"] else [0.8]}) for job in index_older.jobs(False)
    ]
    (table,) = index_older.show(older)
    assert all(claim.holds for claim in table.claims)
    assert table.rows["industry, t_tol = 20, classifiers"]["pass"] == "2"
    R1 = {"IND": 0.5, "product": 0.4, "boolean": 0.6, "l2": 0.7}
    boolean = [(job, {"R1": [R1[job["kind"]]], "p_ind": 0.1}) for job in index_boolean.jobs(False)]
    (table,) = index_boolean.show(boolean)
    held = {claim.says.partition(" (")[0]: claim.holds for claim in table.claims}
    assert held["rcv1: the best Boolean FF is ahead of IND"]
    assert held["rcv1: to sum IND's weights is better than to multiply them"]
    # level is no verdict
    assert held["rcv1: without dropping edges IND is worse"] is None
    jobs = ablations.passes_jobs(True)
    passes = [(job, {"test": [0.5 + job["margin"] / 10] * 2, "train": [0.9] * 2}) for job in jobs]
    figures = ablations.passes_show(passes)
    held = [claim.holds for one in figures for claim in one.claims]
    assert held == [False, True, True, False, True]
    degree = [
        (job, {"R1": 0.5, "edges": 10 * job["max_edges"], "d": 1.0})
        for job in ablations.degree_jobs(True)
    ]
    _, table = ablations.degree_show(degree)
    assert table.rows["rcv1, d_max = 3"]["edges"].published == 80e3
    assert table.rows["titles, for Ads, weights of 0.05 and more"]["R1"].ours == 0.5
    assert all(claim.holds for claim in table.claims)


def test_light_edges_can_be_left_out_at_retrieval(monkeypatch):
    random = np.random.default_rng(0)
    X = csr_array(random.random((200, 5)))
    Y = np.empty(200, dtype=object)
    Y[:] = [[f"c{random.integers(12)}"] for _ in range(200)]
    monkeypatch.setattr(ablations, "load", lambda data, name: (X, Y))
    every, some = (
        ablations.degree_run(None, {"set": "rcv1", "max_edges": 1000, "least": least, "trial": 0})[
            "edges"
        ]
        for least in (0.0, 0.1)
    )
    assert 0 < some < every


def test_properties_are_shown_with_what_the_paper_says():
    found = {
        "6.4.3": {"max F1": 0.7},
        "6.4.4": {"by rank": [50.0, *range(59, 40, -1)], "true": 30.0, "uniform": 20.0},
        "6.4.5": {
            "strong": 4000,
            "strong and rated": 80,
            "edges": 160_000,
            "leaky": 0,
            "seen ten times": 7000,
        },
        "6.1": {"scores": 0.9, "probabilities": 0.9, "decided alone": 0.8, "far ahead": 0.1},
    }
    for quick in (True, False):
        done = [(job, found[job["section"]]) for job in index_properties.jobs(quick)]
        prototypes, indegrees, connections, scores = index_properties.show(done)
        assert not any(claim.holds for claim in prototypes.claims)  # level is not worse
        assert all(claim.holds for claim in indegrees.claims)
        assert indegrees.rows["newsgroups"]["rank 1"].published == 6000
        assert indegrees.rows["newsgroups"]["rank 20"].ours == 41
        assert [claim.holds for claim in connections.claims] == [True, False]
        assert all(claim.holds for claim in scores.claims)


def test_a_feature_of_both_signs_as_two_features():
    """Footnote 3: votes are not negative, so that a low value says nothing without the second."""
    random = np.random.default_rng(0)
    values = random.normal(size=(400, 1))
    labels = np.where(values[:, 0] > 0, "above", "below")
    halves = np.hstack([np.maximum(values, 0), np.maximum(-values, 0)])
    alone, both = (
        FeatureFocus(values="raw").fit(X[:300], labels[:300]).score(X[300:], labels[300:])
        for X in (np.abs(values), halves)
    )
    assert alone < 0.7
    assert both > 0.95


def test_words_of_eurlex_and_a_tree_of_its_concepts(tmp_path):
    folder = tmp_path / "eurlex57k"
    folder.mkdir()
    (folder / "train.jsonl").write_text(
        '{"id": "1", "text": "wheat corn", "labels": ["7"]}\n'
        '{"id": "2", "text": "corn", "labels": ["7", "9"]}\n'
    )
    (folder / "labels.json").write_text(
        '{"7": {"parents": ["8", "9"]}, "8": {"parents": ["1"]}, "9": {"parents": []}}'
    )
    X, Y = index_data.eurlex(tmp_path)
    assert X.shape == (2, 2)
    assert Y.tolist() == [["7"], ["7", "9"]]
    assert index_data.tree(tmp_path, "eurlex", ["7", "9"]) == [("7", "8"), ("8", "1")]
    groups = index_data.tree(tmp_path, "newsgroups", ["comp.sys.mac", "misc"])
    assert groups == [("comp.sys", "comp"), ("comp.sys.mac", "comp.sys")]


def test_products_of_weights_by_hand():
    X = csr_array(np.array([[1, 0], [1, 0], [1, 0], [0, 1], [1, 1]], dtype=float))
    Y = np.empty(5, dtype=object)
    Y[:] = [["a"], ["a"], ["b"], ["b"], ["b"]]
    learner = IndependentIndex(0.0).fit(X, Y)
    # of the last row: a has ½ of feature 0 and nothing of feature 1, b has ½ and 1
    assert index_boolean.multiplied(learner, X[[4]], Y[[4]]) == 1.0


def test_frequent_subjects_are_those_of_the_first_titles(tmp_path, monkeypatch):
    (tmp_path / "finna").mkdir()
    lines = ["a b\twheat corn", "a\twheat", "c\tgold", "b d\tcorn", "c\tsilver"]
    with gzip.open(tmp_path / "finna" / "finna.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))
    monkeypatch.setattr(index_data, "FREQUENT", 2)
    monkeypatch.setattr(index_data, "FREQUENT_LINES", 4)
    X, Y = index_data.finna_frequent(tmp_path)
    assert Y.tolist() == [["a", "b"], ["a"], ["b"]]
    assert X.shape == (3, 2)


def test_the_protocol_on_ones_own_data(tmp_path):
    path = tmp_path / "own.tsv"
    words = {"grain": "wheat corn oats", "metal": "gold silver tin", "energy": "oil gas coal"}
    path.write_text(
        "".join(
            f"{label}\t{word} {text.split()[(n + 1) % 3]} item{n % 4}\n"
            for n in range(20)
            for label, text in words.items()
            for word in text.split()[n % 3 : n % 3 + 1]
        )
    )
    one, other = (index_own.experiment(path, seed) for seed in (7, 8))
    jobs = one.jobs(True)
    done = [(job, one.run(tmp_path, job)) for job in jobs]
    table, compared = one.show(done)
    assert table.rows["SVM C=1"]["R1"].ours == 1.0
    assert table.rows["FF δ=0.5, 1 pass"]["trials"] == "2"
    assert len(compared.rows) == len(table.rows) - 1
    assert one.run(tmp_path, jobs[0]) == done[0][1] | {"T_tr": ANY}
    assert other.jobs(True)[0]["seed"] == 8
    with pytest.raises(InputError, match="there is no file"):
        index_own.experiment(tmp_path / "absent", 7)
