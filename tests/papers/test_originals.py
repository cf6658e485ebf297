"""Where a paper's own corpus is in the data folder, its experiments run on it; tried on corpora
made up in small.
"""

import numpy as np
import pytest

from papers import index_data, rating_data, rcv1, topics
from papers.catalogue import CATALOGUE
from papers.document_data import web_track
from papers.experiment import Table
from papers.finding import lay_out, look
from shortlist import InputError
from tests.papers import originals


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def found(name, data, tmp_path):
    """The experiment as the command finds it for this data folder, and its folder of data sets."""
    one = CATALOGUE[name].for_data(lambda need: look(data, need, tmp_path / "cache") is not None)
    return one, lay_out(
        data,
        [need for need in one.needs if look(data, need, tmp_path / "cache")],
        tmp_path / "cache",
    )


def shown(one, folder, jobs):
    return one.show([(job, one.run(folder, job)) for job in jobs])


def test_every_stand_in_says_so_and_what_would_be_better():
    for one in CATALOGUE.values():
        if one.original:
            (better,) = set(one.original.needs) - set(one.needs)
            assert (
                f"Where the data folder has {better}, the same command takes that instead."
                in one.stands_in
            )
            assert one.original.title != one.title
            assert one.for_data(lambda need: False) is one
            assert one.for_data(lambda need: True) is one.original
    better = {need for one in CATALOGUE.values() if one.original for need in one.original.needs}
    assert {"eachmovie", "wt10g", "rcv1-v2", "industry"} <= better


@pytest.mark.parametrize("place", ["eachmovie", "EachMovie", "."])
def test_eachmovie(data, tmp_path, place):
    originals.eachmovie(data / place if place != "." else data)
    one, folder = found("prank-movielens", data, tmp_path)
    assert one.needs == ("eachmovie",)
    matrix, highest = rating_data.films(folder, "eachmovie")
    assert (highest, matrix.shape, set(np.unique(matrix).tolist())) == (6, (6, 260), set(range(7)))
    small = [job | {"end": 2} for job in one.jobs(True)]
    online, _, beside, shifted, _, batch, *_ = shown(one, folder, small)
    assert "running median" in beside.rows
    assert shifted.title.endswith("ratings, shifted by a constant")
    assert isinstance(online, Table)
    assert online.title == "Figure 3, middle: viewers with more than 200 ratings"
    for name in ("PRank", "WH", "MCP"):
        assert 0 < online.rows[name]["loss"].ours < 2.5
    assert batch.rows["PRank"]["averaged"].ours < 1.2  # the median score would cost more


def test_a_damaged_vote_is_named(data, tmp_path):
    originals.eachmovie(data / "eachmovie")
    with (data / "eachmovie" / "Vote.txt").open("a") as votes:
        votes.write("7\t7\t0.7\t1\tx\n")
    one, folder = found("prank-movielens", data, tmp_path)
    rating_data.films.cache_clear()
    with pytest.raises(
        InputError, match=r"Vote\.txt, line \d+, column 5: expected a score of 0, 0.2, … or 1"
    ):
        one.run(folder, one.jobs(True)[0])


