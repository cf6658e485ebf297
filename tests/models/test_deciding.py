"""How sure a Categorizer is, what it lists and assigns, and that it learns as it would without."""

import copy
import pickle
import threading
import warnings

import numpy as np
import pytest

import shortlist as sl
from shortlist import concurrency as interrupts
from shortlist.confidence import observers as observing
from shortlist.confidence.calibrated import Reason
from shortlist.confidence.confidence import Confidence
from shortlist.errors import InputError, ModelFileError
from shortlist.files import store
from shortlist.learners.port import Stretch
from shortlist.models import text_learning
from tests.contract import as_bytes

LABELS = 12


def examples(n, seed=0, labels=LABELS, noise=0.5, several=False):
    """Texts of words that mostly belong to their labels; with ``noise`` 1 they say nothing of
    them.
    """
    random = np.random.default_rng(seed)
    texts, truth = [], []
    for _ in range(n):
        own = random.choice(labels, size=random.integers(1, 4) if several else 1, replace=False)
        words = [
            f"w{random.choice(own)}x{random.integers(5)}"
            if random.random() > noise
            else f"w{random.integers(labels)}x{random.integers(5)}"
            for _ in range(6)
        ]
        texts.append(" ".join(words))
        truth.append([f"label {label}" for label in own])
    return texts, truth


@pytest.fixture(scope="module")
def single():
    return sl.Categorizer().fit(*examples(2000))


@pytest.fixture(scope="module")
def several():
    return sl.Categorizer().fit(*examples(3000, several=True))


@pytest.fixture(scope="module")
def new():
    return examples(1500, seed=1)


def blind(monkeypatch):
    """Learning that asks nothing on the way."""

    class Blind(observing.FirstPass):
        def plan(self, learner, labels, order):
            return [Stretch(0, order.size, order[:0])]

    monkeypatch.setattr(text_learning, "FirstPass", Blind)
    monkeypatch.setattr(text_learning, "StreamObserver", lambda *_, **__: Blind())


@pytest.mark.parametrize(
    "learner",
    [
        None,
        sl.FeatureFocus(),
        sl.TunedIndex(passes=3),
        sl.TunedIndex(max_total_edges=100),
        sl.MMP(),
        sl.Rocchio(),
    ],
    ids=str,
)
@pytest.mark.parametrize("hashed", [None, 500])
def test_what_is_learned_is_the_same_bit_by_bit(monkeypatch, learner, hashed):
    text = sl.TextVectorizer(hashed=hashed)
    batches = [examples(n, seed=n) for n in (300, 1, 1, 40, 200)]

    def learned():
        fitted = sl.Categorizer(learner, text).fit(*batches[0])
        going_on = sl.Categorizer(learner, text).learn_many(*batches[0]).learn_batches(batches[1:])
        return [as_bytes(one.learner_) for one in (fitted, going_on)]

    watched = learned()
    blind(monkeypatch)
    assert watched == learned()


def test_probabilities_are_there_exactly_where_labels_are(single, new):
    ranking = single.rank([*new[0], "unknown", "w1x1"], k=20)
    assert (np.isnan(ranking.probabilities) == (ranking.ids < 0)).all()
    known = ranking.probabilities[ranking.ids >= 0]
    assert ((known >= 0) & (known <= 1)).all()
    one = single.rank(new[0][0], k=1)
    assert one.probabilities.tolist() == ranking.probabilities[0, :1].tolist()
    assert one.scores.tolist() == ranking.scores[0, :1].tolist()


@pytest.mark.parametrize("k", [1, 5, 8, LABELS])
@pytest.mark.parametrize("n", [0, 1, 6])
@pytest.mark.parametrize("whole_first", [True, False])
def test_a_part_of_a_ranking_has_its_probabilities_whoever_is_asked_first(
    single, new, n, k, whole_first
):
    texts = [*new[0][:4], "unknown", "w1x1"][:n]
    expected = single.confidence_.probabilities(single.rank(texts, LABELS).scores)[:, :k]
    ranking = single.rank(texts, k)
    asked = [(ranking.first(2), expected[:, :2]), (ranking._part(slice(1, 4)), expected[1:4])]
    asked += [(ranking[i], expected[i]) for i in range(n)]
    asked += [(single.rank(text, k), own) for text, own in zip(texts, expected, strict=True)]
    for part, own in (
        [(ranking, expected), *asked] if whole_first else [*asked, (ranking, expected)]
    ):
        assert part.probabilities.shape == part.scores.shape
        assert part.probabilities.tobytes() == own.tobytes()
    if n == 1:
        assert ranking[0].probabilities.tolist() == expected[0].tolist()


