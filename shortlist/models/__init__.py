"""The models that users call.

    base.py             the base class of all models, learners by their short names, reports
    category_model.py   ranks labels with probabilities, decides, evaluates; its answers
    categorizer.py      labels of texts                          row_categorizer.py  labels of rows
    of features rater.py            ratings of rows, and of texts            document_ranker.py
    documents for a query

Parts of a Categorizer beside its learner (categories/) and its text part (text/):

    confidence.py       how certain a ranking is                 calibration.py      the formulas of
    confidence.py observing.py        examples ranked before they are learned  text_batches.py
    texts and labels to learn encoding.py         vectors beside the words                 memory.py
    a bound on its memory relabelling.py      changes of its labels                    rules.py
    rules for rankings

    making.py           a model from settings or a file          search.py           comparisons,
    the best of many auditing.py         labels that may be wrong named_values.py     NAME=VALUE
    settings
"""
