"""Orders of labels: against a slow twin, against MMP, and against what can be learned."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import MMP, InputError
from shortlist.categories.label_ranking import LabelRanker
from shortlist.measures.orders import kendall_tau, spearman_rho
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
        (lambda: LabelRanker().fit([[1.0]], [["a"], ["b"]]), "there are 1 rows and 2 orders of labels"),
        (lambda: LabelRanker().fit_pairs([[1.0]], [["ab"]]), "row 0 does not hold pairs of labels"),
        (lambda: LabelRanker().fit_pairs([[1.0]], [[("a", "a")]]), "a pair of row 0 sets a label before itself"),
        (lambda: LabelRanker("prank").fit_pairs([[1.0]], [[("a", "b")]]), "PRank learns from places"),
        (lambda: LabelRanker("svm").fit([[1.0]], [["a"]]), "rule"),
        (lambda: LabelRanker().fit([[1.0]], [["a", "b"]]).predict([[1.0, 2.0]]), "X has 2 features"),
        (lambda: kendall_tau([["a"]], [["b"]]), "the predicted order of row 0 lacks 'b'"),
        (lambda: kendall_tau([["a"]], []), "there are 1 predicted orders and 0 true ones"),
        (lambda: kendall_tau([["a"]], [["a", "a"]]), "names a label twice"),
    ],
)
def test_what_is_wrong_is_named(wrong, complaint):
    with pytest.raises(InputError, match=complaint):
        wrong()
