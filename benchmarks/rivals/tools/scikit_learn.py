"""scikit-learn: LinearSVC (C = 1), SGDClassifier (hinge loss, alpha = 1e-5) and ComplementNB (alpha
= 0.1).

"LinearSVC" is on tf-idf of words, pairs of words and characters inside words; "LinearSVC, words" on
words only; SGDClassifier and ComplementNB on words and pairs. With several labels a document,
LinearSVC and SGDClassifier are trained one versus rest; ComplementNB sees a document once for each
of its labels. On streams SGDClassifier's partial_fit learns hashed words and pairs, and is told all
labels before. Vectors of a set that comes as such are scaled to unit length, but for ComplementNB.
"""

import pickle

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_union
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from tools.words import Labels

PACKAGES = ["scikit-learn", "numpy"]
BATCH = 1 << 26  # scores that are held at a time

LEARNERS = {
    "LinearSVC": LinearSVC,
    "LinearSVC, words": LinearSVC,
    "SGDClassifier": lambda: SGDClassifier(alpha=1e-5, random_state=0),
    "ComplementNB": lambda: ComplementNB(alpha=0.1),
}


def vectorizer(name, task):
    if task.kind == "vectors":
        return None
    if task.stream:
        return HashingVectorizer(n_features=2**18, ngram_range=(1, 2))
    if name == "ComplementNB":
        return CountVectorizer(ngram_range=(1, 2))
    words = TfidfVectorizer(
        ngram_range=(1, 1 if name == "LinearSVC, words" else 2), sublinear_tf=True
    )
    if name == "LinearSVC":
        return make_union(
            words, TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
        )
    return words


class Model:
    def __init__(self, task, name):
        self.task, self.name, self.text, self.learner = (
            task,
            name,
            vectorizer(name, task),
            LEARNERS[name](),
        )

    def train(self, documents, lists):
        X = self.rows(documents) if self.text is None else self.text.fit_transform(documents)
        self.labels = Labels(lists)
        if self.name == "ComplementNB" or not self.task.several:
            rows = np.repeat(np.arange(len(lists)), [len(labels) for labels in lists])
            y = np.array([self.labels.number[label] for labels in lists for label in labels])
            self.learner.fit(X if len(rows) == X.shape[0] else X[rows], y)
        else:
            each = OneVsRestClassifier(self.learner).fit(X, self.labels.matrix(lists)).estimators_
            # One matrix of all weights ranks many times faster than asking each classifier.
            self.learner.coef_ = np.vstack([one.coef_ for one in each])
            self.learner.intercept_ = np.concatenate([one.intercept_ for one in each])
            self.learner.classes_ = np.arange(len(each))

    def rows(self, vectors):
        """As tf-idf has them: of unit length. Naive Bayes takes them as they are."""
        return vectors if self.name == "ComplementNB" else normalize(vectors)

    def start(self, names):
        self.labels = Labels([names])

    def learn(self, document, labels):
        X, every = self.text.transform([document]), np.arange(len(self.labels.names))
        for label in labels:
            self.learner.partial_fit(X, [self.labels.number[label]], classes=every)

    def rank(self, documents, k):
        X = self.rows(documents) if self.text is None else self.text.transform(documents)
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
