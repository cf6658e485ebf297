"""Learning apart and merging: exact where the mathematics is, the stated rule elsewhere, the
same for any threads.
"""

import copy
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from shortlist import (
    MMP,
    FeatureFocus,
    IndependentIndex,
    InputError,
    Rocchio,
    TopicPerceptron,
    TunedIndex,
    load,
)
from shortlist.data.labels import numbered
from shortlist.learners.prototypes.weights import mixed, pack
from tests.contract import as_bytes, example_data
from tests.learners.test_feature_focus import edges_of, examples
from tests.reference.feature_focus import SlowFeatureFocus
from tests.reference.feature_focus import merged as slow_merged
from tests.reference.feature_focus import mixed as slow_mixed

WIDTH = 6


def in_parts(learner, X, Y, n):
    """Fitted in n parts that are mixed after each pass, as a cluster does it."""
    learner.reset()
    checked = learner.checked_rows(X)
    rows = learner.prepare(checked)
    labels = learner._take_up(checked, numbered(Y, checked.n_rows))
    for number in range(learner.passes_through(len(Y), labels.n_labels)):
        shards = [learner.shard(n) for _ in range(n)]
        for shard, part in zip(shards, np.array_split(np.arange(len(Y)), n), strict=True):
            shard.update(rows, labels, part, number == 0)
        learner.mix_shards(shards)
    return learner


def matrix(stream):
    X = np.zeros((len(stream), WIDTH))
    for i, (x, _) in enumerate(stream):
        for f, v in x:
            X[i, f] = v
    return X


def weights_by_name(learner):
    """(feature, label) -> w', and feature -> (total, seen)."""
    names = learner.label_index_.names
    edges = {(f, names[c]): w for f, listed in edges_of(learner).items() for c, w in listed}
    features = learner.index_.features[:WIDTH]
    return edges, dict(
        enumerate(zip(features["total"].tolist(), features["seen"].tolist(), strict=True))
    )


@given(examples, examples, st.sampled_from([0.0, 0.1, 0.3]), st.booleans())
def test_merging_adds_the_running_sums_and_applies_the_rule(here, there, min_weight, leakage):
    options = {"min_weight": min_weight, "leakage": leakage, "values": "raw", "random_state": None}
    parts = [
        FeatureFocus(**options).fit(matrix(s), [classes for _, classes in s]) for s in (here, there)
    ]
    expected = slow_merged([weights_by_name(part) for part in parts], min_weight, leakage)
    merged = parts[0].merge(parts[1])
    edges, features = weights_by_name(merged)
    assert edges == pytest.approx(expected[0])
    assert features == {f: pytest.approx(pair) for f, pair in expected[1].items()}
    assert merged.n_examples_ == len(here) + len(there)
    assert merged.n_edges_ == len(edges)
    for listed in edges_of(merged).values():
        assert [w for _, w in listed] == sorted((w for _, w in listed), reverse=True)
    merged.rank(matrix(here), k=3)
    # the merged index goes on learning
    merged.partial_fit(matrix(there), [classes for _, classes in there])


def test_merging_keeps_to_the_cap_and_to_its_kind():
    X, Y = example_data()
    one, other = (
        FeatureFocus(max_total_edges=100).fit(X[part], Y[part])
        for part in (slice(150), slice(150, 300))
    )
    assert one.merge(other).n_edges_ <= 100
    assert one.n_examples_ == 300
    with pytest.raises(InputError, match="only a FeatureFocus"):
        one.merge(Rocchio().fit(X, Y))


@pytest.mark.parametrize("kind", [FeatureFocus, TunedIndex])
@pytest.mark.parametrize(("here", "there"), [(10, 15), (15, 10), (10, 21), (21, 10)])
def test_learners_of_more_and_of_fewer_columns_merge(kind, here, there):
    X, Y = example_data()
    one, other, widened = (kind().fit(X[:, :width], Y) for width in (here, there, there))
    widened.index_ = widened.index_.for_features(40)
    merged = copy.deepcopy(one).merge(other)
    assert merged.n_features_in_ == max(here, there)
    assert as_bytes(merged) == as_bytes(copy.deepcopy(one).merge(widened))
    for f in range(max(here, there)):
        total = sum(
            part.index_.features["total"][f] for part in (one, other) if f < part.n_features_in_
        )
        assert merged.index_.features["total"][f] == pytest.approx(total)


