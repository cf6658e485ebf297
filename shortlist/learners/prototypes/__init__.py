"""Learners whose state is prototypes: one weight vector for each label (paper 001)."""
