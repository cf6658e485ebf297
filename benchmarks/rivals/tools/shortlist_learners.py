"""shortlist as it comes: Categorizer(), with and without an encoder; LogisticRegression on the same
encoder's vectors.

Where a set comes as vectors the learner is used without the vectoriser. The vectors of the two
rivals are ours too, since the encoder is faster than others on the same weights: MiniLM, or a
static table that is made from it.
"""

import pickle

import numpy as np
from sklearn.linear_model import LogisticRegression
from tools.words import Labels

import shortlist as sl

PACKAGES = ["shortlist", "numpy", "numba", "scikit-learn", "onnxruntime"]
NAME = "all-MiniLM-L6-v2"


def encoder(name):
    """One that remembers no text, so that nothing is encoded off the clock."""
    from shortlist.encoders import load_encoder

    made = load_encoder(name, threads=1)
    made._remembered = type(made._remembered)(0)
    return made


def Model(task, name):
    if name in ("MiniLM", "static"):
        return OnVectors(NAME + ":static" * (name == "static"))
    return Ours(task, encoder(NAME) if name == "meaning" else None)


class Ours:
    def __init__(self, task, encoder):
        self.model = sl.Categorizer(encoder=encoder) if task.kind == "text" else sl.TunedIndex()

    def train(self, documents, lists):
        self.model.fit(documents, lists)

    def start(self, names):
        pass

    def learn(self, document, labels):
        self.model.learn(document, labels)

    def rank(self, documents, k):
        if isinstance(documents, list) and len(documents) == 1:
            return [[label for label, _ in self.model.rank(documents[0], k)]]
        return [
            [label for label in row if label is not None]
            for row in self.model.rank(documents, k).labels.tolist()
        ]

    def save(self, folder):
        self.model.save(folder / "model.shortlist")


class OnVectors:
    """The encoder itself is not saved with the model, as it is not with ours."""

    def __init__(self, name):
        self.encoder, self.learner = encoder(name), LogisticRegression(C=10, max_iter=300)

    def train(self, documents, lists):
        self.labels = Labels(lists)
        self.learner.fit(
            self.encoder(documents), [self.labels.number[labels[0]] for labels in lists]
        )

    def rank(self, documents, k):
        scores = self.learner.decision_function(self.encoder(documents))
        return self.labels.best(
            scores if scores.ndim > 1 else np.column_stack([-scores, scores]), k
        )

    def save(self, folder):
        (folder / "model.pickle").write_bytes(pickle.dumps((self.learner, self.labels)))
