"""The fast measures against their slow twins, on rankings of every awkward kind."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import papers.measures  # noqa: F401 - losses, coverage, maxF1 and others
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.measures import (
    Propensities,
    among_first_k,
    evaluate,
    evaluate_documents,
    per_label,
    place_labels,
    precision_recall,
)
from tests.reference import measures as twin


def rankings_of(lists, width, n_labels):
    """A Ranking from lists of (label, score)."""
    ids = np.full((len(lists), width), -1, dtype=np.int32)
    scores = np.full((len(lists), width), np.nan)
    for row, pairs in enumerate(lists):
        for place, (label, score) in enumerate(pairs):
            ids[row, place], scores[row, place] = label, score
    return Ranking(ids, scores, range(n_labels))


@st.composite
def problems(draw):
    """Few labels and few distinct scores: cut and complete rankings, ties, empty and full
    truths, unseen labels.
    """
    n_labels = draw(st.integers(1, 6))
    width = draw(st.integers(3, 6))
    lists, truth = [], []
    for _ in range(draw(st.integers(1, 6))):
        labels = draw(st.permutations(range(n_labels)))[
            : draw(st.integers(0, min(width, n_labels)))
        ]
        scores = draw(st.lists(st.integers(-1, 1), min_size=len(labels), max_size=len(labels)))
        lists.append(list(zip(labels, sorted(map(float, scores), reverse=True), strict=True)))
        # the last two are labels never learned
        truth.append(draw(st.sets(st.integers(0, n_labels + 1))))
    return lists, truth, width, n_labels


ONE_LABEL = ([[(0, 0.5)], []], [{0}, {0}], 3, 1)
ALL_RELEVANT = ([[(1, 1.0), (0, 0.5)]], [{0, 1}], 3, 2)
NONE_RELEVANT = ([[(1, 1.0), (0, 0.5)]], [set()], 3, 2)
TIES_EVERYWHERE = ([[(2, 0.0), (0, 0.0), (1, 0.0)]], [{0, 1}], 3, 3)
NEVER_RETRIEVED = ([[(0, 0.9), (1, 0.8)]], [{3}], 3, 5)


@given(problems())
@example(ONE_LABEL)
@example(ALL_RELEVANT)
@example(NONE_RELEVANT)
@example(TIES_EVERYWHERE)
@example(NEVER_RETRIEVED)
def test_each_instance_agrees_with_the_twin(problem):
    lists, truth, width, n_labels = problem
    found = evaluate(
        rankings_of(lists, width, n_labels), LabelSets.of(truth), list(twin.BY_NAME), resamples=0
    )
    for name, slow in twin.BY_NAME.items():
        expected = [
            slow(pairs, y, set(range(n_labels)) | y) if y else math.nan
            for pairs, y in zip(lists, truth, strict=True)
        ]
        np.testing.assert_allclose(found.per_instance[name], expected, rtol=1e-12, err_msg=name)
        mean = np.nanmean(expected) if not np.isnan(expected).all() else math.nan
        assert found[name] == pytest.approx(mean, nan_ok=True, rel=1e-12)
    assert found.n_instances == len(truth)
    assert found.left_out.get("no relevant label", 0) == sum(not y for y in truth)


@given(problems())
def test_harmonic_rank_is_the_reciprocal_of_mrr(problem):
    lists, truth, width, n_labels = problem
    found = evaluate(
        rankings_of(lists, width, n_labels), LabelSets.of(truth), ["HR", "MRR"], resamples=0
    )
    with np.errstate(divide="ignore"):
        assert found["HR"] == pytest.approx(1 / np.float64(found["MRR"]), nan_ok=True)


@given(problems(), st.randoms(use_true_random=False))
def test_losses_do_not_depend_on_how_ties_are_broken(problem, random):
    lists, truth, width, n_labels = problem
    shuffled = [sorted(pairs, key=lambda pair: (-pair[1], random.random())) for pairs in lists]
    names = ["loss1", "loss2", "loss3", "ROC"]
    one, other = (
        evaluate(rankings_of(some, width, n_labels), LabelSets.of(truth), names, resamples=0)
        for some in (lists, shuffled)
    )
    for name in names:
        np.testing.assert_array_equal(one.per_instance[name], other.per_instance[name])


@given(problems(), st.integers(3, 5))
def test_cutting_a_ranking_never_makes_it_look_better(problem, width):
    lists, truth, full, n_labels = problem
    names = ["AP", "MRR", "nDCG", "loss1", "loss2", "loss3", "coverage"]
    whole = evaluate(rankings_of(lists, full, n_labels), LabelSets.of(truth), names, resamples=0)
    cut = evaluate(
        rankings_of([pairs[:width] for pairs in lists], width, n_labels),
        LabelSets.of(truth),
        names,
        resamples=0,
    )
    # A tie is a loss, and what is cut off ties with nothing that is left.
    through_a_tie = np.array(
        [len(pairs) > width and pairs[width - 1][1] == pairs[width][1] for pairs in lists]
    )
    for one in whole.measures:
        worse = cut.per_instance[one.name] - whole.per_instance[one.name]
        known = ~np.isnan(worse) & ~(through_a_tie & one.name.startswith("loss"))
        worse = worse[known] * (1 if one.better == "lower" else -1)
        assert (worse >= -1e-12).all(), one.name


def kept_of(lists, truth):
    """The instances with something relevant."""
    pairs = [(ranking, y) for ranking, y in zip(lists, truth, strict=True) if y]
    return [ranking for ranking, _ in pairs], [y for _, y in pairs]


@given(problems())
@example(ONE_LABEL)
@example(ALL_RELEVANT)
@example(NONE_RELEVANT)
@example(TIES_EVERYWHERE)
@example(NEVER_RETRIEVED)
def test_f1_of_assigned_labels_agrees_with_the_twin(problem):
    lists, truth, width, n_labels = problem
    ranking, sets = rankings_of(lists, width, n_labels), LabelSets.of(truth)
    found = evaluate(ranking, sets, ["micro-F1", "macro-F1", "maxF1"], resamples=0)
    assert found["micro-F1"] == pytest.approx(twin.micro_f1(lists, truth), nan_ok=True)
    assert found["macro-F1"] == pytest.approx(twin.macro_f1(lists, truth), nan_ok=True)
    kept, ys = kept_of(lists, truth)
    assert found["maxF1"] == pytest.approx(twin.max_f1(kept, ys) if ys else math.nan, nan_ok=True)
    table = per_label(ranking, sets)
    counts = zip(table.true.tolist(), table.assigned.tolist(), table.correct.tolist(), strict=True)
    assert dict(zip(table.labels.tolist(), counts, strict=True)) == twin.label_counts(lists, truth)


@given(
    problems(), st.integers(1, 3), st.lists(st.integers(0, 9), max_size=8), st.integers(10, 1000)
)
def test_propensity_scores_agree_with_the_twin(problem, k, counts, n_examples):
    lists, truth, width, n_labels = problem
    propensities = Propensities(counts, n_examples, A=0.6, B=2.6)
    found = evaluate(
        rankings_of(lists, width, n_labels),
        LabelSets.of(truth),
        [f"PSP@{k}", f"PSnDCG@{k}"],
        propensities=propensities,
        resamples=0,
    )
    kept, ys = kept_of(lists, truth)
    if not ys:
        assert math.isnan(found[f"PSP@{k}"])
        return

    def weight(label):
        return twin.inverse_propensity(
            counts[label] if label < len(counts) else 0, n_examples, 0.6, 2.6
        )

    assert found[f"PSP@{k}"] == pytest.approx(twin.psp(kept, ys, weight, k))
    assert found[f"PSnDCG@{k}"] == pytest.approx(twin.psndcg(kept, ys, weight, k))


@given(problems(), st.integers(2, 12))
@example(ONE_LABEL, 11)
@example(NEVER_RETRIEVED, 11)
def test_curves_agree_with_the_twins(problem, levels):
    lists, truth, width, n_labels = problem
    positions = place_labels(rankings_of(lists, width, n_labels), LabelSets.of(truth))
    kept, ys = kept_of(lists, truth)
    recall, precision = precision_recall(positions, levels)
    k, share = among_first_k(positions, 3)
    assert k.tolist() == [1, 2, 3]
    if not ys:
        assert np.isnan(precision).all()
        assert np.isnan(share).all()
        return
    np.testing.assert_allclose(precision, twin.precision_recall(kept, ys, recall), rtol=1e-12)
    np.testing.assert_allclose(
        share,
        [
            np.mean([twin.among_first(*pair, None, r) for pair in zip(kept, ys, strict=True)])
            for r in (1, 2, 3)
        ],
    )


@st.composite
def retrievals(draw):
    """Documents of a few queries, shuffled together, with grades 0..3 and tied scores."""
    n = draw(st.integers(1, 20))
    numbers = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return draw(numbers), draw(numbers), draw(numbers)


DOCUMENTS = {
    "MAP": twin.average_precision,
    "AP": twin.average_precision,
    "MRR": twin.reciprocal_rank,
    "ROC": twin.roc_area,
    "P@2": lambda *a: twin.precision(*a, k=2),
    "best-accuracy": twin.best_accuracy,
    "loss3": twin.loss3,
    "coverage": twin.coverage,
}


@given(retrievals())
@example(([0, 0, 0], [0, 0, 0], [0, 1, 2]))
@example(([1, 1, 1], [1, 1, 1], [0, 0, 0]))
def test_documents_agree_with_the_twins(problem):
    scores, grades, queries = problem
    found = evaluate_documents(
        scores, grades, queries, [*DOCUMENTS, "nDCG@3", "nDCGexp@3", "nDCG"], resamples=0
    ).per_instance
    for row, query in enumerate(dict.fromkeys(queries)):
        documents = [i for i, other in enumerate(queries) if other == query]
        ranking = [(i, scores[i]) for i in sorted(documents, key=lambda i: -scores[i])]
        y = {i for i in documents if grades[i] > 0}
        for name, slow in DOCUMENTS.items():
            expected = slow(ranking, y, set(documents)) if y else math.nan
            assert found[name][row] == pytest.approx(expected, nan_ok=True), name
        for name, k, gain in (
            ("nDCG@3", 3, lambda g: g),
            ("nDCGexp@3", 3, lambda g: 2**g - 1),
            ("nDCG", 99, float),
        ):
            gains = {i: gain(grades[i]) for i in y}
            expected = twin.ndcg(ranking, y, None, k, gains) if y else math.nan
            assert found[name][row] == pytest.approx(expected, nan_ok=True), name
