"""Runs of characters: those of scikit-learn's char_wb; named, found again in the text; letters
composed or not.
"""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from shortlist import Categorizer, InputError, TextVectorizer
from shortlist.files import store
from shortlist.files.store import build
from shortlist.models.text_batches import default_text
from shortlist.text.features import (
    NOT_ONE_TO_ONE,
    Features,
    character_table,
    features_of,
    letter_table,
    split,
    with_characters,
)
from shortlist.text.text_settings import PLAIN
from tests.text.test_vectorizer import SCRIPTS, texts

SIZES = [(1, 1), (2, 4), (3, 4), (5, 5), (1, 7)]


def assert_same_as_char_wb(some, size, lowercase):
    """The columns of characters, by name, are those of CountVectorizer; the others are words."""
    other = CountVectorizer(analyzer="char_wb", ngram_range=size, lowercase=lowercase)
    expected = other.fit_transform(some).toarray()
    ours = TextVectorizer(characters=size, lowercase=lowercase)
    for matrix in (ours.fit_transform(some).toarray(), ours.transform(some).toarray()):
        found = {name: matrix[:, i] for i, name in enumerate(ours.get_feature_names_out())}
        own = {name[1:-1]: counts for name, counts in found.items() if name[0] == '"'}
        assert set(own) == set(other.vocabulary_)
        for name, column in other.vocabulary_.items():
            np.testing.assert_array_equal(own[name], expected[:, column])
        words = TextVectorizer(lowercase=lowercase).fit(some).get_feature_names_out()
        assert {name for name in found if name[0] != '"'} == set(words)


@pytest.mark.long
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lowercase", [True, False])
def test_counts_are_those_of_char_wb_in_every_script(script, size, lowercase):
    some = [
        SCRIPTS[script],
        SCRIPTS[script] + " " + SCRIPTS["Latin"],
        "",
        " \u3000\x1c a\x85b\u2028 c ",
    ]
    assert_same_as_char_wb(some, size, lowercase)


@given(texts, st.sampled_from(SIZES))
def test_counts_are_those_of_char_wb_on_any_text(some, size):
    assert_same_as_char_wb([*some, "one word"], size, lowercase=True)


@given(texts, st.sampled_from(SIZES))
def test_runs_come_behind_the_words_of_their_own_text(some, size):
    words = split(some, letter_table(lowercase=True), 1, lowercase=True)
    table = character_table(lowercase=True)
    alone = features_of(words, letter_table(lowercase=True), 2, 3)
    found = with_characters(alone, table, *size)
    none = np.empty(0, dtype=np.int64)
    no_words = np.zeros(len(some) + 1, dtype=np.int64)
    nothing = Features(words, none.astype(np.uint64), none, none, no_words)
    *behind, ends = with_characters(nothing, table, *size)[1:5]
    for i in range(len(some)):
        first, then = slice(*alone.indptr[i : i + 2]), slice(*ends[i : i + 2])
        for one, other, both in zip(alone[1:4], behind, found[1:4], strict=True):
            both = both[found.indptr[i] : found.indptr[i + 1]].tolist()
            assert both == [*one[first].tolist(), *other[then].tolist()]
    assert found.hashes.size == found.indptr[-1] == alone.hashes.size + ends[-1]


def test_the_table_agrees_with_str_methods_everywhere():
    for lowercase in (True, False):
        table = character_table(lowercase).tolist()
        for code in range(0x110000):
            character = chr(code)
            if not (lowercase and character in NOT_ONE_TO_ONE):
                expected = (
                    " " if character.isspace() else character.lower() if lowercase else character
                )
                assert table[code] == ord(expected)


