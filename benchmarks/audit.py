"""Planted wrong labels: how many of them an audit lists first, and how long it takes.

    python -m benchmarks.audit DATA [SET ...] [--most 10000]

Every label of a random 5 % of the texts is exchanged for another one of the set, at random; then
the first 5 % of the list should be these. Sets: those of the folder short_texts, the first 10,000
texts of their training parts, in random order. Times are of the processor, with all that it takes:
vectors, training and ranking.
"""

import numpy as np

import shortlist as sl
from benchmarks.running import arguments, row, show, table, timed
from benchmarks.sets import short_texts

SHARE = 0.05


def planted(labels):
    """The labels with some exchanged, and which these are."""
    random, names = np.random.default_rng(0), sorted(set(labels))
    chosen = random.permutation(len(labels))[: int(SHARE * len(labels))]
    exchanged = list(labels)
    for i in chosen:
        exchanged[i] = names[(names.index(labels[i]) + random.integers(1, len(names))) % len(names)]
    return exchanged, set(chosen.tolist())


def main():
    parser = arguments(__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", default=["hwu64", "stackoverflow", "dbpedia"]
    )
    parser.add_argument("--most", type=int, default=10_000)
    given = parser.parse_args()
    # compiles, or loads what was compiled
    sl.Categorizer().audit([f"text {n}" for n in range(10)], ["a", "b"] * 5)
    show(table(["set", "texts", "labels", "found, %", "s"]))
    for name in given.sets:
        texts, true = short_texts(given.data, name)
        order = np.random.default_rng(1).permutation(len(texts))[: given.most]
        labels, wrong = planted([true[i] for i in order])
        found, took = timed(sl.Categorizer().audit, [texts[i] for i in order], labels, n=len(wrong))
        share = 100 * len(wrong & {one.number for one in found.doubts}) / len(wrong)
        show(row(name, f"{len(labels):,}", len(set(labels)), f"{share:.1f}", f"{took:.1f}"))


if __name__ == "__main__":
    main()
