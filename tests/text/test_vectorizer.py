"""TextVectorizer against its slow twin, scikit-learn, and what users can do to it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from shortlist import InputError, TextVectorizer
from shortlist.data.rows import Rows
from shortlist.data.validation import as_rows
from shortlist.files.store import build, load, save
from shortlist.text.counts import known_log, known_logs
from tests.compiled import compiled
from tests.reference.text import SlowVectorizer, features

SCRIPTS = {
    "Latin": "Größe ÉCOLE naïve façade Łódź İstanbul ﬁne Ǆungla ŒUVRE ẞ x_y __init__",
    "Greek": "Ὀδυσσεὺς ΣΟΦΟΣ ΟΔΟΣ ΑΣ Σ σς ἀρετή ΜΆΪΟΣ",
    "Cyrillic": "Москва ЩУКА ёлка Їжак Ђорђе",
    "Armenian": "Հայաստան ԵՐԵՎԱՆ և",
    "Georgian": "საქართველო ᲗᲑᲘᲚᲘᲡᲘ თბილისი",
    "Hebrew": "שָׁלוֹם עולם ירושלים",
    "Arabic": "السَّلَامُ عليكم ١٢٣ پاکستان",
    "Devanagari": "नमस्ते दुनिया १२३ हिन्दी",
    "Bengali": "বাংলা ভাষা ৪৫৬",
    "Tamil": "தமிழ் மொழி",
    "Thai": "สวัสดีชาวโลก ภาษาไทย",
    "Han": "中文分词 漢字 𠀀𠀁 ㊀ 二〇",
    "Kana": "ひらがな カタカナ ｶﾀｶﾅ",
    "Hangul": "한국어 대한민국 ㄱㄴ",
    "Ethiopic": "አማርኛ ኢትዮጵያ ፲፪",
    "Cherokee": "ᏣᎳᎩ ꭰꭱ ᎠᏴᎩ",
    "Deseret": "𐐔𐐯𐑅𐐨𐑉𐐯𐐻 𐐆𐑍𐑊𐐮𐑇",
    "Adlam": "𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪",
    "none": "🙂🙂 ½ ² ①② Ⅷ \x00 a\x00b\u200dc e\u0301te\u0301 \ufeffbom ‿un‿der",
}
# letters of many scripts, marks, digits, the two irregular capitals, surrogates, and what ends
# words
characters = st.one_of(
    st.sampled_from("ab AB12_'.-\n\t\x00\u0130\u03a3σςßéÉ١中ㅏ𐐔\ud800\udfff\U0010ffff"),
    st.characters(),
)
texts = st.lists(st.text(characters, max_size=30), max_size=8)
WORDS = [
    "a",
    "an",
    "export",
    "exports",
    "exporter",
    "the",
    "THE",
    "1",
    "12",
    "b52",
    "x",
    "é",
    "e\u0301",
    "don't",
]
few_words = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    max_size=8,
)


def dicts(vectorizer, rows):
    """Rows as {feature: value}, checked for what Rows promises."""
    assert isinstance(rows, Rows)
    assert (rows.indptr.dtype, rows.indices.dtype, rows.data.dtype) == (
        np.int64,
        np.int32,
        np.float64,
    )
    names = vectorizer.get_feature_names_out()
    assert rows.n_features == len(names) == len(set(names)) == vectorizer.n_features_
    answer = []
    for i in range(rows.n_rows):
        row = slice(rows.indptr[i], rows.indptr[i + 1])
        assert np.all(np.diff(rows.indices[row]) > 0)
        answer.append(dict(zip(names[rows.indices[row]], rows.data[row].tolist(), strict=True)))
    assert rows.indptr[0] == 0
    assert rows.indptr[-1] == rows.indices.size == rows.data.size
    assert np.all(rows.data != 0)
    return answer


def in_columns_of(other, vectorizer, matrix):
    """The matrix with its columns in the order of scikit-learn's vectorizer."""
    names = vectorizer.get_feature_names_out()
    assert set(names) == set(other.vocabulary_)
    columns = np.array([other.vocabulary_[name] for name in names], dtype=int)
    answer = np.zeros(matrix.shape)
    answer[:, columns] = matrix.toarray()
    return answer


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("lowercase", [True, False])
def test_counts_are_those_of_count_vectorizer_in_every_script(script, lowercase):
    some = [SCRIPTS[script], SCRIPTS[script] + " " + SCRIPTS["Latin"], ""]
    other = CountVectorizer(lowercase=lowercase)
    expected = other.fit_transform(some).toarray()
    ours = TextVectorizer(lowercase=lowercase)
    np.testing.assert_array_equal(in_columns_of(other, ours, ours.fit_transform(some)), expected)
    np.testing.assert_array_equal(in_columns_of(other, ours, ours.transform(some)), expected)


