"""Texts of another kind than those that were learned: how many of them does a model decide alone?

    python benchmarks/strangers.py DATA [SET ...]

DATA is a folder with the sets in their publishers' layout. A model learns nine tenths of a training part, and decides
at a precision of 90 % about the last tenth, and about texts of the training parts of the other sets, none of whose
labels is right. "without" decides by probabilities alone, as if all of a text were known (abstention.py).
"""

import sys
from pathlib import Path

import numpy as np
from confidence import SETS

import shortlist as sl

SHORT = ("hwu64", "snips", "stackoverflow", "dbpedia")
STRANGE = (*SHORT, "reuters")
SOME, PRECISION = 500, 0.9


class Trusting(sl.Categorizer):
    """Asks not how much of a text is known."""

    def _known_share(self, texts):
        return np.ones(len(texts), dtype=np.float32)


def decided(model, texts):
    return np.array([len(own) > 0 for own in model.assign(texts, precision=PRECISION)])


def measure(name, parts):
    texts, labels = parts[name]
    order = np.random.default_rng(0).permutation(len(texts))
    learned, new = np.split(order, [len(texts) * 9 // 10])
    model = sl.Categorizer().fit([texts[i] for i in learned], [labels[i] for i in learned])
    trusting = Trusting.from_state(model.to_state())
    own = [texts[i] for i in new]
    kept, before = decided(model, own), decided(trusting, own)
    right = np.array([best[0] in labels[i] for best, i in zip(model.rank(own, 1).labels.tolist(), new, strict=True)])
    cells = [f"{100 * before.mean():.1f} {100 * kept.mean():.1f}",
             f"{100 * right[before].mean():.1f} {100 * right[kept].mean():.1f}"]  # fmt: skip
    for other in STRANGE:
        some = parts[other][0][:SOME]
        found = [100 * decided(one, some).mean() for one in (trusting, model)]
        cells.append("–" if other == name else f"{found[0]:.0f} {found[1]:.0f}")
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    data, *chosen = sys.argv[1:]
    training = {name: SETS[name](Path(data))[0] for name in STRANGE}
    asked = f"% decided at {100 * PRECISION:.0f} %, without and with"
    print(f"| {asked} | its own | of these right | {' | '.join(STRANGE)} |")
    print("|---" * (3 + len(STRANGE)) + "|")
    for one in chosen or SHORT:
        measure(one, training)
