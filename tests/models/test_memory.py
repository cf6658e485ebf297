"""A bound on memory: it holds, it is said, words and edges stay in step, and if not reached it
changes nothing.
"""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from shortlist import Categorizer, FeatureFocus, InputError, Rocchio, TextVectorizer, load
from shortlist.confidence.calibration_examples import MOST_BYTES
from shortlist.data.labels import numbered
from shortlist.data.validation import as_size
from shortlist.models.memory import LEAST, MOST, Bound, RoomMade
from tests.contract import as_bytes

BOUND = 70_000_000


def stream(n_batches, size=500, new_words=20, seed=0):
    """Texts with words that tell the label, which keep coming, and words that are met once."""
    random = np.random.default_rng(seed)
    for _ in range(n_batches):
        labels = random.zipf(1.3, size) % 300
        noise = random.integers(0, 10**9, (size, new_words))
        yield (
            [
                f"topic{c} theme{c % 50} " + " ".join(f"x{n}" for n in own)
                for c, own in zip(labels, noise, strict=True)
            ],
            [[f"label {c}", f"kind {c % 7}"] for c in labels],
        )


SCRIPT = """
import re, warnings
from pathlib import Path
from shortlist import Categorizer
from tests.models.test_memory import stream

def resident():  # the most so far; getrusage would count what the parent held before this program began
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

warnings.simplefilter("ignore")
getattr(Categorizer(), "{how}")(stream(3)).rank("topic1")  # compiles, and fills what the libraries fill once
model, before = Categorizer(max_memory={bound}), resident()
getattr(model, "{how}")(stream({batches}))
ranked = model.rank("topic1 theme1", 3).labels.tolist()
model.save("{path}")
print(resident() - before, len(model.text_.vocabulary_), model.learner_.n_edges_, model.forgotten_["words"], ranked)
"""


def learned_elsewhere(bound, how, path):
    """What a process of its own says: by how much it has grown, words, words forgotten, a
    ranking.
    """
    script = SCRIPT.format(bound=bound, how=how, batches=60, path=path)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    grown, words, _, forgotten, ranked = done.stdout.split(maxsplit=4)
    return int(grown), int(words), int(forgotten), ranked


@pytest.fixture(scope="module")
def without_a_bound(tmp_path_factory):
    if not Path("/proc/self/status").exists():
        pytest.skip("the system does not say how much memory a process has used at most")
    return learned_elsewhere(
        None, "learn_batches", tmp_path_factory.mktemp("free") / "model.shortlist"
    )


@pytest.mark.long
@pytest.mark.parametrize("how", ["learn_batches", "fit_batches"])
def test_resident_memory_stays_below_the_bound(how, without_a_bound, tmp_path):
    free, words, forgotten, _ = without_a_bound
    assert free > 1.5 * BOUND, "the stream would not have filled the memory"
    assert words > 990_000
    assert forgotten == 0
    capped()  # compiles what making room needs, which takes memory of its own
    path = tmp_path / "model.shortlist"
    bound, words, forgotten, ranked = learned_elsewhere(BOUND, how, path)
    assert bound < BOUND
    assert forgotten > 500_000
    assert words * MOST.word < BOUND
    assert "label 1" in ranked
    assert load(path).rank("topic2 theme2", 3).labels[0] in ("label 2", "kind 2")


def capped(**options):
    words = TextVectorizer(tf="log", idf="smooth")
    model = Categorizer(FeatureFocus(margin=0.3, **options), words, max_memory=LEAST)
    with pytest.warns(RoomMade, match="from now on the rarest words"):
        model.learn_batches(stream(20))
    return model


@pytest.mark.long
def test_words_and_index_stay_in_step():
    model = capped()
    n = len(model.text_.vocabulary_)
    assert n == model.learner_.n_features_in_ == model.text_.n_features_
    assert model.learner_.n_edges_ * MOST.edge < LEAST
    seen = model.learner_.times_seen()
    names = model.text_.names(range(n))
    assert {"topic1", "topic2", "theme1"} <= set(names), "words that keep coming are not forgotten"
    gone = next(word for texts, _ in stream(1) for word in texts[0].split() if word.startswith("x"))
    assert gone not in names
    assert model.rank(gone).labels.tolist() == [None] * 5, "a word that was forgotten says nothing"
    documents = model.text_._weighting.u[:n]
    assert np.array_equal(documents, seen), "the counts of words and of features agree"
    votes = dict(model.explain("topic1 theme1", "label 1").votes)
    assert votes["topic1"] > 0.3
    model.learn(f"{gone} again", ["label 1"])  # a forgotten word comes back as a new one
    assert model.text_.names([len(model.text_.vocabulary_) - 2]) == [gone]