@given(texts)
def test_counts_are_those_of_count_vectorizer_on_any_text(some):
    some = [*some, "one word"]  # CountVectorizer refuses an empty vocabulary
    other = CountVectorizer()
    expected = other.fit_transform(some).toarray()
    ours = TextVectorizer()
    np.testing.assert_array_equal(in_columns_of(other, ours, ours.fit_transform(some)), expected)


options = st.fixed_dictionaries(
    {},
    optional={
        "lowercase": st.booleans(),
        "min_length": st.integers(1, 3),
        "fold_digits": st.booleans(),
        "stop_words": st.sampled_from([["the"], ["an", "export", "exp-ort"], []]),
        "ngrams": st.integers(1, 3),
        "prefix": st.integers(1, 6),
        "characters": st.tuples(st.integers(1, 4), st.integers(0, 3)).map(
            lambda pair: (pair[0], sum(pair))
        ),
        "character_weight": st.sampled_from([0.5, 1.0, 3.0]),
        "composed": st.booleans(),
        "min_df": st.integers(1, 3),
        "tf": st.sampled_from(["count", "log", "boolean"]),
        "idf": st.sampled_from([None, "plain", "smooth"]),
        "norm": st.sampled_from([None, "l2", "pivoted"]),
        "slope": st.sampled_from([0.0, 0.3, 1.0]),
    },
)


def assert_same(answer, expected):
    assert len(answer) == len(expected)
    for one, other in zip(answer, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-12)


@given(options, st.lists(few_words, min_size=1, max_size=3), few_words)
def test_rows_are_those_of_the_slow_twin(chosen, batches, later):
    ours, slow = TextVectorizer(**chosen), SlowVectorizer(**chosen)
    for batch in batches:
        for text in batch:
            slow.learn(text)
        assert_same(dicts_of_learning(ours, batch), [slow.row(text) for text in batch])
    assert_same(dicts(ours, ours.rows(later)), [slow.row(text) for text in later])
    restored = build(ours.to_state())
    assert_same(dicts(restored, restored.learn_rows(later)), dicts(ours, ours.learn_rows(later)))


def dicts_of_learning(vectorizer, batch):
    rows = vectorizer.learn_rows(batch)
    return dicts(vectorizer, rows)


@pytest.mark.parametrize("norm", [None, "l2", "pivoted"])
@pytest.mark.parametrize("idf", [None, "plain", "smooth"])
@pytest.mark.parametrize("tf", ["count", "log", "boolean"])
def test_every_weighting_is_that_of_the_slow_twin(tf, idf, norm):
    rng = np.random.default_rng(0)
    some = [" ".join(f"w{j}" for j in rng.zipf(1.4, size) % 30) for size in [0, 5, 30, 90, 7]]
    for min_df in [1, 2]:
        ours, slow = (
            kind(tf=tf, idf=idf, norm=norm, min_df=min_df)
            for kind in (TextVectorizer, SlowVectorizer)
        )
        rows = ours.learn_rows(some)
        for text in some:
            slow.learn(text)
        assert_same(dicts(ours, rows), [slow.row(text) for text in some])


def test_pivoted_weights_by_hand():
    """m = 3; corn is in 2 documents, rye in 1; the rows have 2, 1 and 1 features, so that pivot
    = 4/3.
    """
    ours = TextVectorizer(tf="log", idf="plain", norm="pivoted", slope=0.3)
    corn, rye = np.log(3 / 2), np.log(3 / 1)
    average = 1 + np.log((3 + 1) / 2)
    expected = [
        [
            corn * (1 + np.log(3)) / average / (0.7 + 0.3 * 2 / (4 / 3)),
            rye / average / (0.7 + 0.3 * 2 / (4 / 3)),
            0,
        ],
        [corn / (0.7 + 0.3 * 1 / (4 / 3)), 0, 0],
        [0, 0, rye * (1 + np.log(2)) / (1 + np.log(2)) / (0.7 + 0.3 * 1 / (4 / 3))],
    ]
    np.testing.assert_allclose(
        ours.fit_transform(["corn corn corn rye", "corn", "oats oats"]).toarray(), expected
    )


