"""What everything is made of, checked once.

batch.py         batches of examples, checked when they are made
rows.py          rows of features, as sparse arrays
label_input.py   labels as users give them
labels.py        labels as numbers
texts.py         texts and documents of several fields
passages.py      sentences and paragraphs of texts, and their votes
ranking.py       the answers: labels in order, and explanations
validation.py    checks of what users give
"""
