"""What everything is made of, checked once.

rows.py          rows of features, as sparse arrays
label_input.py   labels as users give them
labels.py        labels as numbers
texts.py         texts and documents of several fields
ranking.py       the answers: labels in order, and explanations
validation.py    checks of what users give
"""
