"""Feature-Focus against its slow twin, the paper's cases, and its own limits."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from shortlist.compiled.kernels import kernel
from shortlist.data.rows import Rows
from shortlist.errors import InputError
from shortlist.learners.index.edges import EDGES, make_edges, make_index, raised
from shortlist.learners.index.feature_focus import FeatureFocus
from shortlist.learners.index.scoring import add_votes
from shortlist.learners.top_labels import LEAST
from tests.compiled import compiled
from tests.reference.feature_focus import SlowFeatureFocus
from tests.reference.feature_focus import raised as slow_raised

raised = compiled(raised)
add_votes = compiled(add_votes)


def edges_of(learner):
    """feature -> [(class number, w')], as the learner holds them."""
    feature, edges = learner.index_.all_edges()
    lists = {}
    for f, c, w in zip(
        feature.tolist(), edges["label"].tolist(), edges["weight"].tolist(), strict=True
    ):
        lists.setdefault(f, []).append((c, w))
    return lists


# Few features, few classes, few values: streams full of ties, repeats and drops.
values = st.sampled_from([0.25, 0.5, 1.0, 1.0, 2.0, 3.0])
rows = st.dictionaries(st.integers(0, 5), values, max_size=4).map(lambda row: sorted(row.items()))
examples = st.lists(
    st.tuples(rows, st.sets(st.integers(0, 6), max_size=3).map(sorted)), min_size=1, max_size=60
)


@given(
    examples,
    st.sampled_from([0.0, 0.01, 0.1, 0.3]),
    st.sampled_from([1, 2, 25]),
    st.sampled_from([-0.5, 0.0, 0.1, 0.5, 7.0]),
    st.booleans(),
    st.sampled_from([0, 1, 10]),
    st.sampled_from([1, 2, 50]),
    st.integers(1, 2),
    st.sampled_from([None, None, 1.0, 4.0, 10.0]),
)
def test_kernel_and_twin_hold_the_same_edges(
    stream, min_weight, max_edges, margin, leakage, rare, first, passes, memory
):
    options = {
        "min_weight": min_weight if memory is None else max(min_weight, 0.01),
        "max_edges": max_edges,
        "margin": margin,
        "leakage": leakage,
        "rare": rare,
        "first": first,
    }
    twin = SlowFeatureFocus(**options, memory=np.inf if memory is None else memory)
    learner = FeatureFocus(values="raw", passes=passes, random_state=None, memory=memory, **options)
    X = np.zeros((len(stream), 6))
    for i, (x, _) in enumerate(stream):
        for f, v in x:
            X[i, f] = v
    learner.fit(X, [classes for _, classes in stream])
    number = learner.label_index_.number
    for n in range(passes):
        for x, classes in stream:
            twin.learn(x, [number[c] for c in classes], first_pass=n == 0)

    assert edges_of(learner) == {
        f: [(c, w) for c, w in edges] for f, edges in twin.edges.items() if edges
    }
    assert learner.n_edges_ == sum(map(len, twin.edges.values()))
    for f, total in twin.total.items():
        # weights are rounded to 32 bits in another order
        assert learner.index_.features["total"][f] == pytest.approx(total, rel=1e-6)
    for f, seen in twin.seen.items():
        assert learner.index_.features["seen"][f] == seen
    for i, (x, _) in enumerate(stream):
        ranking = learner.rank(X[i : i + 1], k=7)[0]
        assert [(number[label], score) for label, score in ranking] == twin.retrieve(x)


@pytest.mark.parametrize("passes", [2, 3])
def test_rare_features_are_counted_in_the_first_pass_only(passes):
    """Seen three times in each pass, they vote with three tenths of their weight however many
    passes there are.
    """
    random = np.random.default_rng(5)
    X = np.repeat(np.eye(4), 3, axis=0)
    y = random.integers(0, 3, 12).tolist()
    twin = SlowFeatureFocus(rare=10)
    learner = FeatureFocus(values="raw", passes=passes, random_state=None, rare=10).fit(X, y)
    for n in range(passes):
        for row, c in zip(X, y, strict=True):
            twin.learn(
                [(int(np.argmax(row)), 1.0)], [learner.label_index_.number[c]], first_pass=n == 0
            )
    for row in X:
        ranking = learner.rank(row[None], k=3)[0]
        found = [(learner.label_index_.number[label], score) for label, score in ranking]
        assert found == twin.retrieve([(int(np.argmax(row)), 1.0)])
        assert sum(score for _, score in found) <= 0.3 + 1e-12


def test_lists_stay_sorted_and_short():
    random = np.random.default_rng(3)
    learner = FeatureFocus(min_weight=0.1, margin=9)
    X = (random.random((3000, 8)) < 0.5).astype(float)
    learner.fit(X, random.zipf(1.3, 3000) % 400)
    for edges in edges_of(learner).values():
        weights = [w for _, w in edges]
        assert weights == sorted(weights, reverse=True)
        assert len(edges) <= 10  # 1 / min_weight
        assert len({c for c, _ in edges}) == len(edges)


def test_case_1_lazy_updating_separates_what_constant_updating_does_not():
    """Section 4.3.1: f1 belongs to c1 alone, f2 to both, and c1 is the more frequent."""
    random = np.random.default_rng(0)
    y = np.where(random.random(2000) < 0.7, "c1", "c2")
    X = np.column_stack([y == "c1", np.ones(2000)]).astype(float)
    assert FeatureFocus(margin=0.0, values="boolean").fit(X, y).score(X, y) == 1.0
    assert FeatureFocus(margin=9.0, values="boolean").fit(X, y).score(X, y) < 0.8


def test_case_2_a_margin_steadies_a_single_feature():
    """Section 4.3.1: published R1 0.479 ± 0.02 with constant updating, 0.428 ± 0.09 with lazy
    updating.
    """
    constant, lazy = [], []
    for trial in range(100):
        y = np.random.default_rng(trial).choice(3, size=2000, p=[0.5, 0.25, 0.25])
        X = np.ones((2000, 1))
        for margin, found in ((9.0, constant), (0.0, lazy)):
            learner = FeatureFocus(margin=margin, random_state=None).fit(X[:1600], y[:1600])
            found.append(learner.score(X[1600:], y[1600:]))
    assert np.mean(constant) == pytest.approx(0.50, abs=0.03)
    assert np.mean(lazy) == pytest.approx(0.428, abs=0.03)


@given(
    st.floats(2.0**-40, 2.0**40, width=32),
    st.floats(2.0**-60, 2.0**20) | st.sampled_from([0.25, 1.0]),
    st.floats(2.0**-60, 2.0**60),
)
def test_a_weight_is_raised_as_its_twin_is(weight, x, total):
    new = float(raised(np.float32(weight), x, total))
    assert new == slow_raised(weight, x, total)
    assert new == pytest.approx(weight + x, rel=2.0**-23)
    assert new >= weight


@pytest.mark.parametrize("x", [0.001, 0.1, 1 / 3, 1.0, 1.5])
def test_a_weight_goes_on_counting_past_the_limits_of_float32(x):
    """A sum so large that its last digit is 64: what is added counts, not each time, but as
    much as it should.
    """
    learner = FeatureFocus(margin=9.0, values="raw", random_state=None, min_weight=0.0)
    learner.fit(np.array([[1e9]]), ["old"])
    n = 20_000
    learner.partial_fit(np.full((n, 1), x), ["old"] * n)
    assert learner.index_.features["total"][0] == pytest.approx(1e9 + n * x, abs=1e-3)
    assert edges_of(learner)[0][0][1] == pytest.approx(1e9 + n * x, abs=16 * 64)


@kernel
def _raised_by(values, total):
    """A weight and its total, raised by one value after the other."""
    weight = np.float32(total)
    for x in values:
        weight = raised(weight, x, total)
        total += x
    return weight, total


def test_a_long_sum_of_small_values_is_right():
    """Rounded to the nearest, the first sum would grow by a quarter too much, and the second
    would never move.
    """
    for begin, x in ((1e6, 0.1), (2.0**27, 1.0)):
        weight, total = _raised_by(np.full(100_000, x), begin)
        assert weight - begin == pytest.approx(total - begin, rel=0.02)
    values = np.random.default_rng(0).random(100_000)
    weight, total = _raised_by(values, 3e6)
    assert weight - 3e6 == pytest.approx(total - 3e6, rel=0.01)


def test_only_what_a_feature_was_always_seen_with_has_all_of_its_weight():
    """However the values are rounded."""
    random = np.random.default_rng(4)
    X, y = np.column_stack([random.random(200), random.random(200)]), ["a"] * 200
    X[::7, 1], y = 0.0, ["b" if i % 7 == 0 else "a" for i in range(200)]
    learner = FeatureFocus(min_weight=1.0, margin=9.0, values="raw").fit(X, y)
    assert [len(edges_of(learner).get(f, [])) for f in (0, 1)] == [0, 1]


@pytest.mark.long
@pytest.mark.parametrize("cap", [1, 5, 40, 1000])
@pytest.mark.parametrize("leakage", [True, False])
def test_ever_new_words_and_labels_stay_inside_the_edge_cap(cap, leakage):
    random = np.random.default_rng(1)
    learner = FeatureFocus(max_total_edges=cap, leakage=leakage, min_weight=0.0)
    for step in range(120):
        new = np.arange(step * 5, step * 5 + 5)
        old = random.integers(0, 20, size=(10, 3))
        X = scipy.sparse.lil_array((10, step * 5 + 30))
        for i in range(10):
            X[i, new] = 1.0
            X[i, old[i]] = 1.0
        learner.partial_fit(X.tocsr(), [[f"new {step} {i}", f"old {i}"] for i in range(10)])
        assert learner.n_edges_ <= cap
        assert (
            learner.n_edges_
            == learner.index_.features["length"].sum()
            == learner.index_.used[EDGES]
        )
    assert learner.n_edges_ > cap // 2


def test_a_full_index_keeps_its_strongest_edges():
    """The cap costs the weak, not the strong: well-founded edges survive a flood of words seen
    once.
    """
    learner = FeatureFocus(max_total_edges=100, margin=9.0)
    X = scipy.sparse.identity(20, format="csr")
    for _ in range(20):
        learner.partial_fit(X, [f"label {i}" for i in range(20)])
    for step in range(100):
        flood = scipy.sparse.csr_array(
            (np.ones(30), (np.zeros(30, int), np.arange(30) + 20 + 30 * step)), (1, 3100)
        )
        learner.partial_fit(flood, [["noise"]])
    assert learner.score(X, [f"label {i}" for i in range(20)]) == 1.0


def test_slots_of_moved_lists_are_reused():
    """The pools stay within a small multiple of the edges they hold."""
    random = np.random.default_rng(5)
    learner = FeatureFocus(min_weight=0.0, margin=9.0)
    for _ in range(50):
        X = scipy.sparse.random_array((100, 300), density=0.05, rng=random, format="csr")
        learner.partial_fit(X, random.integers(0, 200, 100))
    assert learner.index_.used[1] < 4 * learner.n_edges_


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"min_weight": -0.1}, "min_weight"),
        ({"max_edges": 0}, "max_edges"),
        ({"margin": "wide"}, "margin"),
        ({"values": "l1"}, "values"),
        ({"passes": 0}, "passes"),
        ({"max_total_edges": 0}, "max_total_edges"),
        ({"rare": 2.5}, "rare"),
    ],
)
def test_bad_parameters_are_named(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        FeatureFocus(**options).fit(np.ones((1, 1)), ["a"])


def test_the_mark_of_a_retrieved_class_is_no_subnormal_number():
    """A library may tell the processor to round those to 0; the class would then be listed
    twice, past the end.
    """
    assert LEAST >= np.finfo(np.float64).smallest_normal


def test_labels_whose_votes_cancel_are_retrieved_with_the_least_score():
    """Also where all labels are listed by then: the first of two features votes 1 for each, the
    second −1 for one.
    """
    edges = make_edges(np.array([0, 1, 0], dtype=np.int32), np.ones(3))
    edges["tuned"] = [0.0, 0.0, -2.0]
    index = make_index(np.array([2, 1], dtype=np.int32), edges, np.ones(2), np.array([9, 9]))
    row = Rows(np.array([0, 2]), np.arange(2, dtype=np.int32), np.ones(2), 2)
    scores, touched = np.zeros(2), np.zeros(3, dtype=np.int32)
    assert add_votes(row, 0, index, 9, 0, scores, touched) == 2
    assert touched[:2].tolist() == [0, 1]
    assert scores.tolist() == [LEAST, 1.0]


def test_a_finite_memory_follows_labels_that_change_their_meaning():
    """2,000 examples of one feature with the label a, then b: who remembers all of them is not
    turned by 1,000.
    """
    X, y = np.ones((3000, 1)), ["a"] * 2000 + ["b"] * 1000
    options = {"margin": 9.0, "random_state": None}
    assert FeatureFocus(**options).fit(X, y).predict(X[:1])[0] == "a"
    assert FeatureFocus(memory=50, **options).fit(X, y).predict(X[:1])[0] == "b"
    # not at once
    assert FeatureFocus(memory=50, **options).fit(X[:2030], y[:2030]).predict(X[:1])[0] == "a"


@given(st.lists(st.integers(0, 4), min_size=1, max_size=200), st.sampled_from([1.0, 3.0, 20.0]))
def test_what_is_remembered_is_bounded_and_adds_up(labels, memory):
    learner = FeatureFocus(memory=memory, margin=9.0, random_state=None).fit(
        np.ones((len(labels), 1)), labels
    )
    total = learner.index_.features["total"][0]
    assert total <= memory
    assert sum(w for _, w in edges_of(learner).get(0, [])) <= total * (1 + 1e-6)


def test_memory_wants_room_to_remember_and_edges_that_end():
    for options in ({"memory": 0.5}, {"memory": 10, "min_weight": 0.0}):
        with pytest.raises(InputError, match="memory"):
            FeatureFocus(**options).fit([[1.0]], ["a"])


@pytest.mark.parametrize("values", ["raw", "l2"])
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e39, 1e300])
def test_values_out_of_reach_of_float32_are_learned_without_a_warning(values, size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = FeatureFocus(values=values).fit([[size, 0.0], [0.0, 1.0]], ["a", "b"])
        assert learner.predict([[size, 0.0]]).tolist() == ["a"]