@pytest.mark.parametrize(("words", "vectors"), [(True, True), (False, True), (True, False)])
def test_rcv1(data, tmp_path, words, vectors):
    originals.rcv1(data / "rcv1-v2", words, vectors)
    one, folder = found("mmp-rcv1", data, tmp_path)
    assert one.needs == ("rcv1-v2",)
    corpus = rcv1.whole(folder)
    assert (corpus.texts is None) == (not words)
    assert len(corpus.topics) == 120
    assert all(own[-1].endswith("CAT") for own in corpus.topics)
    train, test = topics.split_of("rcv1-v2", 809_383, 0)
    # the paper's numbers
    assert (train[0], train.size, test[0], test.size) == (0, 521_439, 521_439, 287_944)
    table, *_ = shown(one, folder, one.jobs(False))
    assert "120 documents, 9 topics" in table.note
    assert "split by date" in table.note
    assert table.rows["Perceptron"]["AvgP"].published == 0.87
    assert table.rows["MMP loss1"]["AvgP"].ours > 0.8

    X, Y = index_data.rcv1_lowest(folder)  # the training part with industries
    assert X.shape[0] == len(Y) == 60
    assert {label for own in Y for label in own} == {
        "C151",
        "C152",
        "G15",
        "M11",
        "I34000",
        "I34400",
    }
    for name in ("index-rcv1", "index-degree", "index-passes", "index-ablations"):
        one, _ = found(name, data, tmp_path)
        # the others' other sets are not there
        assert ("rcv1-v2" in one.needs) == (name == "index-rcv1")
        one = CATALOGUE[name].original
        jobs = {job.get("method", ""): job for job in one.jobs(False) if job["set"] == "rcv1"}
        for method, job in jobs.items():
            if "committee" not in method:
                one.run(folder, job)
    one = CATALOGUE["index-rcv1"].original
    table, described = shown(
        one, folder, [job for job in one.jobs(True) if job["method"] == "FF δ=0.1, 4 passes"]
    )
    assert described.rows["rcv1"]["instances"].ours == 60
    assert table.rows["FF δ=0.1, 4 passes"]["R1"].ours > 0.8


def test_rcv1_without_documents_or_damaged(data):
    originals.rcv1(data / "rcv1-v2", words=False, vectors=False)
    with pytest.raises(
        InputError, match=r"rcv1-v2 has no documents: lyrl2004_tokens_\*\.dat or lyrl2004_vectors"
    ):
        rcv1.whole(data)
    (data / "rcv1-v2" / "lyrl2004_tokens_train.dat").write_text(".I 2286\n.W\nstem\n.I\n.W\nstem\n")
    with pytest.raises(
        InputError,
        match=r"lyrl2004_tokens_train\.dat, line 4, column 4: expected a number after \.I",
    ):
        rcv1.whole(data)
    (data / "rcv1-v2" / "rcv1-v2.topics.qrels").write_text("CCAT 2286 1\nGCAT 2286\n")
    with pytest.raises(
        InputError,
        match=r"rcv1-v2\.topics\.qrels, line 2, column 10: expected category, document, 1",
    ):
        rcv1.whole(data)


def test_wt10g(data, tmp_path):
    originals.wt10g(data / "WT10g")
    one, folder = found("svmmap-cranfield", data, tmp_path)
    assert one.needs == ("wt10g",)
    judged = web_track(folder / "wt10g", "trec9")
    assert (len(judged.names), judged.fold.size, judged.relevance.sum()) == (15, 18, 36)
    assert {job["set"] for job in one.jobs(True)} == {"trec9", "trec10"}
    table, _ = shown(one, folder, [{"set": "trec9", "trial": 0}])
    assert table.title.endswith("queries of TREC 9 (tables 6 and 9)")
    assert table.rows["SVM-map"]["MAP"].published == 0.242
    # the pages about a topic stand before the one that mentions it
    assert table.rows["SVM-map"]["MAP"].ours > 0.8
    with pytest.raises(
        InputError, match="lacks topics 501 to 550 with their judgements: put the files"
    ):
        web_track(folder / "wt10g", "trec10")


def test_industry(data, tmp_path):
    originals.industry(data / "sector")
    one, folder = found("index-industry", data, tmp_path)
    assert one.needs == ("industry",)
    table, described = shown(one, folder, [job for job in one.jobs(True) if job["trial"] == 0])
    # no word of headers or markup but the title's
    sizes = [cell.ours for cell in described.rows["industry"].values()]
    assert sizes[:3] == [36, 10, 3]
    assert table.rows["FF δ=0.5, 3 passes"]["R1"].ours >= 0.75
    assert table.rows["FF δ=0.5, 3 passes"]["R1"].published == 0.886
