"""PECOS: XR-Linear, on PECOS's own tf-idf, its label tree from clusters of the labels' mean documents (PIFA)."""

import numpy as np
from pecos.utils.featurization.text.vectorizers import Vectorizer
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize
from tools.words import Labels

PACKAGES = ["libpecos", "numpy"]


def settings(task):
    choices = [{"Cp": 1.0, "ngrams": 1}, {"Cp": 10.0, "ngrams": 1}, {"Cp": 1.0, "ngrams": 2}]
    return [one for one in choices if task.kind == "text" or one["ngrams"] == 1]


class Model:
    def __init__(self, task, Cp, ngrams):
        self.task, self.Cp = task, Cp
        options = {"ngram_range": [1, ngrams], "norm": "l2", "smooth_idf": True, "threads": 1}
        self.config = {"type": "tfidf", "kwargs": options}

    def prepare(self, documents):
        if self.task.kind == "vectors":
            return unit(documents)
        self.text = Vectorizer.train(documents, self.config)
        return self.text.predict(documents, threads=1)

    def train(self, X, lists):
        self.labels = Labels(lists)
        Y = self.labels.matrix(lists)
        tree = Indexer.gen(LabelEmbeddingFactory.create(Y, X), indexer_type="hierarchicalkmeans", threads=1)
        self.model = XLinearModel.train(X, Y, C=tree, Cp=self.Cp, Cn=self.Cp, threads=1, threshold=0.1)

    def rank(self, documents, k):
        X = unit(documents) if self.task.kind == "vectors" else self.text.predict(documents, threads=1)
        found = self.model.predict(X, only_topk=k, beam_size=10, threads=1)
        ranked = []
        for i in range(found.shape[0]):
            first, last = found.indptr[i], found.indptr[i + 1]
            order = np.argsort(-found.data[first:last], kind="stable")
            ranked.append([self.labels.names[j] for j in found.indices[first:last][order].tolist()])
        return ranked

    def save(self, folder):
        self.model.save(str(folder / "tree"))
        if self.task.kind == "text":
            self.text.save(str(folder / "text"))


def unit(matrix):
    """Rows of unit length, in the type that PECOS takes."""
    return normalize(csr_matrix(matrix, dtype=np.float32))
