"""The models that users call.

model.py               the base class of all models, learners by their short names, reports
category_model.py      ranks labels with probabilities, and decides
label_predictions.py   what scikit-learn asks of it
label_evaluation.py    how well it ranks
label_descriptions.py  what a model says of its labels
text_parts.py          what a model of texts is made of
text_learning.py       how it learns
text_explanations.py   why a text gets a label, and which labels may be wrong
categorizer.py         labels of texts
categorizer_files.py   its model file
row_categorizer.py     labels of rows of features
rater.py               ratings of rows, and of texts
document_ranker.py     documents for a query

Parts of a model beside its learner (learners/), its text part (text/) and its confidence:

text_features.py       rows of texts: words, and vectors beside them
elsewhere.py           arguments of scikit-learn's that a Categorizer has not
encoding.py            who makes the vectors
policy.py              which labels it learns and ranks: vocabulary, retired labels, rules
rules.py               rules for rankings
label_changes.py       rename, merge, split, retire and restore labels
strikes.py             words that do not count, and the votes that they lose
striking.py            how words are struck out, and what that would change
memory.py              a bound on its memory

What models give:

answers.py             labels as lines and records
label_report.py        the result of an evaluation
explanations.py        votes in words
extra_fields.py        fields of categories and numbers

Tools:

text_batches.py        texts and labels to learn, put together
training_settings.py   a model from settings or a file
model_search.py        comparisons, the best of many
auditing.py            labels that may be wrong
grouping.py            groups of texts that may need a new label
named_values.py        NAME=VALUE settings
"""
