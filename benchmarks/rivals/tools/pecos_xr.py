"""PECOS: XR-Linear, on scikit-learn's tf-idf or its own; the label tree from clusters of the labels' mean documents."""

import joblib
import numpy as np
from pecos.utils.featurization.text.vectorizers import Vectorizer
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from tools.words import Labels

PACKAGES = ["libpecos", "numpy"]


def settings(task):
    if task.kind == "vectors":
        return [{"Cp": 1.0}, {"Cp": 10.0}]
    return [{"Cp": 1.0}, {"Cp": 10.0}, {"Cp": 1.0, "own": True}]


class Model:
    def __init__(self, task, Cp, own=False):
        self.task, self.Cp, self.own = task, Cp, own
        options = {"ngram_range": [1, 1], "norm": "l2", "smooth_idf": True, "threads": task.threads}
        self.config = {"type": "tfidf", "kwargs": options}

    def prepare(self, documents):
        if self.task.kind == "vectors":
            return unit(documents)
        if not self.own:
            self.text = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
            return csr_matrix(self.text.fit_transform(documents))
        self.text = Vectorizer.train(documents, self.config)
        return self._vectors(documents)

    def _vectors(self, documents):
        if self.task.kind == "vectors":
            return unit(documents)
        if self.own:
            return self.text.predict(documents, threads=self.task.threads)
        return csr_matrix(self.text.transform(documents))

    def train(self, X, lists):
        self.labels = Labels(lists)
        Y = self.labels.matrix(lists)
        means, threads = LabelEmbeddingFactory.create(Y, X), self.task.threads
        tree = Indexer.gen(means, indexer_type="hierarchicalkmeans", threads=threads)
        self.model = XLinearModel.train(X, Y, C=tree, Cp=self.Cp, Cn=self.Cp, threads=threads, threshold=0.1)

    def rank(self, documents, k):
        X = self._vectors(documents)
        found = self.model.predict(X, only_topk=k, beam_size=10, threads=self.task.threads)
        ranked = []
        for i in range(found.shape[0]):
            first, last = found.indptr[i], found.indptr[i + 1]
            order = np.argsort(-found.data[first:last], kind="stable")
            ranked.append([self.labels.names[j] for j in found.indices[first:last][order].tolist()])
        return ranked

    def save(self, folder):
        self.model.save(str(folder / "tree"))
        if self.task.kind == "text" and self.own:
            self.text.save(str(folder / "text"))
        elif self.task.kind == "text":
            joblib.dump(self.text, folder / "text.joblib")


def unit(matrix):
    """Rows of unit length, in the type that PECOS takes."""
    return normalize(csr_matrix(matrix, dtype=np.float32))