@given(options, few_words, few_words)
def test_fit_forgets_what_came_before_and_what_is_too_rare(chosen, before, some):
    ours, slow = TextVectorizer(**chosen), SlowVectorizer(**chosen)
    ours.partial_fit(before)
    for text in some:
        slow.learn(text)
    expected = [slow.row(text) for text in some]
    matrix = ours.fit_transform(some)
    assert_same(dicts(ours, Rows(*to_rows(matrix))), expected)
    assert_same(dicts(ours, ours.rows(some)), expected)
    enough = [
        f
        for f in {f for t in some for f in features(t, **slow.tokens)}
        if in_documents(f, slow) >= slow.min_df
    ]
    assert set(ours.get_feature_names_out()) == set(enough)


def in_documents(feature, slow):
    return sum(feature in document for document in slow.documents)


def to_rows(matrix):
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        matrix.shape[1],
    )


@given(few_words.filter(lambda some: any(some)))
def test_smooth_idf_and_l2_are_those_of_tfidf_vectorizer(some):
    some = [*some, "one more"]
    other = TfidfVectorizer()
    ours = TextVectorizer(idf="smooth", norm="l2")
    expected = other.fit_transform(some).toarray()
    np.testing.assert_allclose(
        in_columns_of(other, ours, ours.fit_transform(some)), expected, rtol=1e-12
    )


@pytest.mark.parametrize("n", [2, 3])
def test_ngrams_reach_across_stop_words_as_count_vectorizers_do(n):
    some = [
        "The quick brown fox is not in the box",
        "is the",
        "",
        "quick is the brown and the quick brown",
    ]
    other = CountVectorizer(ngram_range=(1, n), stop_words="english")
    ours = TextVectorizer(ngrams=n, stop_words="english")
    expected = other.fit_transform(some).toarray()
    np.testing.assert_array_equal(in_columns_of(other, ours, ours.fit_transform(some)), expected)
    assert "quick brown" in ours.get_feature_names_out()
    assert "the" not in ours.get_feature_names_out()


def test_minimum_document_count_is_count_vectorizers_min_df():
    some = ["wheat corn", "wheat wheat", "corn", "rye rye rye"]
    other = CountVectorizer(min_df=2)
    ours = TextVectorizer(min_df=2)
    expected = other.fit_transform(some).toarray()
    np.testing.assert_array_equal(in_columns_of(other, ours, ours.fit_transform(some)), expected)


def test_columns_stay_while_learning_and_rare_words_wait_for_theirs():
    ours = TextVectorizer(min_df=2)
    assert dicts(ours, ours.learn_rows(["corn wheat"])) == [{}]
    assert dicts(ours, ours.learn_rows(["wheat rye"])) == [{"wheat": 1.0}]
    assert ours.names([1]) == ["wheat"]
    ours.partial_fit(["rye oats"])
    assert list(ours.get_feature_names_out()) == ["corn", "wheat", "rye", "oats"]
    assert dicts(ours, ours.rows(["rye corn wheat wheat barley"])) == [{"rye": 1.0, "wheat": 2.0}]


@given(few_words, st.integers(1, 20), st.integers(1, 2))
def test_hashing_adds_up_the_features_that_share_a_column(some, width, ngrams):
    exact = TextVectorizer(ngrams=ngrams, prefix=3)
    hashed = TextVectorizer(ngrams=ngrams, prefix=3, hashed=width)
    counts = exact.fit_transform(some).toarray()
    matrix = hashed.transform(some)  # there is nothing to learn
    assert matrix.shape == (len(some), width)
    expected = np.zeros(matrix.shape)
    for column, name in enumerate(exact.get_feature_names_out()):
        where = [
            hashed_column(hashed, text, name)
            for text in some
            if name in features(text, ngrams=ngrams, prefix=3)
        ]
        assert len(set(where)) == 1
        expected[:, where[0]] += counts[:, column]
    np.testing.assert_array_equal(matrix.toarray(), expected)


def hashed_column(hashed, text, name):
    named = hashed.names(range(hashed.n_features_), text)
    (column,) = [column for column, names in enumerate(named) if name in names.split(" | ")]
    return column


