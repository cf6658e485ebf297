"""A DocumentRanker: scaling within each query and a ranker of documents in one object."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, cross_val_score

import shortlist as sl
from shortlist.data.validation import as_rows
from shortlist.inputs.examples import Examples


@pytest.fixture
def judged():
    """Twenty queries of ten documents, two relevant; column 0 tells them, on another scale for
    each query.
    """
    random = np.random.default_rng(5)
    query = np.repeat(np.arange(20), 10)
    relevance = np.tile([1, 1] + [0] * 8, 20)
    X = random.random((200, 3))
    X[:, 0] = (0.8 * relevance + X[:, 0]) * 10.0**query
    return X, relevance, query


def test_it_ranks_and_is_scored_by_its_measure(judged):
    X, relevance, query = judged
    ranker = sl.DocumentRanker().fit(X[:100], relevance[:100], query[:100])
    found = sl.evaluate_documents(
        ranker.decision_function(X[100:], query[100:]), relevance[100:], query[100:], ["MAP"]
    )
    assert ranker.score(X[100:], relevance[100:], query[100:]) == pytest.approx(found["MAP"])
    assert found["MAP"] > 0.9


@pytest.mark.parametrize(
    "ask",
    [
        lambda ranker: ranker.rank([[1.0]], [1]),
        lambda ranker: ranker.decision_function([[1.0]], [1]),
        lambda ranker: ranker.score([[1.0]], [1], [1]),
        lambda ranker: ranker.explain([[1.0]], 0, [1]),
        lambda ranker: ranker.to_state(),
        lambda ranker: ranker.save("nowhere"),
        lambda ranker: ranker.learn_batches([]),
    ],
)
def test_before_it_has_learned_it_says_so(ask):
    with pytest.raises(NotFittedError, match="has learned nothing yet"):
        ask(sl.DocumentRanker())


def test_a_failed_fit_leaves_what_was_learned(judged):
    X, relevance, query = judged
    ranker = sl.DocumentRanker().fit(X, relevance, query)
    before = ranker.decision_function(X, query)
    with (
        pytest.warns(UserWarning, match="20 of 20 queries"),
        pytest.raises(sl.InputError, match="nothing to learn"),
    ):
        ranker.fit(X[:, :2], np.zeros(200), query)
    with pytest.raises(sl.InputError, match="scale"):
        ranker.set_params(scale="none").fit(X, relevance, query)
    ranker.set_params(scale="range")
    assert (ranker.decision_function(X, query) == before).all()
    assert (ranker.n_examples_, ranker.n_queries_) == (200, 20)


def test_batches_are_what_fit_takes(judged):
    X, relevance, query = judged
    names = [f"q{n}" for n in query]
    batches = [
        Examples(rows=as_rows(X[part]), relevance=relevance[part].astype(float), query=names[part])
        for part in (slice(0, 95), slice(95, 200))  # query 9 stands in both
    ]
    ranker = sl.DocumentRanker().fit_batches(batches)
    assert (
        ranker.decision_function(X, names)
        == sl.DocumentRanker().fit(X, relevance, names).decision_function(X, names)
    ).all()
    assert sum(len(list(answers.records())) for answers in ranker.answer_batches(batches)) == 20
    found = ranker.evaluate(batches, ["MAP"], details=True)
    assert found.measures["MAP"] == pytest.approx(ranker.score(X, relevance, names))
    assert len(found.details["queries"]) == len(found.tables[0].rows) == 20
    with pytest.raises(sl.InputError, match="train it anew"):
        ranker.learn_batches(batches)


def test_an_explanation_sums_to_the_score(judged):
    X, relevance, query = judged
    ranker = sl.DocumentRanker().fit(X, relevance, query)
    for row in (0, 57):
        found = ranker.explain(X, row, query)
        assert sum(vote for _, vote in found.votes) == pytest.approx(found.score)
        assert found.score == pytest.approx(ranker.decision_function(X, query)[row])


def test_scikit_learn_can_use_it(judged):
    X, relevance, query = judged
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_val_score(
            sl.DocumentRanker(),
            X,
            relevance,
            cv=GroupKFold(4),
            params={"query": query, "groups": query},
        )
    assert found.min() > 0.8


def test_it_is_the_same_after_saving(judged, tmp_path):
    X, relevance, query = judged
    ranker = sl.DocumentRanker(sl.RocSVM(C=10.0), "percentile").fit(X, relevance, query)
    ranker.save(tmp_path / "ranker.shortlist")
    again = sl.load(tmp_path / "ranker.shortlist")
    assert (again.decision_function(X, query) == ranker.decision_function(X, query)).all()
    assert again.describe() == ranker.describe()
