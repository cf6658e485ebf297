"""Texts with vectors: learned, ranked and explained together, given or encoded; refused where
they do not fit.
"""

from functools import partial

import numpy as np
import pytest

from shortlist import Categorizer, InputError, ModelFileError, TextVectorizer, TunedIndex, load
from shortlist.data.texts import WithVectors
from shortlist.files.store import build
from shortlist.inputs.examples import Examples
from shortlist.models.encoding import name_of

TOPICS = ["grain", "money", "oil", "ship"]
WORDS = {"grain": "wheat corn", "money": "bank loan", "oil": "crude barrel", "ship": "port vessel"}
WIDE = 12


def meaning(texts):
    """A vector for each text: of its topic, if a word of it is there, with noise that the text
    itself decides.
    """
    centres = np.random.default_rng(0).normal(size=(4, WIDE))
    found = np.zeros((len(texts), WIDE))
    for i, text in enumerate(texts):
        for c, topic in enumerate(TOPICS):
            if any(word in text for word in (*WORDS[topic].split(), topic)):
                found[i] += centres[c]
        found[i] += 0.3 * np.random.default_rng(len(text)).normal(size=WIDE)
    return found


def stories(n=120, seed=0):
    random = np.random.default_rng(seed)
    topics = [TOPICS[c] for c in random.integers(4, size=n)]
    texts = [
        f"{random.choice(WORDS[topic].split())} {random.choice(list('abcdefg'))}{i} news"
        for i, topic in enumerate(topics)
    ]
    return texts, topics


def taught(**settings):
    texts, topics = stories()
    return Categorizer(**settings).fit(texts, topics, vectors=meaning(texts))


def test_vectors_say_what_words_cannot():
    model = taught()
    assert model.learner_.n_vector_ == model.n_vector_ > 0
    assert model.n_vector_ == WIDE
    unknown = ["unheard of", "of oil"]  # neither has a word that was learned
    assert model.rank(unknown[1], vector=meaning(["oil"])[0], k=1).labels.tolist() == ["oil"]
    assert model.predict(unknown, vectors=meaning(["ship", "oil"])).tolist() == ["ship", "oil"]
    assert model.score(unknown, ["ship", "oil"], vectors=meaning(["ship", "oil"])) == 1.0
    assert model.shortlist(unknown, vectors=meaning(["ship", "oil"]))[1].labels[0] == "oil"
    topics = sorted(stories()[1])  # predict_proba asks for labels in order
    ordered = Categorizer().partial_fit(stories()[0], topics, vectors=meaning(topics))
    with pytest.raises(InputError, match="not seen enough"):
        ordered.predict_proba(unknown, vectors=meaning(unknown))


def test_one_by_one_in_batches_and_at_once_are_the_same():
    texts, topics = stories()
    V = meaning(texts)
    singly = Categorizer(text=TextVectorizer())
    for text, topic, v in zip(texts, topics, V, strict=True):
        singly.learn(text, topic, vector=v)
    at_once = Categorizer(text=TextVectorizer()).learn_many(texts, topics, vectors=V)
    halves = [
        Examples(
            texts=WithVectors(texts[a : a + 60], V[a : a + 60].astype(np.float32)),
            labels=[[t] for t in topics[a : a + 60]],
        )
        for a in (0, 60)
    ]
    in_batches = Categorizer(text=TextVectorizer()).learn_batches(halves)
    expected = at_once.rank(texts, vectors=V).scores
    assert singly.rank(texts, vectors=V).scores.tobytes() == expected.tobytes()
    assert in_batches.rank(texts, vectors=V).scores.tobytes() == expected.tobytes()
    fitted = Categorizer().fit(texts, topics, vectors=V)
    assert (
        Categorizer().fit_batches(halves).rank(texts, vectors=V).scores.tobytes()
        == fitted.rank(texts, vectors=V).scores.tobytes()
    )


def test_zero_vectors_leave_the_words_as_they_are():
    texts, topics = stories()
    nothing = np.zeros((len(texts), 3))
    with_none, alone = (
        Categorizer().fit(texts, topics, vectors=nothing),
        Categorizer().fit(texts, topics),
    )
    assert (
        with_none.rank(texts, vectors=nothing).scores.tobytes()
        == alone.rank(texts).scores.tobytes()
    )
    assert list(with_none.explain(texts[0], "oil", vector=nothing[0])) == list(
        alone.explain(texts[0], "oil")
    )


