"""Documents ranked by words, by meaning, and by both: MAP on Cranfield.

    python -m benchmarks.meaning_of_documents DATA [--encoder all-MiniLM-L6-v2]

DATA has the folder cranfield. The 15 retrieval functions of paper 003 are those of words. MapSVM is trained and tested
on five folds of queries, C chosen on a fold between (benchmarks/documents.py).
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.documents import MapSVM, fold_roles, scaled, trained
from papers.document_data import POOL, _abstracts, _cranqrel, base_functions, pooled
from shortlist import RetrievalIndex


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    asked = parser.parse_args()
    folder = asked.data / "cranfield"
    texts, questions = _abstracts(folder / "cran.all.1400"), _abstracts(folder / "cran.qry")
    functions = base_functions(lambda: texts, questions)
    functions["meaning"] = RetrievalIndex(texts, encoder=asked.encoder).scores(questions, "meaning")
    judged = scaled(pooled(functions, _cranqrel(folder, len(questions)), POOL["cranfield"]))
    judged = judged._replace(fold=1 + np.random.default_rng(0).permutation(judged.fold.size) % 5)
    alone = {name: judged.average_precision(judged.scores[:, n]).mean() for n, name in enumerate(judged.names)}
    words = max((name for name in alone if name != "meaning"), key=alone.get)
    rows = {f"best function of words ({words})": alone[words], "meaning": alone["meaning"]}
    for name, columns in {"MapSVM, words": slice(0, -1), "MapSVM, words and meaning": slice(0, None)}.items():
        rows[name] = in_folds(judged._replace(scores=judged.scores[:, columns], names=judged.names[columns]))
    print("| | MAP |\n|---|--:|")
    for name, value in rows.items():
        print(f"| {name} | {value:.3f} |")


def in_folds(judged):
    found = []
    for roles in fold_roles(judged.fold):
        best = max(trained(MapSVM, MapSVM.settings, judged, roles), key=lambda one: one[1])
        test = judged.of(roles[2])
        found.append(test.average_precision(best[0].predict(test)))
    return np.concatenate(found).mean()


if __name__ == "__main__":
    main()
