"""Record what ir_measures says about a small retrieval run, for tests that cannot afford to wait
for it.

    pip install --no-deps ir-measures ranx
    python tests/reference/record_ir_measures.py > tests/reference/ir_measures.json

(ranx, which does the work behind ir_measures where pytrec_eval cannot be built, compiles for half a
minute.)
"""

import json
from importlib.metadata import version

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import Qrel, ScoredDoc

MEASURES = {
    "MAP": "AP",
    "MRR": "RR",
    "P@5": "P@5",
    "recall@5": "R@5",
    "nDCG@5": "nDCG@5",
    "nDCGexp@5": "nDCG(dcg='exp-log2')@5",
    "R1": "Success@1",
}


def main():
    rng = np.random.default_rng(0)
    query = rng.integers(8, size=120)
    grades = rng.choice([0, 0, 0, 1, 2, 3], size=120)
    scores = np.round(grades + 2 * rng.standard_normal(120), 3)
    qrels = [
        Qrel(f"q{q}", f"d{i}", int(g)) for i, (q, g) in enumerate(zip(query, grades, strict=True))
    ]
    run = [
        ScoredDoc(f"q{q}", f"d{i}", float(s))
        for i, (q, s) in enumerate(zip(query, scores, strict=True))
    ]
    values = {name: {} for name in MEASURES}
    names = {ir_measures.parse_measure(theirs): ours for ours, theirs in MEASURES.items()}
    # ranx wants text columns of the older kind
    with pd.option_context("future.infer_string", False):
        for metric in ir_measures.providers.registry["ranx"].iter_calc(list(names), qrels, run):
            values[names[metric.measure]][metric.query_id[1:]] = float(metric.value)
    versions = {name: version(name) for name in ("ir_measures", "ranx")}
    print(
        json.dumps(
            {
                "versions": versions,
                "scores": scores.tolist(),
                "grades": grades.tolist(),
                "query": query.tolist(),
                "values": values,
            }
        )
    )


if __name__ == "__main__":
    main()
