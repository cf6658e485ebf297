"""Paper 003's protocol, and the figures that come out on the real collections."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers import document_data, documents
from papers.comparators.accuracy_svm import AccuracySVM
from papers.comparators.lambda_mart import changes_of_ap
from papers.contrasts import Contrast
from papers.document_data import Judged, load, submissions
from papers.document_tables import claims, draw_weights
from papers.documents import (
    FIVE_FOLDS,
    PAPER,
    balanced_roles,
    fold_roles,
    modern_trial,
    show,
    trial,
    write_runs,
)
from papers.score_bins import ScoreBins
from shortlist import MapSVM, RetrievalIndex
from shortlist.inputs import read


@pytest.fixture(scope="module")
def made_up():
    """60 queries with 25 documents and three base functions, each seeing relevance through
    noise of its own.
    """
    random = np.random.default_rng(0)
    wanted = random.normal(0, 1, 1500)
    scores = wanted[:, None] + random.normal(0, 1.0, (1500, 3))
    relevance = (wanted > 1).astype(float)
    for query in range(60):
        relevance[25 * query + np.argmax(wanted[25 * query : 25 * query + 25])] = 1
    return Judged(
        scores, relevance, np.repeat(np.arange(60), 25), ["f", "g", "h"], np.arange(60) % 5 + 1
    )


@pytest.mark.parametrize("n_queries", [50, 105, 225])
def test_every_query_has_each_role_equally_often(n_queries):
    roles = balanced_roles(n_queries, PAPER)
    assert len(roles) == 50
    for train, validation, test in roles:
        assert (len(train), len(validation)) == (10, 5)
        assert sorted([*train, *validation, *test]) == list(range(n_queries))
    for role in range(3):
        counts = np.bincount(np.concatenate([one[role] for one in roles]), minlength=n_queries)
        assert counts.max() - counts.min() <= (1 if role == 0 else 2)
    if n_queries == 50:  # the paper's own numbers come out even
        assert set(np.bincount(np.concatenate([one[0] for one in roles])).tolist()) == {10}


def test_folds():
    roles = fold_roles(np.array([1, 1, 2, 3, 4, 5]))
    assert [part.tolist() for part in roles[0]] == [[2, 3, 4], [5], [0, 1]]
    assert [part.tolist() for part in roles[3]] == [[0, 1, 2, 5], [3], [4]]


def test_a_run_that_was_stopped_has_some_of_each_set():
    sets = ("submissions-ten", "submissions")
    every = documents.jobs(sets, quick=False)
    assert every[:3] == [
        {"set": sets[0], "trial": 0},
        {"set": sets[1], "trial": 0},
        {"set": sets[0], "trial": 1},
    ]
    assert len(every) == 20 + 6
    assert documents.jobs(sets, quick=True) == every[:2]  # a full run takes them up


def test_a_trial_and_its_table(made_up):
    protocol = replace(PAPER, trials=4, thresholds=10, methods=("SVM-map", "SVM-acc", "SVM-acc4"))
    roles = balanced_roles(60, protocol)
    results = [trial(made_up, protocol, one) for one in roles]
    assert json.loads(json.dumps(results)) == results  # can be kept
    again = trial(made_up, protocol, roles[2])
    assert again | {"seconds": 0} == results[2] | {"seconds": 0}  # depends on its number alone
    for one, (train, validation, test) in zip(results, roles, strict=True):
        assert one["queries"] == test.tolist()
        assert one["C"]["SVM-map"] in PAPER.structural_C
        seen = made_up.of([*train, *validation])
        best = int(np.argmax([seen.average_precision(column).mean() for column in seen.scores.T]))
        assert one["test"][documents.CHOSEN] == one["test"]["fgh"[best]]


@pytest.mark.parametrize("variant", [3, 4])
def test_bins_made_once_for_all_C_are_those_of_the_ranker(made_up, variant):
    name = f"SVM-acc{variant}"
    protocol = replace(PAPER, trials=1, thresholds=10, methods=(name,), accuracy_C=(0.01, 1.0))
    (roles,) = balanced_roles(60, protocol)
    found = trial(made_up, protocol, roles)
    train, _, test = (made_up.of(queries) for queries in roles)
    ranker = AccuracySVM(C=found["C"][name], variant=variant, n_thresholds=10)
    scores = ranker.fit(train.scores, train.relevance, query=train.query).predict(
        test.scores, query=test.query
    )
    assert found["test"][name] == test.average_precision(scores).tolist()


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("submissions-ten-ranks", ["table 7", "table 10", "table 10"]),
        ("submissions-ten-ranks-without", ["table 8", "table 11", "table 11"]),
        ("submissions", []),
        ("ohsumed-folds", []),
    ],
)
def test_what_tables_of_runs_say(name, places):
    ahead = Contrast(0.01, 0.005, 0.015, 0.5, 0.001, 60, 40, 100)
    behind = Contrast(-0.01, -0.015, -0.005, -0.5, 0.001, 40, 60, 100)
    chance = Contrast(0.01, -0.01, 0.03, 0.1, 0.2, 60, 40, 100)
    compared = dict.fromkeys(
        ["best base function", "SVM-roc", "SVM-acc", "SVM-acc2", "SVM-acc3", "SVM-acc4"], ahead
    )
    made = claims(name, compared)
    assert [one.place for one in made] == places
    assert all(one.holds for one in made)
    by_chance = claims(name, compared | {"SVM-roc": chance, "SVM-acc3": chance})
    # of these the paper says no more than that SVM-map is the best
    still = name.endswith("without")
    assert [one.holds for one in by_chance] == [True, still or None, None][: len(places)]
    if still:
        worse = claims(name, compared | {"SVM-roc": behind})
        assert worse[1].holds is False


def test_lambda_mart_ranks_and_stands_in_the_table(made_up):
    protocol = replace(PAPER, trials=1, thresholds=5, methods=("SVM-map", "SVM-roc"))
    (roles,) = balanced_roles(60, protocol)
    modern = modern_trial(made_up, roles)
    values = modern["test"]["LambdaMART"]
    test = made_up.of(roles[2])
    assert np.mean(values) > np.mean(test.average_precision(test.scores[:, 0]))
    job = {"set": "ohsumed-folds", "trial": 0}
    done = [(job, trial(made_up, protocol, roles)), (job | {"modern": True}, modern)]
    table, _ = show(done)
    assert table.rows["LambdaMART"]["MAP"].ours == pytest.approx(np.mean(values))


@given(st.lists(st.booleans(), min_size=2, max_size=12))
def test_exchanges_change_average_precision_as_computed(ranked):
    ranked = np.array(ranked)
    good, bad = np.flatnonzero(ranked), np.flatnonzero(~ranked)
    if not good.size:
        return
    changes = changes_of_ap(good, bad, ranked)
    for i, first in enumerate(good):
        for j, second in enumerate(bad):
            other = ranked.copy()
            other[[first, second]] = other[[second, first]]
            assert changes[i, j] == pytest.approx(abs(plain_ap(other) - plain_ap(ranked)))


def plain_ap(ranked):
    precision = np.cumsum(ranked) / np.arange(1, ranked.size + 1)
    return precision[ranked].mean()


def test_runs_and_judgements_are_written_for_trec_eval(made_up, monkeypatch, tmp_path):
    protocol = replace(PAPER, trials=1, thresholds=5, methods=("SVM-map",))
    monkeypatch.setitem(documents.PROTOCOLS, "made-up", protocol)
    monkeypatch.setattr(documents, "load", lambda folder, name: made_up)
    judged, *runs = write_runs(tmp_path, "made-up", tmp_path)
    assert [run.name for run in runs] == [f"made-up.{n}.run" for n in ("f", "g", "h", "SVM-map")]
    grades = {tuple(line.split()[::2]): line.split()[3] for line in judged.read_text().splitlines()}
    ranked = {}
    for line in runs[-1].read_text().splitlines():
        query, _, document, place, _, tag = line.split()
        ranked.setdefault(query, []).append(grades[query, document] == "1")
        assert (int(place), tag) == (len(ranked[query]), "SVM-map")
    values = [plain_ap(np.array(places)) for places in ranked.values()]
    (roles,) = balanced_roles(60, protocol)
    expected = trial(made_up, protocol, roles)["test"]["SVM-map"]
    assert values == pytest.approx(expected)


def test_the_table_counts_wins_by_query():
    """Two trials; query 1 is tested in both, so that its mean counts."""
    facts = {"queries": 3, "base functions": 1}
    results = [
        {
            "queries": [0, 1],
            "C": {"SVM-map": 1.0, "SVM-roc": 0.1},
            "data": facts,
            "test": {
                "SVM-map": [0.5, 0.2],
                "SVM-roc": [0.4, 0.5],
                "f": [0.1, 0.1],
                "base function chosen": [0.1, 0.1],
            },
        },
        {
            "queries": [1, 2],
            "C": {"SVM-map": 1.0, "SVM-roc": 1.0},
            "data": facts,
            "test": {
                "SVM-map": [0.8, 0.3],
                "SVM-roc": [0.3, 0.6],
                "f": [0.1, 0.9],
                "base function chosen": [0.1, 0.9],
            },
        },
    ]
    table, described = show(
        [({"set": "cranfield", "trial": i}, result) for i, result in enumerate(results)]
    )
    assert table.rows["SVM-map"]["MAP"].ours == pytest.approx((0.5 + 0.5 + 0.3) / 3)
    assert table.rows["SVM-roc"]["MAP"].ours == pytest.approx((0.4 + 0.4 + 0.6) / 3)
    assert table.rows["SVM-roc"]["W/L"] == "2/1"
    assert table.rows["SVM-map"]["C chosen"] == "1 × 2"
    assert table.rows["best base function: f"]["W/L"] == "2/1"
    assert table.rows["SVM-map"]["TREC 9"].published == 0.242
    assert described.rows["cranfield"]["queries"].ours == 3
    not_ahead, roc_behind, _ = table.claims
    # two wins and a loss are chance
    assert (not_ahead.place, not_ahead.holds) == ("table 6", False)
    assert "agree too much" in not_ahead.why
    assert roc_behind.holds is None


def test_the_best_base_function_is_kept_from_the_learners_where_the_paper_does_so(made_up):
    """But it is still compared with: the third function here is the relevance itself."""
    scores = made_up.scores.copy()
    scores[:, 2] = made_up.relevance
    data = made_up._replace(scores=scores)
    protocol = replace(PAPER, trials=1, thresholds=5, methods=("SVM-map",), without_best=True)
    (roles,) = balanced_roles(60, protocol)
    found = trial(data, protocol, roles)
    assert found["data"]["features"] == 2 * 5
    assert np.mean(found["test"]["h"]) == 1.0
    assert np.mean(found["test"]["SVM-map"]) < 1.0
    with_all = trial(data, replace(protocol, without_best=False), roles)
    assert with_all["data"]["features"] == 3 * 5
    assert np.mean(with_all["test"]["SVM-map"]) == 1.0


def test_runs_of_trec_as_base_functions(tmp_path):
    """Judged documents that some run retrieved, scaled within their topic; what a run did not
    retrieve has 0.
    """
    (tmp_path / "runs").mkdir()
    (tmp_path / "robust03_qrels.txt").write_text(
        "7 0 a 1\n7 0 b 0\n7 0 c 2\n7 0 d 0\n8 0 a 0\n9 0 a 1\n9 0 b 0\n"
    )
    (tmp_path / "runs" / "input.one").write_text(
        "7 Q0 a 1 5.0 x\n7 Q0 z 2 4.0 x\n7 Q0 b 3 3.0 x\n9 Q0 b 1 9 x\n"
    )
    with gzip.open(tmp_path / "runs" / "input.two.gz", "wt") as file:
        file.write("7 Q0 c 1 -2 y\n8 Q0 a 1 -3 y\n9 Q0 a 1 -4 y\n")
    data = submissions(tmp_path)
    assert data.names == ["one", "two"]
    # topic 8 has nothing relevant, document d was never retrieved
    assert data.query.tolist() == [0, 0, 0, 1, 1]
    assert data.relevance.tolist() == [1, 0, 1, 1, 0]
    assert data.scores[:, 0].tolist() == pytest.approx([1, 0.05, 0, 0, 1])
    assert data.scores[:, 1].tolist() == pytest.approx([0, 0, 1, 1, 0])


def test_runs_by_the_logarithm_of_the_rank(monkeypatch):
    scores = np.array([[1.0], [0.3], [0.0], [0.2], [0.7]])
    judged = Judged(scores, np.ones(5), np.array([0, 0, 0, 1, 1]), ["one"], np.zeros(2))
    monkeypatch.setattr(document_data, "load", lambda data, name: judged)
    ranked = document_data.load_ranked(None, "made up")
    second = 1 - np.log(2) / np.log(document_data.DEEPEST)
    assert ranked.scores[:, 0].tolist() == pytest.approx([1, second, 0, second, 1])


def test_learning_from_bins_beats_each_function_alone(made_up):
    bins = ScoreBins(20, "even").fit(made_up.scores)
    seen, rest = made_up.of(range(30)), made_up.of(range(30, 60))
    ranker = MapSVM(C=0.1).fit(bins.transform(seen.scores), seen.relevance, query=seen.query)
    learned = rest.average_precision(ranker.predict(bins.transform(rest.scores))).mean()
    assert learned > max(rest.average_precision(column).mean() for column in rest.scores.T) + 0.05


@pytest.mark.long
@pytest.mark.data
def test_ohsumed_in_five_folds(data_folder):
    """The trial that the figure comes from reached 0.452; LETOR's own baselines lie between
    0.44 and 0.45.
    """
    data = load(data_folder("letor_ohsumed", "letor_ohsumed").parent, "ohsumed")
    # 16,140 less the documents of the one query without relevant ones
    assert data.scores.shape == (16098, 45)
    protocol = replace(FIVE_FOLDS, methods=("SVM-map",))
    results = [trial(data, protocol, roles) for roles in fold_roles(data.fold)]
    values = [value for result in results for value in result["test"]["SVM-map"]]
    assert len(values) == 105
    assert np.mean(values) >= 0.450


@pytest.mark.data
def test_ohsumed_is_solved_to_the_tolerance_for_every_C(data_folder):
    data = load(data_folder("letor_ohsumed", "letor_ohsumed").parent, "ohsumed")
    train = data.of(fold_roles(data.fold)[0][0])
    before = np.inf
    for C in (1000.0, 100.0, 10.0, 1.0):
        ranker = MapSVM(C=C).fit(train.scores, train.relevance, query=train.query)
        assert ranker.duality_gap_ <= 1e-3
        assert ranker.objective_ < before
        before = ranker.objective_


@pytest.fixture(scope="module")
def cranfield_folder(data_folder):
    return data_folder("cranfield", "cranfield")


@pytest.mark.data
def test_cranfield_and_its_judgements(cranfield_folder):
    texts = [text for batch in read(cranfield_folder / "cran.all.1400") for text in batch.texts]
    questions = [text for batch in read(cranfield_folder / "cran.qry") for text in batch.texts]
    lines = [line.split() for line in (cranfield_folder / "cranqrel").read_text().splitlines()]
    assert (len(texts), len(questions), len(lines)) == (1400, 225, 1837)
    scores = RetrievalIndex(texts, stem=True, stop=True).scores(questions, "bm25")
    places = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) + 1
    by_grade = {}
    for query, document, grade in lines:
        by_grade.setdefault(int(grade), []).append(places[int(query) - 1, int(document) - 1])
    assert len(by_grade[-1]) == 225
    median = {grade: np.median(own) for grade, own in by_grade.items()}
    assert median[-1] < median[1] < median[4]  # so -1 cannot mean "of no interest"


@pytest.mark.long
@pytest.mark.data
def test_a_trial_on_cranfield(cranfield_folder):
    data = load(cranfield_folder.parent, "cranfield")
    assert len(data.names) == 15
    assert data.fold.size == 222  # of 225 queries; three have no relevant document in the pool
    protocol = replace(PAPER, methods=("SVM-map",))
    found = trial(data, protocol, balanced_roles(data.fold.size, protocol)[0])
    means = {name: np.mean(values) for name, values in found["test"].items()}
    assert max(data.names, key=means.get) == "bm25, stopped"
    assert means["SVM-map"] > 0.45


@pytest.mark.long
@pytest.mark.data
def test_fields_bring_the_published_gain(cranfield_folder):
    data = load(cranfield_folder.parent, "fields")
    assert data.names[::5] == ["cosine, title", "cosine, body", "cosine, body plain"]
    protocol = replace(PAPER, methods=("SVM-map",))
    found = trial(data, protocol, balanced_roles(data.fold.size, protocol)[0])
    means = {name: np.mean(values) for name, values in found["test"].items()}
    assert means["SVM-map"] > 0.03 + max(means[name] for name in data.names)


@pytest.mark.long
@pytest.mark.data
def test_the_runs_of_the_robust_track(data_folder):
    data = submissions(data_folder("trec_robust03", "trec_robust03"))
    assert data.scores.shape == (94088, 17)
    assert data.fold.size == 100


def test_picture_of_the_weights(made_up):
    bins = ScoreBins(10).fit(made_up.scores)
    ranker = MapSVM().fit(bins.transform(made_up.scores), made_up.relevance, made_up.query)
    figure = draw_weights(bins, ranker.coef_, ["cosine", "bm25", "lm"])
    panels = [panel for panel in figure.axes if panel.get_title()]
    assert [panel.get_title() for panel in panels] == ["cosine", "bm25", "lm"]
    drawn = panels[1].patches[0].get_data()
    assert drawn.values == pytest.approx(np.concatenate([[0], np.cumsum(ranker.coef_[10:20])]))
    assert drawn.edges[1:-1] == pytest.approx(bins.thresholds_[1])
