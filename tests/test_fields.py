"""Documents of several fields, from Python and from files."""

import io
import json

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.data.texts import Fielded, band, cell_value
from shortlist.inputs import read
from shortlist.models.extra_fields import FieldsBeside

LAWS = [
    {
        "title": "wheat exports",
        "body": "the board said that rates of export rose",
        "author": ["Smith"],
        "price": 12.5,
    },
    {
        "title": "bank rates",
        "body": "the board said that exports of wheat fell",
        "author": ["Jones"],
        "price": 700,
    },
] * 6
LABELS = [["grain"], ["money"]] * 6


def words_only(**more):
    return sl.TextVectorizer(**more)


def test_words_are_features_of_their_field_and_of_all():
    vectorizer = words_only()
    rows = vectorizer.fit_transform(
        [{"title": "wheat rose", "body": "wheat and more wheat"}, {"body": "wheat rose too"}]
    )
    names = vectorizer.get_feature_names_out().tolist()
    assert names == ["wheat", "rose", "and", "more", "title: wheat", "title: rose", "too"]
    assert rows.toarray().tolist() == [[3, 1, 1, 1, 1, 1, 0], [1, 1, 0, 0, 0, 0, 1]]
    assert vectorizer.settings_.fields == ["body", "title"]
    assert vectorizer.transform(["rose"]).toarray().tolist() == [[0, 1, 0, 0, 0, 0, 0]]


def test_the_first_of_the_fields_given_has_no_words_of_its_own():
    vectorizer = words_only(fields=["title"]).fit([{"title": "wheat", "body": "some corn"}])
    assert vectorizer.get_feature_names_out().tolist() == [
        "wheat",
        "some",
        "corn",
        "body: some",
        "body: corn",
    ]


def test_runs_of_words_do_not_cross_from_field_to_field():
    vectorizer = words_only(ngrams=2).fit([{"title": "red wheat", "body": "blue corn is long"}])
    names = set(vectorizer.get_feature_names_out())
    assert {"red wheat", "title: red wheat", "blue corn"} <= names
    assert "wheat blue" not in names


@pytest.mark.parametrize("hashed", [None, 64])
@pytest.mark.parametrize("settings", [{}, {"ngrams": 2, "prefix": 3}, {"characters": (2, 3)}])
@given(
    st.lists(
        st.tuples(st.text("abc é\n", max_size=8), st.text("abc é\n", max_size=20)),
        min_size=1,
        max_size=5,
    )
)
def test_the_counts_are_those_of_each_field_put_together(hashed, settings, pairs):
    """A slow twin: each field counted by itself, under its own name."""
    documents = [{"a": one, "b": other} for one, other in pairs]
    vectorizer = words_only(fields=["b"], hashed=hashed, min_length=1, **settings)
    rows = vectorizer.fit_transform(documents).toarray()
    if hashed is not None:
        assert (
            rows.sum()
            == 2 * words(settings, [a for a, _ in pairs]).sum()
            + words(settings, [b for _, b in pairs]).sum()
        )
        return
    expected = {}
    for n, pair in enumerate(pairs):
        for field, text in zip("ab", pair, strict=True):
            counter = words_only(min_length=1, **settings).fit([text])
            for name, count in zip(
                counter.get_feature_names_out(), counter.transform([text]).toarray()[0], strict=True
            ):
                for own in [name, f"a: {name}"] if field == "a" else [name]:
                    expected[n, own] = expected.get((n, own), 0) + count
    names = vectorizer.get_feature_names_out()
    assert {(n, names[f]): rows[n, f] for n, f in zip(*np.nonzero(rows), strict=True)} == expected


def words(settings, texts):
    return words_only(min_length=1, **settings).fit_transform(texts)


