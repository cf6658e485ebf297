"""Learners whose state is an index: lists of edges from features to labels (paper 004)."""
