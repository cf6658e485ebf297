"""Vowpal Wabbit: one against all (oaa), and probabilistic label trees (plt), both with the logistic
loss, five passes.

oaa sees a document once for each of its labels. Words are given as they are; Vowpal Wabbit hashes
them. On streams it learns a document once, and is told the number of labels before.
"""

import numpy as np
import vowpalwabbit
from tools import words

PACKAGES = ["vowpalwabbit"]
PASSES = 5


class Model:
    def __init__(self, task, name):
        self.task, self.name = task, name

    def lines(self, documents):
        if self.task.kind == "text":
            return ["| " + " ".join(words.split(text)) for text in documents]
        return [
            "| " + " ".join(f"{name}:{value:g}" for name, value in row)
            for row in words.of_row(documents)
        ]

    def start(self, names):
        self.labels, n = words.Labels([names]), len(names)
        mode = (
            f"--oaa {n} --scores"
            if self.name == "oaa"
            else f"--plt {n} --top_k {min(10, n)} --kary_tree 16"
        )
        bits = 24 if n < 1000 else 26
        self.model = vowpalwabbit.Workspace(f"{mode} --loss_function logistic -b {bits} --quiet")

    def train(self, documents, lists):
        self.start(words.Labels(lists).names)
        examples = [
            one
            for line, own in zip(self.lines(documents), lists, strict=True)
            for one in self.told(line, own)
        ]
        parsed = [self.model.parse(one) for one in examples] if len(examples) < 50_000 else None
        for _ in range(PASSES):
            for example in parsed or examples:
                self.model.learn(example)
        for example in parsed or ():
            self.model.finish_example(example)

    def told(self, line, labels):
        numbers = [self.labels.number[label] for label in labels]
        if self.name == "oaa":
            return [f"{number + 1} {line}" for number in numbers]
        return [",".join(map(str, numbers)) + f" {line}"]

    def learn(self, document, labels):
        for example in self.told(self.lines([document])[0], labels):
            self.model.learn(example)

    def rank(self, documents, k):
        found = []
        for line in self.lines(documents):
            best = self.model.predict(line)
            if self.name == "oaa":
                found += self.labels.best(np.array([best]), k)
            else:
                # The tree is complete: some of its leaves may stand for no label.
                found.append([self.labels.names[i] for i in best[:k] if i < len(self.labels.names)])
        return found

    def save(self, folder):
        self.model.save(str(folder / "model.vw"))
