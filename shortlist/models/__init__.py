"""The models that users call.

model.py               the base class of all models, learners by their short names, reports
category_model.py      ranks labels with probabilities, decides, evaluates; its answers
categorizer.py         labels of texts
row_categorizer.py     labels of rows of features
rater.py               ratings of rows, and of texts
document_ranker.py     documents for a query

Parts of a Categorizer beside its learner (learners/), its text part (text/) and its confidence:

text_batches.py        texts and labels to learn
encoding.py            vectors beside the words
memory.py              a bound on its memory
label_changes.py       changes of its labels
rules.py               rules for rankings

Tools:

training_settings.py   a model from settings or a file
model_search.py        comparisons, the best of many
auditing.py            labels that may be wrong
named_values.py        NAME=VALUE settings
"""
