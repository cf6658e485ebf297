"""fastText: its supervised mode, on text in lower case without punctuation.

Loss: softmax where a document has one label, one versus all where it has several, hierarchical softmax from 1,000
labels on. Sets that come as vectors are given as one word for each feature that is there: fastText takes no values.
"""

from tempfile import NamedTemporaryFile

import fasttext
from tools import words

PACKAGES = ["fasttext-wheel", "numpy"]
fasttext.FastText.eprint = lambda *_: None


def settings(task):
    if task.labels >= 1000:
        return [{"lr": lr, "epoch": epoch, "wordNgrams": 1} for lr, epoch in ((0.5, 25), (1.0, 25), (1.0, 50))]
    choices = [{"epoch": 10, "wordNgrams": 1}, {"epoch": 25, "wordNgrams": 1}, {"epoch": 10, "wordNgrams": 2}]
    return [{"lr": 0.5} | one for one in choices if task.kind == "text" or one["wordNgrams"] == 1]


class Model:
    def __init__(self, task, **setting):
        self.task = task
        loss = "hs" if task.labels >= 1000 else "ova" if task.several else "softmax"
        fixed = {"loss": loss, "dim": 100, "minCount": 1, "thread": task.threads, "verbose": 0, "seed": 0}
        self.setting = fixed | setting

    def prepare(self, documents):
        if self.task.kind == "text":
            return [" ".join(words.split(text)) for text in documents]
        return [" ".join(name for name, _ in row) for row in words.of_row(documents)]

    def train(self, lines, lists):
        self.labels = words.Labels(lists)
        number = self.labels.number
        with NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            for line, labels in zip(lines, lists, strict=True):
                file.write(" ".join(f"__label__{number[label]}" for label in labels) + " " + line + "\n")
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
        ranked, _ = self.model.predict(self.prepare(documents), k=k)
        return [[names[int(label[start:])] for label in best] for best in ranked]

    def save(self, folder):
        self.model.save_model(str(folder / "model.bin"))