def test_probabilities_say_how_often_labels_are_right(single, new):
    texts, truth = new
    best = single.rank(texts, k=1)
    hits = [label[0] in own for label, own in zip(best.labels, truth, strict=True)]
    assert abs(best.probabilities.mean() - np.mean(hits)) < 0.05
    sure = best.probabilities[:, 0] > np.median(best.probabilities)
    assert np.mean(np.array(hits)[sure]) > np.mean(np.array(hits)[~sure])


def test_a_learner_by_itself_knows_no_probabilities(single):
    assert np.isnan(single.learner_.rank(np.ones((2, 3))).probabilities).all()


def test_little_has_been_learned_and_nothing_is_known():
    c = sl.Categorizer().learn("wheat exports rose", "grain")
    assert np.isnan(c.rank("wheat").probabilities).all()
    assert c.assign("wheat") == []
    assert [label for label, _ in c.shortlist("wheat")] == ["grain"]
    assert [row.threshold for row in c.automation([0.9])] == [np.inf]


@pytest.mark.parametrize("how", ["learn", "learn_many", "learn_batches"])
def test_a_stream_is_observed(how):
    texts, truth = examples(400)
    c = sl.Categorizer()
    if how == "learn":
        for text, labels in zip(texts, truth, strict=True):
            c.learn(text, labels)
    elif how == "learn_many":
        c.learn_many(texts, truth)
    else:
        c.learn_batches([(texts[:7], truth[:7]), (texts[7:], truth[7:])])
    assert 36 <= c.confidence_.observed <= 40
    assert not np.isnan(c.rank(texts[0]).probabilities[0])


def test_what_is_observed_does_not_depend_on_how_a_stream_is_cut():
    texts, truth = examples(400)
    made = []
    for size in (1, 7, 400):
        c = sl.Categorizer(text=sl.TextVectorizer())
        for first in range(0, 400, size):
            c.learn_many(texts[first : first + size], truth[first : first + size])
        seen = c.confidence_.window
        made.append([array.tobytes() for array in (seen.scores, seen.hits, seen.depth, seen.known)])
    assert made[0] == made[1] == made[2]


@pytest.mark.long
def test_the_number_of_threads_changes_nothing():
    made = []
    for n_jobs in (1, 4):
        c = (
            sl.Categorizer(sl.TunedIndex(n_jobs=n_jobs))
            .fit(*examples(6000))
            .learn_many(*examples(900, seed=3))
        )
        made.append(store.checksum(c.confidence_.to_state()))
    assert made[0] == made[1]


def test_lists_are_longer_for_more_coverage_and_keep_the_promise(single, new):
    texts, truth = new
    before = np.zeros(len(texts))
    for coverage in (0.5, 0.9, 0.95, 0.98):
        lists = single.shortlist(texts, coverage)
        lengths = np.array([len(one) for one in lists])
        assert (lengths >= before).all()
        before = lengths
        covered = [
            own[0] in [label for label, _ in one] for one, own in zip(lists, truth, strict=True)
        ]
        alone = coverage == 0.5  # the best label, which is always listed, is right more often
        assert np.mean(covered) > 0.8 if alone else abs(np.mean(covered) - coverage) < 0.03
    assert isinstance(single.shortlist(texts[0]), sl.Ranking)


def test_a_promise_that_no_list_can_keep_is_not_made_in_silence(single, new):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{w}" for w in rng.integers(0, 40, 4)) for _ in range(1500)]
    blind = sl.Categorizer().fit(texts, [f"label {label}" for label in rng.integers(0, 400, 1500)])
    with pytest.warns(
        UserWarning, match=r"coverage=0.9 cannot be promised: lists of at most 100 labels hold all"
    ):
        lists = blind.shortlist(texts[:50], 0.9)
    assert max(len(one) for one in lists) <= 100
    assert 0.0 < blind.confidence_.reachable() < 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blind.shortlist(texts[:50], 1.0)  # all that there is was asked for
        single.shortlist(new[0], 0.98)  # and where it can be promised nothing is said


def test_both_forms_for_several_labels(several):
    texts, truth = examples(1500, seed=1, several=True)
    lists = several.shortlist(texts, 0.8)
    covered = [
        set(own) <= {label for label, _ in one} for one, own in zip(lists, truth, strict=True)
    ]
    assert 0.78 < np.mean(covered) < 0.9
    lists = several.assign(texts, precision=0.8)
    right = [label in own for one, own in zip(lists, truth, strict=True) for label in one]
    assert len(right) > 100
    assert 0.77 < np.mean(right) < 0.9


def test_assigned_labels_meet_their_aim(single, several, new):
    texts, truth = new
    assigned = single.assign(texts, precision=0.9)
    assert {len(own) for own in assigned} == {0, 1}, "each text that was learned had one label"
    right = [own[0] in true for own, true in zip(assigned, truth, strict=True) if own]
    assert np.mean(right) > 0.87
    assert max(len(own) for own in several.assign(texts)) > 1