def test_categories_and_numbers():
    vectorizer = words_only().fit(
        [{"text": "wheat", "author": ["Smith", "Jones"], "price": 12.5, "none": None}]
    )
    assert vectorizer.get_feature_names_out().tolist() == [
        "wheat",
        "author=Smith",
        "author=Jones",
        "price=12.5",
        "price 10–20",
    ]
    assert [band("n", x) for x in (1, 1.99, 2, 4.9, 5, 9.9, 10, 0.03, -7, 1000, 0)] == [
        ["n 1–2"],
        ["n 1–2"],
        ["n 2–5"],
        ["n 2–5"],
        ["n 5–10"],
        ["n 5–10"],
        ["n 10–20"],
        ["n 0.02–0.05"],
        ["n -10–-5"],
        ["n 1000–2000"],
        [],
    ]
    assert [cell_value(cell) for cell in ("12.5", " Smith ", "", "nan")] == [
        12.5,
        ["Smith"],
        None,
        ["nan"],
    ]


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (
            {"a": "x", "b": object()},
            "texts[0]: 'b' must hold text, a number or a list of texts, not object",
        ),
        (
            {"a": "x", "b": [1, 2]},
            "texts[0]: 'b' must hold text, a number or a list of texts, not list",
        ),
        ({"a": "x", "b": float("nan")}, "texts[0]: the number in 'b' must be finite"),
        ({"a": "x", "": "y"}, "texts[0] has a field named ''"),
        ({"a": "x", 7: "y"}, "texts[0] has a field named 7"),
    ],
)
def test_bad_documents_are_refused_before_anything_is_learned(document, sentence):
    model = sl.Categorizer()
    with pytest.raises(sl.InputError) as problem:
        model.learn(document, "a")
    assert sentence in str(problem.value)
    assert not hasattr(model, "learner_")
    with pytest.raises(sl.InputError, match=r"texts\[1\] is a dict, not a text"):
        model.learn_many(["a text", {"title": "b"}], ["a", "b"])


def test_a_categorizer_of_fields(tmp_path):
    model = sl.Categorizer().fit(LAWS, LABELS)
    assert model.predict(LAWS).tolist() == ["grain", "money"] * 6
    one = {"title": "wheat exports", "body": "rates"}
    assert model.rank(one, 1).labels.tolist() == ["grain"]
    assert model.rank([one], 1).labels.tolist() == [["grain"]]
    found = model.explain(one | {"author": ["Smith"], "price": 17}, "grain")
    votes = dict(found.votes)
    assert votes["title: wheat"] > 0
    assert votes["author=Smith"] > 0
    assert votes["price 10–20"] > 0
    assert sum(votes.values()) == pytest.approx(found.score)
    assert isinstance(model.assign(one), list)
    model.save(tmp_path / "laws.shortlist")
    again = sl.load(tmp_path / "laws.shortlist")
    assert again.fields_ == ["body", "title"]
    assert again.rank(LAWS, 2).scores.tolist() == model.rank(LAWS, 2).scores.tolist()
    for twin in (model, again):
        twin.learn({"title": "new words", "body": "bank"}, "money")
    assert again.rank(LAWS, 2).scores.tolist() == model.rank(LAWS, 2).scores.tolist()


def test_votes_stand_where_the_words_do():
    model = sl.Categorizer(text=words_only()).fit(LAWS, LABELS)
    document = {"title": "Wheat ﬁne", "body": "of wheat"}
    found = model.explain(document, "grain")
    joined = "\n".join(document.values())
    shown = {
        str(name): [joined[a:b].lower() for a, b in spans]
        for (name, _), spans in zip(found.votes, found.spans, strict=True)
    }
    assert shown["title: wheat"] == ["wheat"]
    if "wheat" in shown:
        assert shown["wheat"] == ["wheat", "wheat"]


def test_documents_can_be_taken_apart():
    documents = Fielded.of(LAWS)
    assert len(documents) == 12
    assert documents[1] == LAWS[1]
    assert list(documents[2:4]) == LAWS[2:4]
    assert list(documents.take([5, 0])) == [LAWS[5], LAWS[0]]
    assert Fielded.of([{"a": None}])[0] == {}
    assert len(Fielded.of([{}, {}])) == 2
    assert sl.TextVectorizer().fit_transform([{}, {"a": "word"}]).toarray().tolist() == [[0], [1]]


# From files


