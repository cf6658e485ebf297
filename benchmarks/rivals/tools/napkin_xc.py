"""napkinXC: probabilistic label trees with liblinear's C = 10, on scikit-learn's tf-idf of
words.
"""

import pickle
import tempfile
from pathlib import Path

from napkinxc.models import PLT
from sklearn.feature_extraction.text import TfidfVectorizer
from tools.words import Labels

PACKAGES = ["napkinxc", "scikit-learn", "numpy"]


class Model:
    def __init__(self, task, learner):
        self.text = TfidfVectorizer(sublinear_tf=True) if task.kind == "text" else None
        self.folder = tempfile.TemporaryDirectory()
        self.model = PLT(self.folder.name, threads=1, seed=0, liblinear_c=10)

    def train(self, documents, lists):
        X = documents if self.text is None else self.text.fit_transform(documents)
        self.labels = Labels(lists)
        # It crashes where the labels of a document are not in ascending order.
        self.model.fit(
            X, [sorted(self.labels.number[label] for label in labels) for labels in lists]
        )
        self.model.load()

    def rank(self, documents, k):
        X = documents if self.text is None else self.text.transform(documents)
        return [
            [self.labels.names[i] for i, _ in best] for best in self.model.predict_proba(X, top_k=k)
        ]

    def save(self, folder):
        for path in Path(self.folder.name).iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        (folder / "text.pickle").write_bytes(pickle.dumps((self.text, self.labels)))
