"""Orders of labels: against a slow twin, against MMP, and against what can be learned."""

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import MMP, InputError, LabelRanker, ModelFileError, kendall_tau, load, spearman_rho
from shortlist.files import store
from tests.reference.label_ranking import learn_by_mmp, learn_by_prank, pairs_of

LABELS = list("abcde")


def stream_of(seed, n=30, partial=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    size = random.integers(1, 6, n) if partial else np.full(n, 5)
    return X, [random.permutation(LABELS)[:m].tolist() for m in size]


seeds, partials = st.integers(0, 10**6), st.booleans()


@settings(max_examples=40)
@given(seeds, partials, st.sampled_from([1, 2, 3]))
def test_mmp_and_twin_agree(seed, partial, loss):
    X, orders = stream_of(seed, partial=partial)
    history = learn_by_mmp([(x, pairs_of(order)) for x, order in zip(X, orders, strict=True)], LABELS, 4, loss)
    common = {"loss": loss, "passes": 1, "labels": LABELS, "random_state": None}
    last = LabelRanker(hypothesis="last", **common).fit(X, orders)
    np.testing.assert_allclose(last.coef_, [history[-1][c] for c in LABELS], atol=1e-9)
    averaged = LabelRanker(**common).fit(X, orders)
    np.testing.assert_allclose(averaged.coef_, [np.mean([w[c] for w in history], axis=0) for c in LABELS], atol=1e-9)
    by_pairs = LabelRanker(hypothesis="last", **common).fit_pairs(X, [pairs_of(order) for order in orders])
    np.testing.assert_array_equal(by_pairs.coef_, last.coef_)


@settings(max_examples=40)
@given(seeds, partials)
def test_prank_and_twin_agree_and_thresholds_ascend(seed, partial):
    """Lemma 1 of paper 002 holds for thresholds that labels share, too."""
    X, orders = stream_of(seed, partial=partial)
    w, b = learn_by_prank(list(zip(X, orders, strict=True)), LABELS, 4)
    ranker = LabelRanker("prank", passes=1, hypothesis="last", labels=LABELS, random_state=None).fit(X, orders)
    np.testing.assert_allclose(ranker.coef_, [w[c] for c in LABELS], atol=1e-9)
    assert ranker.thresholds_.tolist() == b
    assert np.all(np.diff(ranker.thresholds_) >= 0)


@settings(max_examples=20)
@given(seeds, st.sampled_from([1, 2, 3]))
def test_relevant_labels_before_all_others_are_mmp(seed, loss):
    random = np.random.default_rng(seed)
    X = random.normal(size=(30, 4))
    relevant = [random.permutation(LABELS)[: random.integers(1, 5)].tolist() for _ in range(30)]
    pairs = [[(r, s) for r in own for s in LABELS if s not in own] for own in relevant]
    ranker = LabelRanker(loss=loss, passes=1, hypothesis="last", labels=LABELS, random_state=None).fit_pairs(X, pairs)
    mmp = MMP(loss, random_state=None).partial_fit(X, relevant, classes=LABELS)
    np.testing.assert_allclose(ranker.decision_function(X), mmp.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("rule", ["mmp", "prank"])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_orders_that_prototypes_make_are_learned(rule, share):
    """Also where each example tells the order of 3 of its 5 labels alone."""
    random = np.random.default_rng(1)
    W, X = random.normal(size=(5, 6)), random.normal(size=(700, 6))
    orders = [[LABELS[c] for c in np.argsort(-(W @ x))] for x in X]
    m = round(5 * share)
    seen = [[label for label in order if label in set(random.permutation(LABELS)[:m])] for order in orders[:500]]
    ranker = LabelRanker(rule).fit(X[:500], seen)
    assert kendall_tau(ranker.predict(X[500:]).tolist(), orders[500:]) > 0.85
    assert spearman_rho(ranker.predict(X[500:]).tolist(), orders[500:]) > 0.9


@settings(max_examples=50)
@given(seeds)
def test_measures_are_scipys(seed):
    random = np.random.default_rng(seed)
    predicted, true = random.permutation(LABELS).tolist(), random.permutation(LABELS).tolist()
    places = [[order.index(label) for label in LABELS] for order in (predicted, true)]
    assert kendall_tau([predicted], [true]) == pytest.approx(scipy.stats.kendalltau(*places).statistic)
    assert spearman_rho([predicted], [true]) == pytest.approx(scipy.stats.spearmanr(*places).statistic)
    assert kendall_tau([predicted], [predicted[1:3]]) == spearman_rho([predicted], [predicted[1:4]]) == 1.0
    assert kendall_tau([predicted], [predicted[::-1]]) == -1.0
    assert np.isnan(kendall_tau([predicted], [["a"]]))


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (lambda: LabelRanker().fit([[1.0]], [["a", "a"]]), "the order of row 0 names a label twice"),
        (
            lambda: LabelRanker(labels=["a"]).fit([[1.0]], [["a", "b"]]),
            "row 0 has the label 'b', which labels does not",
        ),
        (lambda: LabelRanker().fit([[1.0]], [["a"], ["b"]]), "there is 1 row but orders of labels for 2"),
        (lambda: LabelRanker().fit_pairs([[1.0]], [["ab"]]), "row 0 does not hold pairs of labels"),
        (lambda: LabelRanker().fit_pairs([[1.0]], [[("a", "a")]]), "a pair of row 0 sets a label before itself"),
        (lambda: LabelRanker("prank").fit_pairs([[1.0]], [[("a", "b")]]), "PRank learns from places"),
        (lambda: LabelRanker().fit([[1.0]], ["ab"]), "row 0 has 'ab' where a list of labels, best first, is wanted"),
        (lambda: LabelRanker().fit([[1.0]], [{"a", "b"}]), "where a list of labels, best first, is wanted"),
        (lambda: LabelRanker().fit([[1.0]], [[None]]), "the label of example 0 is missing"),
        (lambda: LabelRanker().fit(np.empty((0, 2)), []), "there are no rows to learn from"),
        (
            lambda: LabelRanker("prank").fit([[1.0]], [["a", "b"]]).partial_fit([[1.0]], [["c"]]),
            "row 0 has the label 'c', which is new; PRank counts places among all labels",
        ),
        (lambda: LabelRanker("svm").fit([[1.0]], [["a"]]), "rule"),
        (lambda: LabelRanker().fit([[1.0]], [["a"]]).set_params(loss=9).partial_fit([[1.0]], [["a"]]), "loss"),
        (lambda: LabelRanker().fit([[1.0]], None), "orders of labels must be a list with one entry for each row"),
        (lambda: LabelRanker().fit_pairs([[1.0]], 5), "pairs of labels must be a list with one entry for each row"),
        (lambda: LabelRanker().fit_pairs([[1.0]], [5]), "row 0 does not hold pairs of labels"),
        (lambda: LabelRanker().fit([[1.0]], [["a", "b"]]).predict([[1.0, 2.0]]), "X has 2 features"),
        (lambda: kendall_tau([["a"]], [["b"]]), "the predicted order of row 0 lacks 'b'"),
        (lambda: kendall_tau([["a"]], []), "there are 1 predicted orders and 0 true ones"),
        (lambda: kendall_tau([["a"]], [["a", "a"]]), "names a label twice"),
    ],
)
def test_what_is_wrong_is_named(wrong, complaint):
    with pytest.raises(InputError, match=complaint):
        wrong()


