"""Learners whose state is an index: lists of edges from features to labels (paper 004).

lists.py            the index itself                         retrieval.py  ranking with it, at any time
pruning.py          making room, rows that are too long      learner.py    what all learners of an index share

feature_focus.py, independent.py                            the learners of paper 004 and of its forerunner

tuned_index.py      the default learner, which counts and corrects
tuning.py           its learning loop                        vectors.py    vectors beside words
rehearsal.py        the last examples of a stream
"""
