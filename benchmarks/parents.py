"""A parent's evidence for a rare child: EURLEX57K's titles, labels of at most five examples, by recall@5 and nDCG@5.

    python -m benchmarks.parents [laws to learn, 10,000 unless told]

All on the training part, of which a tenth, or at most 2,000 laws, is held out. Names teach (``teach=5``). To the scores
of rare labels is added a share of the best of their parents' scores, where both are above 0; beside it, for what such a
gift does without a parent, the scores of rare labels are raised by a share of their own. Labels are looked for among
the first five of the whole ranking, and of a ranking of their group alone.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.fields import parts
from benchmarks.teaching import GROUPS, K, gains
from shortlist import Categorizer, LabelVocabulary, read_vocabulary

RARE = 5
SHARES = (0.05, 0.1, 0.2, 0.4)


def best_parent(scores: np.ndarray, names: list[str], vocabulary: LabelVocabulary) -> np.ndarray:
    """Of each label the highest score of a parent, 0 where it has none or all are below."""
    number, broader = {name: n for n, name in enumerate(names)}, vocabulary.broader
    found = np.zeros_like(scores)
    for n, name in enumerate(names):
        above = [number[parent] for parent in broader.get(name, ()) if parent in number]
        if above:
            found[:, n] = np.maximum(scores[:, above].max(axis=1), 0)
    return found


def tell(way: str, scores: np.ndarray, names: list[str], truth: list[set[str]], counts: Counter[str]) -> None:
    best = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    right = np.array([[names[c] in true for c in own] for own, true in zip(best, truth, strict=True)])
    told = [f"P@1 {right[:, 0].mean():.4f}  P@5 {right.mean():.4f}"]
    seen = np.array([counts[name] for name in names])
    for group in ("none", "1 to 5"):
        least, most = GROUPS[group]
        own = [{label for label in true if least <= counts[label] <= most} for true in truth]
        which = [n for n, true in enumerate(own) if true]
        inside = np.where((seen >= least) & (seen <= most), scores, -np.inf)[which]
        lists = {"all": best[which], "group": np.argsort(-inside, axis=1, kind="stable")[:, :K]}
        for name, some in lists.items():
            recall, ndcg = np.mean(
                [gains([names[c] for c in one], own[n]) for n, one in zip(which, some, strict=True)], axis=0
            )
            told.append(f"{group} ({len(which)}), of {name} {recall:.3f} {ndcg:.3f}")
    print(f"{way:32}", "  ".join(told), flush=True)


def main() -> None:
    train, test = parts(True, int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    test = test[:2_000]
    counts = Counter(label for law in train for label in law["labels"])
    vocabulary = read_vocabulary(Path(os.environ["SHORTLIST_DATA"]) / "eurlex57k" / "labels.json", teach=RARE)
    model = (
        Categorizer().set_vocabulary(vocabulary).fit([law["title"] for law in train], [law["labels"] for law in train])
    )
    scores = model.learner_.decision_function(model.text_.transform([law["title"] for law in test]))
    names, truth = [str(name) for name in model.classes_.tolist()], [set(law["labels"]) for law in test]
    beside = [any(up in own for up in vocabulary.broader.get(label, ())) for own in truth for label in own]
    print(f"{len(train):,} laws to learn, {len(test):,} to rank; {np.mean(beside):.1%} of labels stand beside a parent")
    tell("as it is", scores, names, truth, counts)
    voted = (np.array([counts[name] for name in names]) <= RARE) & (scores > 0)
    parent = best_parent(scores, names, vocabulary)
    for share in SHARES:
        tell(f"+ {share} × the best parent's", scores + share * np.where(voted, parent, 0), names, truth, counts)
        tell(f"+ {share} × its own, no parent", scores * np.where(voted, 1 + share, 1), names, truth, counts)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main()
