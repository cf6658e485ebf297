"""Names that teach: EURLEX57K's titles, recall@5 and nDCG@5 of labels by how many training examples they have.

    python -m benchmarks.teaching --choose     on a tenth of the training part that is held out
    python -m benchmarks.teaching              on the development part
    python -m benchmarks.teaching --choose --most 10000 --encoder all-MiniLM-L6-v2:static

Of each law only the labels of a group are looked for: among the first five of the whole ranking and, as figures for
few and no examples are usually given, among the first five of a ranking of that group's labels alone.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.fields import parts
from shortlist import Categorizer, Rules, evaluate, read_vocabulary

GROUPS = {
    "none": (0, 0), "1 to 5": (1, 5), "6 to 50": (6, 50), "more": (51, 10**9),
    "1 to 50": (1, 50), "any": (0, 10**9),  # what is called few-shot where figures of this set are published, and all
}  # fmt: skip
K = 5


def gains(ranked: list[str], true: set[str]) -> tuple[float, float]:
    """Recall and nDCG at K, at most K labels being looked for."""
    hits = np.array([label in true for label in ranked] + [False] * (K - len(ranked)))
    discounts, most = 1 / np.log2(np.arange(K) + 2), min(len(true), K)
    return hits.sum() / most, float(hits @ discounts / discounts[:most].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--most", type=int, help="learn so many laws only")
    parser.add_argument("--encoder", help="also words and meaning, by this encoder, beginning with the names")
    asked = parser.parse_args()
    train, test = parts(asked.choose, asked.most)
    counts = Counter(label for law in train for label in law["labels"])
    file = Path(os.environ["SHORTLIST_DATA"]) / "eurlex57k" / "labels.json"
    print(f"{len(train):,} laws to learn, {len(test):,} to rank")
    for teach, encoder in [(0, None), (5, None)] + [(0, asked.encoder)] * bool(asked.encoder):
        model = Categorizer(encoder=encoder).set_vocabulary(read_vocabulary(file, teach=teach))
        began = time.process_time()
        model.fit([law["title"] for law in train], [law["labels"] for law in train])
        learned, texts = time.process_time() - began, [law["title"] for law in test]
        ranking, truth = model.rank(texts, K), model.learner_.label_numbers([law["labels"] for law in test])
        found = evaluate(ranking, truth, ["P@1", "P@3", "P@5"])
        shown = "  ".join(f"{name} {found[name]:.4f}" for name in ("P@1", "P@3", "P@5"))
        print(f"\nnames {'teach' if teach else 'do not teach'}, encoder {encoder}: {shown}, learn {learned:.1f} s")
        for group, (least, most) in GROUPS.items():
            own = [{label for label in law["labels"] if least <= counts[label] <= most} for law in test]
            which = [n for n, true in enumerate(own) if true]
            rules = Rules(only=[label for label in model.classes_.tolist() if least <= counts[label] <= most])
            alone = model.rank([texts[n] for n in which], K, rules)
            lists = {"of all": [ranking[n] for n in which], "of the group": list(alone)}
            told = []
            for name, some in lists.items():
                pairs = [gains([label for label, _ in one], own[n]) for n, one in zip(which, some, strict=True)]
                recall, ndcg = np.mean(pairs, axis=0)
                told.append(f"{name}: R@5 {recall:.3f} nDCG@5 {ndcg:.3f}")
            print(f"  {group:8} {len(which):5,} laws   {'   '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
