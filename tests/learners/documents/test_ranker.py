"""The doors, scikit-learn's tools, rankings, and model files of the document rankers."""

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shortlist
from shortlist import InputError, MapSVM, ModelFileError, MrrSVM, NdcgSVM, RocSVM
from shortlist.files.store import State
from shortlist.learners.documents.linear_ranker import QueriesSetAside
from tests.learners.documents.routing import needs_routing_through_pipelines

KINDS = [MapSVM, RocSVM, MrrSVM, NdcgSVM]


@pytest.fixture
def data():
    """12 queries of 15 documents, whose third feature tells most."""
    random = np.random.default_rng(0)
    X = random.normal(0, 1, (180, 5)) * (random.random((180, 5)) < 0.7)
    y = (X[:, 2] + random.normal(0, 0.2, 180) > 0.4).astype(float)
    y[::15], y[1::15] = 1, 0
    return X, y, np.repeat([f"q{i}" for i in range(12)], 15)


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_what_matters(kind, data):
    X, y, query = data
    ranker = kind(C=10).fit(X, y, query=query)
    assert np.argmax(ranker.coef_) == 2
    assert ranker.score(X, y, query=query) > 0.8
    assert ranker.duality_gap_ <= ranker.tol
    assert ranker.n_constraints_ == ranker.n_iter_ - 1
    assert 0 < ranker.n_active_constraints_ <= ranker.n_constraints_
    assert ranker.predict(X) == pytest.approx(X @ ranker.coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_and_dense_learn_the_same(kind, data):
    X, y, query = data
    dense, sparse = (
        kind(C=10).fit(X, y, query=query),
        kind(C=10).fit(scipy.sparse.csc_matrix(X), y, query=query),
    )
    assert (dense.coef_ == sparse.coef_).all()


def test_the_order_of_rows_within_a_query_does_not_matter(data):
    X, y, query = data
    mixed = np.concatenate([np.random.default_rng(i).permutation(15) + 15 * i for i in range(12)])
    a, b = (
        MapSVM(C=10, tol=1e-6).fit(X, y, query),
        MapSVM(C=10, tol=1e-6).fit(X[mixed], y[mixed], query),
    )
    assert a.coef_ == pytest.approx(b.coef_, abs=1e-3)


def test_scores_agree_with_scikit_learn(data):
    X, y, query = data
    scores = MapSVM().fit(X, y, query).predict(X)
    parts = [slice(15 * i, 15 * i + 15) for i in range(12)]
    expected = np.mean([average_precision_score(y[part], scores[part]) for part in parts])
    assert MapSVM().fit(X, y, query).score(X, y, query) == pytest.approx(expected)
    ranker = RocSVM().fit(X, y, query)
    expected = np.mean([roc_auc_score(y[part], ranker.predict(X)[part]) for part in parts])
    assert ranker.score(X, y, query) == pytest.approx(expected)
    grades = y * (1 + np.arange(180) % 3)
    ranker = NdcgSVM(k=5).fit(X, grades, query)
    expected = np.mean(
        [ndcg_score([2 ** grades[part] - 1], [ranker.predict(X)[part]], k=5) for part in parts]
    )
    assert ranker.score(X, grades, query) == pytest.approx(expected)


def test_queries_that_teach_nothing_are_set_aside_and_named(data):
    X, y, query = data
    y = y.copy()
    y[query == "q3"], y[query == "q7"] = 0, 1
    with pytest.warns(QueriesSetAside, match="2 of 12 queries"):
        ranker = MapSVM().fit(X, y, query=query)
    assert ranker.queries_set_aside_.tolist() == ["q3", "q7"]
    without = ~np.isin(query, ["q3", "q7"])
    assert (ranker.coef_ == MapSVM().fit(X[without], y[without], query=query[without]).coef_).all()
    # A query without relevant documents has no average precision; one whose documents are all
    # relevant has 1.
    alone, both = query == "q7", np.isin(query, ["q3", "q7"])
    assert (
        ranker.score(X[both], y[both], query[both])
        == ranker.score(X[alone], y[alone], query[alone])
        == 1
    )
    with pytest.raises(InputError, match="nothing to average"):
        ranker.score(X[query == "q3"], y[query == "q3"], query[query == "q3"])
    with pytest.raises(InputError, match="nothing to learn"), pytest.warns(QueriesSetAside):
        MapSVM().fit(X[both], y[both], query[both])


def test_ranking(data):
    X, y, query = data
    ranker = MapSVM().fit(X, y, query=query)
    ranking = ranker.rank(X, query=query)
    assert len(ranking) == 12
    scores = ranker.predict(X)
    for i, (name, rows, best_first) in enumerate(ranking):
        assert name == f"q{i}"
        assert sorted(rows) == list(range(15 * i, 15 * i + 15))
        assert (best_first == scores[rows]).all()
        assert (np.diff(best_first) <= 0).all()
        assert ranking.ranks[rows].tolist() == list(range(1, 16))
    assert ranking[-1][0] == "q11"
    assert "180 documents for 12 queries" in repr(ranking)


def test_equal_scores_keep_the_order_of_the_rows():
    ranker = MapSVM().fit(np.eye(4), [1, 0, 1, 0], query=[1, 1, 2, 2])
    ranking = ranker.rank(np.zeros((5, 4)), query=[7, 7, 7, 8, 8])
    assert ranking.rows.tolist() == [0, 1, 2, 3, 4]


def test_run_file_keeps_the_order_of_equal_scores():
    ranker = MapSVM().fit(np.eye(4), [1, 0, 1, 0], query=[1, 1, 2, 2])
    ranking = ranker.rank(np.zeros((3, 4)), query=[7, 7, 8])
    lines = [line.split() for line in ranking.run_lines(tag="mine")]
    assert [line[:4] for line in lines] == [
        ["7", "Q0", "0", "1"],
        ["7", "Q0", "1", "2"],
        ["8", "Q0", "2", "1"],
    ]
    assert float(lines[0][4]) > float(lines[1][4])
    assert lines[0][5] == "mine"


def test_run_file_is_read_the_same_way_by_ir_measures(data, tmp_path):
    ir_measures = pytest.importorskip("ir_measures")
    X, y, query = data
    X = np.round(X)  # many equal scores
    ranker = RocSVM().fit(X, y, query=query)
    names = [f"d{row}" for row in range(180)]
    (tmp_path / "run").write_text("\n".join([*ranker.rank(X, query=query).run_lines(names), ""]))
    run = list(ir_measures.read_trec_run(str(tmp_path / "run")))
    judged = [ir_measures.Qrel(q, d, int(r)) for q, d, r in zip(query, names, y, strict=True)]
    # the share of pairs in the right order, a measure ir-measures computes on its own
    area = ir_measures.Accuracy
    assert ir_measures.calc_aggregate([area], judged, run)[area] == pytest.approx(
        ranker.score(X, y, query=query)
    )
    with pytest.raises(InputError, match="cannot stand in a TREC run"):
        list(ranker.rank(X, query=query).run_lines(["a document"] * 180))
    with pytest.raises(InputError, match="3 names where 180"):
        list(ranker.rank(X, query=query).run_lines(["a", "b", "c"]))


def test_grid_search_with_grouped_folds(data):
    X, y, query = data
    with sklearn.config_context(enable_metadata_routing=True):
        folds = GroupKFold(3).set_split_request(groups=True)
        search = GridSearchCV(MapSVM(), {"C": [0.01, 1.0, 100.0]}, cv=folds, error_score="raise")
        search.fit(X, y, query=query, groups=query)
        assert search.best_score_ > 0.7


@needs_routing_through_pipelines
def test_grid_search_with_grouped_folds_and_pipeline(data):
    X, y, query = data
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), MapSVM()),
            {"mapsvm__C": [0.01, 1.0, 100.0]},
            cv=GroupKFold(3).set_split_request(groups=True),
            error_score="raise",
        )
        search.fit(X, y, query=query, groups=query)
        assert search.best_score_ > 0.7
        assert len(set(search.cv_results_["mean_test_score"])) > 1
        assert search.best_estimator_.score(X, y, query=query) > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_clone_and_saving(kind, data, tmp_path):
    X, y, query = data
    ranker = kind(C=3.0, tol=1e-2).fit(X, y, query=query)
    assert clone(ranker).get_params() == ranker.get_params()
    ranker.save(tmp_path / "model.shortlist")
    loaded = shortlist.load(tmp_path / "model.shortlist")
    assert type(loaded) is kind
    assert loaded.get_params() == ranker.get_params()
    assert (loaded.predict(X) == ranker.predict(X)).all()
    assert loaded.duality_gap_ == ranker.duality_gap_
    assert loaded.queries_set_aside_.tolist() == []
    damaged = ranker.to_state()
    for coef in [np.array([np.nan]), np.zeros((2, 2)), np.zeros(3, dtype=np.float32)]:
        with pytest.raises(ModelFileError):
            kind.from_state(State(damaged.kind, damaged.settings, {"coef": coef}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": None}, "query is missing: give the query id of each row"),
        (
            {"query": [1, 1, 2, 2, 1, 1]},
            "query 1 stands in two places: it begins at row 0 and again at row 4",
        ),
        ({"query": [1, 1, 1]}, "query has 3 ids where 6 are needed"),
        ({"query": [[1, 1, 1, 2, 2, 2]]}, "query must have one dimension"),
        ({"query": [1, 1, 1, np.nan, 2, 2]}, r"query\[3\] is missing"),
        (
            {"query": np.array(["a", "a", None, "b", "b", "b"], dtype=object)},
            r"query\[2\] is missing",
        ),
        ({"y": ["good", "bad", "bad", "good", "bad", "bad"]}, "relevance must hold numbers"),
        ({"y": [1, 0, np.nan, 1, 0, 0]}, r"relevance\[2\] is not a finite number"),
        ({"y": [1, 0, 0]}, "relevance has 3 entries where 6 are needed"),
        ({"X": [[1, 2], [1, 2, 3]]}, "inhomogeneous"),
        ({"X": np.full((6, 2), np.inf)}, "infinity"),
        ({"C": -1}, "C must be at least 0"),
        ({"C": "much"}, "C must be a number"),
        ({"tol": np.nan}, "tol must be at least 0, not nan"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"k": 0}, "k must be at least 1"),
        ({"y": [1, 0, -1, 1, 0, 0]}, r"relevance\[2\] is -1; a grade must lie between 0 and 50"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(change, message):
    arrays = {
        "X": np.arange(12.0).reshape(6, 2),
        "y": [1, 0, 0, 1, 0, 0],
        "query": [1, 1, 1, 2, 2, 2],
    }
    parameters = {name: value for name, value in change.items() if name not in arrays}
    with pytest.raises(InputError, match=message):
        NdcgSVM(**parameters).fit(
            **(arrays | {name: value for name, value in change.items() if name in arrays})
        )


def test_rows_of_another_width_are_refused(data):
    X, y, query = data
    ranker = MapSVM().fit(X, y, query)
    with pytest.raises(InputError, match="X has 4 features, but MapSVM is expecting 5"):
        ranker.rank(X[:, :4], query=query)
    with pytest.raises(InputError, match="query is missing"):
        ranker.rank(X)


def test_where_c_is_small_the_gap_is_too(data):
    """w = 0 costs at most C: with a gap of tol alone, it would do for an answer."""
    X, y, query = data
    C, tol = 1e-4, 1e-3
    ranker = MapSVM(C=C, tol=tol).fit(X, y, query=query)
    assert ranker.duality_gap_ <= tol * C
    assert ranker.coef_.any()
