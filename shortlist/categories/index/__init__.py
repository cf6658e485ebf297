"""Learners whose state is an index: lists of edges from features to labels (paper 004).

lists.py, slots.py  the index itself                         retrieval.py, allowed.py  ranking with it
pruning.py          making room in it                        packed.py     as a compact file has it
learner.py          what all learners of an index share      twins.py      labels split off, and what they share

feature_focus.py, independent.py, unweighted_index.py       the learners of paper 004 and of its forerunner

tuned_index.py      the usual learner, which counts, then tunes
tuning.py           its rule, one example at a time          misses.py     what a label misses
contest.py          the rule where examples have one label   company.py    labels vote for labels, where they have many
passes.py           how often ``fit`` goes through the rows  ahead.py      rankings made before an example is learned
blocks.py, changes.py  examples learned in blocks             teams.py, desk.py, parts.py  by several threads
corrections.py      putting together what was tuned apart    limits.py     rows that are too long to be learned
others.py           few examples: what an example does not say of itself
course.py           how learning goes, by which rules are chosen
recent.py, streaming.py  the last examples of a stream, gone through again

tuned_vectors.py    the learner of dense vectors             vectors.py    its index, in which all lists are full
vector_tuning.py    its loop                                 contenders.py  the best of many labels, soon found
tuned_both.py       the learner of words and a vector        together.py   rows of both
sharing.py, held_back.py  how much the vector counts         means.py      of few vectors, how near their means are
"""
