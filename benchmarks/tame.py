"""What --tame does to rankings: P@1, P@3, P@5, and recall@5 of labels of few examples.

    python -m benchmarks.tame DATA

DATA has the folder eurlex57k, of whose training part 10,000 titles are learned and 2,000 ranked.
"""

import argparse
import os
from collections import Counter

import numpy as np

from benchmarks.fields import parts
from shortlist import Categorizer, Rules

K = 5
POWERS = (0.0, 0.05, 0.1)
GROUPS = ((1, 5), (6, 20))  # examples of a label


def main():
    train, held = parts(True, 10_000)
    held = held[:2_000]
    labels, truth = ([law["labels"] for law in some] for some in (train, held))
    model = Categorizer().fit([law["title"] for law in train], labels)
    counts = Counter(label for own in labels for label in own)
    print("| | P@1 | P@3 | P@5 | recall@5, 1 to 5 examples | 6 to 20 |\n|---|" + "--:|" * 5)
    for power in POWERS:
        ranked = model.rank([law["title"] for law in held], K, Rules(tame=power)).labels
        right = np.array([[label in own for label in best] for best, own in zip(ranked, truth, strict=True)])
        told = [f"{100 * right[:, :k].mean():.2f}" for k in (1, 3, K)]
        for least, most in GROUPS:
            rare = [{label for label in own if least <= counts[label] <= most} for own in truth]
            hits = [len(own & set(best)) / min(len(own), K) for best, own in zip(ranked, rare, strict=True) if own]
            told.append(f"{np.mean(hits):.3f}")
        way = f"`--tame {power}`" if power else "as it is"
        print(f"| {way} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    os.environ["SHORTLIST_DATA"] = parser.parse_args().data
    main()
