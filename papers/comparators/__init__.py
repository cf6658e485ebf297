"""Learners that the papers compare theirs with, and that nobody would choose for their own sake."""
