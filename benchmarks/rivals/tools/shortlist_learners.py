"""shortlist: the entries of the table below, each a list of settings to choose from with the same budget as a rival's.

A setting names a learner and its parameters, and the vectoriser's; ``{}`` is Categorizer() as it comes. Where a set
comes as vectors the learner is used without the vectoriser.
"""

import time

from sklearn.base import clone

import shortlist as sl

PACKAGES = ["shortlist", "numpy", "numba"]
TF_IDF = {"tf": "log", "idf": "smooth"}
PAIRS = TF_IDF | {"ngrams": 2, "prefix": 5}
TUNED = {"learner": "TunedIndex"}
LONG = TUNED | {"passes": 6}
WIDE = TUNED | {"min_weight": 0.002, "max_edges": 100}
FULL = TUNED | {"min_weight": 0.0005, "max_edges": 1000, "passes": 4}
MMP = {"learner": "MMP", "step": "passive-aggressive", "margin": 1.0, "passes": 3, "hypothesis": "averaged"}

# entry -> set -> settings to choose from; "*" stands for all other sets
ENTRIES = {
    "Categorizer": {"*": [{}]},
    "FeatureFocus": {"*": [{"learner": "FeatureFocus", "text": {}}]},  # as published, on counts of words
    "best": {
        "*": [{}, LONG, WIDE],
        "newsgroups": [{}, LONG, MMP | {"text": PAIRS | {"norm": "l2"}}],
        "reuters": [{}, LONG, MMP | {"text": TF_IDF | {"norm": "l2"}}],
        "delicious": [FULL],
        "finna-100k": [{}, WIDE | {"text": PAIRS}],
        "finna": [{}, WIDE | {"text": PAIRS}],
    },
}


class entry:
    PACKAGES = PACKAGES

    def __init__(self, name):
        self.of = ENTRIES[name]

    def settings(self, task):
        return self.of.get(task.name, self.of["*"])

    def Model(self, task, **setting):
        return Model(task, **setting)


class Model:
    def __init__(self, task, learner=None, text=None, **setting):
        chosen = sl.TunedIndex() if learner is None else getattr(sl, learner)(**setting)
        if task.threads > 1 and "n_jobs" in chosen.get_params():
            chosen.set_params(n_jobs=task.threads)
        if task.kind == "text":
            self.model = sl.Categorizer(chosen, None if text is None else sl.TextVectorizer(**text))
        else:
            self.model = chosen

    def prepare(self, documents):
        return documents  # a Categorizer does it itself; see from_vectors

    def train(self, documents, lists):
        self.model.fit(documents, lists)

    def rank(self, documents, k):
        if isinstance(documents, list) and len(documents) == 1:
            return [[label for label, _ in self.model.rank(documents[0], k)]]
        return [[label for label in row if label is not None] for row in self.model.rank(documents, k).labels.tolist()]

    def save(self, folder):
        self.model.save(folder / "model.shortlist")

    def from_vectors(self, documents, lists):
        """Seconds to learn from the vectors alone."""
        X = self.model.text_.transform(documents)
        learner = clone(self.model.learner_)
        began = time.perf_counter()
        learner.fit(X, lists)
        return time.perf_counter() - began
