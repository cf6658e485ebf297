"""Rocchio's prototypes in the form of Ittner et al. (paper 001, section 4.3).

With R_r the documents that label r is relevant to and R_r^c all others,

    w_r[l] = max(0, β/|R_r|·Σ_{i∈R_r} x_i[l] − γ/|R_r^c|·Σ_{i∉R_r} x_i[l]),   β = 16, γ = 4,

and each w_r is then scaled to unit norm; labels are ranked by w_r·x. Only sums over documents
enter, so this batch method learns in parts and merges exactly; and because values are at least 0,
w_r[l] can differ from 0 only where a document of r has the term l: as sparse as the data.
"""

from __future__ import annotations

import numpy as np

from shortlist.data.validation import as_real
from shortlist.learners.additive import AdditiveLearner
from shortlist.learners.prototypes.weights import PrototypeLearner, Prototypes, pack


class Rocchio(AdditiveLearner, PrototypeLearner):
    """Rank labels by prototypes: the mean of a label's examples, less a share of the mean of all
    others.

    Parameters
    ----------
    beta : float, default=16.0
        Weight of the examples with the label (β).
    gamma : float, default=4.0
        Weight of the examples without it (γ).
    n_jobs : int, default=None
        Threads for ranking; results do not depend on it. −1 for all processors.

    Attributes
    ----------
    classes_, label_counts_, n_examples_, n_features_in_, feature_names_in_
        As in FrequencyBaseline: labels and their counts, examples, and columns.
    n_weights_ : int
        How many weights the prototypes hold.

    References
    ----------
    Rocchio's method as in Crammer and Singer,
    "A new family of online algorithms for category ranking", SIGIR 2002 (paper 001), section 4.3.

    Examples
    --------
    >>> from shortlist import Rocchio
    >>> learner = Rocchio().fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    """

    def __init__(self, beta: float = 16.0, gamma: float = 4.0, n_jobs: int | None = None) -> None:
        self.beta = beta
        self.gamma = gamma
        self.n_jobs = n_jobs

    def begin(self) -> None:
        as_real(self.beta, "beta", least=0)
        as_real(self.gamma, "gamma", least=0)
        super().begin()

    def _hypothesis(self) -> Prototypes:
        return self.derived_.of(self._made_of_sums)

    def _made_of_sums(self) -> Prototypes:
        sums = self.label_sums().tocoo()
        term = sums.row
        label = sums.col
        with_label = self.label_counts_[label]
        # where there are none, their sum is 0
        without = np.maximum(self.n_examples_ - with_label, 1)
        rest = self.totals_[term] - sums.data
        weight = np.maximum(0.0, self.beta / with_label * sums.data - self.gamma / without * rest)
        norm = np.sqrt(np.bincount(label, weight**2, minlength=len(self.label_index_)))
        positive = weight > 0
        term = term[positive].astype(np.int64)
        label = label[positive]
        weight = weight[positive] / norm[label]
        no_moments = np.zeros(weight.size)
        n_terms = self.totals_.size
        return pack(term, label, weight, no_moments, np.zeros(n_terms), np.zeros(n_terms))
