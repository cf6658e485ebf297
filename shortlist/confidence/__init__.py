"""How certain a ranking is: probabilities, shortlists and decisions that keep promises.

confidence.py             observes rankings of examples that were not learned yet
calibrated.py             what they tell about other rankings
calibration_examples.py   those examples
calibration.py            the formulas
drift.py                  whether older examples still hold
sorted_streams.py         whether a stream comes sorted by label
spot_checks.py            whether decisions hold what they promise, on texts drawn by chance
observers.py              ranks some examples before they are learned
"""
