"""Learners of categories on a cluster.

The survey: each part is read once for its words, their counts and the number of its examples; merged in order, these
give every column the number that it has on one machine. Then each part is read again, its rows are learned, and what
was learned is merged in order. Learners whose state is sums (IndependentIndex, Rocchio) come out as on one machine, to
the last bit. Others learn in rounds: in each, every part is learned from what the last round has merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from shortlist import store
from shortlist.categories.additive import AdditiveLearner
from shortlist.categories.independent import IndependentIndex, some_rows
from shortlist.categories.learner import CategoryLearner
from shortlist.categorizer import Categorizer, default_learner, default_text
from shortlist.distributed.cluster import Cluster, digest
from shortlist.distributed.parts import Part
from shortlist.door import Rows
from shortlist.errors import InputError
from shortlist.inputs import Skipped
from shortlist.inputs.labelled import with_labels
from shortlist.kernels import Longs
from shortlist.store import State
from shortlist.text.vectorizer import TextVectorizer


def train(
    cluster: Cluster, parts: Sequence[Part], model: Categorizer | CategoryLearner, skipped: Skipped | None = None
) -> Any:
    """Fit a Categorizer, or a learner where the parts hold rows of features. Notes in ``skipped`` what was left out."""
    text = None
    if isinstance(model, Categorizer):
        text = default_text() if model.text is None else clone(model.text)
        learner = default_learner() if model.learner is None else clone(model.learner)
    else:
        learner = clone(model)
    if not isinstance(learner, AdditiveLearner):
        raise InputError(f"a {type(learner).__name__} cannot be trained on a cluster")
    keys = [digest("survey", part, text) for part in parts]
    surveys = list(cluster.each(survey, lambda n: (parts[n], text), keys))
    counts = [int(found.settings["examples"]) for found in surveys]
    if not sum(counts):
        raise InputError("there are no examples to learn from")
    for found in surveys:
        note(skipped, found)
    learned_text = None
    if text is not None:
        for found in surveys:
            text.merge(store.build(found.parts["text"]))
        text.forget_rare()
        learned_text = text.to_state()
    learner = Learning(cluster, parts, counts, learned_text).fit(learner)
    if text is None:
        return learner
    fitted = clone(model)
    fitted.text_, fitted.learner_ = text, learner
    return fitted


class Learning:
    """The parts as rows of features with the numbers of the survey, and the learners made of them."""

    def __init__(self, cluster: Cluster, parts: Sequence[Part], counts: list[int], text: State | None) -> None:
        self.cluster, self.parts, self.counts = cluster, parts, counts
        self.text = cluster.submit(opened, text)
        self.known = digest(text)

    def fit(self, learner: Any) -> Any:
        n_examples = sum(self.counts)
        if not isinstance(learner, IndependentIndex) or learner.threshold is not None or n_examples == 1:
            return self._merged(learner)
        # IND chooses its threshold on rows that are held out: the same ones, however many parts there are.
        held_out = np.zeros(n_examples, dtype=bool)
        held_out[learner.held_out(n_examples)] = True
        which = [np.flatnonzero(one) for one in np.split(held_out, np.cumsum(self.counts)[:-1])]
        everything, apart = self._merged(learner), self._merged(learner, which)
        shared = [self.cluster.submit(opened, one.to_state()) for one in (everything, apart)]
        keys = self._keys("hits", everything.to_state(), apart.to_state())
        found = self.cluster.each(count_hits, lambda n: (self.parts[n], self.text, which[n], *shared), keys)
        everything.choose_threshold(sum(one.array("hits", np.int64) for one in found))
        return everything

    def _merged(self, learner: Any, which: list[Longs] | None = None) -> Any:
        """One learner of all parts, or of some rows of each, merged in order."""
        merged = clone(learner)
        keys = self._keys("learn", learner, *([] if which is None else ["held out", sum(self.counts)]))

        def arguments(n: int) -> tuple[Any, ...]:
            return self.parts[n], self.text, learner, None if which is None else which[n]

        for shard in self.cluster.each(learn, arguments, keys):
            merged.merge(store.build(shard))
        return merged

    def _keys(self, *things: Any) -> list[str]:
        return [digest(self.known, part, *things) for part in self.parts]


def note(skipped: Skipped | None, found: State) -> None:
    """Take note of what a part left out."""
    if skipped is not None:
        for sentence in found.settings["sentences"]:
            skipped.add(sentence)
        skipped.count += found.settings["skipped"] - len(found.settings["sentences"])


# What workers do


def survey(part: Part, text: TextVectorizer | None) -> State:
    """The number of examples of a part, what was left out of it, and its words."""
    stream = part.open()
    words = None if text is None else clone(text).partial_fit([])
    n = 0
    for batch in with_labels(part.name, stream, stream):
        n += len(batch)
        if words is not None:
            words.partial_fit(texts_of(part, batch))
    settings = {"examples": n, "skipped": stream.skipped.count, "sentences": stream.skipped.sentences}
    return State("Survey", settings, parts={} if words is None else {"text": words.to_state()})


def opened(state: State | None) -> Any:
    """What a state describes, on arrays of its own."""
    if state is None:
        return None
    return store.build(owned(state))


def owned(state: State) -> State:
    """A copy that may be written to; what comes over the network may not be."""
    arrays = {name: np.array(array) for name, array in state.arrays.items()}
    return State(state.kind, state.settings, arrays, {name: owned(part) for name, part in state.parts.items()})


def load(part: Part, text: TextVectorizer | None, which: Longs | None = None) -> tuple[Rows, list[list[Any]]]:
    """The rows and labels of a part, or of some of its examples."""
    stream = part.open()
    blocks, labels = [], []
    for batch in with_labels(part.name, stream, stream):
        blocks.append(rows_of(part, batch) if text is None else text.rows(texts_of(part, batch)))
        labels += batch.labels or []
    rows = Rows.stack(blocks)
    return (rows, labels) if which is None else (some_rows(rows, which), [labels[i] for i in which.tolist()])


def learn(part: Part, text: TextVectorizer | None, learner: Any, which: Longs | None = None) -> State:
    """What a fresh learner makes of a part, or of some of its examples."""
    return clone(learner).learn_rows(*load(part, text, which)).to_state()


def count_hits(
    part: Part, text: TextVectorizer | None, which: Longs, everything: IndependentIndex, apart: IndependentIndex
) -> State:
    """How many of a part's held-out examples IND gets right with each candidate for its threshold."""
    return State("Hits", arrays={"hits": everything.hits(*load(part, text, which), apart)})


def texts_of(part: Part, batch: Any) -> list[str]:
    if batch.texts is None:
        raise InputError(f"{part.name} holds rows of features, and a Categorizer learns from texts")
    return batch.texts


def rows_of(part: Part, batch: Any) -> Rows:
    if batch.rows is None:
        raise InputError(f"{part.name} holds texts; a learner alone takes rows of features: give a Categorizer")
    return batch.rows
