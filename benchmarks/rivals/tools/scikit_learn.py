"""scikit-learn: LinearSVC, SGDClassifier and ComplementNB, each with its own vectoriser.

With several labels a document, LinearSVC and SGDClassifier are trained one versus rest, on as many threads as there may
be; with one label only SGDClassifier can use more than one. ComplementNB sees a document once for each of its labels.
"""

import pickle

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC
from tools.words import Labels

PACKAGES = ["scikit-learn", "numpy"]
BATCH = 1 << 26  # scores that are held at a time

CLASSES = {"LinearSVC": LinearSVC, "SGDClassifier": SGDClassifier, "ComplementNB": ComplementNB}
CHOICES = {
    "LinearSVC": [{"C": 1.0, "ngrams": 1}, {"C": 0.2, "ngrams": 1}, {"C": 1.0, "ngrams": 2}],
    "SGDClassifier": [{"alpha": 1e-5, "ngrams": 1}, {"alpha": 1e-4, "ngrams": 1}, {"alpha": 1e-5, "ngrams": 2}],
    "ComplementNB": [{"alpha": 0.1, "ngrams": 1}, {"alpha": 1.0, "ngrams": 1}, {"alpha": 0.1, "ngrams": 2}],
}


class entry:
    """One of the three."""

    PACKAGES = PACKAGES

    def __init__(self, name):
        self.name = name

    def settings(self, task):
        return [one for one in CHOICES[self.name] if task.kind == "text" or one["ngrams"] == 1]

    def Model(self, task, **setting):
        return Model(task, self.name, **setting)


class Model:
    def __init__(self, task, name, ngrams, **setting):
        self.task, self.name = task, name
        if task.kind == "text" and name == "ComplementNB":
            self.text = CountVectorizer(ngram_range=(1, ngrams))
        elif task.kind == "text":
            self.text = TfidfVectorizer(ngram_range=(1, ngrams), sublinear_tf=True)
        else:
            self.text = None
        if name == "SGDClassifier" and not task.several:
            setting["n_jobs"] = task.threads
        self.learner = CLASSES[name](**setting)

    def prepare(self, documents):
        return documents if self.text is None else self.text.fit_transform(documents)

    def train(self, X, lists):
        self.labels = Labels(lists)
        if self.name == "ComplementNB" or not self.task.several:
            rows = np.repeat(np.arange(len(lists)), [len(labels) for labels in lists])
            y = np.array([self.labels.number[label] for labels in lists for label in labels])
            self.learner.fit(X if len(rows) == X.shape[0] else X[rows], y)
        else:
            every = OneVsRestClassifier(self.learner, n_jobs=self.task.threads)
            each = every.fit(X, self.labels.matrix(lists)).estimators_
            # One matrix of all weights ranks many times faster than asking each classifier.
            self.learner.coef_ = np.vstack([one.coef_ for one in each])
            self.learner.intercept_ = np.concatenate([one.intercept_ for one in each])
            self.learner.classes_ = np.arange(len(each))

    def rank(self, documents, k):
        X = documents if self.text is None else self.text.transform(documents)
        ranked, step = [], max(1, BATCH // len(self.labels.names))
        for first in range(0, X.shape[0], step):
            some = X[first : first + step]
            if self.name == "ComplementNB":
                scores = self.learner.predict_joint_log_proba(some)
            else:
                scores = self.learner.decision_function(some)
            ranked += self.labels.best(scores, k)
        return ranked

    def save(self, folder):
        with open(folder / "model.pickle", "wb") as file:
            pickle.dump((self.text, self.learner, self.labels), file)