@pytest.mark.parametrize("kind", [FeatureFocus, TunedIndex])
def test_a_refused_merge_changes_nothing(kind):
    X, Y = example_data()
    learner = kind().fit(X, Y)
    before = as_bytes(learner)
    for other in (Rocchio().fit(X, [["new"]] * len(Y)), kind()):
        with pytest.raises(ValueError, match=r"only a|has learned nothing"):
            learner.merge(other)
    assert as_bytes(learner) == before


@pytest.mark.parametrize(
    "options", [{"passes": 3}, {"passes": 3, "max_total_edges": 100}, {"min_weight": 0.6}]
)
@pytest.mark.parametrize("shards", [1, 4])
def test_where_nothing_leaks_a_total_is_the_sum_of_its_edges(options, shards, tmp_path):
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((400, 60), density=0.15, rng=random, format="csr")
    learner, Y = FeatureFocus(leakage=False, **options), random.integers(0, 30, 400)
    learner = learner.fit(X, Y) if shards == 1 else in_parts(learner, X, Y, shards)
    feature, edges = learner.index_.all_edges()
    total, kept = (
        learner.index_.features["total"],
        np.bincount(feature, edges["weight"], minlength=60),
    )
    assert (total >= 0).all()
    # learned one by one, examples count for which there was no room
    assert shards == 1 or total == pytest.approx(kept)
    learner.save(tmp_path / "model.shortlist")
    assert as_bytes(load(tmp_path / "model.shortlist")) == as_bytes(learner)


def test_merging_into_a_new_learner_copies():
    X, Y = example_data()
    one = FeatureFocus().fit(X, Y)
    copied = FeatureFocus().merge(one)
    assert as_bytes(copied) == as_bytes(one)


def test_one_pass_in_shards_is_the_merge_of_learners_of_the_parts():
    X, Y = example_data()
    in_shards = in_parts(FeatureFocus(), X, Y, 3)
    cut = [0, 100, 200, 300]
    apart = [FeatureFocus(random_state=None).fit(X[a:b], Y[a:b]) for a, b in pairwise(cut)]
    merged = apart[0].merge(apart[1]).merge(apart[2])
    scores = in_shards.decision_function(X)
    columns = [list(merged.classes_).index(label) for label in in_shards.classes_]
    # Merging two by two drops light edges twice; with no edge that light the two are the same.
    assert np.allclose(scores, merged.decision_function(X)[:, columns], atol=0.02)


@given(examples, st.sampled_from([0.0, 0.1, 0.3]), st.booleans(), st.integers(1, 3))
def test_later_passes_add_what_the_shards_have_added(stream, min_weight, leakage, passes):
    """W + Σ (W_s − W), told over with slow learners."""
    n_shards = 2
    options = {"min_weight": min_weight, "leakage": leakage}
    learner = FeatureFocus(values="raw", passes=passes, **options)
    in_parts(learner, matrix(stream), [classes for _, classes in stream], n_shards)
    number, twin = learner.label_index_.number, SlowFeatureFocus(**options)
    cut = (len(stream) + 1) // 2
    for n in range(passes):
        parts = [copy.deepcopy(twin) for _ in range(n_shards)]
        for part, run in zip(parts, (stream[:cut], stream[cut:]), strict=True):
            for x, classes in run:
                part.learn(x, [number[c] for c in classes], first_pass=n == 0)
        twin = slow_mixed(twin, parts)
    expected = {(f, c): w for f, edges in twin.edges.items() for c, w in edges}
    assert {
        (f, number[c]): w for (f, c), w in weights_by_name(learner)[0].items()
    } == pytest.approx(expected)
    for f, total in twin.total.items():
        assert learner.index_.features["total"][f] == pytest.approx(total)
        assert learner.index_.features["seen"][f] == twin.seen[f]


