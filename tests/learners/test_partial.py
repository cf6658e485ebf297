"""Judgements that leave labels open: exactly the twins, and what nobody judged is left alone."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import MMP, FeatureFocus, InputError, TopicPerceptron, TunedIndex, load
from shortlist.data.labels import judged
from tests.contract import as_bytes
from tests.learners.test_tuned_index import learned, learned_by
from tests.reference.prototypes import SlowMMP, SlowTopicPerceptron
from tests.reference.tuned_index import SlowTunedIndex

N = 7
LABELS = list(range(N))
LEARNERS = [
    TunedIndex(),
    TunedIndex(vector=30),
    MMP(),
    MMP(loss=3),
    MMP(margin=1, step="passive-aggressive"),
    TopicPerceptron(),
]
values = st.sampled_from([0.25, 0.5, 1.0, 3.0])
rows = st.dictionaries(st.integers(0, 5), values, min_size=1, max_size=4).map(
    lambda row: [row.get(f, 0.0) for f in range(6)]
)
one = st.integers(0, N - 1).map(lambda c: {c})
several = st.sets(st.integers(0, N - 1), max_size=3)
judgements = st.tuples(
    st.one_of(one, one, several), st.one_of(st.none(), st.sets(st.integers(0, N - 1), max_size=4))
)


@st.composite
def examples(draw):
    """A row, its labels, and those that were crossed out; None if the judgement is complete."""
    row, (right, wrong) = draw(rows), draw(judgements)
    foreseeable = draw(st.booleans())  # so that labels contend
    right = {int(np.argmax(row))} if foreseeable else right
    wrong = None if wrong is None else sorted(wrong - right)
    # who has judged all labels has judged completely
    whole = wrong is not None and len(right) + len(wrong) == N
    return row, sorted(right), None if whole else wrong


streams = st.lists(examples(), min_size=1, max_size=40)


def parts_of(stream):
    X, Y, crossed = zip(*stream, strict=True)
    wrong = [[] if own is None else own for own in crossed]
    return np.array(X), judged(list(Y), len(Y), wrong, [own is None for own in crossed]), crossed


def started(learner, n_features=6):
    """One that knows all labels, so that these have the numbers of the twin."""
    return learner.partial_fit(np.zeros((1, n_features)), [[]], classes=LABELS)


@given(streams, st.sampled_from([2, 25]), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_tuned_index_is_exactly_its_twin(stream, max_edges, passes):
    X, labels, _ = parts_of(stream)
    own = {"min_weight": 0.05, "max_edges": max_edges, "rare": 3}
    learner, slow = started(TunedIndex(passes=passes, values="raw", **own)), SlowTunedIndex(**own)
    slow.learn([], [])
    sets = learner.label_index_.learn_right(labels, len(stream))
    pairs = [
        ([(f, v) for f, v in enumerate(row) if v], right, wrong) for row, right, wrong in stream
    ]
    learner.planned_passes_ = passes
    for n in range(passes):
        learner.update(
            learner.check_rows(scipy.sparse.csr_array(X)), sets, np.arange(len(stream)), n == 0
        )
        for t, (x, right, wrong) in enumerate(pairs):
            to_come, further = (passes - n) * len(stream) - t, max(1, passes - 1) * len(stream)
            slow.learn(x, right, wrong=wrong, again=None if n == 0 else 0.5 * to_come / further)
    assert learned(learner) == learned_by(slow)


@given(
    streams,
    st.sampled_from([1, 2, 3, "AP", "passive-aggressive", "perceptron"]),
    st.sampled_from([1, 3, 40]),
)
@settings(max_examples=100, deadline=None)
def test_prototypes_and_their_twins_agree(stream, rule, parts):
    """In parts, and with labels that arrive late: what was crossed out before it was known is
    nobody's error.
    """
    X, labels, crossed = parts_of(stream)
    if rule == "perceptron":
        learner, slow = TopicPerceptron(), SlowTopicPerceptron(6)
    elif rule == "passive-aggressive":
        learner = started(MMP(margin=1.0, step=rule, C=0.3))
        slow = SlowMMP(6, 1, labels=LABELS, margin=1.0, C=0.3)
    else:
        learner, slow = MMP(rule), SlowMMP(6, rule)
    for first in range(0, len(stream), parts):
        learner.partial_fit(X[first : first + parts], labels[first : first + parts])
    for row, right, wrong in zip(X, labels, crossed, strict=True):
        known = {*slow.w, *right}
        slow.learn(
            row,
            right,
            None if wrong is not None and len({*right, *wrong} & known) == len(known) else wrong,
        )
    scores = dict(zip(learner.classes_.tolist(), learner.decision_function(X).T, strict=True))
    for c, w in slow.w.items():
        assert scores[c] == pytest.approx(X @ w, rel=1e-9, abs=1e-9)
    if rule != "passive-aggressive":
        losses = [learner.cumulative_loss_[f"loss{n}"][-1] for n in (1, 2, 3)]
        assert losses == pytest.approx(np.mean(slow.losses, axis=0))


# What it means, for each learner that can


def fitted(learner, n=300, seed=0):
    """One that has learned rows of which each label has features of its own, and others that
    say nothing.
    """
    random = np.random.default_rng(seed)
    X = (random.random((n, 30)) < 0.1) * 1.0
    Y = [sorted(set(random.integers(0, N, 2).tolist())) for _ in range(n)]
    for i, own in enumerate(Y):
        for c in own:
            X[i, 3 * c : 3 * c + 3] = random.integers(0, 2, 3)
    return learner.fit(X, Y), X[:20]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_who_names_all_labels_judges_completely(learner):
    one, X = fitted(learner)
    other, _ = fitted(learner)
    before = as_bytes(one)
    Y = [[c % N, (c + 3) % N] for c in range(len(X))]
    wrong = [[c for c in LABELS if c not in own] for own in Y]
    one.partial_fit(X, judged(Y, len(X), wrong))
    other.partial_fit(X, Y)
    assert as_bytes(one) == as_bytes(other) != before


@pytest.mark.parametrize("single", [True, False])
def test_the_edges_of_labels_that_nobody_judged_do_not_change(single):
    learner, X = fitted(TunedIndex())
    if single:
        learner.partial_fit(np.eye(30)[:21], [[c // 3] for c in range(21)])
        learner.running_counts_[1] = learner.running_counts_[0]  # as if examples had one label each
    weights, _, biases = learned(learner)
    learner.partial_fit(X, judged([[1]] * len(X), len(X), [[2, 3]] * len(X)))
    after, _, biases_after = learned(learner)
    for (f, c), (w, u) in after.items():
        if c not in (1, 2, 3):
            assert weights[f, c] == (w, u)
        elif c != 1:
            before_w, before_u = weights.get((f, c), (w, 0.0))
            assert before_w == w
            assert u <= before_u, "what was crossed out is corrected down"
    raised = [after[f, c][1] - weights[f, c][1] for f, c in after if c == 1 and (f, c) in weights]
    assert max(raised) > 0
    assert {c: biases[c] for c in (0, 4, 5, 6)} == {c: biases_after[c] for c in (0, 4, 5, 6)}
    assert {edge: was for edge, was in after.items() if edge[1] in (2, 3)} != {
        edge: was for edge, was in weights.items() if edge[1] in (2, 3)
    }


@pytest.mark.parametrize("learner", LEARNERS[1:], ids=str)
def test_the_scores_of_labels_that_nobody_judged_do_not_change(learner):
    learner, X = fitted(learner)
    open_ = [0, 4, 5, 6]
    before = learner.decision_function(X)
    place = [learner.classes_.tolist().index(c) for c in open_]
    learner.partial_fit(X, judged([[1]] * len(X), len(X), [[2, 3]] * len(X)))
    after = learner.decision_function(X)
    assert np.array_equal(before[:, place], after[:, place])
    assert not np.array_equal(before, after)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_nothing_right_and_something_wrong(learner):
    """A label that is crossed out alone falls where it stood too high; MMP, which orders pairs,
    has none to order.
    """
    learner, X = fitted(learner)
    before = learner.decision_function(X)
    learner.partial_fit(X, judged([[]] * len(X), len(X), [[2]] * len(X)))
    two, others = (
        learner.classes_.tolist().index(2),
        [c for c in LABELS if learner.classes_.tolist()[c] != 2],
    )
    after = learner.decision_function(X)
    if isinstance(learner, MMP):
        assert np.array_equal(after, before)
        return
    assert after[:, two].sum() < before[:, two].sum()
    # whose words lose weight as they are seen with nothing
    if not isinstance(learner, TunedIndex) or learner.vector:
        assert np.array_equal(after[:, others], before[:, others])


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_an_open_judgement_is_saved_with_all_else(learner, tmp_path):
    learner, X = fitted(learner)
    again = judged([[1]] * len(X), len(X), [[2, 3]] * len(X))
    learner.partial_fit(X, again).save(tmp_path / "a.shortlist")
    opened = load(tmp_path / "a.shortlist")
    assert as_bytes(opened.partial_fit(X, again)) == as_bytes(learner.partial_fit(X, again))


def test_an_open_judgement_says_no_less_labels_than_there_are_on_average():
    """Only some of the many labels were judged: that examples have many is still so."""
    learner, X = fitted(TunedIndex())
    learner.partial_fit(X, [LABELS[:6]] * len(X))
    mean = learner.running_counts_[1] / learner.running_counts_[0]
    learner.partial_fit(X, judged([[1]] * len(X), len(X), [[2]] * len(X)))
    assert learner.running_counts_[1] / learner.running_counts_[0] == pytest.approx(mean)
    learner.partial_fit(X, judged([LABELS[:5]] * len(X), len(X), [[6]] * len(X)))
    assert learner.running_counts_[1] / learner.running_counts_[0] > mean


# The door


def test_open_judgements_do_not_change_how_often_fit_goes_through(monkeypatch):
    """Thousands of names, each of which teaches one label, do not make examples of many labels
    ones of few.
    """
    labels = judged([["a", "b", "c", "d"]] * 3 + [["e"]] * 9, 12, complete=[True] * 3 + [False] * 9)
    assert (labels.sets.n_labels, labels.sets.single) == (48, False)
    assert judged([["a"]] * 3, 3, complete=False).sets.n_labels == 3, "nothing else is known"
    asked = []
    monkeypatch.setattr(
        TunedIndex, "passes_through", lambda own, rows, labels=0: asked.append((rows, labels)) or 1
    )
    TunedIndex().fit(np.eye(12), labels)
    assert asked == [(12, 48)]


def test_what_cannot_be():
    with pytest.raises(InputError, match="the label 'a' of example 1 is both right and wrong"):
        judged([["a"], ["a", "b"]], 2, [["b"], ["c", "a"]])
    with pytest.raises(InputError, match="2 examples"):
        judged([["a"], ["b"]], 2, [["b"]])
    with pytest.raises(InputError, match="FeatureFocus learns only from complete judgements"):
        FeatureFocus().partial_fit(np.eye(2), judged([["a"], ["b"]], 2, [["b"], []]))
    with pytest.raises(InputError, match="FeatureFocus learns only from complete judgements"):
        FeatureFocus().fit(np.eye(2), judged([["a"], ["b"]], 2, complete=[False, None]))


def test_what_is_complete():
    Y = [["a"], ["b"], ["a"]]
    assert judged(Y, 3).sets.partial.complete.size == 0
    assert judged(Y, 3, [[], [], []]).sets.partial.complete.size == 0
    assert judged(Y, 3, [["b"], [], ["c"]]).sets.partial.complete.tolist() == [False, True, False]
    assert judged(Y, 3, [["b"], [], ["c"]], True).sets.partial.complete.size == 0
    assert judged(Y, 3, None, [None, False, True]).sets.partial.complete.tolist() == [
        True,
        False,
        True,
    ]