def test_hashed_rows_are_weighted_by_what_their_columns_were_seen_in():
    ours = TextVectorizer(hashed=2**20, idf="plain", min_df=2)
    ours.fit(["corn wheat", "corn rye", "oats rye", "oats"])
    row = ours.rows(["corn corn wheat barley"])
    assert ours.names(row.indices, "corn wheat") == ["corn"]
    np.testing.assert_allclose(row.data, 2 * np.log(4 / 2))
    assert ours.names([row.indices[0]]) == [f"#{row.indices[0]}"]
    with pytest.raises(NotFittedError):
        TextVectorizer(hashed=16, idf="plain").transform(["corn"])


def test_a_wide_hash_spreads_words_over_all_columns():
    words = [f"w{i}" for i in range(10_000)]
    rows = TextVectorizer(hashed=1000).rows(words)
    per_column = np.bincount(rows.indices, minlength=1000)
    assert abs(per_column.var() / per_column.mean() - 1) < 0.2  # a Poisson distribution's is 1


def test_nothing_is_learned_from_nothing():
    ours = TextVectorizer().fit([])
    assert ours.transform([]).shape == (0, 0)
    assert ours.transform(["", "a"]).shape == (2, 0)
    assert ours.partial_fit(["", "  ", "one"]).transform(["one", ""]).toarray().tolist() == [
        [1.0],
        [0.0],
    ]
    for norm in [None, "l2", "pivoted"]:
        everywhere = TextVectorizer(idf="plain", norm=norm)
        assert everywhere.fit_transform(["one", "one", ""]).nnz == 2
        assert everywhere.fit_transform(["one", "one"]).nnz == 0  # log(m/u) = 0


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["ok", None], r"texts\[1\] is a NoneType, not a text"),
        ([b"bytes"], r"texts\[0\] is a bytes, not a text; decode it first"),
        (["ok", "ok", 3.5], r"texts\[2\] is a float"),
        ("one text", "not one str"),
        (b"one text", "not one bytes"),
        (None, "not one NoneType"),
        ([["nested"]], r"texts\[0\] is a list"),
    ],
)
@pytest.mark.parametrize(
    "method", ["fit", "fit_transform", "transform", "partial_fit", "learn_rows", "rows"]
)
def test_what_is_no_text_is_refused_by_its_position(texts, message, method):
    ours = TextVectorizer().fit(["some text"])
    with pytest.raises(InputError, match=message):
        getattr(ours, method)(texts)
    assert ours.fit(["some text"]).n_features_ == 2


def test_any_iterable_of_texts_will_do():
    expected = TextVectorizer().fit_transform(["one", "two"]).toarray()
    array = np.array(["one", "two"])
    for some in [("one", "two"), array, array.astype(object), iter(["one", "two"])]:
        np.testing.assert_array_equal(TextVectorizer().fit_transform(some).toarray(), expected)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_length": 0},
        {"min_length": 1.5},
        {"ngrams": 0},
        {"prefix": 0},
        {"min_df": 0},
        {"hashed": 0},
        {"hashed": 2**31},
        {"tf": "tfidf"},
        {"idf": True},
        {"norm": "l1"},
        {"slope": 2},
        {"slope": float("nan")},
        {"composed": 2},
        {"characters": 3},
        {"characters": (0, 2)},
        {"characters": (3, 2)},
        {"characters": (1, 2, 3)},
        {"characters": (2, 2.5)},
        {"stop_words": "klingon"},
        {"stop_words": [3]},
        {"stop_words": 3},
    ],
)
def test_a_wrong_parameter_is_named(wrong):
    ours = TextVectorizer(**wrong)
    with pytest.raises(InputError, match=next(iter(wrong))):
        ours.fit(["some text"])


def test_rows_go_through_the_door_unchanged():
    ours = TextVectorizer(ngrams=2, idf="plain", norm="l2")
    some = ["corn wheat corn", "wheat rye", ""]
    rows = ours.learn_rows(some)
    checked = as_rows(ours.transform(some))
    for one, other in zip(rows, checked, strict=True):
        np.testing.assert_array_equal(one, other)


def test_it_is_a_scikit_learn_estimator(tmp_path):
    ours = TextVectorizer(ngrams=2, stop_words=("the",), idf="smooth")
    assert clone(ours).get_params() == ours.get_params()
    with pytest.raises(NotFittedError):
        ours.transform(["corn"])
    with pytest.raises(NotFittedError):
        ours.to_state()
    ours.fit(["corn the wheat", "rye \ud800x wheat"])
    save(ours, tmp_path / "v.shortlist")
    other = load(tmp_path / "v.shortlist")
    some = ["corn wheat rye", "wheat \ud800x"]
    np.testing.assert_array_equal(other.transform(some).toarray(), ours.transform(some).toarray())
    np.testing.assert_array_equal(
        other.partial_fit(["the oats"]).transform(some).toarray(),
        ours.partial_fit(["the oats"]).transform(some).toarray(),
    )
    with pytest.raises(InputError, match="there is no column 99"):
        ours.names([99])