def test_runs_are_named_and_found_in_the_text():
    ours = TextVectorizer(characters=(4, 4), prefix=4).fit(["Corn, a rye"])
    names = list(ours.get_feature_names_out())
    assert names == [
        "corn",
        "corn*",
        "rye",
        '" cor"',
        '"corn"',
        '"orn,"',
        '"rn, "',
        '" a "',
        '" rye"',
        '"rye "',
    ]
    text = "a  Corn,"
    found = {
        names[column]: {text[slice(*place)] for place in places}
        for column, places in ours.spans(text).items()
    }
    assert found == {
        "corn": {"Corn"},
        "corn*": {"Corn"},
        '" a "': {"a"},
        '" cor"': {"Cor"},
        '"corn"': {"Corn"},
        '"orn,"': {"orn,"},
        '"rn, "': {"rn,"},
    }


def test_words_are_explained_beside_runs_of_characters():
    model = Categorizer().fit(
        ["play a song", "stop the song", "play jazz", "stop it"], ["on", "off", "on", "off"]
    )
    words = dict(model.explain("play", "on").votes)
    assert {"play", '" pl"', '"lay"'} <= set(words)
    assert sum(words.values()) == pytest.approx(model.rank("play", k=1).scores[0])


def test_composed_and_decomposed_letters_make_one_word():
    forms = ["na\u00efve caf\u00e9", "nai\u0308ve cafe\u0301"]
    apart, one = (
        TextVectorizer(ngrams=2),
        TextVectorizer(ngrams=2, composed=True, characters=(3, 3)),
    )
    assert len(set(map(str, apart.fit_transform(forms).toarray()))) == 2
    rows = one.fit_transform(forms).toarray()
    np.testing.assert_array_equal(rows[0], rows[1])
    assert {"na\u00efve", "caf\u00e9", "na\u00efve caf\u00e9"} <= set(one.get_feature_names_out())
    assert Categorizer().fit(forms[:1], ["a"]).rank(forms[1], k=1).scores[0] == pytest.approx(
        Categorizer().fit(forms[:1], ["a"]).rank(forms[0], k=1).scores[0]
    )


@given(
    st.text(
        st.sampled_from("aeI\u0130\u0301\u0308\u00e9 \u1100\u1161\u11a8\uac00\u0958\u0323x"),
        max_size=12,
    )
)
def test_spans_of_composed_texts_are_places_in_the_text_as_it_was(text):
    ours = TextVectorizer(composed=True, min_length=1, characters=(2, 3)).fit([text])
    for column, places in ours.spans(text).items():
        name = ours.names([column])[0].strip('" ')
        for start, end in places:
            part = unicodedata.normalize("NFC", text[start:end]).lower()
            assert name in part
            assert 0 <= start < end <= len(text)


SHORT = ["play a song", "stop the song"] * 3
CHINESE = ["小麦出口上升。" * 100, "银行提高利率。" * 100]


@pytest.mark.parametrize(
    ("some", "recurring", "expected"),
    [
        (SHORT, True, (1, 2, 4, [3, 3])),
        (SHORT, False, (2, 2, 5, None)),
        (["a long text " * 100], True, (2, 1, None, None)),
        (CHINESE, False, (2, 1, None, [2, 4])),
        (["สวัสดีชาวโลก ภาษาไทย"], True, (2, 1, None, [2, 4])),
        (["대한민국 한국어 naïve"], False, (2, 2, 5, None)),
        ([], True, (2, "auto", None, None)),
    ],
)
def test_what_features_suit_the_first_texts(some, recurring, expected):
    chosen = TextVectorizer(ngrams="auto").settled(some, recurring)
    assert (chosen.min_length, chosen.ngrams, chosen.prefix, chosen.characters) == expected


def test_characters_weigh_less_than_words_where_they_have_columns_of_their_own():
    weights = [
        TextVectorizer(ngrams="auto", hashed=hashed).settled(some, True).character_weight
        for some, hashed in (
            (SHORT, None),
            (SHORT, 64),
            (CHINESE, None),
            (["a long text " * 100], None),
        )
    ]
    assert weights == [0.7, 1, 1, 1]
    for other, sentence in (
        ({"hashed": 64}, "must be 1 with hashed columns"),
        ({"character_weight": 0}, "must lie"),
    ):
        with pytest.raises(InputError, match=f"character_weight {sentence}"):
            TextVectorizer(**({"characters": (3, 3), "character_weight": 0.5} | other)).fit(SHORT)