def test_a_text_without_labels_says_why(single):
    own = single.assign(
        ["nothing known", "w1x1 w1x2 w1x3 w1x0", "w1x1 w2x1 w3x1 w4x1 w5x1"], precision=0.95
    )
    assert own[0].reason is Reason.NO_KNOWN_WORD
    assert own[1] == ["label 1"]
    assert own[1].reason is Reason.ASSIGNED
    assert own[2] == []
    assert str(own[2].reason) in ("nothing sure enough", "unlike anything learned")
    assert single.assign("nothing known").reason is Reason.NO_KNOWN_WORD


def test_random_labels_are_not_assigned():
    c = sl.Categorizer().fit(*examples(3000, noise=1.0))
    assigned = c.assign(examples(1000, seed=1, noise=1.0)[0], precision=0.95)
    assert sum(map(len, assigned)) <= 10
    assert [row.share for row in c.automation([0.95])] == [pytest.approx(0, abs=0.01)]


def test_more_precision_leaves_less_to_decide_alone(single):
    table = single.automation([0.7, 0.8, 0.9])
    assert [row.precision for row in table] == [0.7, 0.8, 0.9]
    assert table[0].share >= table[1].share >= table[2].share > 0
    assert table[0].threshold <= table[1].threshold <= table[2].threshold
    with pytest.raises(InputError, match="precision"):
        single.automation([95])


def test_a_saved_model_answers_and_goes_on_alike(single, new, tmp_path):
    texts, truth = new
    single.save(tmp_path / "m")
    opened, kept = sl.load(tmp_path / "m"), copy.deepcopy(single)
    for model in (opened, kept, single.copy()):
        assert model.rank(texts).probabilities.tolist() == single.rank(texts).probabilities.tolist()
        assert model.assign(texts) == single.assign(texts)
    for model in (opened, kept):
        model.learn_many(texts, truth)
    assert as_bytes(opened) == as_bytes(kept)
    assert opened.confidence_.observed > single.confidence_.observed


def test_a_damaged_confidence_is_refused(single):
    state = single.to_state()
    state.parts["confidence"].settings.update(fitted_on=-1)
    with pytest.raises((ModelFileError, InputError), match="fitted_on"):
        store.build(state)


def test_learning_that_fails_is_not_observed(monkeypatch):
    c = sl.Categorizer().learn_many(*examples(400))
    before = store.checksum(c.confidence_.to_state())

    def fails(*_):
        raise MemoryError

    monkeypatch.setattr(sl.TunedIndex, "update", fails)
    with pytest.raises(MemoryError):
        c.learn_many(*examples(100, seed=1))
    assert store.checksum(c.confidence_.to_state()) == before


def test_a_fit_that_fails_leaves_what_was_known(single):
    c = single.copy()
    before = store.checksum(c.confidence_.to_state())
    with pytest.raises(InputError):
        c.fit([], [])
    assert store.checksum(c.confidence_.to_state()) == before
    c.fit(*examples(20))
    assert not c.confidence_.ready, "too few to say"


def test_one_decides_while_another_learns(single):
    c = single.copy()
    texts, truth = examples(600, seed=5)
    problems = []

    def decide():
        try:
            for _ in range(20):
                assert all(0 <= p <= 1 for own in c.assign(texts[:50]) for p in own.probabilities)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=decide) for _ in range(2)]
    for thread in threads:
        thread.start()
    for text, labels in zip(texts, truth, strict=True):
        c.learn(text, labels)
    for thread in threads:
        thread.join()
    assert not problems


def test_confidence_is_empty_where_it_cannot_be_had():
    c = sl.Categorizer(sl.Rocchio()).fit(*examples(300))
    assert store.checksum(c.confidence_.to_state()) == store.checksum(Confidence().to_state())
    c.learn_batches([examples(400, seed=n) for n in range(3)])
    assert store.checksum(c.confidence_.to_state()) == store.checksum(Confidence().to_state())


@pytest.mark.parametrize("learner", [sl.TunedIndex(), sl.MMP()], ids=str)
def test_learning_that_is_stopped_leaves_a_file_that_opens(monkeypatch, tmp_path, learner):
    c = sl.Categorizer(learner).learn_many(*examples(400))

    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupts, "RUN", 50)
    with monkeypatch.context() as now:
        now.setattr("shortlist.learners.batch_learner.stop_here", stop)
        with pytest.raises(KeyboardInterrupt):
            c.learn_many(*examples(120, seed=1, labels=40))
    assert c.learner_.n_examples_ == 450
    c.save(tmp_path / "m")
    assert as_bytes(sl.load(tmp_path / "m")) == as_bytes(c)
    c.learn_many(*examples(40, seed=2))


