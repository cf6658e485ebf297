"""How certain a ranking is: probabilities, shortlists and decisions that keep promises.

confidence.py       what examples that were ranked before they were learned tell about others
calibration.py      the formulas
examples.py         those examples
drift.py            whether older ones still hold
sorted_streams.py   whether a stream comes sorted by label
observers.py        ranks some examples before they are learned
"""
