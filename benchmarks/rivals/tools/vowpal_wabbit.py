"""Vowpal Wabbit: one against all (oaa), and probabilistic label trees (plt), both with the logistic loss.

oaa sees a document once for each of its labels. Words are given as they are; Vowpal Wabbit hashes them.
"""

import numpy as np
import vowpalwabbit
from tools import words

PACKAGES = ["vowpalwabbit"]
PASSES = 5


class entry:
    PACKAGES = PACKAGES

    def __init__(self, name):
        self.name = name

    def settings(self, task):
        if self.name == "oaa":
            choices = [{"learning_rate": 0.5}, {"learning_rate": 2.0}, {"learning_rate": 0.5, "ngram": 2}]
        else:
            choices = [{"kary_tree": 16}, {"kary_tree": 2}, {"kary_tree": 16, "ngram": 2}]
        return [one for one in choices if task.kind == "text" or "ngram" not in one]

    def Model(self, task, **setting):
        return Model(task, self.name, setting)


class Model:
    def __init__(self, task, name, setting):
        self.task, self.name = task, name
        self.options = " ".join(f"--{option} {value}" for option, value in setting.items())

    def prepare(self, documents):
        if self.task.kind == "text":
            return ["| " + " ".join(words.split(text)) for text in documents]
        return ["| " + " ".join(f"{name}:{value:g}" for name, value in row) for row in words.of_row(documents)]

    def train(self, lines, lists):
        self.labels = words.Labels(lists)
        number, n = self.labels.number, len(self.labels.names)
        mode = f"--oaa {n} --scores" if self.name == "oaa" else f"--plt {n} --top_k {min(10, n)}"
        bits = 24 if n < 1000 else 26
        self.model = model = vowpalwabbit.Workspace(f"{mode} --loss_function logistic -b {bits} {self.options} --quiet")
        if self.name == "oaa":
            both = zip(lines, lists, strict=True)
            examples = [f"{number[label] + 1} {line}" for line, labels in both for label in labels]
        else:
            numbers = [",".join(str(number[label]) for label in labels) for labels in lists]
            examples = [f"{own} {line}" for own, line in zip(numbers, lines, strict=True)]
        parsed = [model.parse(one) for one in examples] if len(examples) < 50_000 else None
        for _ in range(PASSES):
            for example in parsed or examples:
                model.learn(example)
        for example in parsed or ():
            model.finish_example(example)

    def rank(self, documents, k):
        found = []
        for line in self.prepare(documents):
            best = self.model.predict(line)
            if self.name == "oaa":
                found += self.labels.best(np.array([best]), k)
            else:
                # The tree is complete: some of its leaves may stand for no label.
                found.append([self.labels.names[i] for i in best[:k] if i < len(self.labels.names)])
        return found

    def save(self, folder):
        self.model.save(str(folder / "model.vw"))
