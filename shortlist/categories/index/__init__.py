"""Learners whose state is an index: lists of edges from features to labels (paper 004).

lists.py            the index itself, and making room in it  retrieval.py  ranking with it, at any
time learner.py          what all learners of an index share

feature_focus.py, independent.py                            the learners of paper 004 and of its
forerunner

tuned_index.py      the default learner, which counts and corrects tuning.py           its learning
loop                        rehearsal.py  the last examples of a stream
"""
