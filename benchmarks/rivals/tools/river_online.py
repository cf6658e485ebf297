"""river: one pass, one document at a time: naive Bayes of counts, or Passive-Aggressive one versus rest.

Both see a document once for each of its labels. river's ComplementNB is left out: it ranks a few documents a second.
"""

import pickle
from collections import Counter

from river import linear_model, multiclass, naive_bayes
from tools import words

PACKAGES = ["river"]


def settings(task):
    return [{"learner": "MultinomialNB"}, {"learner": "PAClassifier"}]


class Model:
    def __init__(self, task, learner):
        self.task = task
        self.learner = {
            "MultinomialNB": lambda: naive_bayes.MultinomialNB(alpha=0.1),
            "PAClassifier": lambda: multiclass.OneVsRestClassifier(linear_model.PAClassifier(C=0.1)),
        }[learner]()

    def prepare(self, documents):
        if self.task.kind == "text":
            return [Counter(words.split(text)) for text in documents]
        return [dict(row) for row in words.of_row(documents)]

    def train(self, rows, lists):
        for row, labels in zip(rows, lists, strict=True):
            for label in labels:
                self.learner.learn_one(row, label)

    def rank(self, documents, k):
        ranked = []
        for row in self.prepare(documents):
            scores = self.learner.predict_proba_one(row)
            ranked.append(sorted(scores, key=scores.get, reverse=True)[:k])
        return ranked

    def save(self, folder):
        with open(folder / "model.pickle", "wb") as file:
            pickle.dump(self.learner, file)