def test_a_long_text_and_a_long_word_fit_in():
    words = [f"w{i % 5000}" for i in range(100_000)]
    ours = TextVectorizer()
    matrix = ours.fit_transform([" ".join(words), "x" * 1_000_000, " ".join(words[:10])])
    assert matrix.shape == (3, 5001)
    assert matrix[[0]].toarray().tolist() == [[20.0] * 5000 + [0.0]]
    assert ours.names([5000]) == ["x" * 1_000_000]


def test_hashing_holds_a_stream_of_ever_new_words_in_constant_memory():
    ours = TextVectorizer(hashed=100, idf="smooth")
    for i in range(20):
        ours.partial_fit([" ".join(f"word{i}x{j}" for j in range(1000))])
    assert len(ours.vocabulary_) == 0
    assert sum(array.nbytes for array in ours.to_state().arrays.values()) == 100 * 8


def test_threads_share_a_vectorizer_that_only_reads():
    rng = np.random.default_rng(0)
    some = [" ".join(f"w{j}" for j in rng.integers(0, 3000, 200)) for _ in range(300)]
    ours = TextVectorizer(idf="plain", norm="pivoted", tf="log").fit(some)
    expected = [ours.rows([text]) for text in some]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(
            pool.map(lambda text: ours.rows([text]), some), expected, strict=True
        ):
            np.testing.assert_array_equal(one.indices, other.indices)
            np.testing.assert_array_equal(one.data, other.data)


def test_it_stands_in_a_pipeline():
    some, labels = (
        ["corn wheat", "wheat rye", "ship port", "port sea"] * 5,
        ["grain", "grain", "trade", "trade"] * 5,
    )
    search = GridSearchCV(
        make_pipeline(TextVectorizer(), MultinomialNB()), {"textvectorizer__ngrams": [1, 2]}, cv=2
    )
    assert search.fit(some, labels).predict(["wheat", "sea port"]).tolist() == ["grain", "trade"]


@given(few_words, few_words)
def test_one_text_at_a_time_learns_the_same_as_all_at_once(some, later):
    """Rows are weighted by what was known when they were given; what is known in the end does
    not differ.
    """
    options = {"ngrams": 2, "idf": "plain", "tf": "log", "norm": "pivoted", "min_df": 2}
    whole, stream = TextVectorizer(**options), TextVectorizer(**options)
    whole.learn_rows(some)
    for text in some:
        stream.learn_rows([text])
    stream.partial_fit([])
    for one, other in zip(stream.rows(later), whole.rows(later), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "settings", [{}, {"ngrams": 2}, {"prefix": 3}, {"hashed": 4096}, {"stop_words": ["and"]}]
)
def test_spans_lead_to_the_features(settings):
    """Whatever the letters do when lower-cased, a span cut out of the text is the feature again."""
    text = "Wheat AND İstanbul İİ ΣΑΣ 😀 wheat naïve"
    vectorizer = TextVectorizer(**settings).fit([text])
    spans = vectorizer.spans(text)
    row = vectorizer.rows([text])
    assert {column: len(found) for column, found in spans.items()} == dict(
        zip(row.indices.tolist(), row.data.tolist(), strict=True)
    )
    wheat = vectorizer.rows(["wheat"]).indices.tolist()
    words = {text[a:b].lower() for column in wheat for a, b in spans[column]}
    assert words == ({"wheat", "whe"} if "prefix" in settings else {"wheat"})
    cut = [text[a:b] for found in spans.values() for a, b in found]
    assert "stanbul" in cut, "the dot over the capital I is no letter, once it stands alone"
    assert "ΣΑΣ" in cut
    assert "naïve" in cut


def test_logarithms_are_looked_up_or_worked_out():
    """Whole numbers up to the last that is known and beyond it, counts, and means of counts,
    which are not whole.
    """
    known = known_logs()
    last, logarithm = known.size - 1, compiled(known_log)
    for numbers in (
        np.arange(1, 100),
        np.array([last, last + 1, 10**12]),
        np.array([1.0, 2.5, last + 0.5, 1e300]),
    ):
        found = [logarithm(float(number), known) for number in numbers]
        assert found == pytest.approx(np.log(numbers), rel=1e-15)