def as_csv(separator, quote):
    cell = (lambda text: f'"{text}"') if quote else str
    rows = [[cell(law["title"]), cell(law["body"]), law["author"][0], law["price"]] for law in LAWS]
    return "\n".join(
        separator.join(map(str, row)) for row in [["title", "body", "author", "price"], *rows]
    )


FILES = {
    "csv": as_csv(",", False),
    "quoted": as_csv(",", True),
    "json-lines": "".join(json.dumps({**law, "author": law["author"][0]}) + "\n" for law in LAWS),
    "json": json.dumps([{**law, "author": law["author"][0]} for law in LAWS]),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_fields_are_read_from_files(data):
    stream = read(
        io.BytesIO(data.encode()),
        None if data[0] in "[{" else "csv",
        text=["title", "body"],
        features=["author", "price"],
    )
    assert [law for batch in stream for law in batch.texts] == LAWS


def test_fields_are_read_from_frames():
    frame = polars.DataFrame([{**law, "author": law["author"][0]} for law in LAWS])
    (batch,) = read(frame, text=["title", "body"], features=["author", "price"])
    assert list(batch.texts) == LAWS


def test_a_field_that_is_absent_is_empty():
    lines = b'{"title": "a"}\n{"body": "b", "title": null}\n'
    (batch,) = read(io.BytesIO(lines), "json-lines", text=["title", "body"])
    assert list(batch.texts) == [{"title": "a", "body": ""}, {"title": "", "body": "b"}]
    with pytest.raises(
        sl.InputError, match="line 1, column 1: expected a field 'title', found 'x'"
    ):
        list(read(io.BytesIO(b'{"x": "a"}\n'), "json-lines", text=["title", "body"]))


def test_fields_beside_texts_are_found_again_by_what_was_learned_of_them():
    vectorizer = words_only(characters=(3, 3))
    vectorizer.fit(
        [{"title": "a=b c=d", "author": ["Smith", "a=b"], "year": 0, "price": 12.5, "zip": ["12"]}]
    )
    found = {
        ("author", "Smith", False),
        ("author", "a=b", False),
        ("year", "0", False),
        ("price", "12.5", True),
    }
    assert set(vectorizer.values()) == {*found, ("zip", "12", False)}
    before = vectorizer.n_features_
    vectorizer.partial_fit([{"title": "c=d", "author": ["Lee", "Smith"], "zip": 7}])
    assert vectorizer.values(before) == [("author", "Lee", False), ("zip", "7", True)]
    assert words_only(hashed=64).fit([{"author": ["Smith"]}]).values() == []


def test_what_kind_a_field_beside_texts_is():
    vectorizer, beside = words_only().fit([{"title": "x", "price": 3}]), FieldsBeside()
    assert beside.of(vectorizer) == [{"field": "price", "kind": "number", "known": []}]
    vectorizer.partial_fit([{"title": "y", "price": ["on request"]}])
    assert beside.of(vectorizer) == [{"field": "price", "kind": "either", "known": ["on request"]}]
    assert beside.of(words_only().fit(["plain"])) == []


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (
            pandas.DataFrame({"title": ["a b", "c"], "body": ["d", "e"]}),
            "texts is a DataFrame, which has columns: give one of them",
        ),
        (
            polars.DataFrame({"title": ["a b", "c"], "body": ["d", "e"]}),
            "texts is a DataFrame, which has columns: give one of them",
        ),
        ({"a b", "c"}, "texts is a set, which has no order; give a list"),
        ({"a b": 1, "c": 2}, "texts is one dict; give a list of them"),
    ],
)
def test_what_would_be_gone_through_otherwise_than_text_by_text_is_refused(texts, sentence):
    model = sl.Categorizer()
    with pytest.raises(sl.InputError, match=sentence):
        model.fit(texts, ["x", "y"])
    with pytest.raises(sl.InputError, match=sentence):
        model.learn_many(texts, ["x", "y"])
    assert not hasattr(model, "learner_")
    with pytest.raises(sl.InputError, match=sentence):
        sl.TextRater().fit(texts, [1, 2])
