"""Scores to features: scaling by query, bins, retrieval functions, and the classification SVM
that works on them.
"""

import math

import numpy as np
import pytest
import scipy.sparse
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

import shortlist.files.store
from papers.comparators.accuracy_svm import AccuracySVM
from papers.query_scaler import QueryScaler
from papers.score_bins import ScoreBins
from shortlist import InputError, MapSVM, ModelFileError, RetrievalIndex
from shortlist.data.validation import as_rows
from shortlist.learners.documents.retrieval_index import RETRIEVAL_METHODS
from tests.learners.documents.routing import needs_routing_through_pipelines
from tests.reference.documents import retrieval_score

SCORES = st.lists(st.floats(-100, 100) | st.sampled_from([0.0, 1.0]), min_size=1, max_size=30)


@pytest.fixture
def data():
    """12 queries of 15 documents, each with its own scale of scores."""
    random = np.random.default_rng(0)
    X, query = random.normal(0, 1, (180, 3)), np.repeat(np.arange(12), 15)
    y = (X[:, 1] + random.normal(0, 0.3, 180) > 0.7).astype(float)
    y[::15], y[1::15] = 1, 0
    return X * np.repeat(np.exp(random.normal(0, 2, 12)), 15)[:, None], y, query


def test_scaling_by_hand():
    X, query = np.array([[1.0, 5], [3, 5], [2, 5], [7, 0]]), [1, 1, 1, 2]
    assert QueryScaler().transform(X, query=query).tolist() == [[0, 0], [1, 0], [0.5, 0], [0, 0]]
    assert QueryScaler("percentile").transform(X, query=query).tolist() == [
        [0, 0],
        [1, 0],
        [0.5, 0],
        [0, 0],
    ]
    ties = np.array([[0.0], [0], [4], [9]])
    assert QueryScaler("percentile").transform(ties, query=[1] * 4)[:, 0] == pytest.approx(
        [0, 0, 2 / 3, 1]
    )
    assert QueryScaler().transform(scipy.sparse.csr_array(X), query=query)[1].tolist() == [1, 0]
    with pytest.raises(InputError, match="method must be one of"):
        QueryScaler("best").fit(X)
    with pytest.raises(InputError, match="query is missing"):
        QueryScaler().transform(X)


@pytest.mark.parametrize("method", ["range", "percentile"])
@given(scores=SCORES)
def test_scaling_keeps_the_order_within_a_query(method, scores):
    scaled = QueryScaler(method).transform(np.array(scores)[:, None], query=[0] * len(scores))[:, 0]
    assert 0 <= scaled.min() <= scaled.max() <= 1
    order = np.argsort(scores, kind="stable")
    assert (np.diff(scaled[order]) >= 0).all()


@pytest.mark.parametrize("spacing", ["quantiles", "even"])
@given(scores=SCORES, count=st.integers(1, 7))
def test_bins_are_the_indicators_of_the_paper(spacing, scores, count):
    X = np.column_stack([scores, np.negative(scores)])
    bins = ScoreBins(count, spacing).fit(X)
    expected = [
        [score > t for score, row in zip(x, bins.thresholds_, strict=True) for t in row] for x in X
    ]
    binned = bins.transform(X)
    assert binned.shape == (len(scores), 2 * count)
    assert (binned.toarray() == np.array(expected)).all()
    assert as_rows(binned).indptr.tolist() == binned.indptr.tolist()  # no repeats, ascending
    weights = np.arange(2.0 * count)
    steps = bins.steps(weights)
    passed = [
        [sum(score > t for t in row) for score, row in zip(x, bins.thresholds_, strict=True)]
        for x in X
    ]
    assert binned @ weights == pytest.approx([steps[0, a] + steps[1, b] for a, b in passed])


def test_where_thresholds_stand():
    X = np.array([[0.0], [1], [2], [3], [100]])
    assert ScoreBins(3, "even").fit(X).thresholds_.tolist() == [[25, 50, 75]]
    assert ScoreBins(3).fit(X).thresholds_.tolist() == [[1, 2, 3]]
    assert ScoreBins(3).fit(X).get_feature_names_out(["bm25"]).tolist() == [
        "bm25>1",
        "bm25>2",
        "bm25>3",
    ]


def test_bins_refuse_what_does_not_fit():
    bins = ScoreBins(4).fit(np.arange(12.0).reshape(6, 2))
    for bad, message in [
        (lambda: ScoreBins(0).fit([[1.0]]), "n_thresholds must be at least 1"),
        (lambda: ScoreBins(spacing="wide").fit([[1.0]]), "spacing must be one of"),
        (lambda: ScoreBins().fit(np.zeros((0, 2))), "without rows"),
        (lambda: bins.transform([[1.0]]), "X has 1 features, but ScoreBins is expecting 2"),
        (lambda: bins.steps([1.0]), "weights has 1 entry where 8 are needed"),
    ]:
        with pytest.raises(InputError, match=message):
            bad()


