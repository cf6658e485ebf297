"""Learners: rows and labels, ratings or judgements -> something that ranks.

port.py               what the author of a learner writes, and what only some can do
batch_learner.py      how any learner of categories learns and ranks checked batches
row_ranker.py         how it ranks checked rows
category_learner.py   the same as users call it: scikit-learn's verbs, model files, merging
predictions.py        labels, indicator matrices and probabilities in scikit-learn's forms
frequency.py          the baseline that knows only how frequent labels are
additive.py           what learners of sums share
top_labels.py         the k best scores of a row
index/                lists of edges from features to labels (paper 004)
prototypes/           weights for each label (paper 001)
ratings/              ordered ratings (paper 002)
documents/            documents of queries (paper 003)
"""
