"""What MMP and the per-topic Perceptron cost, against the number of topics and on Reuters-21578.

    python benchmarks/prototypes.py                        made-up documents, 100 to 100,000 topics known in advance
    python benchmarks/prototypes.py DIR/reuters21578       10,000 documents, 90 topics, selected terms

A made-up document has one topic; ten of its thirty words are drawn from twenty that belong to the topic, twenty from
all 50,000 words by Zipf's law. Seconds are processor time of one thread, after compilation.
"""

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse

import shortlist as sl
from papers.comparators.rocchio_selection import RocchioSelection
from papers.topics import SELECT, TEXT, reuters

TOPICS = (100, 1_000, 10_000, 100_000)
N_WORDS, N_DOCUMENTS = 50_000, 5_000
LEARNERS = {
    "MMP loss1": lambda: sl.MMP(1),
    "MMP loss3": lambda: sl.MMP(3),
    "MMP passive-aggressive": lambda: sl.MMP(margin=1.0, step="passive-aggressive"),
    "TopicPerceptron": sl.TopicPerceptron,
}


def made_up(n_topics: int) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    random = np.random.default_rng(0)
    own = random.integers(1000, N_WORDS, size=(n_topics, 20))
    y = random.integers(0, n_topics, size=N_DOCUMENTS)
    about = np.take_along_axis(own[y], random.integers(0, 20, size=(N_DOCUMENTS, 10)), axis=1)
    anything = np.minimum(random.zipf(1.2, size=(N_DOCUMENTS, 20)), N_WORDS) - 1
    words = np.hstack([about, anything])
    ends = np.arange(N_DOCUMENTS + 1) * words.shape[1]
    X = scipy.sparse.csr_array((np.ones(words.size), words.ravel(), ends), (N_DOCUMENTS, N_WORDS))
    X.sum_duplicates()
    X.data = (1 + np.log(X.data)) / np.sqrt(30)
    return X, y


def against_topics() -> None:
    print("| topics | learner | learn, µs a document | rank, µs | weights | of topics × words | MB |")
    print("|---|---|---|---|---|---|---|")
    for n_topics in TOPICS:
        X, y = made_up(n_topics)
        for name, make in LEARNERS.items():
            make().partial_fit(X[:50], y[:50]).rank(X[:50])
            learner = make()
            began = time.process_time()
            learner.partial_fit(X, y, classes=range(n_topics))
            learned = time.process_time()
            learner.rank(X[:1000], k=5)
            ranked = time.process_time()
            n_bytes = sum(array.nbytes for array in learner.to_state().all_arrays().values())
            cells = [
                f"{n_topics:,}", name, f"{(learned - began) / N_DOCUMENTS * 1e6:,.0f}",
                f"{(ranked - learned) / 1000 * 1e6:,.0f}", f"{learner.n_weights_:,}",
                f"{learner.n_weights_ / n_topics / N_WORDS:.4%}", f"{n_bytes / 1e6:,.0f}",
            ]  # fmt: skip
            print("|", " | ".join(cells), "|", flush=True)


def on_reuters(folder: Path) -> None:
    corpus = reuters(folder.parent)
    X = sl.TextVectorizer(**TEXT).fit_transform(corpus.texts)
    X = RocchioSelection(**SELECT).fit(X, corpus.topics).transform(X)[:10_000]
    Y = corpus.topics[:10_000]
    print(f"{X.shape[0]:,} documents, {X.shape[1]:,} terms, {len(corpus.names)} topics")
    for name, make in LEARNERS.items():
        make().fit(X[:50], Y[:50])
        seconds = []
        for _ in range(5):
            began = time.process_time()
            make().fit(X, Y)
            seconds.append(time.process_time() - began)
        print(f"{name}: {min(seconds):.2f} s, the best of five")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    if len(sys.argv) > 1:
        on_reuters(Path(sys.argv[1]))
    else:
        against_topics()
