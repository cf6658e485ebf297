"""What people use: a text, a table or a query in, an answer out.

    base.py             what every model is
    categorizer.py      labels of texts                          row_categorizer.py  labels of rows of features
    rater.py, text_rater.py  ratings of rows, and of texts       document_ranker.py  documents for a query
    learners.py         every learner by its short name          making.py     a model as somebody asked for it

A Categorizer is made of storeys, each of which is what the one below it is, and something more:

    category_model.py   ranks labels                             deciding.py   says how sure it is, and decides
    deciding_texts.py   the same, of texts                       vector_model.py  with a vector beside the words
    text_model.py       predicts and explains                    relabelling.py   its labels may change
    bounded_model.py    keeps within a bound on its memory

    confidence/         how sure a ranking is                    observing.py  examples ranked before they are learned
    judging.py          whether it was right about that          class_probabilities.py  for scikit-learn
    rules.py, known_rules.py  rules that rankings keep to        near_misses.py  by the hierarchy of a vocabulary
    encoding.py, fields_beside.py, text_batches.py  texts, vectors and fields on their way into a model
    given_ratings.py    ratings as answers                       saying.py     which words to name
    memory.py, sizes.py  the bound, and what counts
    search.py, halving.py, candidates.py  the best of many       auditing.py   labels that may be wrong
    comparing.py        learners side by side
    named_values.py     settings as people write them
"""
