"""Figures 9 and 10 of paper 004: for each data set the methods tried on it, with the published
figures.

HR, R1, R5, seconds to train, edges touched for each active feature, edges; None where nothing was
published.
"""

from __future__ import annotations

Row = tuple[float | None, ...]

COLUMNS = ("HR", "R1", "R5", "T_tr", "d", "edges")
BASELINE = "frequency baseline"
PUBLISHED: dict[str, dict[str, Row]] = {
    "newsgroups": {
        BASELINE: (3.33, 0.05, 0.25),
        "FF δ=0, 1 pass": (1.137, 0.798, 0.978, 2, 10, 113e3),
        "FF δ=0.5, 1 pass": (1.085, 0.865, 0.987, 2, 10, 171e3),
        "IND": (None, 0.846),
        "Perceptron": (1.229, 0.728, 0.928, 20, 20, 189e3),
        "committee": (1.122, 0.830, 0.970, 220, 20),
        "SVM C=1": (1.102, 0.852, 0.975, 92, 20),
        "SVM C=5": (),
        "SVM C=10": (),
        "SVM C=100": (),
        "top-down committee": (),
        "top-down SVM, 3 trials": (),
    },
    "reuters": {
        BASELINE: (1.6, 0.42, 0.86),
        "FF δ=0, 1 pass": (1.082, 0.860, 0.998, 0, 4.9, 55e3),
        "FF δ=0.5, 1 pass": (1.066, 0.884, 0.997, 0, 5, 73e3),
        "Perceptron": (1.08, 0.871, 0.995, 4, 10, 74e3),
        "committee": (1.06, 0.891, 0.999, 40, 10),
        "SVM C=1": (1.052, 0.906, 0.998, 11, 10),
        "SVM C=5": (),
        "SVM C=10": (),
        "SVM C=100": (),
    },
    "industry": {
        BASELINE: (31, 0.005, 0.03),
        "FF δ=0, 1 pass": (1.114, 0.861, 0.942, 4, 16.7, 124e3),
        "FF δ=0.5, 3 passes": (1.094, 0.886, 0.949, 16, 15.8, 196e3),
        "IND": (None, 0.799),
        "Perceptron": (1.488, 0.595, 0.773, 55, 104, 330e3),
        "committee": (1.17, 0.816, 0.904, 610, 104),
        "SVM C=1": (),
        "SVM C=10": (1.112, 0.872, 0.933, 235, 104),
    },
    "rcv1": {
        BASELINE: (4.58, 0.082, 0.348),
        "FF δ=0, 1 pass": (1.181, 0.763, 0.955, 6, 15.1, 181e3),
        "FF δ=0.1, 4 passes": (1.164, 0.787, 0.952, 24, 12.9, 223e3),
        "IND": (None, 0.686),
        "SVM C=1": (),
        "top-down Perceptron": (1.418, 0.621, 0.815, 70, 38, 760e3),
        "top-down committee": (1.197, 0.769, 0.918, 750, 36),
        "top-down SVM, 0 trials": (1.26, 0.72, 0.89, 94, 36, 4e6),
        "top-down SVM, 1 trial": (1.18, 0.779, 0.936, 200, 36, 4e6),
        "top-down SVM, 3 trials": (1.17, 0.782, 0.937, 400, 36, 4e6),
        "top-down SVM, 4 trials": (1.17, 0.783, 0.939, 520, 36, 4e6),
    },
    "austen": {
        BASELINE: (10.3, 0.037, 0.15),
        "FF δ=0, 1 pass": (2.71, 0.272, 0.480, 40, 8.7, 1.5e6),
        "FF δ=0.1, 4 passes": (2.73, 0.279, 0.462, 160, 9.1, 1.6e6),
        "FF δ=0.5, 4 passes": (3.01, 0.243, 0.425, 160, 9.1, 1.6e6),
    },
    "finna": {
        BASELINE: (),
        "FF δ=0, 1 pass": (),
        "FF δ=0.1, 4 passes": (),
        "FF δ=0.5, 4 passes": (),
        "IND": (),
    },
    "finna-frequent": {
        BASELINE: (),
        "FF δ=0, 1 pass": (),
        "FF δ=0.1, 4 passes": (),
        "IND": (),
        "Perceptron": (),
        "SVM C=1": (),
    },
}
# FF as the paper has it best, and the best of the others: what its sign tests pair.
PAIRED = {
    "newsgroups": ("FF δ=0.5, 1 pass", "SVM C=1"),
    "reuters": ("FF δ=0.5, 1 pass", "SVM C=1"),
    "industry": ("FF δ=0.5, 3 passes", "SVM C=10"),
    "rcv1": ("FF δ=0.1, 4 passes", "top-down SVM, 4 trials"),
    "finna-frequent": ("FF δ=0.1, 4 passes", "SVM C=1"),
}
# the others stand in: published numbers show the direction alone
OWN_DATA = ("newsgroups", "reuters", "austen")
NOTES = {
    "newsgroups": "The published HR of the frequency baseline is a misprint: with R1 0.05 and R5 "
    "0.25 the mean of the "
    "reciprocal ranks is at most 0.05 + 0.2/2 + 0.75/6 = 0.275, and HR at least 3.64.",
    "rcv1": "Of top-down classifiers the p_min of 0.05, 0.1, … 0.5 with the highest R1 on the "
    "test rows is taken, as "
    "in the paper. One flat SVM for each class is far ahead of them here.",
    "finna": "One classifier for each of so many classes takes hours, and the subjects form no "
    "tree to go down: of the "
    "paper's comparators IND and the baseline are left. index-finna-frequent has the others, on "
    "fewer classes.",
    "finna-frequent": "The paper's comparators on Ads and Web go down a tree, which these "
    "subjects do not have; here "
    "each subject has its own classifier. The paper could not run the SVM on Web, nor fit its "
    "sigmoids on Ads.",
    "austen": "Contexts seen fewer than RARE times are left out: all of them are 3.5 million "
    "features, where the paper "
    "has 299,000.",
}
WHY = {
    "newsgroups": "the Perceptron depends on when it stops: on one split it has 0.80 as "
    "described, 0.70 when it stops "
    "at the first pass without improvement, 0.76 after one pass, 0.78 on raw counts; and the "
    "vectors are not Rennie's",
    "reuters": "of documents with several of the ten topics the paper does not say which was "
    "taken, nor which words "
    "were kept; all methods are better here",
    "industry": "the classes of what stands in are far less even than those of Industry; why that "
    "should hurt FF more "
    "than others is unexplained",
    "rcv1": "classes are topics alone here, without industries, and half as many documents",
    "austen": "the paper's 299,000 features are not known",
    "finna": "",
    "finna-frequent": "unexplained",
}