def test_words_and_edges_share_three_quarters():
    """The other quarter is for rows being learned and batches on their way; how sure it is
    comes first.
    """
    model = Categorizer(FeatureFocus(margin=0.3), TextVectorizer(), max_memory=LEAST)
    most = edges = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoomMade)
        for texts, labels in stream(12, new_words=30):
            model.learn_many(texts, labels)
            vocabulary = model.text_.vocabulary_
            most = max(most, MOST.word * len(vocabulary) + MOST.name_byte * int(vocabulary.n_bytes))
            edges = max(edges, model.learner_.n_edges_)
    assert model.forgotten_["words"] > 0
    half = (3 * LEAST // 4 - MOST_BYTES) // 2
    assert 0.88 * half < most <= half, "half of three quarters, and not much less"
    assert MOST.edge * edges <= half


def test_rows_are_learned_when_they_fill_a_sixteenth():
    bound = Bound(LEAST, TextVectorizer(), FeatureFocus())
    held = []
    for rows, labels in bound.windows(
        (texts, None, numbered(labels, len(texts))) for texts, labels in stream(100, new_words=0)
    ):
        assert rows.n_rows == labels.sets.indptr.size - 1
        held.append(MOST.entry * rows.n_entries + MOST.label // 4 * rows.n_rows)
    assert len(held) == 2
    batch = sum(held) / 100
    assert LEAST // 16 < held[0] < LEAST // 16 + 2 * batch
    assert held[1] < LEAST // 16


@pytest.mark.long
def test_a_model_from_a_file_goes_on_as_the_saved_one_would_have(tmp_path):
    model = capped()
    model.save(tmp_path / "model.shortlist")
    loaded = load(tmp_path / "model.shortlist")
    assert loaded.max_memory == LEAST
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoomMade)
        for again in (model, loaded):
            again.learn_batches(stream(20, seed=1))
    assert loaded.forgotten_["words"] > 0
    assert as_bytes(loaded) == as_bytes(model)


def test_what_was_forgotten_is_still_known_when_a_label_has_another_name():
    model = capped()
    before = model.forgotten_
    with warnings.catch_warnings():
        warnings.simplefilter("error", RoomMade)  # it was said once
        model.rename_label("label 1", "label one").learn("topic1 theme1", "label one")
    assert before["words"] > 0
    assert model.forgotten_ == before


@pytest.mark.long
@pytest.mark.parametrize("how", ["fit_batches", "learn_batches"])
def test_a_bound_that_is_not_reached_changes_nothing(how):
    free = getattr(Categorizer(), how)(stream(3))
    bound = getattr(Categorizer(max_memory="200MB"), how)(stream(3))
    assert bound.forgotten_ == {"words": 0, "edges": 0}
    assert as_bytes(bound.set_params(max_memory=None)) == as_bytes(free)


@pytest.mark.long
def test_fitting_more_than_there_is_room_for_at_a_time_still_learns_all():
    model = Categorizer(max_memory=LEAST)
    with pytest.warns(RoomMade):
        model.fit_batches(stream(30))
    assert model.learner_.n_examples_ == 15_000
    texts, labels = next(stream(1, seed=2))
    assert model.score(texts, labels) > 0.8


def test_hashed_columns_need_no_words():
    text = TextVectorizer(hashed=1 << 14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoomMade)
        model = Categorizer(text=text, max_memory=LEAST).learn_batches(stream(5))
    assert model.forgotten_["words"] == 0
    with pytest.raises(InputError, match="too small for hashed"):
        Categorizer(text=TextVectorizer(hashed=1 << 24), max_memory=LEAST).learn("a text", "label")


def test_what_cannot_be_bounded_says_so():
    for model, sentence in (
        (Categorizer(Rocchio(), max_memory="1GB"), "needs a learner that can make room"),
        (Categorizer(max_memory="1 MB"), "at least 64 MB"),
        (Categorizer(max_memory="much"), "a number of bytes"),
    ):
        with pytest.raises(InputError, match=sentence):
            model.learn("a text", "label")
    many = [[f"{'label' * 40} {n}"] for n in range(30_000)]
    model = Categorizer(max_memory=LEAST).learn("a text", "label")
    with pytest.raises(InputError, match="too small for 30,001 labels"):
        model.learn_many(["text"] * 30_000, many)
    assert model.classes_.tolist() == ["label"], "what is refused is not learned"


def test_sizes():
    assert [as_size(size, "size") for size in (5, "5", "2GB", "1.5 kB")] == [5, 5, 2 * 10**9, 1500]
