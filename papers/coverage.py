"""What the papers have, section by section, and where it is here: in an experiment, in code, in a
test.

What experiments find about their tables and figures, they claim themselves (``Claim``), under the
same places.
"""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """A theorem, algorithm, table, figure or remark of a paper."""

    section: str
    place: str  # as claims name it
    what: str
    experiments: tuple[str, ...] = ()
    code: str = ""  # a file of the project
    tests: str = ""


SMALL = ("index-newsgroups", "index-reuters", "index-industry")
LARGE = ("index-rcv1", "index-austen", "index-finna", "index-finna-frequent")
MMP = ("mmp-reuters", "mmp-rcv1")
BASE = ("svmmap-cranfield", "svmmap-fields", "svmmap-ohsumed")
FILMS = ("prank-movielens",)
PROTOTYPES = "shortlist/learners/prototypes/mmp.py"
FOCUS = "shortlist/learners/index/feature_focus.py"
MEASURES = "papers/measures.py"
SOLVER = "shortlist/learners/documents/structural_svm.py"

PAPERS: dict[str, list[Item]] = {
    "001: Crammer and Singer, A new family of online algorithms for category ranking": [
        Item("2", "losses", "loss1, loss2 and loss3", (), MEASURES, "tests/measures/test_twins.py"),
        Item(
            "2",
            "figure 1",
            "the margin of a document",
            (),
            MEASURES,
            "tests/measures/test_by_hand.py",
        ),
        Item("3", "figure 2", "MMP", (), PROTOTYPES, "tests/learners/test_prototypes.py"),
        Item(
            "3",
            "theorem 1",
            "mistake bounds of the three losses",
            (),
            PROTOTYPES,
            "tests/learners/test_prototypes.py",
        ),
        Item("4.1", "figure 3", "how many topics documents have", MMP),
        Item(
            "4.2",
            "section 4.2",
            "pivoted length normalisation",
            (),
            "shortlist/text/vectorizer.py",
            "tests/learners/test_published.py",
        ),
        Item(
            "4.3",
            "section 4.3",
            "Rocchio and the Perceptron of each topic",
            (),
            "shortlist/learners/prototypes/rocchio.py",
            "tests/learners/test_prototypes.py",
        ),
        Item(
            "4.4",
            "section 4.4",
            "terms selected by Rocchio's weights",
            (),
            "papers/comparators/rocchio_selection.py",
            "tests/learners/test_prototypes.py",
        ),
        Item("4.5", "section 4.5", "the measures", (), MEASURES, "tests/measures/test_twins.py"),
        Item("4.6", "figure 4", "losses while learning, Reuters-21578", ("mmp-reuters",)),
        Item("4.6", "figure 5", "losses while learning, Reuters-2000", ("mmp-rcv1",)),
        Item("4.6", "table 1", "losses on test documents, Reuters-21578", ("mmp-reuters",)),
        Item("4.6", "table 2", "measures of retrieval, Reuters-21578", ("mmp-reuters",)),
        Item("4.6", "table 3", "losses on test documents, Reuters-2000", ("mmp-rcv1",)),
        Item("4.6", "table 4", "measures of retrieval, Reuters-2000", ("mmp-rcv1",)),
        Item("4.6", "figure 6", "precision and recall", MMP),
        Item(
            "5",
            "section 5",
            "average precision in the update, averaged and voted prototypes, kernels",
            ("mmp-extensions",),
            "papers/comparators/extended_mmp.py",
            "tests/papers/test_extended_mmp.py",
        ),
    ],
    "002: Crammer and Singer, Pranking with ranking": [
        Item(
            "2",
            "figure 1",
            "an update, drawn",
            (),
            "shortlist/learners/ratings/prank.py",
            "tests/learners/ratings/test_prank.py",
        ),
        Item(
            "2",
            "figure 2",
            "PRank",
            (),
            "shortlist/learners/ratings/prank.py",
            "tests/learners/ratings/test_prank.py",
        ),
        Item(
            "3",
            "lemma 1",
            "thresholds stay in order",
            (),
            "shortlist/learners/ratings/prank.py",
            "tests/learners/ratings/test_prank.py",
        ),
        Item(
            "3",
            "theorem 2",
            "the bound on the ranking loss",
            (),
            "shortlist/learners/ratings/prank.py",
            "tests/learners/ratings/test_prank.py",
        ),
        Item(
            "3",
            "remark",
            "averaging",
            (),
            "shortlist/learners/ratings/prank.py",
            "tests/learners/ratings/test_prank.py",
        ),
        Item(
            "3",
            "remark",
            "kernels and voting",
            (),
            "papers/comparators/dual_prank.py",
            "tests/papers/test_dual_prank.py",
        ),
        Item("4", "figure 3, left", "synthetic streams", ("prank-synthetic",)),
        Item("4", "figure 3, middle", "viewers with more than 200 films", FILMS),
        Item("4", "figure 3, right", "viewers with more than 100 films", FILMS),
        Item("4", "batch", "the last hypothesis on held-out films", FILMS),
    ],
    "003: Yue, Finley, Radlinski and Joachims, A support vector method for optimizing average precision": [
        Item(
            "2.2",
            "tables 1 to 4",
            "optimal ROC area or accuracy with suboptimal MAP",
            (),
            MEASURES,
            "tests/measures/test_by_hand.py",
        ),
        Item(
            "3.1",
            "algorithm 1",
            "optimisation problem 1, by cutting planes",
            (),
            SOLVER,
            "tests/learners/documents/test_solver.py",
        ),
        Item(
            "3.1",
            "proposition 1",
            "slacks bound the loss",
            (),
            SOLVER,
            "tests/learners/documents/test_solver.py",
        ),
        Item(
            "3.1",
            "theorem 1",
            "the number of constraints",
            (),
            "",
            "tests/learners/documents/test_solver.py",
        ),
        Item(
            "3.2",
            "algorithm 2",
            "the most violated constraint",
            (),
            "shortlist/learners/documents/svms.py",
            "tests/learners/documents/test_searches.py",
        ),
        Item(
            "3.2",
            "figure 1",
            "what a document gains that slides up one place",
            (),
            "",
            "tests/learners/documents/test_searches.py",
        ),
        Item(
            "3.3",
            "lemma 1",
            "a later document gains less",
            (),
            "",
            "tests/learners/documents/test_searches.py",
        ),
        Item(
            "3.3",
            "theorem 2",
            "each place on its own is optimal",
            (),
            "",
            "tests/learners/documents/test_searches.py",
        ),
        Item(
            "4",
            "figure 2",
            "how much a score counts",
            (),
            "papers/document_tables.py",
            "tests/papers/test_document_tables.py",
        ),
        Item("4", "table 5", "the data", (*BASE, "svmmap-submissions")),
        Item("5.1", "table 6", "SVM-map and the best base functions", BASE),
        Item("5.1", "table 7", "SVM-map and the best runs", ("svmmap-submissions",)),
        Item("5.1", "table 8", "the same, learned without the best run", ("svmmap-submissions",)),
        Item("5.2", "table 9", "SVM-map and other SVMs over base functions", BASE),
        Item("5.2", "table 10", "SVM-map and other SVMs over runs", ("svmmap-submissions",)),
        Item("5.2", "table 11", "the same, learned without the best run", ("svmmap-submissions",)),
        Item(
            "6",
            "section 6",
            "NDCG and MRR as next steps",
            (),
            "shortlist/learners/documents/svms.py",
            "tests/learners/documents/test_searches.py",
        ),
    ],
    "004: Madani, Connor and Greiner, Learning when concepts abound": [
        Item(
            "1 to 4",
            "figures 1, 2 and 6",
            "drawings of an index, and of its rows and columns",
            (),
            "",
            "tests/learners/test_lemmas.py",
        ),
        Item(
            "3.2",
            "figure 3(a)",
            "the cycle of ranking and learning",
            (),
            "shortlist/learners/index/index_learner.py",
            "tests/learners/test_feature_focus.py",
        ),
        Item(
            "3.2",
            "figures 3(b) and 4(b)",
            "RankedRetrieval",
            (),
            "shortlist/learners/index/scoring.py",
            "tests/learners/test_feature_focus.py",
        ),
        Item("3.3", "measures", "R_k, MRR and HR", (), MEASURES, "tests/measures/test_twins.py"),
        Item(
            "3.3", "lemma 1", "scaled weights rank alike", (), "", "tests/learners/test_lemmas.py"
        ),
        Item(
            "3.4",
            "theorem 2",
            "NP-hardness, proved as theorem 4",
            (),
            "",
            "tests/learners/test_hardness.py",
        ),
        Item(
            "4.1",
            "figure 4(c)",
            "FSU, the feature streaming update",
            (),
            FOCUS,
            "tests/learners/test_feature_focus.py",
        ),
        Item(
            "4.1",
            "lemma 3",
            "the most frequent classes are the best for one feature",
            (),
            FOCUS,
            "tests/learners/test_lemmas.py",
        ),
        Item(
            "4.1.1",
            "section 4.1.1",
            "a finite memory and a learning rate, named and not tried in the paper",
            (),
            FOCUS,
            "tests/learners/test_feature_focus.py",
        ),
        Item(
            "4.2",
            "figure 5",
            "IND",
            (),
            "shortlist/learners/index/independent.py",
            "tests/learners/test_independent.py",
        ),
        Item(
            "4.3",
            "figure 4(a)",
            "Feature-Focus",
            (),
            FOCUS,
            "tests/learners/test_feature_focus.py",
        ),
        Item("4.3.1", "section 4.3.1", "when to update: cases 1 and 2", ("index-cases",)),
        Item(
            "4.3.2",
            "section 4.3.2",
            "rare features count less",
            (),
            "shortlist/learners/index/scoring.py",
            "tests/learners/test_feature_focus.py",
        ),
        Item(
            "5",
            "section 5",
            "one classifier for each class",
            (),
            "papers/comparators/one_versus_rest.py",
            "tests/papers/test_comparators.py",
        ),
        Item(
            "5.1",
            "figure 7",
            "top-down classification",
            (),
            "papers/comparators/top_down.py",
            "tests/papers/test_comparators.py",
        ),
        Item("6", "figure 8", "the data", (*SMALL, *LARGE)),
        Item("6.1", "figure 9", "quality and cost on the smaller sets", SMALL),
        Item("6.1", "figure 10", "quality and cost on the larger sets", LARGE),
        Item(
            "6.1",
            "sign tests",
            "FF against the best of the others, split by split",
            ("index-newsgroups", "index-reuters", "index-industry", "index-rcv1"),
        ),
        Item(
            "6.2",
            "section 6.2",
            "training time, and connections touched",
            (*SMALL, "index-rcv1", "index-finna-frequent"),
        ),
        Item(
            "6.3.1", "figure 11", "without constraints, and what that costs", ("index-ablations",)
        ),
        Item("6.3.2", "figure 12", "R1 against the outdegree", ("index-degree",)),
        Item("6.3.3", "figure 13", "w_min", ("index-ablations",)),
        Item("6.3.4", "figure 14", "passes and margins", ("index-passes",)),
        Item("6.3.5", "figure 15", "leakage", ("index-ablations", "index-leakage")),
        Item("6.3.6", "figure 16", "down-weighting rare features", ("index-ablations",)),
        Item("6.3.7", "figure 17", "IND and Boolean features", ("index-boolean",)),
        Item(
            "6.4.1",
            "figure 18",
            "the older, unweighted index: not the algorithm of 2007, whose text is not at hand",
            ("index-older",),
        ),
        Item("6.4.2", "figure 19", "training and test performance by pass", ("index-passes",)),
        Item(
            "6.4.3",
            "section 6.4.3",
            "columns of the index as prototypes of classes",
            ("index-properties",),
        ),
        Item("6.4.4", "section 6.4.4", "indegrees of classes", ("index-properties",)),
        Item(
            "6.4.5",
            "section 6.4.5",
            "strong connections, and features that leak",
            ("index-properties",),
        ),
        Item(
            "A",
            "theorem 4 and figure 20",
            "NP-hardness, by SET COVER, for R1 and for HR",
            (),
            "",
            "tests/learners/test_hardness.py",
        ),
        Item("B", "figure 21", "how far FSU's highest proportion is off", ("index-appendix",)),
        Item(
            "B",
            "figure 22",
            "distances between FSU's proportions and the truth",
            ("index-appendix",),
        ),
    ],
}
