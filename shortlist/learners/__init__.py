"""Learners: rows and labels, ratings or judgements -> something that ranks.

category_learner.py   what all learners of categories share
frequency.py          the baseline that knows only how frequent labels are
additive.py           what learners of sums share
label_surgery.py      rename, merge and split labels
top_labels.py         the k best scores of a row
index/                lists of edges from features to labels (paper 004)
prototypes/           weights for each label (paper 001)
ratings/              ordered ratings (paper 002)
documents/            documents of queries (paper 003)
"""
