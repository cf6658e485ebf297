"""Documents for queries on the terminal: train, rank, evaluate on LETOR lines."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.inputs import read
from shortlist.models.document_ranker import whole_queries
from tests.cli.test_bad_input import refused


@pytest.fixture
def letor(tmp_path):
    """Twenty queries of ten documents; feature 1 tells the relevant ones, on another scale for
    each query.
    """
    random = np.random.default_rng(0)
    lines = []
    for query in range(20):
        for document in range(10):
            relevant = document < 3
            first = (relevant + 0.3 * random.random()) * 10**query
            features = f"1:{first:.6g} 2:{random.random():.6g}"
            lines.append(f"{2 * relevant} qid:q{query} {features} #docid = d{query}-{document}")
    (tmp_path / "train.txt").write_text("\n".join(lines[:150]) + "\n")
    (tmp_path / "test.txt").write_text("\n".join(lines[150:]) + "\n")
    return tmp_path / "train.txt"


@pytest.fixture
def ranker(run, letor):
    result = run("train", letor, "--task", "documents", "--measure", "map")
    assert result.code == 0, result.err
    return letor.with_name("train.shortlist")


def test_inspect(run, ranker):
    assert "learned from 150 examples: 15 queries, 2 features" in run("inspect", ranker).out
    assert run("inspect", ranker, "--json").json["learner"] == "MapSVM"


def test_train_and_evaluate(run, ranker):
    assert isinstance(sl.load(ranker).learner_, sl.MapSVM)
    found = run("evaluate", ranker, "test.txt", "--json", "--per-query").json
    assert found["measures"]["MAP"]["value"] == 1.0
    assert len(found["queries"]) == 5
    shown = run("evaluate", ranker, "test.txt", "--per-query", "-m", "nDCG@5").out
    assert "nDCG@5" in shown
    assert "q15" in shown


@pytest.mark.parametrize("measure", ["roc", "ndcg", "mrr", "accuracy"])
def test_other_measures(run, letor, measure):
    assert run("train", letor, "--task", "documents", "--measure", measure, "-o", "m").code == 0
    assert run("evaluate", "m", "test.txt", "--json").json["measures"]["MAP"]["value"] > 0.9


def test_rank_prints_a_trec_run(run, ranker, tmp_path):
    result = run("rank", ranker, "test.txt")
    fields = [line.split() for line in result.out.splitlines()]
    assert len(fields) == 50
    assert all(len(line) == 6 and line[1] == "Q0" for line in fields)
    assert {line[2] for line in fields[:3]} == {"d15-0", "d15-1", "d15-2"}
    (tmp_path / "out.run").write_text(result.out)
    [batch] = read(tmp_path / "out.run", format="run")
    assert batch.query[:10] == ["q15"] * 10
    assert run("rank", ranker, "test.txt", "--json").out.count('"query"') == 5


def test_a_query_that_two_batches_share_is_ranked_whole(letor):
    for size in (30, 100, 500, 10**6):
        parts = list(whole_queries(iter(read(letor, batch=size))))
        assert sum(rows.n_rows for rows, *_ in parts) == 150
        seen = [set(query) for _, query, *_ in parts]
        assert sum(map(len, seen)) == len(set().union(*seen)) == 15


def test_what_cannot_be_done(run, ranker, letor, tmp_path):
    refused(run("learn", ranker, "test.txt"), "train it anew")
    refused(run("train", letor, "--task", "documents", "--measure", "beauty"), "--measure", "map")
    (tmp_path / "split.txt").write_text("1 qid:1 1:1\n0 qid:2 1:1\n0 qid:1 1:0\n")
    refused(run("train", "split.txt", "--task", "documents"), "split.txt, line 3", "together")
    (tmp_path / "no-query.txt").write_text("1 qid:1 1:1\n0 1:1\n")
    refused(
        run("train", "no-query.txt", "--task", "documents", "--format", "letor"), "line 2", "qid"
    )
    (tmp_path / "words.txt").write_text("good qid:1 1:1\n")
    refused(
        run("train", "words.txt", "--task", "documents", "--format", "letor"), "line 1", "relevance"
    )
    (tmp_path / "wide.txt").write_text("1 qid:1 1:1 7:2\n0 qid:1 1:0\n")
    refused(run("rank", ranker, "wide.txt"), "7 features", "2")
    (tmp_path / "one.txt").write_text("1 qid:1 1:1\n1 qid:1 1:0\n")
    assert run("train", "one.txt", "--task", "documents").code == 2


def test_documents_are_not_taken_for_texts_without_labels(run, letor):
    refused(
        run("train", letor),
        "holds documents of queries, which have no labels; train with --task documents",
    )
