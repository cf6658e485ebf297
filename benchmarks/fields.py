"""Title and body as fields beside one text: EURLEX57K, P@1, P@3 and P@5, and seconds of processor time.

python -m benchmarks.fields --choose     on a tenth of the training part that is held out
python -m benchmarks.fields              on the development part
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from shortlist import Categorizer, evaluate

MEASURES = ["P@1", "P@3", "P@5"]
HELD_OUT, SEED = 0.1, 7


def load(name: str) -> list[dict[str, Any]]:
    folder = Path(os.environ["SHORTLIST_DATA"]) / "eurlex57k"
    with open(folder / f"{name}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def parts(choose: bool, most: int | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What to learn, and what to rank."""
    train = load("train")
    if not choose:
        return train[:most], load("dev")
    order = np.random.default_rng(SEED).permutation(len(train)).tolist()
    n_held = int(HELD_OUT * len(train))
    return [train[i] for i in order[n_held:][:most]], [train[i] for i in order[:n_held]]


WAYS = {
    "one text": lambda law: law["text"],
    "title and body": lambda law: {"title": law["title"], "body": law["text"]},
    "title alone": lambda law: law["title"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--most", type=int, help="learn so many laws only")
    asked = parser.parse_args()
    train, test = parts(asked.choose, asked.most)
    print(f"{len(train):,} laws to learn, {len(test):,} to rank")
    Categorizer().learn({"a": "compile the loops", "b": "first"}, ["x"]).rank({"a": "loops", "b": ""})
    for name, form in WAYS.items():
        texts, held = [form(law) for law in train], [form(law) for law in test]
        began = time.process_time()
        model = Categorizer().fit(texts, [law["labels"] for law in train])
        learned = time.process_time() - began
        ranking = model.rank(held, k=5)
        ranked = time.process_time() - began - learned
        found = evaluate(ranking, model.learner_.label_numbers([law["labels"] for law in test]), MEASURES)
        shown = "  ".join(f"{one} {found[one]:.4f}" for one in MEASURES)
        print(f"{name:15} {shown}  learn {learned:.1f} s, rank {1e6 * ranked / len(test):.0f} µs", flush=True)


if __name__ == "__main__":
    main()
