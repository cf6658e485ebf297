"""Spot checks: a bound that holds at every look, a pause when a target is not held, and who
calibrates.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.confidence.calibrated import Reason
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.spot_checks import (
    BETS,
    ERROR_OF_BOUND,
    TARGETS,
    Examined,
    SpotChecks,
    draw_of,
    drawn_for_check,
    least_mean,
    place_of_target,
    share_to_draw,
)
from shortlist.errors import InputError
from tests.reference import confidence as twin

AT_95 = place_of_target(0.95)


def checks_of(outcomes, checks=None):
    """Checks that would all be decided, with these outcomes."""
    checks = checks or SpotChecks()
    for outcome in outcomes:
        checks.note(np.ones(TARGETS.size, dtype=bool), np.full(TARGETS.size, float(outcome)))
    return checks


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0]), min_size=1, max_size=60))
def test_the_bound_is_that_of_its_twin(outcomes):
    assert least_mean(sum(outcomes), len(outcomes)) == pytest.approx(
        twin.least_mean(outcomes, BETS.tolist(), ERROR_OF_BOUND), abs=1e-6
    )


@given(st.lists(st.booleans(), max_size=300))
def test_the_pause_is_that_of_its_twin(outcomes):
    checks = SpotChecks()
    paused = []
    for outcome in outcomes:
        checks_of([outcome], checks)
        paused.append(checks.examined(0.95).paused)
    assert paused == twin.pauses([float(outcome) for outcome in outcomes], 0.95)


@pytest.mark.parametrize("kind", ["steady", "falling", "alternating", "several labels"])
def test_the_bound_covers_at_every_look(kind):
    """2,000 streams of 5,000 decisions, 500 of each kind; each look from the tenth on counts."""
    draws = np.random.default_rng(8)
    n_streams = 500
    length = 5000
    n_missed = 0
    for _ in range(n_streams // 50):
        level = draws.uniform(0.5, 0.999, (50, 1))
        chance = np.repeat(level, length, axis=1)
        if kind == "falling":
            chance *= np.linspace(1.0, 0.7, length)
        if kind == "alternating":
            chance[:, ::2] = 1.0
        right = (draws.random(chance.shape) < chance).astype(np.float64)
        if kind == "several labels":  # half of the labels of a text are right
            right = (right + (draws.random(chance.shape) < chance)) / 2.0
        counts = np.arange(1, length + 1)
        mean = np.cumsum(chance, axis=1) / counts
        won = np.zeros(chance.shape)
        for bet in BETS:
            won += np.exp(
                np.minimum(
                    bet * np.cumsum(right, axis=1) - counts * np.log1p(mean * np.expm1(bet)), 50
                )
            )
        is_above = won / BETS.size >= 1.0 / ERROR_OF_BOUND  # the bound is above the true mean
        n_missed += int(is_above[:, 9:].any(axis=1).sum())
    assert n_missed <= ERROR_OF_BOUND * n_streams


def test_deciding_pauses_within_100_checks_and_goes_on():
    draws = np.random.default_rng(1)
    needed = []
    for _ in range(50):
        checks = checks_of(draws.random(100) < 0.97)
        n_before = checks.n_checks
        while not checks.examined(0.95).paused:
            checks_of([draws.random() < 0.7], checks)
        needed.append(checks.n_checks - n_before)
        while checks.examined(0.95).paused:
            checks_of([draws.random() < 0.99], checks)
        assert checks.examined(0.95).n_checked == 0  # the bound begins anew
    assert max(needed) <= 100


def test_a_target_that_is_held_is_hardly_ever_paused():
    draws = np.random.default_rng(2)
    n_paused = sum(checks_of(draws.random(500) < 0.96).examined(0.95).paused for _ in range(40))
    assert n_paused <= 2


def test_a_target_that_is_missed_is_not_resumed():
    draws = np.random.default_rng(3)
    n_resumed = 0
    for _ in range(40):
        checks = checks_of([0.0] * 20)
        assert checks.examined(0.95).paused
        checks_of(draws.random(200) < 0.85, checks)
        n_resumed += not checks.examined(0.95).paused
    assert n_resumed <= 2


def test_in_words():
    assert str(SpotChecks().examined(0.95)) == "no spot checks yet"
    undecided = SpotChecks()
    undecided.note(np.zeros(TARGETS.size, dtype=bool), np.zeros(TARGETS.size))
    assert str(undecided.examined(0.95)) == "1 checked, none of them would have been decided"
    examined = checks_of([1] * 90 + [0] * 2).examined(0.95)
    assert str(examined).startswith("97.8% right, at least 90")
    assert str(examined).endswith("%, 92 checked")


@pytest.mark.parametrize(
    ("precision", "target"), [(0.95, 0.95), (0.96, 0.95), (0.1, 0.5), (1.0, 0.995), (0.949, 0.925)]
)
def test_the_next_lower_target_stands_for_a_precision(precision, target):
    assert SpotChecks().examined(precision).target == target


def test_texts_are_drawn_by_their_keys_alone():
    keys = [f"text {n}" for n in range(20_000)]
    drawn = {key for key in keys if drawn_for_check(key)}
    assert 850 < len(drawn) < 1150
    assert {key for key in keys if drawn_for_check(key, 0.02)} < drawn
    assert drawn < {key for key in keys if drawn_for_check(key, 0.2)}
    assert 0.0 <= draw_of("text 1") == draw_of("text 1") < 1.0
    with pytest.raises(InputError, match="share"):
        drawn_for_check("text 1", 1.5)


def test_more_are_drawn_while_there_are_few_or_deciding_is_paused():
    def share(n_checked, paused=False):
        return share_to_draw(Examined(0.95, n_checked, n_checked, 1.0, 0.9, paused))

    assert share(0) > share(100) > share(1000) > 0
    assert share(0) == share(5000, paused=True)


# With models.


def texts_of(n, seed, labels=6, noise=0.0):
    draws = np.random.default_rng(seed)
    texts = []
    truth = []
    for _ in range(n):
        label = int(draws.integers(labels))
        words = [f"w{label}-{draws.integers(12)}" for _ in range(4)]
        words += [f"any{draws.integers(30)}" for _ in range(3)]
        texts.append(" ".join(words))
        if draws.random() < noise:
            label = int(draws.integers(labels))
        truth.append(f"label {label}")
    return texts, truth


def fitted():
    return sl.Categorizer().fit(*texts_of(800, seed=1))


def test_only_checks_calibrate_once_there_are_any():
    model = fitted()
    n_observed = model.confidence_.observed
    model.learn_many(*texts_of(200, seed=2))
    assert model.confidence_.observed == n_observed + 20
    model.learn_many(*texts_of(40, seed=3), checked=True)
    assert model.confidence_.observed == n_observed + 60
    assert model.examined().n_checked == 40
    model.learn_many(*texts_of(200, seed=4))
    assert model.confidence_.observed == n_observed + 60
    assert model.confidence_.window.checked.sum() == 40


def test_checks_are_the_same_one_by_one_and_together(tmp_path):
    texts, truth = texts_of(150, seed=5, noise=0.1)
    together = fitted().learn_many(texts, truth, checked=True)
    one_by_one = fitted()
    for n, (text, label) in enumerate(zip(texts, truth, strict=True)):
        one_by_one.learn(text, label, checked=True)
        if n == 70:
            one_by_one.save(tmp_path / "m.shortlist")
            one_by_one = sl.load(tmp_path / "m.shortlist")
        if n % 7 == 0:
            one_by_one.assign(text, precision=0.9)
    # rankings of a batch are made before its stretch is learned, so only counts are the same
    assert together.examined().n_checked == one_by_one.examined().n_checked == 150
    again = fitted()
    for text, label in zip(texts, truth, strict=True):
        again.learn(text, label, checked=True)
    assert repr(again.examined(0.9)) == repr(one_by_one.examined(0.9))
    assert again.confidence_.threshold(again.aim(0.9)) == one_by_one.confidence_.threshold(
        one_by_one.aim(0.9)
    )


def test_a_model_pauses_says_so_and_goes_on(tmp_path):
    model = fitted()
    texts, truth = texts_of(300, seed=6)
    assert any(model.assign(texts[:20], precision=0.95))
    swapped = {f"label {n}": f"label {(n + 1) % 6}" for n in range(6)}
    n_checks = 0
    while not model.examined(0.95).paused:
        model.learn(texts[n_checks], swapped[truth[n_checks]], checked=True)
        n_checks += 1
        assert n_checks < 100
    (decision,) = model.assign([texts[0]], precision=0.95)
    assert decision == []
    assert decision.reason == Reason.PAUSED_BY_SPOT_CHECKS
    assert str(decision.reason) == "paused by spot checks"
    assert not any(row.share for row in model.automation([0.95]))
    assert any(model.assign(texts[:20]))  # without a promise it goes on
    model.save(tmp_path / "paused.shortlist")
    model = sl.load(tmp_path / "paused.shortlist")
    assert model.examined(0.95).paused
    more, truth_of_more = texts_of(2000, seed=7)
    for n, (text, label) in enumerate(zip(more, truth_of_more, strict=True)):
        model.learn(text, swapped[label], checked=n % 5 == 0)
    assert not model.examined(0.95).paused
    assert any(model.assign(more[:20], precision=0.95))


def test_checks_make_up_for_a_sorted_stream():
    model = sl.Categorizer().learn_many(*texts_of(600, seed=1))
    model.learn_many(*texts_of(40, seed=8), checked=True)
    model.learn_many([f"w9-{n % 5} any1" for n in range(100)], ["label 9"] * 100)
    assert model.confidence_.runs.now
    assert any(model.assign(texts_of(20, seed=9)[0], precision=0.9))


def test_a_check_needs_all_labels():
    model = fitted()
    with pytest.raises(InputError, match="a spot check needs all labels"):
        model.learn("w1-1 w1-2", ["label 1"], wrong=["label 2"], complete=False, checked=True)
    model.learn("w1-1 w1-2", ["label 1"], wrong=["label 2"], complete=True, checked=True)
    model.learn("any1 any2", [], complete=True, checked=True)


def test_rows_are_checked_as_texts_are():
    draws = np.random.default_rng(0)
    rows = draws.random((400, 20)) * (draws.random((400, 20)) < 0.3)
    labels = rows[:, :5].argmax(axis=1)
    model = sl.RowCategorizer().fit(rows[:300], labels[:300])
    model.partial_fit(rows[300:], labels[300:], checked=True)
    assert model.examined(0.9).n_checked == 100


def test_damaged_checks_are_refused():
    state = checks_of([1] * 5).to_state()
    for name, value in (("right", -1.0), ("against", np.nan), ("checked", -1), ("resuming", -1.0)):
        damaged = state.copied()
        damaged.arrays[name][0] = value
        with pytest.raises(sl.ModelFileError):
            SpotChecks.from_state(damaged)


def test_a_file_without_checks_is_read(tmp_path):
    confidence = fitted().confidence_
    state = confidence.to_state()
    del state.parts["checks"]
    del state.settings["new"]
    window = state.parts["window"]
    state.parts["window"] = type(window)(
        window.kind,
        window.settings,
        {name: array for name, array in window.arrays.items() if name != "checked"},
    )
    read = Confidence.from_state(state)
    assert read.checks.n_checks == 0
    assert read.window.n_examples == confidence.window.n_examples
    assert not math.isnan(read.reachable())