def test_characters_of_fields_weigh_what_characters_do_and_quoted_categories_what_words_do():
    ours = TextVectorizer(characters=(3, 3), character_weight=0.5, fields=["body", "title"])
    document = {"body": "rye=", "title": "corn", "author": ['"Smith"', 'so "called"', '"']}
    ours.fit([document])
    row = dict(
        zip(ours.get_feature_names_out(), ours.transform([document]).toarray()[0], strict=True)
    )
    light = {name for name, value in row.items() if value == 0.5}
    runs_of_title = {'" co"', '"cor"', '"orn"', '"rn "'}
    assert light == {'" ry"', '"rye"', '"ye="', '"e= "'} | runs_of_title | {
        f"title: {name}" for name in runs_of_title
    }
    assert {name: row[name] for name in set(row) - light} == {
        "rye": 1,
        "corn": 1,
        "title: corn": 1,
        'author="Smith"': 1,
        'author=so "called"': 1,
        'author="': 1,
    }


def test_a_model_whose_file_says_nothing_of_the_weight_of_characters_weighs_them_as_words():
    ours = TextVectorizer(characters=(3, 3), tf="log", idf="smooth").fit(SHORT)
    state = ours.to_state()
    del state.settings["character_weight"]
    np.testing.assert_array_equal(
        build(state).transform(SHORT).toarray(), ours.transform(SHORT).toarray()
    )


def test_texts_without_spaces_have_useful_features():
    texts = ["小麦出口上升", "玉米和小麦", "银行提高利率", "中央银行"]
    model = Categorizer().fit(texts, ["grain", "grain", "money", "money"])
    assert model.predict(["出口小麦", "国家银行"]).tolist() == ["grain", "money"]


def test_a_categorizer_gives_characters_to_short_texts_whose_labels_recur(tmp_path):
    single = Categorizer().fit(SHORT, ["on", "off"] * 3)
    several = Categorizer().fit(SHORT * 20, [["on"], ["off", "halt"]] * 60)
    many = Categorizer().fit(SHORT * 20, [["on", f"at {i}"] for i in range(120)])
    stream = Categorizer().learn(SHORT[0], "on")
    names = [set(model.text_.get_feature_names_out()) for model in (single, several, many, stream)]
    assert ['"lay"' in own for own in names] == [True, True, False, True]
    assert ["a" in own for own in names] == [True, True, False, True]
    assert all("a song" in own or "play song" in own for own in names)
    assert (
        Categorizer(max_memory="100MB").fit(SHORT, ["on", "off"] * 3).text_.n_features_
        == single.text_.n_features_
    )


def test_one_setting_leaves_the_others_to_the_first_texts():
    some = ["wheat exports rose", "corn prices fell"]
    every = {name: getattr(default_text().settled(some, True), name) for name in PLAIN}
    assert every == {
        "ngrams": 2,
        "min_length": 1,
        "prefix": 4,
        "characters": [3, 3],
        "character_weight": 0.7,
    }
    for name, value in {"ngrams": 1, "prefix": None, "characters": (2, 4), "min_length": 3}.items():
        chosen = default_text().set_params(**{name: value}).settled(some, True)
        own = list(value) if isinstance(value, tuple) else value
        assert {name: getattr(chosen, name) for name in PLAIN} == every | {name: own}
    kept = TextVectorizer(ngrams="auto", prefix=7).settled(some, True)
    assert (kept.prefix, kept.ngrams, kept.min_length) == (7, 2, 1)


def test_what_is_left_open_is_so_in_a_file(tmp_path):
    text = default_text().set_params(ngrams=1)
    text.take([])
    store.save(text, tmp_path / "text")
    again = store.load(tmp_path / "text")
    again.settle(["wheat exports rose"], True)
    assert (again.settings_.ngrams, again.settings_.prefix) == (1, 4)
