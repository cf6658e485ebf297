"""A profile of hypothesis for measuring coverage: few examples of each property run the same lines as many."""

from hypothesis import settings

settings.register_profile("few", deadline=None, derandomize=True, max_examples=10)