@pytest.mark.parametrize("kind", [MMP, TopicPerceptron])
@pytest.mark.parametrize("passes", [1, 3])
def test_prototypes_of_shards_are_averaged(kind, passes):
    """Every pass of a shard is a learner of its own, started from the mean; told over with
    dense weights.
    """
    X, Y = example_data()
    n, n_shards = X.shape[0], 3
    in_shards = in_parts(kind(passes=passes), X, Y, n_shards)
    starts = clone(in_shards).set_params(passes=1)
    starts.reset()
    starts.label_index_.learn(Y, n)
    dense = np.eye(X.shape[1])
    mean = np.zeros((X.shape[1], len(starts.label_index_)))
    for number in range(passes):
        ends = []
        for rows in np.array_split(np.arange(n), n_shards):
            shard = with_weights(starts, mean, known=number > 0)
            shard.update(
                shard.check_rows(X[rows]),
                shard.label_index_.look_up([Y[i] for i in rows], rows.size),
                np.arange(rows.size),
                number == 0,
            )
            ends.append(shard.decision_function(dense))
        mean = np.mean(ends, axis=0)
    assert np.allclose(in_shards.decision_function(dense), mean)
    assert in_shards.cumulative_loss_["seen"][-1] == n * passes


def with_weights(learner, weights, known):
    """A copy of a learner of prototypes that starts from dense weights, features × labels."""
    from shortlist.learners.prototypes.weights import pack

    feature, label = np.nonzero(weights)
    listed = weights[feature, label]
    new = copy.copy(learner)
    nothing = np.zeros(weights.shape[0])
    parts = feature, label.astype(np.int32), listed, np.zeros(listed.size), nothing, nothing.copy()
    new.prototypes_ = pack(*parts).with_room(10_000)
    new._counts = np.array([weights.shape[1] if known else 0, 0, 0])
    new._total_losses, new._loss_curve = np.zeros(3), np.zeros((0, 4))
    return new


def test_the_average_over_time_of_shards_is_the_mean_of_their_averages():
    """With as many rows in each shard, averaging over time and over shards can be done in
    either order.
    """
    X, Y = example_data()
    in_shards = in_parts(MMP(hypothesis="averaged"), X, Y, 3)
    classes = list(in_shards.classes_)
    apart = []
    for first in (0, 100, 200):
        part = MMP(hypothesis="averaged").partial_fit(X[:0], [])
        part.label_index_.learn([[c] for c in classes], len(classes))
        apart.append(
            part.partial_fit(X[first : first + 100], Y[first : first + 100]).decision_function(X)
        )
    assert np.allclose(in_shards.decision_function(X), np.mean(apart, axis=0))


@pytest.mark.parametrize("learner", [Rocchio(), IndependentIndex(threshold=0.05)])
def test_sums_are_the_same_bytes_on_any_number_of_threads(learner):
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((500, 3000), density=0.02, rng=random, format="csr")
    Y = random.integers(0, 40, 500)
    one, three = (
        clone(learner).set_params(n_jobs=n).fit(X, Y).set_params(n_jobs=None) for n in (1, 3)
    )
    assert as_bytes(one) == as_bytes(three)


def test_moments_are_stretched_to_the_time_of_all_shards():
    """Of two shards, what one does with its t-th row after time 10 happens at 10 + 2·t, and
    counts one half.
    """

    def prototypes(weight, moment):
        one = np.array([weight]), np.array([moment])
        return pack(
            np.array([0]), np.array([0], dtype=np.int32), *one, one[0].copy(), one[1].copy()
        )

    began = prototypes(3.0, 12.0)
    parts = [
        prototypes(3.0 + 1.0, 12.0 + 1.0 * (10 + 3)),
        prototypes(3.0 + 2.0, 12.0 + 2.0 * (10 + 5)),
    ]
    found = mixed(parts, began, 10, 1)
    moment = 12.0 + 0.5 * 1.0 * (10 + 2 * 3) + 0.5 * 2.0 * (10 + 2 * 5)
    assert (found.weight.tolist(), found.background.tolist()) == ([4.5], [4.5])
    assert (found.moment.tolist(), found.background_moment.tolist()) == ([moment], [moment])


@pytest.mark.parametrize("kind", [FeatureFocus, TunedIndex])
def test_shards_keep_within_the_cap_together(kind, monkeypatch):
    together = []
    mix = kind.mix_shards

    def note_and_mix(self, shards):
        together.append(sum(shard.n_edges_ for shard in shards))
        mix(self, shards)

    monkeypatch.setattr(kind, "mix_shards", note_and_mix)
    in_parts(kind(max_total_edges=40, passes=1), *example_data(), 4)
    assert together
    assert 20 < max(together) <= 40
