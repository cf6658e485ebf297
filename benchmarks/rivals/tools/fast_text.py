"""fastText: its supervised mode, on text in lower case without punctuation, 25 epochs, learning
rate 0.5.

Loss: softmax where a document has one label, one versus all where it has several, hierarchical
softmax from 1,000 labels on. Sets that come as vectors are given as one word for each feature that
is there: fastText takes no values.
"""

from tempfile import NamedTemporaryFile

import fasttext
from tools import words

PACKAGES = ["fasttext-wheel", "numpy"]
fasttext.FastText.eprint = lambda *_: None


class Model:
    def __init__(self, task, learner):
        self.task = task
        loss = "hs" if task.labels >= 1000 else "ova" if task.several else "softmax"
        ngrams = 2 if task.kind == "text" and task.labels < 1000 else 1
        self.setting = {
            "lr": 0.5,
            "epoch": 25,
            "wordNgrams": ngrams,
            "loss": loss,
            "dim": 100,
            "minCount": 1,
            "bucket": 200_000,
            "thread": 1,
            "verbose": 0,
            "seed": 0,
        }

    def lines(self, documents):
        if self.task.kind == "text":
            return [" ".join(words.split(text)) for text in documents]
        return [" ".join(name for name, _ in row) for row in words.of_row(documents)]

    def train(self, documents, lists):
        self.labels = words.Labels(lists)
        number = self.labels.number
        with NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            for line, labels in zip(self.lines(documents), lists, strict=True):
                file.write(
                    " ".join(f"__label__{number[label]}" for label in labels) + " " + line + "\n"
                )
            file.flush()
            self.model = self._supervised(file.name)

    def _supervised(self, path):
        """Where training runs into NaN, fastText's advice is a lower learning rate: halve it."""
        try:
            return fasttext.train_supervised(path, **self.setting)
        except RuntimeError as problem:
            if "NaN" not in str(problem) or self.setting["lr"] < 0.01:
                raise
            self.setting["lr"] /= 2
            return self._supervised(path)

    def rank(self, documents, k):
        names, start = self.labels.names, len("__label__")
        ranked, _ = self.model.predict(self.lines(documents), k=k)
        return [[names[int(label[start:])] for label in best] for best in ranked]

    def save(self, folder):
        self.model.save_model(str(folder / "model.bin"))
