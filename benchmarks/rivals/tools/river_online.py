"""river: naive Bayes of counts of words, alpha 0.1, one pass, one document at a time.

It sees a document once for each of its labels. river's ComplementNB is left out: it ranks a few
documents a second.
"""

import pickle
from collections import Counter

from river import naive_bayes
from tools import words

PACKAGES = ["river"]


class Model:
    def __init__(self, task, learner):
        self.task = task
        self.learner = naive_bayes.MultinomialNB(alpha=0.1)

    def rows(self, documents):
        if self.task.kind == "text":
            return [Counter(words.split(text)) for text in documents]
        return [dict(row) for row in words.of_row(documents)]

    def start(self, names):
        pass

    def train(self, documents, lists):
        for row, labels in zip(self.rows(documents), lists, strict=True):
            for label in labels:
                self.learner.learn_one(row, label)

    def learn(self, document, labels):
        self.train([document], [labels])

    def rank(self, documents, k):
        ranked = []
        for row in self.rows(documents):
            scores = self.learner.predict_proba_one(row)
            ranked.append(sorted(scores, key=scores.get, reverse=True)[:k])
        return ranked

    def save(self, folder):
        with open(folder / "model.pickle", "wb") as file:
            pickle.dump(self.learner, file)
