"""omikuji: Parabel's label trees with its own settings, on scikit-learn's tf-idf of words, in
its own file format.
"""

import pickle
import tempfile

import omikuji
from sklearn.feature_extraction.text import TfidfVectorizer
from tools.words import Labels

PACKAGES = ["omikuji", "scikit-learn"]


class Model:
    def __init__(self, task, learner):
        self.text = TfidfVectorizer(sublinear_tf=True) if task.kind == "text" else None

    def train(self, documents, lists):
        X = documents if self.text is None else self.text.fit_transform(documents)
        self.labels = Labels(lists)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(f"{X.shape[0]} {X.shape[1]} {len(self.labels.names)}\n")
            for labels, row in zip(lists, pairs(X), strict=True):
                numbers = ",".join(str(self.labels.number[label]) for label in labels)
                file.write(
                    numbers + " " + " ".join(f"{column}:{value:g}" for column, value in row) + "\n"
                )
            file.flush()
            self.model = omikuji.Model.train_on_data(
                file.name, omikuji.Model.default_hyper_param(), n_threads=1
            )

    def rank(self, documents, k):
        X = documents if self.text is None else self.text.transform(documents)
        return [
            [self.labels.names[i] for i, _ in self.model.predict(row, top_k=k)] for row in pairs(X)
        ]

    def save(self, folder):
        self.model.save(str(folder / "trees"))
        (folder / "text.pickle").write_bytes(pickle.dumps((self.text, self.labels)))


def pairs(matrix):
    """For each row its features as (column, value) pairs."""
    for i in range(matrix.shape[0]):
        first, last = matrix.indptr[i], matrix.indptr[i + 1]
        yield list(
            zip(matrix.indices[first:last].tolist(), matrix.data[first:last].tolist(), strict=True)
        )
