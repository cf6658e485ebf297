"""Documents ranked by words, by meaning, and by both: MAP on Cranfield.

    python -m benchmarks.meaning_of_documents DATA [--encoder all-MiniLM-L6-v2]

DATA has the folder cranfield. The 15 retrieval functions of paper 003 are those of words. MapSVM is
trained and tested on five folds of queries, C chosen on a fold between
(benchmarks/rivals/others.py).
"""

from benchmarks.rivals.others import MapSVM, compare, in_folds
from benchmarks.running import arguments, show, table
from papers.document_data import POOL, _abstracts, _cranqrel, base_functions, pooled
from shortlist import RetrievalIndex


def main():
    parser = arguments(__doc__)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    asked = parser.parse_args()
    folder = asked.data / "cranfield"
    texts, questions = _abstracts(folder / "cran.all.1400"), _abstracts(folder / "cran.qry")
    functions = base_functions(lambda: texts, questions)
    functions["meaning"] = RetrievalIndex(texts, encoder=asked.encoder).scores(questions, "meaning")
    judged = in_folds(pooled(functions, _cranqrel(folder, len(questions)), POOL["cranfield"]))
    alone = {
        name: judged.average_precision(judged.scores[:, n]).mean()
        for n, name in enumerate(judged.names)
    }
    words = max((name for name in alone if name != "meaning"), key=alone.get)
    rows = {f"best function of words ({words})": alone[words], "meaning": alone["meaning"]}
    for name, columns in {
        "MapSVM, words": slice(0, -1),
        "MapSVM, words and meaning": slice(0, None),
    }.items():
        part = judged._replace(scores=judged.scores[:, columns], names=judged.names[columns])
        rows[name] = compare(MapSVM, part)[0].mean()
    show(table(["", "MAP"], [[name, f"{value:.3f}"] for name, value in rows.items()]))


if __name__ == "__main__":
    main()
