"""The public data sets come out with their published counts."""

from collections import Counter

import numpy as np
import pytest

from shortlist.inputs import read

pytestmark = [pytest.mark.long, pytest.mark.data]


def everything(path, *fields, **options):
    """The fields of all examples of a path, each as one list, and the stream."""
    stream = read(path, **options)
    columns = [[] for _ in fields]
    for batch in stream:
        for column, field in zip(columns, fields, strict=True):
            column.extend(getattr(batch, field))
    assert stream.bytes_read == stream.bytes_total
    assert not stream.skipped
    return *columns, stream


def all_rows(path, **options):
    stream = read(path, **options)
    batches = list(stream)
    labels = (
        [label for batch in batches for label in batch.labels]
        if batches[0].labels is not None
        else None
    )
    return batches, labels, stream


def test_reuters(data_folder):
    folder = data_folder("reuters21578", "reuters21578")
    texts, labels, ids, split, stream = everything(folder, "texts", "labels", "ids", "split")
    assert stream.format == "reuters"
    assert len(texts) == len(set(ids)) == 21_578
    assert Counter(split) == {"train": 9_603, "test": 3_299, "unused": 8_676}
    topics = {"train": set(), "test": set(), "unused": set()}
    for one, part in zip(labels, split, strict=True):
        topics[part] |= set(one)
    kept = topics["train"] & topics["test"]
    assert len(kept) == 90
    modapte = [one for one, part in zip(labels, split, strict=True) if part != "unused"]
    documents = [inside for one in modapte if (inside := [label for label in one if label in kept])]
    assert len(documents) == 10_789
    # two documents name a topic twice
    assert round(sum(map(len, documents)) / len(documents), 3) == 1.236
    assert sum(len(one) - len(set(one)) for one in documents) == 2
    assert sum(len(batch) for batch in read(folder, split="test")) == 3_299
    assert not any("&lt;" in text or "<BODY>" in text for text in texts)


@pytest.mark.parametrize(
    ("archive", "folder", "count"),
    [
        ("20newsgroups-original", "20_newsgroups", 19_997),
        ("20newsgroups-bydate", "20newsgroups/20news-bydate-train", 11_314),
        ("20newsgroups-bydate", "20newsgroups/20news-bydate-test", 7_532),
    ],
)
def test_newsgroups(data_folder, archive, folder, count):
    texts, labels, stream = everything(
        data_folder(archive, folder), "texts", "labels", encoding="latin-1", headers=False
    )
    assert stream.format == "folders"
    assert len(texts) == count
    assert len({label for (label,) in labels}) == 20
    with_header = sum(text.startswith(("Path:", "Xref:", "Newsgroups:", "From:")) for text in texts)
    assert with_header < 0.01 * count  # some quote the headers of another message at once


def test_austen(data_folder):
    import re

    texts, ids, stream = everything(data_folder("austen", "austen"), "texts", "ids")
    assert stream.format == "books"
    assert len(ids) == 6
    words = Counter(word for text in texts for word in re.findall("[A-Za-z']+", text))
    assert round(words.total(), -3) == 725_000
    assert round(len(words), -2) == 15_500


def test_rcv1(data_folder):
    folder = data_folder("rcv1_subsets", "rcv1_subsets")
    batches, labels, stream = all_rows(folder / "rcv1_aligned_15k.svm")
    assert stream.format == "svmlight"
    assert len(labels) == 15_000
    assert batches[-1].rows.n_features == 47_236
    assert len({label for one in labels for label in one}) == 103
    assert round(sum(map(len, labels)) / 15_000, 2) == 3.23
    rows = {part.data.tobytes() + part.indices.tobytes() for part in split_rows(batches)}
    assert len(rows) == 14_401  # 4 % of the vectors repeat


def split_rows(batches):
    for batch in batches:
        rows = batch.rows
        for i in range(rows.n_rows):
            inside = slice(rows.indptr[i], rows.indptr[i + 1])
            yield rows._replace(indices=rows.indices[inside], data=rows.data[inside])


def test_finna(data_folder):
    folder = data_folder("finna", "finna")
    texts, labels, stream = everything(folder / "finna.tsv.gz", "texts", "labels")
    assert stream.format == "tsv"
    assert stream.notes
    assert len(texts) == 653_485
    assert len({label for one in labels for label in one}) == 25_147
    assert round(sum(map(len, labels)) / len(labels), 2) == 2.45


@pytest.mark.parametrize(
    ("name", "counts", "features", "tags", "each"),
    [
        ("delicious", (12_920, 3_185), 500, 983, 19.02),
        ("bibtex", (4_880, 2_515), 1_836, 159, 2.402),
    ],
)
def test_mulan(data_folder, name, counts, features, tags, each):
    folder = data_folder("mulan_arff", "mulan_arff")
    found = []
    for part, count in zip(("train", "test"), counts, strict=True):
        batches, labels, stream = all_rows(folder / f"{name}-{part}.arff")
        assert stream.format == "arff"
        assert len(labels) == count
        assert {batch.rows.n_features for batch in batches} == {features}
        found += labels
    assert len({label for one in found for label in one}) == tags
    assert sum(map(len, found)) / len(found) == pytest.approx(each, abs=0.005)


def test_movielens(data_folder):
    users, films, ratings, stream = everything(
        data_folder("movielens100k", "movielens100k"), "query", "ids", "ratings"
    )
    assert stream.format == "movielens"
    assert len(set(users)) == 943
    assert len(set(films)) == 1_682
    assert Counter(ratings) == {1: 6_110, 2: 11_370, 3: 27_145, 4: 34_174, 5: 21_201}


def test_letor(data_folder):
    folder = data_folder("letor_ohsumed", "letor_ohsumed")
    queries, relevance, documents = set(), [], []
    for fold in range(1, 6):
        batches, _, stream = all_rows(folder / f"fold{fold}_test.txt")
        assert stream.format == "letor"
        for batch in batches:
            queries |= set(batch.query)
            relevance += batch.relevance.tolist()
            documents += batch.ids
        assert batches[-1].rows.n_features == 45
    assert len(queries) == 106
    assert len(documents) == 16_140
    assert Counter(relevance) == {0: 11_303, 1: 2_585, 2: 2_252}


def test_cranfield(data_folder):
    folder = data_folder("cranfield", "cranfield")
    texts, ids, stream = everything(folder / "cran.all.1400", "texts", "ids")
    assert stream.format == "cranfield"
    assert ids == [str(i) for i in range(1, 1_401)]
    # empty in the collection
    assert [i for i, text in zip(ids, texts, strict=True) if not text] == ["471", "995"]
    texts, ids, _ = everything(folder / "cran.qry", "texts", "ids")
    assert ids == [str(i) for i in range(1, 226)]
    assert all(texts)
    queries, documents, relevance, stream = everything(
        folder / "cranqrel", "query", "ids", "relevance"
    )
    assert stream.format == "cranqrel"
    assert len(queries) == 1_837
    assert {int(query) for query in queries} == set(range(1, 226))
    assert max(map(int, documents)) <= 1_400
    assert np.unique(relevance).tolist() == [0, 1, 2, 3, 4]