def test_an_explanation_has_the_vector_in_one_line_and_adds_up():
    model = taught()
    text = stories()[0][0]
    v = meaning([text])[0]
    for label, score in model.rank(text, vector=v, k=4):
        found = model.explain(text, label, vector=v)
        assert found.score == score
        assert sum(vote for _, vote in found) == pytest.approx(score, abs=1e-12)
        assert [name for name, _ in found].count("(vector)") == 1
        assert [name for name, _ in found] == [
            name for name, _ in sorted(found, key=lambda one: -abs(one[1]))
        ]
    assert text.split()[0] in [name for name, _ in found]
    assert {name for name, _ in model.strongest("oil", 50)} & {"crude", "barrel"}


def test_an_encoder_does_it_by_itself(tmp_path):
    texts, topics = stories()
    codes = [f"{topic}1" for topic in topics]  # words would be encoded, too
    model = Categorizer(encoder=meaning).fit(texts, codes)
    given = Categorizer().fit(texts, codes, vectors=meaning(texts))
    assert (
        model.rank(texts).scores.tobytes()
        == given.rank(texts, vectors=meaning(texts)).scores.tobytes()
    )
    assert model.describe() | {"encoder": None} == given.describe() | {"encoder": None}
    assert model.describe()["vector"] == WIDE
    model.save(tmp_path / "m.shortlist")
    again = load(tmp_path / "m.shortlist")
    assert again.encoder is None
    with pytest.raises(
        InputError, match=r"vectors of 12 numbers, made by the encoder .*meaning: give vectors"
    ):
        again.rank("wheat")
    assert (
        again.rank("wheat", vector=meaning(["wheat"])[0]).scores.tobytes()
        == model.rank("wheat").scores.tobytes()
    )
    again.encoder = partial(meaning)
    assert again.rank("wheat").scores.tobytes() == model.rank("wheat").scores.tobytes()
    again.encoder = lambda given: meaning(given)
    with pytest.raises(InputError, match="mean nothing to the other"):
        again.rank("wheat")
    again.encoder = meaning
    again.learn("a new thing", "new")
    assert again.rank("a new thing", k=1).labels.tolist() == ["new"]
    assert model.copy().rank("wheat").scores.tobytes() == model.rank("wheat").scores.tobytes()
    assert (
        Categorizer(encoder=lambda given: np.ones((len(given), 3))).fit(texts, topics).n_vector_
        == 3
    )


def test_an_encoder_sees_each_text_once_and_many_at_a_time():
    seen = []

    def counting(given):
        seen.append(len(given))
        return meaning(given)

    texts, topics = stories(1500)
    model = Categorizer(encoder=counting).fit(texts, topics)
    assert seen == [1024, 476, 4]  # the texts, and the names of the labels
    seen.clear()
    model.rank(texts[:50])
    model.learn_many(texts[:3], topics[:3])
    assert seen == [50, 3]


def test_a_model_can_be_taught_more_labels_and_labels_can_change():
    model = taught()
    v = meaning(["wheat"])[0]
    before = dict(model.rank("wheat", vector=v, k=4))
    model.split_label("grain", "maize").rename_label("oil", "petroleum")
    after = dict(model.rank("wheat", vector=v, k=5))
    assert after["maize"] == pytest.approx(before["grain"])
    model.merge_labels(["maize"], "grain")
    # what both have learned is added up
    assert dict(model.rank("wheat", vector=v, k=5))["grain"] > before["grain"]
    for _ in range(3):
        model.learn("brand new", "other", vector=-v)
    assert model.rank("brand new", vector=-v, k=1).labels.tolist() == ["other"]


def test_fields_and_vectors():
    documents = [{"title": text, "body": "b"} for text in stories()[0]]
    model = Categorizer(encoder=meaning).fit(documents, stories()[1])
    assert model.rank({"title": "crude", "body": ""}, k=1).labels.tolist() == ["oil"]


