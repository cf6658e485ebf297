"""river on a stream: reads texts and labels as JSON, ranks and learns them, writes whether each best label was right.

The learner learns a document once for each of its labels, after the whole batch was ranked. Where time runs out, what
was ranked until then is written.
"""

import json
import re
import sys
import time
from collections import Counter

from river import linear_model, multiclass, naive_bayes

LEARNERS = {
    "MultinomialNB": lambda: naive_bayes.MultinomialNB(alpha=0.1),
    "PAClassifier": lambda: multiclass.OneVsRestClassifier(linear_model.PAClassifier(C=0.1)),
    "SoftmaxRegression": lambda: linear_model.SoftmaxRegression(),
}


def main():
    given = json.load(sys.stdin)
    rows = [Counter(re.findall(r"\w\w+", text.lower())) for text in given["texts"]]
    learner, labels, batch, hits = LEARNERS[given["learner"]](), given["labels"], given["batch"], []
    ends = time.monotonic() + given["seconds"]
    for first in range(0, len(rows), batch):
        if time.monotonic() > ends:
            break
        some, own = rows[first : first + batch], labels[first : first + batch]
        hits += [bool(first) and learner.predict_one(row) in truth for row, truth in zip(some, own, strict=True)]
        for row, truth in zip(some, own, strict=True):
            for label in truth:
                learner.learn_one(row, label)
    json.dump(hits, sys.stdout)


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main()
