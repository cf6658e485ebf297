"""What people use: a text, a table or a query in, an answer out.

    base.py             what every model is
    category_model.py   ranks labels, says how sure it is, and decides
    categorizer.py      labels of texts                          row_categorizer.py  labels of rows of features
    rater.py            ratings of rows, and of texts            document_ranker.py  documents for a query
    answers.py          rankings and assigned labels, for people and machines

The parts of a Categorizer beside its learner (categories/) and its text (text/):

    confidence/         how sure a ranking is                    observing.py  examples ranked before they are learned
    encoding.py         vectors beside the words                 text_batches.py  texts on their way into a model
    memory.py           a bound on its memory                    relabelling.py   changes of its labels
    rules.py            rules that rankings keep to              readable.py   which features to show to people

    learners.py         every learner by its short name          making.py     a model as somebody asked for it
    search.py           the best of many models                  comparing.py  learners side by side
    named_values.py     settings as people write them
    judging.py          whether it was right about how sure it is
    auditing.py         labels that may be wrong
"""