@pytest.mark.parametrize("verb", ["fit", "learn_many"])
def test_what_is_observed_was_not_yet_learned(verb):
    texts, truth = examples(1500, noise=1.0)
    # once learned, a word of its own gives a text away
    marked = [f"{text} own{n}" for n, text in enumerate(texts)]
    c = getattr(sl.Categorizer(), verb)(marked, truth)
    assert c.score(marked, truth) > 0.8
    seen = c.confidence_.window
    assert seen.hits[:, 0].mean() < 0.3


def test_probabilities_are_those_of_the_moment_of_ranking(single):
    c = single.copy()
    texts, truth = examples(4000, seed=7, noise=0.9)
    ranking, one, best = c.rank(texts[:50]), c.rank(texts[0]), c.rank(texts[:50], k=1)
    sent = pickle.loads(pickle.dumps(ranking))
    deeper = c.rank(texts[:50], k=20).scores
    at_once = c.confidence_.probabilities(deeper)[:, :5]
    c.learn_many(texts, truth)
    assert (c.confidence_.probabilities(deeper)[:, :5] != at_once).any()
    for found, expected in (
        (ranking, at_once),
        (sent, at_once),
        (one, at_once[0]),
        (best, at_once[:, :1]),
    ):
        assert found.probabilities.tolist() == expected.tolist()


@pytest.mark.parametrize("characters", [None, (3, 3)])
def test_a_text_without_a_known_word_is_not_decided(characters):
    texts, truth = examples(2000)
    c = sl.Categorizer(text=sl.TextVectorizer(characters=characters)).fit(texts, truth)
    new = ["w1x w2 1x1", texts[0], "", "w1x1"]  # of the first one, runs of characters are known
    assert (len(c.rank(new[0])) > 0) == (characters is not None)
    if characters is not None:
        assert c.text_.has_known_word(new).tolist() == [False, True, False, True]
    reasons = [own.reason for own in c.assign(new, precision=0.01)]
    assert reasons == [Reason.NO_KNOWN_WORD, Reason.ASSIGNED, Reason.NO_KNOWN_WORD, Reason.ASSIGNED]


def test_where_rows_or_nothing_can_tell_every_text_counts_as_known():
    for text in (
        sl.TextVectorizer(),
        sl.TextVectorizer(hashed=64),
        sl.TextVectorizer(characters=(1, 2)),
    ):
        c = sl.Categorizer(text=text).fit(*examples(100))
        assert c.text_.has_known_word(["zzz", ""]).all()


def strangers(texts, unknown=30):
    """The texts among words that nobody knows."""
    return [
        " ".join([text, *(f"zz{i}q{n}" for i in range(unknown))]) for n, text in enumerate(texts)
    ]


def test_a_text_of_which_little_is_known_is_not_decided(single, new):
    texts, _ = new
    own = single.assign(texts, precision=0.8)
    unlike = [one.reason is Reason.UNLIKE_ANYTHING_LEARNED for one in own]
    decided = [n for n, one in enumerate(own) if one]
    assert np.mean(unlike) < 0.03, "of texts like those that were learned, few are left out"
    assert len(decided) > 500
    for one in single.assign(strangers([texts[n] for n in decided[:100]]), precision=0.8):
        assert one == []
        assert one.reason is Reason.UNLIKE_ANYTHING_LEARNED
    hashed = sl.Categorizer(text=sl.TextVectorizer(hashed=512)).fit(*examples(1000))
    assert any(hashed.assign(strangers(texts[:20], 1), precision=0.01)), "there nobody can tell"


@pytest.mark.parametrize("verb", ["fit", "learn_many", "learn"])
def test_how_much_of_a_text_was_known_is_kept(verb):
    """Of each text the last word is new, and the others soon are not."""
    texts, truth = examples(600)
    marked = [f"{text} own{n}" for n, text in enumerate(texts)]
    c = sl.Categorizer(text=sl.TextVectorizer(ngrams=1, prefix=None))
    if verb == "learn":
        for text, labels in zip(marked, truth, strict=True):
            c.learn(text, labels)
    else:
        getattr(c, verb)(marked, truth)
    known = c.confidence_.window.known
    assert ((known > 0.0) & (known < 1.0)).all()
    # words of a text that are known, and the new one
    different = {np.float32(n / (n + 1)) for n in range(1, 7)}
    assert np.mean([share in different for share in known[-20:]]) == 1.0


def test_the_share_that_is_known_counts_each_feature_once():
    text = sl.TextVectorizer(ngrams=1, prefix=None).fit(["wheat rose", "corn fell"])
    given = ["wheat wheat wheat rye", "", "corn fell", "barley oats", "the corn"]
    assert text.known_share(given).tolist() == pytest.approx([0.5, 1.0, 1.0, 0.0, 0.5])
