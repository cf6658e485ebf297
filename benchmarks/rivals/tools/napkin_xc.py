"""napkinXC: probabilistic label trees, on scikit-learn's tf-idf."""

import pickle
import tempfile
from pathlib import Path

from napkinxc.models import PLT
from sklearn.feature_extraction.text import TfidfVectorizer
from tools.words import Labels

PACKAGES = ["napkinxc", "scikit-learn", "numpy"]


def settings(task):
    choices = [{"liblinear_c": 10, "ngrams": 1}, {"liblinear_c": 1, "ngrams": 1}, {"liblinear_c": 10, "ngrams": 2}]
    return [one for one in choices if task.kind == "text" or one["ngrams"] == 1]


class Model:
    def __init__(self, task, ngrams, **setting):
        self.text = TfidfVectorizer(ngram_range=(1, ngrams), sublinear_tf=True) if task.kind == "text" else None
        self.folder = tempfile.TemporaryDirectory()
        self.model = PLT(self.folder.name, threads=task.threads, seed=0, **setting)

    def prepare(self, documents):
        return documents if self.text is None else self.text.fit_transform(documents)

    def train(self, X, lists):
        self.labels = Labels(lists)
        # It crashes where the labels of a document are not in ascending order.
        self.model.fit(X, [sorted(self.labels.number[label] for label in labels) for labels in lists])
        self.model.load()

    def rank(self, documents, k):
        X = documents if self.text is None else self.text.transform(documents)
        return [[self.labels.names[i] for i, _ in best] for best in self.model.predict_proba(X, top_k=k)]

    def save(self, folder):
        for path in Path(self.folder.name).iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        (folder / "text.pickle").write_bytes(pickle.dumps((self.text, self.labels)))
