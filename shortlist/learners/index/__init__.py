"""Learners whose state is an index: lists of edges from features to labels (paper 004).

edges.py           the index itself, and making room in it
scoring.py         ranking with it, at any time
index_learner.py   what all learners of an index share
feature_focus.py   the learner of paper 004
independent.py     the learner of its forerunner
tuned_index.py     the default learner, which counts and corrects
vectors.py         dense vectors beside the words of an index
tuned_merging.py   how such indexes are merged
training.py        its learning loop
vector_share.py    how much a vector counts beside words
progress.py        how far labels have come in a stream
replay_buffer.py   the last examples of a stream, which it learns again
"""