RULES = ["mmp", "prank"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("hypothesis", ["averaged", "last"])
def test_parts_of_a_stream_are_the_stream(rule, hypothesis):
    X, orders = stream_of(3, partial=True)
    common = {"hypothesis": hypothesis, "labels": LABELS, "random_state": None, "passes": 1}
    fitted = LabelRanker(rule, **common).fit(X, orders)
    for size in (1, 7):
        grown = LabelRanker(rule, **common)
        for first in range(0, len(orders), size):
            grown.partial_fit(X[first : first + size], orders[first : first + size])
        np.testing.assert_array_equal(grown.coef_, fitted.coef_)
        np.testing.assert_array_equal(grown.thresholds_, fitted.thresholds_)
        assert grown.n_examples_ == fitted.n_examples_ == 30
        assert grown.label_counts_.tolist() == fitted.label_counts_.tolist()
    assert fitted.label_counts_.tolist() == [sum(label in own for own in orders) for label in LABELS]


def test_labels_and_columns_arrive(tmp_path):
    """What comes later finds prototypes of zeros, as if it had been known from the first."""
    X, orders = stream_of(4, partial=True)
    X[:15, 3] = 0.0
    known = LabelRanker(random_state=None, passes=1).fit(X, orders)
    met = LabelRanker().partial_fit(X[:1, :3], orders[:1])
    assert list(met.classes_) == orders[0]
    met.partial_fit(X[1:15, :3], orders[1:15]).partial_fit(X[15:], orders[15:])
    assert list(met.classes_) == list(known.classes_)
    np.testing.assert_array_equal(met.coef_, known.coef_)
    met.save(tmp_path / "grown.shortlist")
    np.testing.assert_array_equal(load(tmp_path / "grown.shortlist", kind=LabelRanker).coef_, known.coef_)
    pairs = [[(own[0], own[-1])] if len(own) > 1 else [] for own in orders]
    by_pairs = LabelRanker(random_state=None, passes=1).fit_pairs(X, pairs)
    np.testing.assert_array_equal(LabelRanker().partial_fit_pairs(X, pairs).coef_, by_pairs.coef_)


@pytest.mark.parametrize("rule", RULES)
def test_sparse_rows_are_rows(rule):
    X, orders = stream_of(5)
    X[X < 0.5] = 0.0
    dense, sparse = LabelRanker(rule).fit(X, orders), LabelRanker(rule).fit(scipy.sparse.csr_array(X), orders)
    np.testing.assert_array_equal(dense.coef_, sparse.coef_)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(scipy.sparse.csr_array(X)))


