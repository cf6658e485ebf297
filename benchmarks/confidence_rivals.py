"""Other ways to know how sure one is, on the same features: what confidence.py puts beside the default.

LogisticRegression for each label, calibrated by CalibratedClassifierCV in three folds; MAPIE's sets, where MAPIE is
installed and each text has one label; and curves fitted offline, isotonic and Platt's, to the best scores of a fifth of
the training part that the same learner has not learned.
"""

import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer

import shortlist as sl

FOLDS, TRIED = 3, 2  # of cross-validation; labels that are timed


class TooLong(Exception):
    """It would not end within the time there is; says how long it would take."""


def plain():
    return LogisticRegression(C=10, solver="liblinear", dual=True, max_iter=1000)


def calibrated():
    return CalibratedClassifierCV(plain(), method="sigmoid", cv=FOLDS)


class Logistic:
    """The best probability of each test text, whether it is right, and MAPIE's sets, or None."""

    def __init__(self, rows, Y, test_rows, Y_test, coverages, minutes):
        X, X_test = (own.of_unit_length().to_matrix() for own in (rows, test_rows))
        binarizer = MultiLabelBinarizer().fit(Y)
        counted = binarizer.transform(Y).sum(axis=0)
        frequent = set(binarizer.classes_[counted >= FOLDS])  # cross-validation needs them
        binarizer = MultiLabelBinarizer(classes=sorted(frequent), sparse_output=True)
        target = binarizer.fit_transform([[label for label in own if label in frequent] for own in Y])
        check_time(X, target, minutes)
        began = time.process_time()
        chance = OneVsRestClassifier(calibrated()).fit(X, target).predict_proba(X_test)
        self.seconds = time.process_time() - began
        single = all(len(own) == 1 for own in Y)
        if single:
            chance /= np.maximum(1e-12, chance.sum(axis=1, keepdims=True))
        best = np.argmax(chance, axis=1)
        self.best = chance.max(axis=1)
        self.hits = np.array([binarizer.classes_[i] in own for i, own in zip(best, Y_test, strict=True)])
        self.sets = mapie(X, Y, X_test, Y_test, coverages) if single else None


def check_time(X, target, minutes):
    """Time some labels that are neither frequent nor rare, and refuse if all together would take longer."""
    counted = np.asarray(target.sum(axis=0)).ravel()
    some = np.argsort(-counted)[counted.size // 2 :][:TRIED]
    began = time.process_time()
    for label in some:
        plain().fit(X, target[:, [label]].toarray().ravel())
    whole = (time.process_time() - began) / some.size * counted.size * FOLDS / 60
    if whole > minutes:
        raise TooLong(f"LogisticRegression: not run, {counted.size:,} labels would take about {whole:,.0f} minutes")


class Given(ClassifierMixin, BaseEstimator):
    """Probabilities that are there already, as MAPIE takes no sparse rows."""

    def __init__(self, classes_):
        self.classes_ = classes_

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X / X.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[np.argmax(X, axis=1)]


def mapie(X, Y, X_test, Y_test, coverages):
    """Covered share and mean size of MAPIE's sets for each coverage, from a fifth of the rows that is held back."""
    try:
        from mapie.classification import SplitConformalClassifier
    except ImportError:
        return None
    names, y = np.unique([own[0] for own in Y], return_inverse=True)
    apart = held_back(len(Y))
    model = OneVsRestClassifier(plain()).fit(X[~apart], y[~apart])
    held, new = model.predict_proba(X[apart]), model.predict_proba(X_test)
    given = Given(np.arange(names.size))
    sets_of = SplitConformalClassifier(given, confidence_level=list(coverages), conformity_score="lac", prefit=True)
    listed = sets_of.conformalize(held, y[apart]).predict_set(new)[1]
    true = np.searchsorted(names, [own[0] for own in Y_test])
    covered = [listed[np.arange(true.size), true, a].mean() for a in range(len(coverages))]
    return [(covered[a], listed[:, :, a].sum(axis=1).mean()) for a in range(len(coverages))]


def held_back(n):
    """A random fifth."""
    return np.random.default_rng(0).random(n) < 0.2


def offline(rows, Y, test_rows, Y_test):
    """Best probability and whether it is right, by the name of the curve that was fitted offline."""
    apart = held_back(len(Y))
    learned, held = np.flatnonzero(~apart), np.flatnonzero(apart)
    learner = sl.TunedIndex()._fit_rows(rows.take(learned), [Y[i] for i in learned])
    scores, hits = best_of(learner, rows.take(held), [Y[i] for i in held])
    new, right = best_of(learner, test_rows, Y_test)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores, hits).predict(new)
    platt = LogisticRegression(C=1e6).fit(scores[:, None], hits).predict_proba(new[:, None])[:, 1]
    return {"isotonic": (isotonic, right), "Platt": (platt, right)}


def best_of(learner, rows, Y):
    """The score of the best label of each row, 0 where there is none, and whether it is right."""
    ranking = learner._rank_rows(rows, 1)
    hits = np.array([any(label in own for label, _ in one) for one, own in zip(ranking, Y, strict=True)])
    return np.nan_to_num(ranking.scores[:, 0]), hits
