"""Groups of undecided texts, which may share a label that nobody has named."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import shortlist as sl
from shortlist.models.grouping import FEWEST_IN_GROUP, clusters, novelties

STOLEN = [f"my parcel was stolen from the porch, order {n}" for n in range(5)]
INVOICE = [f"print the invoice for customer {n}" for n in range(4)]
KNOWN = ["please refund order 99", "the app crashes in version 8", "hello"]


@pytest.fixture(scope="module")
def model():
    texts = []
    for n in range(200):
        texts += [f"please refund order {n % 9}", f"the app crashes in version {n % 9}"]
    return sl.Categorizer().fit(texts, ["refund", "bug"] * 200)


def test_made_up_texts_fall_into_their_groups(model):
    texts = [KNOWN[0], *STOLEN, KNOWN[1], *INVOICE, KNOWN[2]]
    stolen, invoice = model.group_unnamed(texts)
    assert sorted(stolen.numbers) == list(range(1, 6))
    assert sorted(invoice.numbers) == list(range(7, 11))
    assert {"parcel", "stolen"} <= set(stolen.words)
    assert "order" not in stolen.words, "the model has learned it"
    assert "invoice" in invoice.words
    assert stolen.typical == [texts[number] for number in stolen.numbers[:3]]
    assert model.group_unnamed(texts) == [stolen, invoice], "the same each time"
    assert model.group_unnamed(texts, precision=0.5)[0].words == stolen.words


def test_decided_texts_are_left_out_unless_people_said_none_of_these(model):
    decided = ["please refund order 7"] * 5
    assert all(model.assign(decided, precision=0.9))
    strange = ["refund the gravel and sand"] * 5
    assert model.group_unnamed(decided + strange, precision=0.9)[0].numbers == list(range(5, 10))
    new = ["please refund order 7 gravel"] * 5
    assert all(model.assign(new, precision=0.9))
    assert model.group_unnamed(new, precision=0.9) == []
    (group,) = model.group_unnamed(new, precision=0.9, none_of_these=range(5))
    assert group.words[0] == "gravel"
    assert group.numbers == list(range(5))


def test_too_few_texts_are_no_group(model):
    assert model.group_unnamed([]) == []
    assert model.group_unnamed(STOLEN[:1]) == []
    assert model.group_unnamed(STOLEN[: FEWEST_IN_GROUP - 1]) == []
    assert len(model.group_unnamed(STOLEN[:FEWEST_IN_GROUP])) == 1
    assert model.group_unnamed(["", " ", "", ""]) == []
    with pytest.raises(NotFittedError):
        sl.Categorizer().group_unnamed(STOLEN)


def test_struck_words_make_no_group(model):
    texts = [f"{word} regards" for word in ("lamp", "desk", "tree", "moon")]
    assert len(model.group_unnamed(texts)) == 1
    struck = model.copy().strike("regards")
    assert struck.group_unnamed(texts) == []


def test_vectors_count_half():
    random = np.random.default_rng(0)
    centres = np.eye(8)
    labels = random.integers(2, size=80)
    texts = [f"word{label} and more" for label in labels]
    vectors = centres[labels] + 0.05 * random.normal(size=(80, 8))
    model = sl.Categorizer().fit(texts, [f"label {n}" for n in labels], vectors=vectors)
    strange = [f"word{n}" for n in range(12)]
    near = centres[2 + np.arange(12) % 3] + 0.05 * random.normal(size=(12, 8))
    groups = model.group_unnamed(strange, none_of_these=range(12), vectors=near)
    assert sorted(sorted(group.numbers) for group in groups) == [
        [0, 3, 6, 9],
        [1, 4, 7, 10],
        [2, 5, 8, 11],
    ]


def test_documents_of_fields():
    model = sl.Categorizer()
    for n in range(20):
        model.learn({"title": "refund", "body": f"order {n}"}, "refund")
        model.learn({"title": "crash", "body": f"version {n}"}, "bug")
    texts = [{"title": "parcel", "body": f"stolen from porch {n}"} for n in range(4)]
    (group,) = model.group_unnamed(texts)
    assert sorted(group.numbers) == [0, 1, 2, 3]
    assert group.typical[0] == f"parcel · stolen from porch {group.numbers[0]}"


def test_hashed_columns_name_no_words():
    text = sl.TextVectorizer(hashed=1 << 10)
    model = sl.Categorizer(text=text).fit(["a wheat", "b corn"], ["x", "y"])
    (group,) = model.group_unnamed(STOLEN)
    assert len(group.numbers) == 5


def test_novelty():
    texts_with = np.array([10, 10, 10, 1])
    learned = np.array([0.0, 0.1, 0.3, 0.5])
    assert novelties(texts_with, 10, learned).tolist() == pytest.approx(
        [1.0, 0.9 / 1.1, 0.7 / 1.3, 0.0]
    )


def test_texts_that_share_nothing_are_in_no_cluster():
    assert clusters(np.eye(10)) == []
    assert [one.tolist() for one in clusters(np.ones((4, 4)))] == [[0, 1, 2, 3]]


def test_shares_of_documents():
    text = sl.TextVectorizer(idf="smooth").fit(["a wheat", "corn wheat", "corn", "corn"])
    assert text.document_shares(["wheat", "corn", "rye"]).tolist() == [0.5, 0.75, 0.0]
    plain = sl.TextVectorizer().fit(["wheat", "corn"])
    assert plain.document_shares(["wheat", "rye"]).tolist() == [1.0, 0.0]


def test_an_encoder_is_asked_once_for_each_text():
    asked = []

    def encoder(texts):
        asked.extend(texts)
        return np.array([[len(text), text.count("a"), 1.0] for text in texts])

    model = sl.Categorizer(encoder=encoder).fit(["a wheat", "corn"] * 10, ["x", "y"] * 10)
    asked.clear()
    (group,) = model.group_unnamed(STOLEN)
    assert sorted(group.numbers) == [0, 1, 2, 3, 4]
    assert sorted(asked) == sorted(STOLEN)
    assert model.group_unnamed([]) == []
