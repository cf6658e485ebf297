"""The vocabulary against a dict, the counting against NumPy, and files that were tampered with."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import Categorizer, ModelFileError, TextVectorizer, load
from shortlist.files.store import State, build
from shortlist.text import feature_names
from shortlist.text.counts import count
from shortlist.text.feature_names import Vocabulary, check_letters, encoded

# few enough to repeat, and some that meet in one slot of the table
hashes = st.one_of(
    st.integers(0, 40), st.integers(0, 20).map(lambda n: n << 40), st.integers(0, 2**64 - 1)
)


@given(st.lists(st.lists(hashes, max_size=50), max_size=5))
def test_a_vocabulary_numbers_hashes_as_a_dict_does(batches):
    vocabulary, number = Vocabulary(), {}
    for batch in batches:
        array = np.array(batch, dtype=np.uint64)
        before = len(number)
        expected = [number.setdefault(h, len(number)) for h in batch]
        numbers, new = vocabulary.learn(array)
        assert numbers.tolist() == expected
        assert [batch[j] for j in new] == list(number)[before:]
        assert [expected.index(i) for i in range(before, len(number))] == new.tolist()
    assert vocabulary.hashes.tolist() == list(number)
    wanted = [*number, 77]
    assert vocabulary.find(np.array(wanted, dtype=np.uint64)).tolist() == [
        number.get(h, -1) for h in wanted
    ]


def test_a_vocabulary_grows_to_whatever_comes():
    hashes = np.unique(np.random.default_rng(0).integers(0, 2**64, 200_000, dtype=np.uint64))
    hashes[:2000] <<= np.uint64(40)  # all would like the same slot
    hashes = np.unique(hashes)
    vocabulary = Vocabulary()
    for part in np.array_split(hashes, 7):
        vocabulary.learn(part)
    assert len(vocabulary) == hashes.size
    np.testing.assert_array_equal(vocabulary.find(hashes), np.arange(hashes.size))
    assert vocabulary.find(np.array([1 << 39, 12345], dtype=np.uint64)).tolist() == [-1, -1]


def longest_run(vocabulary):
    """How many slots of the table stand full side by side: so many at the most are looked at
    for one hash.
    """
    edges = np.diff(np.concatenate([[False], vocabulary._slots >= 0, [False]]).astype(np.int8))
    return int((np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)).max())


@pytest.mark.parametrize("bit", [0, 12, 30, 47])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hashes_that_were_chosen_do_not_meet_in_one_slot(bit, seed, monkeypatch):
    """Model files say their hashes: with those that agree in all bits but a few, opening must
    not become quadratic.
    """
    factors = np.random.default_rng(seed).integers(0, 2**64, (9, 1), dtype=np.uint64) | np.uint64(1)
    monkeypatch.setattr(feature_names, "odd_number", iter(factors).__next__)
    chosen = np.arange(2**16, dtype=np.uint64) << np.uint64(bit)
    names = {
        "letters": np.empty(0, dtype=np.uint8),
        "name_lengths": np.zeros(chosen.size, dtype=np.int32),
    }
    opened = Vocabulary.from_state(State("Vocabulary", {}, {"hashes": chosen, **names}))
    learned = Vocabulary()
    numbers, _ = learned.learn(chosen)
    for one in (opened, learned):
        assert longest_run(one) < 500
        np.testing.assert_array_equal(one.find(chosen), numbers)


def test_every_table_has_a_factor_of_its_own_and_it_is_odd():
    factors = {int(Vocabulary()._factor[0]) for _ in range(9)}
    assert len(factors) == 9
    assert all(factor % 2 == 1 for factor in factors)


@pytest.mark.parametrize("n_features", [1, 200, 300, 70_000, 2**24 + 1, 2**31 - 1])
@given(seed=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(0, 200), max_size=4))
def test_counting_is_what_numpy_counts(n_features, seed, sizes):
    """Numbers of one to four bytes, in texts of any length."""
    rng = np.random.default_rng(seed)
    few = rng.integers(-1, n_features, 100)  # so that many repeat
    texts = [rng.choice([*few, *rng.integers(-1, n_features, 100)], size) for size in sizes]
    numbers = np.concatenate([*texts, []]).astype(np.int32)
    rows = count(numbers, np.cumsum([0, *sizes]), n_features)
    assert rows.indptr[0] == 0
    assert rows.n_rows == len(texts)
    for i, text in enumerate(texts):
        columns, counts = np.unique(text[text >= 0], return_counts=True)
        row = slice(rows.indptr[i], rows.indptr[i + 1])
        np.testing.assert_array_equal(rows.indices[row], columns)
        np.testing.assert_array_equal(rows.data[row], counts)


def shorten(state, name):
    state.arrays[name] = state.arrays[name][:-1]


def change(state, name, value, position=-1):
    state.arrays[name] = state.arrays[name].copy()
    state.arrays[name][position] = value


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (lambda state: shorten(state, "hashes"), "one name"),
        (lambda state: shorten(state, "name_lengths"), "one name"),
        (lambda state: shorten(state, "letters"), "follow one another"),
        (lambda state: shorten(state, "document_counts"), "count of documents"),
        (lambda state: change(state, "name_lengths", 2**30), "follow one another"),
        (lambda state: change(state, "name_lengths", -3, 0), "follow one another"),
        (lambda state: change(state, "hashes", state.arrays["hashes"][0]), "are the same"),
        (lambda state: change(state, "document_counts", -1), "no feature is in more"),
        (lambda state: change(state, "document_counts", 99), "no feature is in more"),
        (lambda state: state.settings.update(documents=-1), "documents is a count"),
        (lambda state: state.settings.update(documents="3"), "documents is a count"),
        (lambda state: state.arrays.pop("hashes"), "no array 'hashes'"),
        (
            lambda state: state.arrays.update(hashes=state.arrays["hashes"].astype(float)),
            "not uint64",
        ),
    ],
)
def test_a_tampered_state_is_refused(tamper, message):
    state = TextVectorizer(idf="smooth").fit(["corn wheat", "rye wheat"]).to_state()
    build(state)
    tamper(state)
    with pytest.raises(ModelFileError, match=message):
        build(state)


def compact_state(vectorizer):
    """What a compact file has, which whoever saves the vectorizer gets."""
    return vectorizer.to_state().compacted().copied()


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (lambda state: shorten(state, "hashes"), "one name"),
        (lambda state: shorten(state, "name_lengths"), "one name"),
        (lambda state: shorten(state, "letters"), "follow one another"),
        (lambda state: shorten(state, "document_counts"), "count of documents"),
        (
            lambda state: state.arrays.update(name_lengths=np.array([8, 7, 0], np.int32)),
            "follow one another",
        ),
        (
            lambda state: state.arrays.update(name_lengths=np.array([-1, 8, 7], np.int32)),
            "follow one another",
        ),
        (
            lambda state: state.arrays.update(name_lengths=np.array([4, 4, 4], np.int32)),
            "whole letters",
        ),
        (lambda state: change(state, "hashes", state.arrays["hashes"][0]), "are the same"),
        (
            lambda state: state.arrays.update(document_counts=np.array([1, 2, 99])),
            "no feature is in more",
        ),
        (
            lambda state: state.arrays.update(document_counts=np.array([1, 2, -1])),
            "no feature is in more",
        ),
    ],
)
def test_a_tampered_compact_state_is_refused(tamper, message):
    state = compact_state(TextVectorizer(idf="smooth").fit(["corn weiß", "rye weiß"]))
    assert build(state).get_feature_names_out().tolist() == ["corn", "weiß", "rye"]
    tamper(state)
    with pytest.raises(ModelFileError, match=message):
        build(state)


def test_letters_that_are_no_utf_8_are_refused():
    state = compact_state(TextVectorizer().fit(["corn weiß", "rye weiß"]))
    change(state, "letters", 0xFF)
    with pytest.raises(UnicodeDecodeError):  # of which ``load`` says that the file is damaged
        build(state)


def test_names_of_a_compact_file_are_there(tmp_path):
    texts = [f"word{n} größe{n % 700}" for n in range(1500)]
    model = Categorizer().fit(texts, [[str(n % 3)] for n in range(1500)])
    model.save(tmp_path / "model.shortlist", compact=True)
    names = model.text_.get_feature_names_out().tolist()
    for ask in (
        lambda opened: opened,
        lambda opened: pickle.loads(pickle.dumps(opened)),
        lambda opened: opened.learn("something new", ["0"]) or opened,
        lambda opened: (
            opened.save(tmp_path / "again.shortlist") or load(tmp_path / "again.shortlist")
        ),
    ):
        opened = load(tmp_path / "model.shortlist")
        assert opened.rank(texts[:9]).ids.tolist() == model.rank(texts[:9]).ids.tolist()
        assert ask(opened).text_.get_feature_names_out().tolist()[: len(names)] == names


def test_names_in_quotation_marks_are_known_whatever_becomes_of_a_vocabulary():
    def assert_known(vocabulary):
        names = vocabulary.names()
        assert vocabulary.quoted()[: len(names)].tolist() == [name[0] == '"' for name in names]

    one, other = (
        TextVectorizer(characters=(2, 3)).fit([text]).vocabulary_
        for text in ("corn größe", "größe rye")
    )
    assert_known(one)
    assert_known(one.first(4))
    assert_known(one.keep(np.arange(len(one)) % 3 != 1))
    before = len(one)
    one.merge(other)
    assert len(one) > before
    assert_known(one)
    assert not Vocabulary().quoted().any()


@pytest.mark.parametrize("some", [1, 2, 3, 5, 1 << 16])
def test_letters_are_checked_some_at_a_time(some, monkeypatch):
    monkeypatch.setattr(feature_names, "BYTES_CHECKED", some)
    for text in ("", "a", "weiß€𝄞" * 9, "\ud800x"):
        whole = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        check_letters(whole)
        if text.endswith("𝄞"):
            with pytest.raises(UnicodeDecodeError):
                check_letters(whole[:-1])


@given(st.lists(st.text(max_size=4), max_size=8))
def test_names_end_in_bytes_where_they_end_in_letters(names):
    codes = np.array([ord(letter) for name in names for letter in name], dtype=np.uint32)
    found, ends = encoded(codes, np.cumsum([len(name) for name in names], dtype=np.int64))
    in_bytes = [name.encode() for name in names]
    assert found.tobytes() == b"".join(in_bytes)
    assert ends.tolist() == np.cumsum([len(name) for name in in_bytes], dtype=np.int64).tolist()


@pytest.mark.parametrize(
    "settings", [{"ngrams": -1}, {"hashed": 2**40}, {"tf": 3}, {"min_length": "2"}]
)
def test_tampered_settings_are_refused(settings):
    state = TextVectorizer().fit(["corn wheat"]).to_state()
    state.settings.update(settings)
    with pytest.raises(ValueError, match=next(iter(settings))):
        build(state)


def test_parameters_changed_after_fitting_wait_for_the_next_fit():
    ours = TextVectorizer(prefix=2).fit(["corn wheat"])
    ours.set_params(ngrams=-1, prefix=1, hashed=3)  # kernels trust what was checked
    assert ours.transform(["corn wheat corn"]).toarray().tolist() == [[2, 2, 1, 1]]
    assert ours.to_state().settings["ngrams"] == 1


def test_an_interrupted_vectorizer_goes_on(monkeypatch):
    """Ctrl-C comes between two kernels: the words that are in, without names and counts, are
    forgotten again.
    """
    ours = TextVectorizer(idf="smooth").fit(["corn wheat"])

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Vocabulary, "name", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ours.partial_fit(["rye oats barley"])
    assert ours.rows(["rye corn"]).indices.tolist() == [0]
    ours.partial_fit(["millet rye"])
    assert list(ours.get_feature_names_out()) == ["corn", "wheat", "millet", "rye"]
    assert build(ours.to_state()).rows(["millet rye"]).indices.tolist() == [2, 3]


def test_a_state_is_whole_even_after_an_interruption(monkeypatch):
    ours = TextVectorizer(idf="smooth").fit(["corn wheat"])
    monkeypatch.setattr(Vocabulary, "name", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        ours.partial_fit([" ".join(f"word{i}" for i in range(5000))])
    monkeypatch.undo()
    assert build(ours.to_state()).rows(["corn word7"]).indices.tolist() == [0]