@needs_routing_through_pipelines
def test_pipeline_of_scaler_bins_and_ranker(data):
    X, y, query = data
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryScaler(), ScoreBins(10), MapSVM())
        search = GridSearchCV(
            pipeline,
            {"mapsvm__C": [0.01, 1.0], "queryscaler__method": ["range", "percentile"]},
            cv=GroupKFold(3).set_split_request(groups=True),
            error_score="raise",
        )
        search.fit(X, y, query=query, groups=query)
        assert search.best_score_ > 0.8


def test_query_reaches_accuracy_svm_in_prediction_too(data):
    X, y, query = data
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline("passthrough", AccuracySVM(variant=3)).fit(X, y, query=query)
        assert (pipeline.predict(X, query=query) == pipeline[-1].predict(X, query=query)).all()


TEXTS = ["the wing in the flow", "flows of heat and heat", "", "a plate, a wing: a WING"]


@pytest.mark.parametrize("method", RETRIEVAL_METHODS)
@pytest.mark.parametrize(
    "query", ["wing", "heat flow the the", "wing plate wing unheard", "unheard", ""]
)
def test_retrieval_functions_against_their_formulas(method, query):
    documents = [text.lower().replace(",", " ").replace(":", " ").split() for text in TEXTS]
    expected = [
        retrieval_score(method, query.split(), document, documents) for document in documents
    ]
    assert RetrievalIndex(TEXTS).scores(["a plate", query], method)[1] == pytest.approx(expected)


def test_stemmed_and_stopped_indexes():
    plain, stemmed = RetrievalIndex(TEXTS), RetrievalIndex(TEXTS, stem=True)
    stopped = RetrievalIndex(TEXTS, stem=True, stop=True)
    assert plain.scores(["flowing"], "bm25")[0].tolist() == [0] * 4
    assert (stemmed.scores(["flowing"], "bm25")[0] > 0).tolist() == [True, True, False, False]
    assert (stemmed.scores(["the"], "bm25")[0] > 0).any()
    assert stopped.scores(["the"], "bm25")[0].tolist() == [0] * 4
    assert len(stopped) == 4
    with pytest.raises(InputError, match="method must be one of 'cosine', 'tfidf', 'bm25'"):
        plain.scores(["wing"], "pagerank")


@pytest.mark.parametrize("variant", [1, 2, 3, 4])
def test_accuracy_svm(variant, data, tmp_path):
    X, y, query = data
    ranker = AccuracySVM(C=0.1, variant=variant).fit(X, y, query=query)
    found = ranker.score(X, y, query=query)
    scores = ranker.decision_function(X, query=query)
    by_query = [average_precision_score(y[query == q], scores[query == q]) for q in range(12)]
    assert found == pytest.approx(np.mean(by_query))
    assert found > (0.85 if variant > 2 else 0.6)
    best_first = np.sort(scores.reshape(12, 15))[:, ::-1].reshape(-1)
    assert (ranker.rank(X, query=query).scores == best_first).all()
    ranker.save(tmp_path / "model.shortlist")
    assert (shortlist.load(tmp_path / "model.shortlist").predict(X, query=query) == scores).all()
    state = ranker.to_state()
    state.arrays["coef"] = state.arrays["coef"][:-1]
    with pytest.raises(ModelFileError, match="a weight for each feature"):
        AccuracySVM.from_state(state)


def test_accuracy_variant_2_weighs_relevant_documents_up(data):
    """Fewer documents are relevant than not, so balanced costs call more of them relevant than
    equal costs do.
    """
    X, y, query = data
    called = [
        (AccuracySVM(C=1.0, variant=v).fit(X, y, query=query).predict(X) > 0).mean() for v in (1, 2)
    ]
    assert y.mean() < 0.4
    assert called[0] < called[1]


def test_accuracy_svm_refuses(data):
    X, y, query = data
    for bad, message in [
        (
            lambda: AccuracySVM(variant=5).fit(X, y, query=query),
            "variant must be one of 1, 2, 3, 4",
        ),
        (lambda: AccuracySVM(C=0).fit(X, y, query=query), "C must be at least 1e-09"),
        (lambda: AccuracySVM().fit(1e200 * X, y, query=query), "scale the features first"),
        (lambda: AccuracySVM().fit(X, y), "query is missing"),
        (
            lambda: AccuracySVM().fit(X, np.zeros(180), query=query),
            "both relevant and non-relevant",
        ),
        (lambda: AccuracySVM(variant=4).fit(X, y, query=query).predict(X), "query is missing"),
        (lambda: AccuracySVM().fit(X, y, query=query).predict(X[:, :2]), "X has 2 features, but"),
    ]:
        with pytest.raises(InputError, match=message):
            bad()


def test_reference_bm25_by_hand():
    """One document in three has the term, once, among two words: so that the twin itself is
    anchored.
    """
    documents = [["a", "b"], ["b", "b"], ["c", "b"]]
    expected = math.log(1 + 2.5 / 1.5) * 2.2 / (1 + 1.2)
    assert retrieval_score("bm25", ["a"], documents[0], documents) == pytest.approx(expected)
