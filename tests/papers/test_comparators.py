"""OneVersusRest, TopDown and UnweightedIndex against their slow twins and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from papers.comparators.one_versus_rest import OneVersusRest, with_constant
from papers.comparators.top_down import TopDown, fit_sigmoid
from papers.comparators.tree import Tree
from papers.comparators.unweighted_index import UnweightedIndex
from shortlist import Categorizer, InputError
from shortlist.data.validation import as_rows
from tests.reference.comparators import SlowUnweightedIndex, slow_perceptron, slow_top_down


def example(seed, n=60, n_features=8, n_classes=4):
    """Rows of small whole numbers and one or two classes each, which the columns tell of."""
    random = np.random.default_rng(seed)
    Y = [random.permutation(n_classes)[: 1 + i % 2].tolist() for i in range(n)]
    X = random.integers(0, 3, (n, n_features)) * (random.random((n, n_features)) < 0.5) * 1.0
    for i, own in enumerate(Y):
        X[i, own] += 2
    return X, Y


def weights_of(learner):
    """classes × (features and the constant)."""
    feature, label, weight, _ = learner.prototypes_.entries()
    dense = np.zeros((len(learner.classes_), learner.n_features_in_ + 1))
    dense[label, feature] = weight
    return dense


# OneVersusRest


@settings(max_examples=10)
@given(st.integers(0, 1000), st.sampled_from(["perceptron", "committee"]))
def test_perceptrons_and_twin_agree(seed, classifier):
    X, Y = example(seed, n=30)
    learner = OneVersusRest(classifier, members=2, patience=3, values="raw", random_state=seed).fit(
        X, Y
    )
    with_one = np.column_stack([X, np.ones(len(X))])
    for number, c in enumerate(learner.classes_.tolist()):
        sign = [1.0 if c in y else -1.0 for y in Y]
        generator = np.random.default_rng([seed, number])
        if classifier == "perceptron":
            expected = slow_perceptron(with_one, sign, 3, generator, np.zeros(9))
        else:
            expected = np.mean(
                [
                    slow_perceptron(with_one, sign, 3, generator, generator.uniform(-1, 1, 9))
                    for _ in range(2)
                ],
                axis=0,
            )
        assert weights_of(learner)[number] == pytest.approx(expected)


def test_svm_is_scikit_learns():
    X, Y = example(0)
    learner = OneVersusRest("svm", C=2.0, values="raw").fit(X, Y)
    for number, c in enumerate(learner.classes_.tolist()):
        svm = LinearSVC(C=2.0, random_state=0, max_iter=10_000).fit(X, [c in y for y in Y])
        assert learner.decision_function(X)[:, number] == pytest.approx(
            svm.decision_function(X), abs=1e-6
        )


def test_rows_are_scaled_and_have_a_constant():
    X, Y = example(1)
    one = OneVersusRest("perceptron").fit(X, Y)
    assert np.allclose(one.decision_function(X), one.decision_function(5 * X))
    rows = with_constant(as_rows(scipy.sparse.csr_array(X)), 5)
    assert np.array_equal(rows.to_matrix().toarray(), np.column_stack([X[:, :5], np.ones(len(X))]))
    inner = with_constant(as_rows(scipy.sparse.csr_array(X)).block(10, 20), 5)
    assert np.array_equal(inner.to_matrix().toarray(), np.column_stack([X[10:20, :5], np.ones(10)]))


@pytest.mark.parametrize("classifier", ["perceptron", "committee", "svm"])
def test_a_class_that_every_row_has(classifier):
    X, Y = example(2)
    learner = OneVersusRest(classifier).fit(X, [["always", *y] for y in Y])
    assert (learner.decision_function(X)[:, 0] > 0).all()


def test_a_batch_learner_cannot_go_on():
    assert not hasattr(OneVersusRest(), "partial_fit")
    categorizer = Categorizer(learner=OneVersusRest())
    with pytest.raises(InputError, match="use fit"):
        categorizer.learn("wheat exports rose", "grain")
    categorizer.fit(["wheat exports rose", "the bank raised rates"], ["grain", "money"])
    assert categorizer.rank("wheat")[0][0] == "grain"


# TopDown

PAIRS = [(1, "a"), (2, "a"), (3, "b"), ("a", "all")]  # 0 stands at the top; "b" and "all" beside it


@pytest.mark.parametrize("p_min", [0.0, 0.05, 0.3, 0.6])
@pytest.mark.parametrize("sigmoid", ["fitted", "fixed"])
def test_top_down_and_twin_agree(sigmoid, p_min):
    X, Y = example(3, n=120)
    learner = TopDown(PAIRS, "perceptron", sigmoid=sigmoid, p_min=p_min, trials=2).fit(X, Y)
    names = learner._nodes.names
    children = {None: [], **{name: [] for name in names}}
    for name, parent in zip(names, learner._nodes.parents, strict=True):
        children[None if parent < 0 else names[parent]].append(name)
    classifier_of = {
        names[child]: (one, column)
        for one in learner._among.values()
        for column, child in enumerate(one.classes_.tolist())
    }
    for i in range(40):

        def probability(node, row=X[[i]]):
            one, column = classifier_of[node]
            a, b = learner._sigmoids[names.index(node)]
            return 1 / (1 + np.exp(a * one.decision_function(row)[0, column] + b))

        expected = slow_top_down(probability, children, p_min)
        found = dict(learner.rank(X[[i]], k=4)[0])
        assert found == pytest.approx(
            {node: p for node, p in expected.items() if isinstance(node, int)}
        )


def test_each_classifier_learns_from_its_family_alone():
    """A feature that tells 1 from 2 means nothing elsewhere: its weight among the top nodes
    stays 0.
    """
    X = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0]] * 10, dtype=float)
    Y = [1, 2, 0, 0] * 10
    learner = TopDown([(1, "a"), (2, "a")], "svm", p_min=0.0).fit(X, Y)
    below_a = learner._among[learner._nodes.number["a"]]
    assert below_a.n_examples_ == 20
    assert learner._among[-1].n_examples_ == 40
    assert learner.predict(X).tolist() == Y


def test_without_a_tree_it_is_one_versus_rest():
    X, Y = example(4)
    flat = TopDown(sigmoid="fixed", p_min=0.0).fit(X, Y)
    order = OneVersusRest().fit(X, Y).rank(X, k=4).labels
    assert np.array_equal(flat.rank(X, k=4).labels, order)


def test_the_sigmoid_is_scikit_learns():
    from sklearn.calibration import _SigmoidCalibration

    random = np.random.default_rng(0)
    scores = random.normal(size=300)
    truth = random.random(300) < 1 / (1 + np.exp(-3 * scores + 1))
    theirs = _SigmoidCalibration().fit(scores, truth)
    assert fit_sigmoid(scores, truth) == pytest.approx([theirs.a_, theirs.b_], rel=1e-3)


def test_trees_are_checked():
    tree = Tree.of([("C1511", "C151"), ("C151", "C15"), ("C15", "CCAT")], ["GCAT", "C151"])
    assert tree.names == ["CCAT", "C15", "C151", "C1511", "GCAT"]
    assert tree.parents.tolist() == [-1, 0, 1, 2, -1]
    assert tree.above(["C151"]).toarray().tolist() == [[1, 1, 1, 0, 0]]
    with pytest.raises(InputError, match="itself"):
        Tree.of([("a", "b"), ("b", "c"), ("c", "a")], [])
    with pytest.raises(InputError, match="two parents"):
        Tree.of([("a", "b"), ("a", "c")], [])
    with pytest.raises(InputError, match="pairs"):
        TopDown([("a", "b", "c")]).fit([[1.0]], ["a"])
    with pytest.raises(InputError, match="pairs"):
        TopDown(7).fit([[1.0]], ["a"])


# UnweightedIndex


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([0, 2]),
)
def test_unweighted_index_and_twin_agree(seed, tolerance, min_weight, members):
    X, Y = example(seed, n=40)
    learner = UnweightedIndex(tolerance, min_weight, members, random_state=None).fit(X, Y)
    number = learner.label_index_.number

    def start(f, c, m):
        return learner._starts[(f * 40503 + (c * members + m) * 30011) % learner._starts.size]

    twin = SlowUnweightedIndex(tolerance, min_weight, members, start)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    rows = [[(f, v) for f, v in enumerate(row) if v] for row in unit.tolist()]
    for x, y in zip(rows, Y, strict=True):
        twin.learn(x, [number[c] for c in y])
    assert learner.n_edges_ == sum(map(len, twin.edges.values()))
    assert learner.n_weights_ == learner.n_edges_ + sum(map(len, twin.w.values()))
    ranking = learner.rank(X, k=4)
    for i, x in enumerate(rows):
        found = {number[label]: score for label, score in ranking[i]}
        expected = (
            {c: twin.committee_score(x, c) for c in twin.retrieved(x)}
            if members
            else dict(twin.retrieve(x))
        )
        assert found == pytest.approx(expected)


def test_a_tolerant_index_is_corrected_less_often():
    X, Y = example(6, n=400)
    edges = [
        UnweightedIndex(tolerance, 0.01).fit(X, Y).index_.features["total"].sum()
        for tolerance in (0, 2, 4)
    ]
    assert edges[0] > edges[1] > edges[2]


@pytest.mark.parametrize(
    ("learner", "complaint"),
    [
        (OneVersusRest("boost"), "classifier"),
        (OneVersusRest(C=0), "C"),
        (OneVersusRest(patience=0), "patience"),
        (OneVersusRest(values="l1"), "values"),
        (TopDown(classifier="boost"), "classifier"),
        (TopDown(sigmoid="steep"), "sigmoid"),
        (TopDown(p_min=2), "p_min"),
        (TopDown(trials=0), "trials"),
        (UnweightedIndex(tolerance=-1), "tolerance"),
        (UnweightedIndex(min_weight=2), "min_weight"),
        (UnweightedIndex(classifiers=-1), "classifiers"),
    ],
)
def test_bad_parameters_are_named(learner, complaint):
    with pytest.raises(ValueError, match=complaint):
        learner.fit(np.ones((2, 1)), ["a", "b"])


def test_the_work_of_ranking_is_counted():
    X, Y = example(7)
    flat = TopDown(sigmoid="fixed").fit(X, Y)
    assert flat.edges_touched(X) == 4
    deep = TopDown([(1, "a"), (2, "a"), (3, "a")], sigmoid="fixed", p_min=0.0).fit(X, Y)
    assert deep.edges_touched(X) == 5  # two at the top, three below one of them
    assert (
        TopDown([(1, "a"), (2, "a"), (3, "a")], sigmoid="fixed", p_min=1.0)
        .fit(X, Y)
        .edges_touched(X)
        == 2
    )
    one = OneVersusRest("svm").fit(X, Y)
    assert one.edges_touched(X) == pytest.approx(4)


def test_of_the_nodes_reached_only_the_deepest_are_candidates():
    """Every row has the label "a"; those that reach a label below it are ranked without it."""
    X = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0]] * 20, dtype=float)
    Y = [["a", "b"], ["a", "c"], ["a"]] * 20
    learner = TopDown([("b", "a"), ("c", "a")], "svm", sigmoid="fixed", p_min=0.5).fit(X, Y)
    assert [[label for label, _ in row] for row in learner.rank(X[:3], k=3)] == [
        ["b"],
        ["c"],
        ["a"],
    ]