def test_what_fails_leaves_the_ranker_as_it_was():
    X, orders = stream_of(6)
    ranker = LabelRanker("prank")
    with pytest.raises(InputError):
        LabelRanker("prank", labels=["a"]).partial_fit(X, orders)
    with pytest.raises(InputError):
        ranker.set_params(labels=["a"]).partial_fit(X, orders)
    assert not hasattr(ranker, "_clock")
    ranker.set_params(labels=None).fit(X, orders)
    before = ranker.coef_
    for wrong in (ranker.fit, ranker.partial_fit):
        with pytest.raises(InputError):
            wrong(X, [*orders[:-1], ["a", "a"]])
    with pytest.raises(InputError):
        ranker.partial_fit(X, [["z"]] * len(X))
    np.testing.assert_array_equal(ranker.coef_, before)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("named", [None, np.array(LABELS)])
def test_a_saved_ranker_is_the_same_and_goes_on(rule, named, tmp_path):
    X, orders = stream_of(7)
    ranker = LabelRanker(rule, labels=named).fit(X, orders)
    ranker.save(tmp_path / "ranker.shortlist")
    opened = load(tmp_path / "ranker.shortlist", kind=LabelRanker)
    opened.save(tmp_path / "again.shortlist")
    assert (tmp_path / "again.shortlist").read_bytes() == (tmp_path / "ranker.shortlist").read_bytes()
    np.testing.assert_array_equal(opened.predict(X), ranker.predict(X))
    for one in (opened, ranker):
        one.partial_fit(X[:5], orders[5:10])
    np.testing.assert_array_equal(opened.coef_, ranker.coef_)
    np.testing.assert_array_equal(opened.thresholds_, ranker.thresholds_)


@pytest.mark.parametrize(
    ("name", "damaged"),
    [
        ("weights", np.zeros((2, 5, 3))),
        ("weights", np.full((2, 5, 4), np.nan)),
        ("thresholds", np.zeros(3)),
        ("thresholds", np.array([0.0, 1.0, 0.5, 2.0])),
        ("clock", np.zeros(1, dtype=np.int64)),
        ("clock", np.zeros(2, dtype=np.int64)),
        ("label_counts", np.zeros(4, dtype=np.int64)),
    ],
)
def test_a_damaged_file_is_refused(name, damaged):
    X, orders = stream_of(8)
    state = LabelRanker("prank").fit(X, orders).to_state()
    state.arrays = dict(state.arrays) | {name: damaged}
    with pytest.raises(ModelFileError):
        store.build(state)


def test_names_of_columns_are_kept_and_checked(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, orders = stream_of(9)
    table = pandas.DataFrame(X, columns=list("wxyz"))
    ranker = LabelRanker().fit(table, orders)
    ranker.save(tmp_path / "ranker.shortlist")
    assert load(tmp_path / "ranker.shortlist").feature_names_in_.tolist() == list("wxyz")
    with pytest.raises(InputError, match="feature names"):
        ranker.predict(table[list("zyxw")])
