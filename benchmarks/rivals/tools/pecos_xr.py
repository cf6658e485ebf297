"""PECOS: XR-Linear with C = 1, on scikit-learn's tf-idf of words; a label tree of the labels'
mean documents.
"""

import joblib
import numpy as np
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from tools.words import Labels

PACKAGES = ["libpecos", "numpy"]


class Model:
    def __init__(self, task, learner):
        self.text = (
            TfidfVectorizer(sublinear_tf=True, dtype=np.float32) if task.kind == "text" else None
        )

    def train(self, documents, lists):
        X = unit(documents if self.text is None else self.text.fit_transform(documents))
        self.labels = Labels(lists)
        Y = self.labels.matrix(lists)
        tree = Indexer.gen(
            LabelEmbeddingFactory.create(Y, X), indexer_type="hierarchicalkmeans", threads=1
        )
        self.model = XLinearModel.train(X, Y, C=tree, Cp=1.0, Cn=1.0, threads=1, threshold=0.1)

    def rank(self, documents, k):
        X = unit(documents if self.text is None else self.text.transform(documents))
        found = self.model.predict(X, only_topk=k, beam_size=10, threads=1)
        ranked = []
        for i in range(found.shape[0]):
            first, last = found.indptr[i], found.indptr[i + 1]
            order = np.argsort(-found.data[first:last], kind="stable")
            ranked.append([self.labels.names[j] for j in found.indices[first:last][order].tolist()])
        return ranked

    def save(self, folder):
        self.model.save(str(folder / "tree"))
        joblib.dump((self.text, self.labels), folder / "text.joblib")


def unit(matrix):
    """Rows of unit length, in the type that PECOS takes."""
    return normalize(csr_matrix(matrix, dtype=np.float32))
