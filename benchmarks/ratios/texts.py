"""How fast texts become rows, against CountVectorizer and a plain loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.ratios.ratio import Ratio, data, in_turn
from papers.corpora.contexts import word_contexts
from shortlist import TextVectorizer
from tests.reference import contexts as slow


def single_texts() -> Iterator[Ratio]:
    rng = np.random.default_rng(0)
    some = [" ".join(f"word{j}" for j in rng.zipf(1.3, 100) % 50_000) for _ in range(500)]
    ours, theirs = TextVectorizer().fit(some), CountVectorizer().fit(some)
    times = in_turn(
        lambda: [ours.rows([text]) for text in some], lambda: [theirs.transform([text]) for text in some], repeats=3
    )
    yield Ratio("one text at a time: CountVectorizer", *times, 3)


def newsgroups() -> Iterator[Ratio]:
    bodies = [
        path.read_text(encoding="latin-1").partition("\n\n")[2]
        for path in sorted(data("20newsgroups-original", "20_newsgroups").glob("*/*"))
    ]
    TextVectorizer().fit_transform(bodies[:100])  # compiled
    (ours,) = in_turn(lambda: TextVectorizer().fit_transform(bodies), repeats=3)
    (theirs,) = in_turn(lambda: CountVectorizer().fit_transform(bodies), repeats=1)
    yield Ratio("20 Newsgroups, counted: CountVectorizer", ours, theirs, 8)


def contexts() -> Iterator[Ratio]:
    novel = sorted(data("austen", "austen").glob("*.txt"))[0].read_text(encoding="utf-8")[:100_000]
    word_contexts(["compile once"])
    times = in_turn(lambda: word_contexts([novel]), lambda: slow.word_contexts([novel], "chosen"), repeats=2)
    yield Ratio("word contexts of a novel: a plain loop", *times, 4)
