"""What it costs to learn examples in blocks rather than one by one: P@1 / P@5 of TunedIndex on validation parts.

    python benchmarks/blocks.py DATA [SET ...]

Every seventh training example is held out; no test part is read. Means over three orders of the examples, in per cent.
Blocks have at most so many examples, and never more than 1/128 of all.
"""

import sys
from pathlib import Path

import numpy as np
from tuning import CHARACTERS, PAIRS, SETS, SHORT, WORDS

import shortlist as sl

SIZES = (1, 64, 256, 1024)
ORDERS = 3


def main(data, chosen):
    print(f"| P@1 / P@5 | examples | {' | '.join(f'{size} at a time' for size in SIZES)} |")
    print(f"|---|--:|{'--:|' * len(SIZES)}")
    for name in chosen or SETS:
        documents, labels = SETS[name](data)
        held_out = np.arange(len(labels)) % 7 == 6
        own, truth = ([labels[i] for i in np.flatnonzero(part)] for part in (~held_out, held_out))
        if isinstance(documents, list):
            text = sl.TextVectorizer(**(CHARACTERS if name in SHORT else PAIRS if name == "finna" else WORDS))
            train = text.fit_transform([documents[i] for i in np.flatnonzero(~held_out)])
            rest = text.transform([documents[i] for i in np.flatnonzero(held_out)])
        else:
            train, rest = documents[~held_out], documents[held_out]
        cells = []
        for size in SIZES:
            found = []
            for order in range(ORDERS):
                learner = sl.TunedIndex(random_state=order, block=max(1, min(size, len(own) // 128)))
                ranking = learner.fit(train, own).rank(rest, k=5)
                measures = sl.evaluate(ranking, truth, ["P@1", "P@5"], resamples=0)
                found.append([100 * measures["P@1"], 100 * measures["P@5"]])
            cells.append(" / ".join(f"{mean:.2f}" for mean in np.mean(found, axis=0)))
        print(f"| {name} | {len(own):,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(Path(sys.argv[1]), sys.argv[2:])
