"""The data sets of paper 004, as its experiments take them, and their random splits."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.door import Rows
from shortlist.experiments.experiment import Cell, Curve
from shortlist.inputs import read
from shortlist.text.context import word_contexts
from shortlist.text.vectorizer import TextVectorizer

TEN_TOPICS = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn")
FINNA_LINES = 100_000
HELD_OUT = {"newsgroups": 0.2}  # 0.1 for all others
STAND_INS = {
    "rcv1": "15,000 documents and the 103 topics of RCV1-v2 stand in for its training split of 23,000 with topics and "
    "industries: published figures are shown for the direction, not to be met.",
    "finna": "The first 100,000 titles of a library catalogue stand in for the private Ads and Web sets.",
}


@functools.cache
def load(data: Path, name: str) -> tuple[Any, NDArray[np.object_]]:
    """Rows and the label lists of a data set, prepared once for a process."""
    return LOADERS[name](data)


def newsgroups(data: Path) -> tuple[Any, Any]:
    texts, labels = _texts(data / "20_newsgroups", format="folders", encoding="latin-1", headers=False)
    return TextVectorizer(stop_words="english").fit_transform(texts), _lists(labels)


def reuters(data: Path) -> tuple[Any, Any]:
    """The 9,400 documents with one of the ten largest topics, each with one topic.

    The paper does not say which it took where a document has several; we draw one.
    """
    texts, labels = _texts(data / "reuters21578", format="reuters")
    own = [[topic for topic in topics if topic in TEN_TOPICS] for topics in labels]
    kept = [n for n, topics in enumerate(own) if topics]
    random = np.random.default_rng(4)
    X = TextVectorizer(stop_words="english").fit_transform([texts[n] for n in kept])
    return X, _lists([[own[n][random.integers(len(own[n]))]] for n in kept])


def rcv1(data: Path) -> tuple[Any, Any]:
    """Documents without repeats, with the lowest of their topics, as the paper takes them."""
    X, topics, names = rcv1_documents(data)
    return X, _lists([lowest(own, names) for own in topics])


def rcv1_documents(data: Path) -> tuple[Any, list[list[str]], list[str]]:
    """Documents without repeats, with all their topics; and the names of the topics that there are."""
    folder = data / "rcv1_subsets"
    names = (folder / "topics.txt").read_text().split()
    batches = list(read(folder / "rcv1_aligned_15k.svm", format="svmlight"))
    X = Rows.stack([batch.rows for batch in batches if batch.rows is not None]).to_matrix()
    topics = [[names[int(n)] for n in own] for batch in batches for own in batch.labels or ()]
    rows = np.split(np.arange(X.nnz), X.indptr[1:-1])
    first: dict[bytes, int] = {}
    for i, row in enumerate(rows):
        first.setdefault(X.indices[row].tobytes() + X.data[row].tobytes(), i)
    kept = list(first.values())
    return X[kept], [topics[i] for i in kept], names


def lowest(topics: list[str], names: list[str]) -> list[str]:
    """The topics that stand above no other topic of the document."""
    above = {parent for topic in topics for _, parent in path_of_codes(topic, names)}
    return [topic for topic in topics if topic not in above]


def path_of_codes(topic: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """(child, parent) from a topic up to the root of its tree. RCV1's codes name their parents: C151 is under C15,
    which is under CCAT (Lewis et al. 2004, the file rcv1.topics.hier)."""
    while not topic.endswith("CAT"):
        shorter = (topic[:n] for n in range(len(topic) - 1, 0, -1))
        parent = next((code for code in shorter if code in names), topic[0] + "CAT")
        yield topic, parent
        topic = parent


def path_of_dots(group: str) -> Iterator[tuple[str, str]]:
    """(child, parent) from a newsgroup up: comp.sys.mac.hardware is under comp.sys.mac, and so on."""
    while "." in group:
        parent = group.rpartition(".")[0]
        yield group, parent
        group = parent


def tree_of_codes(labels: list[str]) -> list[tuple[str, str]]:
    """The tree of some of RCV1's topics, as pairs (child, parent)."""
    return sorted({pair for label in labels for pair in path_of_codes(label, labels)})


def tree_of_dots(labels: list[str]) -> list[tuple[str, str]]:
    """The tree of newsgroups' dotted names, as pairs (child, parent)."""
    return sorted({pair for label in labels for pair in path_of_dots(label)})


TREES = {"rcv1": tree_of_codes, "newsgroups": tree_of_dots}


def austen(data: Path) -> tuple[Any, Any]:
    texts, _ = _texts(data / "austen", format="books")
    X, words, _ = word_contexts(texts, "runs")
    return X, _lists([[word] for word in words])


def finna(data: Path) -> tuple[Any, Any]:
    texts, labels = _texts(data / "finna" / "finna.tsv.gz", format="tsv")
    return TextVectorizer().fit_transform(texts[:FINNA_LINES]), _lists(labels[:FINNA_LINES])


LOADERS = {"newsgroups": newsgroups, "reuters": reuters, "rcv1": rcv1, "austen": austen, "finna": finna}


def _texts(path: Path, **options: Any) -> tuple[list[str], list[list[str]]]:
    batches = list(read(path, **options))
    return [text for batch in batches for text in batch.texts or ()], [own for b in batches for own in b.labels or ()]


def _lists(labels: list[list[str]]) -> NDArray[np.object_]:
    """Label lists as an array, so that splits can index it."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def split(name: str, n: int, trial: int) -> tuple[Any, Any]:
    """The training and test rows of a trial."""
    order = np.random.default_rng([4, trial]).permutation(n)
    n_test = round(HELD_OUT.get(name, 0.1) * n)
    return order[n_test:], order[:n_test]


def mean_of(values: Sequence[float | None], published: float | None = None) -> Cell:
    """Mean and standard deviation over trials, beside what was published."""
    known = [value for value in values if value is not None]
    if not known:
        return Cell(published=published)
    return Cell(float(np.mean(known)), float(np.std(known)), published)


def curve_of(trials: list[list[float]], x: list[float] | None = None) -> Curve:
    """The mean of trials, with a band of one standard deviation."""
    mean, spread = np.mean(trials, axis=0), np.std(trials, axis=0)
    x = [float(n + 1) for n in range(mean.size)] if x is None else x
    return Curve(x, mean.tolist(), (mean - spread).tolist(), (mean + spread).tolist())
