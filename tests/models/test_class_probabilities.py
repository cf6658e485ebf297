"""Probabilities and predictions in scikit-learn's form."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import label_binarize

import shortlist as sl
from shortlist.data.ranking import Ranking
from shortlist.errors import InputError
from shortlist.learners.predictions import (
    probabilities_by_column,
    probabilities_summing_to_one,
)
from tests.models.test_deciding import LABELS, examples

NAMES = sorted(f"label {n}" for n in range(LABELS))
FOLDS = KFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def labelled():
    texts, truth = examples(1500)
    return np.array(texts), label_binarize([own[0] for own in truth], classes=NAMES)


@pytest.fixture(scope="module")
def several():
    texts, truth = examples(3000, several=True)
    indicator = np.zeros((len(texts), LABELS), dtype=int)
    for row, own in zip(indicator, truth, strict=True):
        row[[NAMES.index(name) for name in own]] = 1
    return np.array(texts), indicator


def test_by_hand():
    names, nan = ("a", "b", "c"), np.nan
    ids = np.array([[2, 0], [1, -1], [-1, -1]], dtype=np.int32)
    ranking = Ranking(ids, ids.astype(float), names, np.array([[0.6, 0.1], [0.9, nan], [nan, nan]]))
    table = probabilities_summing_to_one(ids, ranking.probabilities, np.array([5, 3, 2]))
    left = 0.4 / (0.1 + 0.1 * 0.3)  # b, which was not retrieved, counts as 0.1 · 3/10
    assert table[0].tolist() == pytest.approx([0.1 * left, 0.03 * left, 0.6])
    assert table[1].tolist() == pytest.approx([0.1 * 5 / 7, 0.9, 0.1 * 2 / 7])
    assert table[2].tolist() == [0.5, 0.3, 0.2]
    columns = probabilities_by_column(ids, ranking.probabilities, names, ["b", "a"])
    assert columns.tolist() == [[0, 0.1], [0.9, 0], [0, 0]]


def test_rows_sum_to_one_and_the_best_label_keeps_its_probability():
    texts, truth = examples(1500)
    first = [[name] for name in NAMES]  # so that labels come in order
    c = sl.Categorizer(sl.TunedIndex(random_state=None)).fit(
        [name[0] for name in first] + texts, first + truth
    )
    table = c.predict_proba([*texts, "nothing known"])
    assert table.sum(axis=1) == pytest.approx(1.0)
    best = c.rank(texts, k=1)
    assert table[np.arange(len(texts)), best.ids[:, 0]] == pytest.approx(best.probabilities[:, 0])
    assert table[-1] == pytest.approx(c.label_counts_ / c.label_counts_.sum())
    new, true = examples(1000, seed=1)
    shares = np.tile(c.label_counts_ / c.label_counts_.sum(), (1000, 1))
    names = [own[0] for own in true]
    assert log_loss(names, c.predict_proba(new), labels=NAMES) < 0.5 * log_loss(
        names, shares, labels=NAMES
    )


def test_log_loss_by_cross_validation(labelled):
    texts, indicator = labelled
    found = cross_val_score(sl.Categorizer(), texts, indicator, scoring="neg_log_loss", cv=FOLDS)
    assert (found > 0.5 * np.log(1 / LABELS)).all()


def test_predict_assigns_what_suits_f1(several):
    texts, indicator = several
    c = sl.Categorizer().fit(texts[:2000], indicator[:2000])
    predicted = c.predict(texts[2000:])
    assert predicted.shape == (1000, LABELS)
    assigned = [set(np.flatnonzero(row)) for row in predicted]
    assert assigned == [set(own) for own in c.assign(texts[2000:].tolist())]
    assert len({len(own) for own in assigned}) > 1, "not as many for each text"
    usual = c.learner_.predict_rows(c.text_.rows(texts[2000:]))
    reached, before = (
        f1_score(indicator[2000:], one, average="micro") for one in (predicted, usual)
    )
    assert reached > before
    chances = c.predict_proba(texts[2000:])
    assert abs(chances.sum() - indicator[2000:].sum()) < 0.2 * indicator[2000:].sum()


def test_what_cannot_be_given_is_said(labelled, several):
    texts, truth = examples(800)
    c = sl.Categorizer().learn_many(texts, truth)
    with pytest.raises(InputError, match="sorted order of the labels, as fit numbers them"):
        c.predict_proba(texts)
    with pytest.raises(InputError, match="has not seen enough"):
        sl.Categorizer().learn("wheat", "grain").predict_proba(["wheat"])
    with pytest.raises(InputError, match="one label each"):
        sl.Categorizer().fit(*examples(800, several=True)).predict_proba(texts)


@pytest.mark.parametrize("first", ["money", "grain"], ids=["unsorted", "sorted"])
def test_scikit_learn_takes_what_fit_has_learned_whatever_came_first(first):
    """Measures of probabilities, calibration and soft votes look for classes in sorted order."""
    second = {"money": "grain", "grain": "money"}[first]
    texts = [f"{('bank', 'wheat')[n % 2]} n{n % 9}" for n in range(300)]
    truth = [(first, second)[n % 2] for n in range(300)]
    model = sl.Categorizer(text=sl.TextVectorizer())
    assert model.fit(texts, truth).classes_.tolist() == ["grain", "money"]
    assert model.predict_proba(texts[:1]).argmax() == sorted([first, second]).index(first)
    assert cross_val_score(model, texts, truth, cv=2, scoring="neg_log_loss").mean() > -0.2
    for wrapped in (
        CalibratedClassifierCV(model, cv=2),
        VotingClassifier([("a", model), ("b", model)], voting="soft"),
    ):
        assert (
            wrapped.fit(np.array(texts), np.array(truth)).score(np.array(texts), np.array(truth))
            > 0.95
        )
