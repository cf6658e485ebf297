"""A stream that comes sorted by label promises nothing until it is mixed; lists of few examples
say so.
"""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import shortlist as sl
from shortlist.confidence.calibration import SURE, safe_level
from shortlist.confidence.sorted_streams import LEAST_EXAMPLES_OF_A_RUN, RUN_WINDOW, Runs
from shortlist.data.labels import LabelSets
from tests.cli.conftest import run  # noqa: F401 - a fixture

WORDS = ["wheat", "bank", "goal", "ship", "gold"]


def noted(sets, cuts=()):
    """Runs of these label sets, taken up in parts; and what each part found."""
    runs, counts, found = Runs(), np.zeros(10, dtype=np.int64), []
    for own in np.split(np.arange(len(sets)), cuts):
        some = [sets[i] for i in own.tolist()]
        for labels in some:
            counts[labels] += 1
        more, runs = runs.after(LabelSets.of(some), np.arange(len(some)), counts)
        found += more.tolist()
    return runs, found


SETS = st.lists(st.lists(st.integers(0, 4), unique=True, max_size=2), min_size=1, max_size=120)


@given(SETS, st.lists(st.integers(0, 120), max_size=5))
def test_it_does_not_matter_how_a_stream_is_cut(sets, cuts):
    cuts = sorted(cut for cut in cuts if cut < len(sets))
    runs, found = noted(sets, cuts)
    others, same = noted(sets)
    assert found == same
    assert (
        runs.to_settings()
        == others.to_settings()
        == Runs.from_settings(runs.to_settings()).to_settings()
    )


@given(SETS)
def test_as_counted_anew_for_each_example(sets):
    _, found = noted(sets)
    for n in range(1, len(sets) + 1):
        last, same = set(), []
        for own in sets[:n]:
            same.append(bool(last & set(own)))
            last = set(own) or last
        mixed = any(set(b) - set(a) or set(a) - set(b) for a, b in pairwise(sets[:n]))
        expected = sum(sum(label in own for own in sets[:n]) ** 2 for label in range(5)) / n**2
        share = np.mean(same[-RUN_WINDOW:])
        if n < LEAST_EXAMPLES_OF_A_RUN or (
            mixed and expected < 0.9 and any(set(own) for own in sets[:n]) and not share
        ):
            assert not found[n - 1]
        elif expected < 0.9 and share > expected + 0.5 * (1 - expected) + 1e-9:
            assert found[n - 1]


def texts_of(labels, seed=0):
    draws = np.random.default_rng(seed)
    return [f"{WORDS[label]} word{draws.integers(30)} word{draws.integers(30)}" for label in labels]


def test_sorted_streams_promise_nothing_until_they_are_mixed():
    draws = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 200)
    model = sl.Categorizer().learn_many(texts_of(labels), [WORDS[label] for label in labels])
    assert model.confidence_.runs.now
    with pytest.warns(UserWarning, match="came sorted by label"):
        assert model.assign("wheat word3 word4", precision=0.9) == []
    with pytest.warns(UserWarning, match="came sorted by label"):
        assert len(model.shortlist("wheat word3 word4", 0.9)) >= 2
    assert np.isnan(model.rank("wheat word3 word4").probabilities).all()
    mixed = draws.integers(0, 5, 500)
    model.learn_many(texts_of(mixed, 1), [WORDS[label] for label in mixed])
    assert not model.confidence_.runs.now
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.assign("wheat word3 word4", precision=0.9) == ["wheat"]


def test_a_model_file_remembers_that_its_stream_is_sorted(tmp_path):
    labels = np.repeat(np.arange(5), 40)
    model = sl.Categorizer().learn_many(texts_of(labels), [WORDS[label] for label in labels])
    model.save(tmp_path / "m.shortlist")
    assert sl.load(tmp_path / "m.shortlist").confidence_.runs.now


@given(st.integers(1, 400), st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.5]))
def test_a_level_that_is_safe(n, alpha):
    """Of n examples the k-th covers at least 1 − α with a chance of SURE: the binomial count of
    n is below k.
    """
    level = safe_level(n, alpha)
    k = int(np.ceil((n + 1) * (1 - level) - 1e-9))
    if k <= n:
        assert binom.cdf(k - 1, n, 1 - alpha) >= SURE or level == alpha
    else:
        assert binom.cdf(n - 1, n, 1 - alpha) < SURE
    assert level <= alpha


def test_lists_of_too_few_examples_say_so():
    draws = np.random.default_rng(1)
    labels = draws.integers(0, 5, 70)
    model = sl.Categorizer().fit(texts_of(labels), [WORDS[label] for label in labels])
    assert model.confidence_.ready
    with pytest.warns(
        UserWarning, match=r"coverage=0.98 cannot be promised: lists of at most 100 labels"
    ):
        model.shortlist("wheat word1", 0.98)


def test_the_terminal_says_that_a_file_is_sorted(run, tmp_path):  # noqa: F811
    lines = [f"__label__{WORDS[n // 40]} {WORDS[n // 40]} word{n % 30}\n" for n in range(200)]
    (tmp_path / "sorted.txt").write_text("".join(lines))
    assert run("train", "sorted.txt", "--format", "fasttext").code == 0
    said = run("learn", "sorted.shortlist", "sorted.txt", "--format", "fasttext")
    assert "the examples came sorted by label" in said.err


def test_many_texts_in_a_row_with_none_of_the_labels_are_no_sorted_stream():
    draws = np.random.default_rng(0)
    labels = draws.integers(0, 5, 600)
    model = sl.Categorizer().fit(texts_of(labels), [WORDS[label] for label in labels])
    assert model.assign("wheat word3 word4", precision=0.9)
    for n in range(100):
        model.learn(f"parcel number{n % 9} neighbour{n % 7}", [], complete=True)
    assert not model.confidence_.runs.now
    assert model.assign("wheat word3 word4", precision=0.9)