REFUSED = [
    (lambda m, v: m.rank("wheat"), "was learned with vectors of 12 numbers: give vectors"),
    (
        lambda m, v: m.learn("wheat", "grain"),
        "was learned with vectors of 12 numbers: give vectors",
    ),
    (lambda m, v: m.rank("wheat", vector=v[:5]), "vectors of 12 numbers, and these have 5"),
    (
        lambda m, v: m.learn("wheat", "grain", vector=[*v, 1.0]),
        "vectors of 12 numbers, and these have 13",
    ),
    (
        lambda m, v: m.rank("wheat", vector=np.full(WIDE, np.nan)),
        r"vectors\[0\] holds a number that is not finite",
    ),
    (
        lambda m, v: m.rank("wheat", vector=np.full(WIDE, 1e300)),
        r"vectors\[0\] holds a number that is not finite",
    ),
    (lambda m, v: m.rank("wheat", vector=["a"] * WIDE), "vectors must hold numbers"),
    (lambda m, v: m.rank("wheat", vector=[[1.0], [1.0, 2.0]]), "vectors must hold numbers"),
    (lambda m, v: m.rank("wheat", vector=None, vectors=[v]), "vectors are for many texts"),
    (lambda m, v: m.rank(["wheat"], vector=v), "vector is for one text"),
    (lambda m, v: m.rank(["wheat"], vectors=[v, v]), "a row of numbers for each text, 1 row, not"),
    (lambda m, v: m.rank(["wheat"], vectors=[[]]), "a row of numbers for each text, 1 row, not"),
    (
        lambda m, v: m.fit(["wheat"], ["grain"], vectors=v),
        "a row of numbers for each text, 1 row, not",
    ),
    (
        lambda m, v: Categorizer().learn("wheat", "grain").rank("wheat", vector=v),
        "learned without vectors",
    ),
    (
        lambda m, v: Categorizer().learn("wheat", "grain").learn("wheat", "grain", vector=v),
        "learned without vectors",
    ),
    (
        lambda m, v: Categorizer("mmp").learn("wheat", "grain", vector=v),
        "need the learner TunedIndex",
    ),
    (
        lambda m, v: Categorizer(encoder=lambda given: v).fit(["wheat"], ["a"]),
        "what the encoder .* made of the texts",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED)
def test_what_does_not_fit_is_refused_in_a_sentence_and_changes_nothing(call, sentence):
    model, v = taught(), meaning(["wheat"])[0]
    before = model.rank("wheat", vector=v).scores
    with pytest.raises(InputError, match=sentence):
        call(model, v)
    assert model.rank("wheat", vector=v).scores.tobytes() == before.tobytes()
    assert model.learner_.n_examples_ == 120


def test_memory_is_bounded_with_vectors():
    texts, topics = stories()
    V = meaning(texts)
    model = Categorizer(max_memory="64MB").fit(texts, topics, vectors=V)
    assert (
        model.rank(texts, vectors=V).scores.tobytes()
        == taught().rank(texts, vectors=V).scores.tobytes()
    )
    model.bound_._forget_rarest(50)
    assert model.rank("wheat", vector=V[0], k=1).labels.size == 1
    assert model.explain(texts[-1], "oil", vector=V[-1]).votes
    wide = np.ones((1, 4096))
    with pytest.raises(InputError, match="max_memory is too small for 1,000 labels"):
        Categorizer(max_memory="64MB").learn_many(["a"], ["b"], vectors=wide).learn_many(
            ["c"] * 999, [f"label {c}" for c in range(999)], vectors=np.repeat(wide, 999, axis=0)
        )


def test_settings_of_the_learner_stay():
    model = taught(learner=TunedIndex(step=0.1, passes=1, n_jobs=2))
    own = model.learner_.get_params()
    assert (own["step"], own["passes"], own["n_jobs"], own["vector"]) == (0.1, 1, 2, WIDE)


def test_a_model_that_had_vectors_can_be_fitted_without(tmp_path):
    taught().save(tmp_path / "m.shortlist")
    again = load(tmp_path / "m.shortlist").fit(*stories())
    assert again.n_vector_ == 0
    assert again.rank("wheat", k=1).labels.tolist() == ["grain"]


def test_who_made_the_vectors():
    class Static:
        def __call__(self, given):
            return meaning(given)

        def encode(self, given):
            return meaning(given)

    assert name_of(Static()).endswith("Static")
    assert name_of(Static().encode).endswith("Static.encode")
    assert name_of(partial(meaning)) == name_of(meaning)


@pytest.mark.parametrize("name", [3, ["x"], {}])
def test_a_file_whose_encoder_has_no_name_is_refused(name):
    state = taught().to_state()
    state.settings["encoder"] = name
    with pytest.raises(ModelFileError):
        build(state)
