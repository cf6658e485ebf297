"""What a model costs (paper 004). These are not computed from rankings: an experiment measures them, and the registry
gives its tables their names and directions."""

from shortlist.measures.registry import MEASURES, Measure

for name, formula, description in (
    ("T_tr", "seconds", "Training time."),
    ("d", "Σ edges touched / Σ active features", "Edges touched for each active feature when one example is ranked."),
    ("|W|", "edges", "Number of edges of the index, or of non-zero weights."),
):
    MEASURES[name] = Measure(name, "lower", ("models",), formula, description, "004", None)
