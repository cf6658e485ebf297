"""Slow, obvious twins of the algorithms, written from the formulas with dicts and lists."""
