"""On real data: OHSUMED, 106 queries, 16,140 judged documents, 45 retrieval features whose
scores often tie.
"""

import numpy as np
import pytest
import sklearn.metrics
from sklearn.datasets import load_svmlight_files

from shortlist.measures import evaluate_documents, wilcoxon


@pytest.mark.long
@pytest.mark.data
def test_single_features_of_ohsumed(data_folder):
    folder = data_folder("letor_ohsumed", "letor_ohsumed")
    parts = load_svmlight_files(
        sorted(map(str, folder.glob("fold*_test.txt"))), n_features=45, query_id=True
    )
    X = np.vstack([part.toarray() for part in parts[0::3]])
    relevance, query = np.concatenate(parts[1::3]), np.concatenate(parts[2::3])
    assert (X.shape, np.unique(query).size) == ((16_140, 45), 106)
    found = [
        evaluate_documents(X[:, feature], relevance, query, ["MAP", "ROC", "nDCG@10"], resamples=0)
        for feature in range(45)
    ]
    best = int(np.argmax([one["MAP"] for one in found]))
    assert found[best]["MAP"] == pytest.approx(0.444, abs=0.002)  # as the data's own notes say
    judged = [one for one in dict.fromkeys(query.tolist()) if relevance[query == one].any()]
    assert found[best].left_out == {"no relevant document": 106 - len(judged)}
    for row, one in enumerate(dict.fromkeys(query.tolist())):
        s, g = X[query == one, best], relevance[query == one]
        if one not in judged:
            assert np.isnan(found[best].per_instance["MAP"][row])
            continue
        in_order = -np.argsort(np.argsort(-s, kind="stable")).astype(float)
        ours = [found[best].per_instance[name][row] for name in ("ROC", "MAP", "nDCG@10")]
        theirs = [
            sklearn.metrics.roc_auc_score(g > 0, s),
            sklearn.metrics.average_precision_score(g > 0, in_order),
            sklearn.metrics.ndcg_score([g], [in_order], k=10),
        ]
        assert ours == pytest.approx(theirs)
    worst = int(np.argmin([one["MAP"] for one in found]))
    assert (
        wilcoxon(found[best].per_instance["MAP"], found[worst].per_instance["MAP"]).p_value < 1e-6
    )
