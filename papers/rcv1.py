"""RCV1-v2: the whole of it as Lewis, Yang, Rose and Li publish it, for whoever has it, and 15,000
documents for others.

The original is a folder with ``rcv1-v2.topics.qrels``, ``rcv1-v2.industries.qrels`` where
industries are wanted, and the documents as ``lyrl2004_tokens_*.dat`` (stemmed words) or
``lyrl2004_vectors_*.dat`` (tf-idf), compressed or not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scipy.sparse import csr_array

from papers.datasets import DATASETS
from shortlist.data.rows import Rows
from shortlist.errors import InputError
from shortlist.inputs import Examples, read

ORIGINAL, SUBSET = (DATASETS[name].folder for name in ("rcv1-v2", "rcv1"))


class Corpus(NamedTuple):
    """Documents as texts, or as rows where only those can be had, with their categories."""

    texts: list[str] | None
    rows: csr_array | None
    topics: list[list[str]]

    @property
    def names(self) -> list[str]:
        """All categories."""
        return sorted({topic for own in self.topics for topic in own})


def is_whole(data: Path) -> bool:
    """Whether the original is in the data folder."""
    return DATASETS["rcv1-v2"].is_in(data / ORIGINAL)


def subset(data: Path) -> Corpus:
    """The 15,000 documents without repeats, with all their topics."""
    folder = data / SUBSET
    codes = (folder / "topics.txt").read_text(encoding="utf-8").split()
    batches = list(read(folder / "rcv1_aligned_15k.svm", format="svmlight"))
    X = _rows(batches)
    first: dict[bytes, int] = {}
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        first.setdefault(X.indices[row].tobytes() + X.data[row].tobytes(), i)
    kept = list(first.values())
    topics = [[codes[int(n)] for n in own] for batch in batches for own in batch.labels or ()]
    return Corpus(None, X[kept], [topics[i] for i in kept])


def whole(
    data: Path, kinds: Iterable[str] = ("topics",), part: str = "*", words: bool = True
) -> Corpus:
    """The original's documents in the order of their dates, with their topics and, if asked,
    industries.

    ``part`` is "train", or "*" for all; ``words`` prefers the token files to the vectors where both
    are there.
    """
    folder = data / ORIGINAL
    categories = _categories(folder, kinds)
    tokens, vectors = (
        _files(folder, f"lyrl2004_{kind}_{part}.dat*") for kind in ("tokens", "vectors")
    )
    if tokens and (words or not vectors):
        batches = [batch for path in tokens for batch in read(path, format="rcv1-tokens")]
        texts = [text for batch in batches for text in batch.texts or ()]
        return Corpus(
            texts, None, _of(categories, (name for batch in batches for name in batch.ids or ()))
        )
    if not vectors:
        raise InputError(
            f"{folder} has no documents: lyrl2004_tokens_{part}.dat or lyrl2004_vectors_{part}.dat"
        )
    batches = [batch for path in vectors for batch in read(path, format="svmlight")]
    names = (own[0] if own else "" for batch in batches for own in batch.labels or ())
    return Corpus(None, _rows(batches), _of(categories, names))


def _categories(folder: Path, kinds: Iterable[str]) -> dict[str, list[str]]:
    """The categories of each document, by its number; a kind whose file is not there gives none."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in (
        path for kind in kinds for path in sorted(folder.glob(f"rcv1-v2.{kind}.qrels*"))[:1]
    ):
        for batch in read(path, format="rcv1-qrels"):
            for category, document in zip(batch.query or (), batch.ids or (), strict=True):
                found[document].append(category)
    return found


def _files(folder: Path, pattern: str) -> list[Path]:
    """The training documents, which are the oldest, first."""
    return sorted(folder.glob(pattern), key=lambda path: ("train" not in path.name, path.name))


def _of(categories: dict[str, list[str]], documents: Iterable[str]) -> list[list[str]]:
    return [categories.get(document, []) for document in documents]


def _rows(batches: list[Examples]) -> Any:
    return Rows.stack([batch.rows for batch in batches if batch.rows is not None]).to_matrix()


# The trees of topics and of industries.


def lowest(categories: list[str], names: Collection[str]) -> list[str]:
    """The categories that stand above no other category of the document."""
    above = {parent for category in categories for _, parent in path_of_codes(category, names)}
    return [category for category in categories if category not in above]


def path_of_codes(category: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """(child, parent) from a category up to the root of its tree. RCV1's codes name their parents:
    C151 is under C15, which is under CCAT (Lewis et al. 2004, the file rcv1.topics.hier).
    """
    while not category.endswith("CAT"):
        shorter = (category[:n] for n in range(len(category) - 1, 0, -1))
        parent = next((code for code in shorter if code in names), category[0] + "CAT")
        yield category, parent
        category = parent


def tree(labels: list[str]) -> list[tuple[str, str]]:
    """The tree of some categories, as pairs (child, parent)."""
    return sorted({pair for label in labels for pair in path_of_codes(label, labels)})
