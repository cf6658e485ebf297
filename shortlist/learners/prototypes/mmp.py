"""MMP: multiclass, multilabel Perceptrons for ranking labels (paper 001: Crammer and Singer, figure
2).

k prototypes w_1..w_k, zero at the start; label r scores w_r·x. For a document x with relevant
labels y among all labels Y the error set is E = {(r, s) : r ∈ y, s ∉ y, w_r·x ≤ w_s·x}. If it is
not empty,

    n_r = |{s ∉ y : w_r·x ≤ w_s·x}| for r ∈ y,   n_s = |{r ∈ y : w_r·x ≤ w_s·x}| for s ∉ y,
    c   = |E| (loss1), 1 (loss2), |y|·|Y−y| (loss3) or |E|/(1 − AP) ("AP"),
    w_r += (n_r/c)·x for r ∈ y,   w_s −= (n_s/c)·x for s ∉ y.

Documents whose y is empty or all of Y are skipped; with a partial judgement, Y is what was judged.
All n come from one sort of the relevant scores: O(k·log|y|). Theorem 1, tested on generated
streams: if prototypes of unit norm rank the whole stream perfectly with margin γ, and ‖x‖ ≤ R, then
Σ loss1 ≤ 2R²/γ², Σ loss2 ≤ k·R²/γ² and Σ loss3 ≤ k/(k−1)·R²/γ² of the learner of that loss.

The paper suggests average precision inside the update as a next step. With ``loss="AP"`` a document
moves the prototypes as for loss1, times the average precision that it lost. AP = 1/|y| Σ_{r∈y}
i_r/(i_r + n_r), where r is the i_r-th relevant label from above: a tie counts as an error. As the
steps of a round then have Σ_r (n_r/c)² ≤ 2·(1 − AP)², the paper's proof gives Σ (1 − AP) ≤ 2R²/γ²,
which is tested, too.

Ties are those of 64-bit floats. Steps of loss2 are whole numbers, so that on rows of small whole
numbers every tie is the one of exact arithmetic; the steps n_r/c of the others are rounded, and two
scores that would be equal in exact arithmetic may differ in their last bit. Such a pair may count
as right instead of as a tie; no tolerance is added, since it would depend on the size of the rows.

Beside the paper: Y are the labels known so far (see weights.py for what a new one starts with;
``partial_fit`` with ``classes`` makes labels known in advance, as the paper has them); several
passes and averaged prototypes; a ``margin`` that a relevant label must keep, w_r·x − w_s·x ≤ margin
being the error; and, as another step, the passive-aggressive one (Crammer, Dekel et al. 2006, PA-I)
on the worst pair r, s:

    τ = min(C, (margin − w_r·x + w_s·x) / (2‖x‖²)),   w_r += τ·x,   w_s −= τ·x.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from shortlist.compiled.kernels import Floats, kernel
from shortlist.data.rows import is_complete
from shortlist.data.validation import as_choice, as_real
from shortlist.errors import InputError
from shortlist.learners.prototypes.prototype_learner import (
    EXAMPLES_SEEN,
    LABELS_KNOWN,
    OnlinePrototypes,
    TrainingStream,
    against,
    below,
    clear_changes,
    lowest_allowed,
    mark_relevant,
    note_losses,
    write,
    wrong_pairs,
)
from shortlist.learners.prototypes.weights import LISTED, Prototypes, score
from shortlist.learners.top_labels import CHANGES, DONE, IS_FULL, WANTS_SLOTS, Scratch

STEP_NAMES = ("paper", "passive-aggressive")
PAPER, PASSIVE_AGGRESSIVE, PERCEPTRONS = range(3)
LOSS_NAMES = (1, 2, 3, "AP")
AVERAGE_PRECISION = 4


class MMP(OnlinePrototypes):
    """MMP: rank labels by prototypes that move only for the pairs of labels in the wrong order.

    Parameters
    ----------
    loss : {1, 2, 3, "AP"}, default=1
        The loss of paper 001 that the step is made for; "AP" for what is lost of average precision.
    passes : int, default=1
        How often ``fit`` goes through the examples.
    hypothesis : {"last", "averaged"}, default="last"
        Which prototypes rank: the "last" ones, or their mean over time ("averaged").
    margin : float, default=0.0
        A pair is in error unless the relevant label leads by more than this; 0 is the paper's.
    step : {"paper", "passive-aggressive"}, default="paper"
        "passive-aggressive" moves the worst pair, and needs a margin above 0 (1 is usual).
    C : float, default=1.0
        The longest passive-aggressive step.
    max_weights : int or None, default=None
        How many weights of single labels to keep, the lightest making room; None keeps all. Looked
        at after each example.
    random_state : int or None, default=0
        Seed of the order in which ``fit`` goes through the examples; None keeps the order given.
    n_jobs : int, default=None
        Threads for ranking; results do not depend on it. −1 for all processors.

    Attributes
    ----------
    classes_, label_counts_, n_examples_, n_features_in_, feature_names_in_
        As in FrequencyBaseline: labels and their counts, examples, and columns.
    n_weights_ : int
        How many weights the prototypes hold.
    cumulative_loss_ : dict
        The losses on the way, each example's taken before it was learned.

    References
    ----------
    Crammer and Singer, "A new family of online algorithms for category ranking", SIGIR 2002 (paper
    001).

    Examples
    --------
    >>> from shortlist import MMP
    >>> learner = MMP(passes=2).fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {
        "mmp": {},
        **{f"mmp{loss}": {"loss": loss} for loss in (1, 2, 3)},
        "mmp-ap": {"loss": "AP"},
    }

    def __init__(
        self,
        loss: int | str = 1,
        passes: int = 1,
        hypothesis: str = "last",
        margin: float = 0.0,
        step: str = "paper",
        C: float = 1.0,
        max_weights: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.passes = passes
        self.hypothesis = hypothesis
        self.margin = margin
        self.step = step
        self.C = C
        self.max_weights = max_weights
        self.random_state = random_state
        self.n_jobs = n_jobs

    def begin(self) -> None:
        as_choice(self.loss, "loss", LOSS_NAMES)
        margin = as_real(self.margin, "margin", least=0)
        as_real(self.C, "C", least=0)
        if as_choice(self.step, "step", STEP_NAMES) == "passive-aggressive" and margin == 0:
            raise InputError("the passive-aggressive step needs a margin above 0; 1 is usual")
        super().begin()

    def _run(self, stream: TrainingStream, position: int, scratch: Scratch) -> tuple[int, int, int]:
        rule = Rule(
            STEP_NAMES.index(self.step),
            LOSS_NAMES.index(self.loss) + 1,
            float(self.margin),
            float(self.C),
        )
        return learn(stream, position, self.prototypes_, scratch, rule)


class Rule(NamedTuple):
    """Which prototypes to move, and how far."""

    step: int  # PAPER, PASSIVE_AGGRESSIVE, or PERCEPTRONS (topic_perceptron.py)
    loss: int = 1  # 1 to 3, or AVERAGE_PRECISION
    margin: float = 0.0
    longest: float = 0.0  # passive-aggressive step


# Figure 2, the label-ranking algorithm; and the Perceptron of section 4.3


@kernel
def learn(
    stream: TrainingStream, position: int, prototypes: Prototypes, scratch: Scratch, rule: Rule
) -> tuple[int, int, int]:
    """Learn the examples order[position:]. Stops before an example for which something must be done
    first.

    Returns how many of ``order`` are done, why it stopped, and how many free slots are wanted.
    """
    for t in range(position, stream.order.size):
        if prototypes.used[LISTED] > stream.cap:
            return t, IS_FULL, 0
        i = stream.order[t]
        m = mark_relevant(stream, i, scratch)
        if rule.step == PERCEPTRONS or (m > 0 and stream.counts[LABELS_KNOWN] > m):
            n, shared = score(stream.read, i, prototypes, scratch, m)
            n, crowd = against(stream, i, scratch, m, n, shared)
            note_losses(stream, t, scratch, m, n, crowd, shared)
            shared_step = 0.0
            if rule.step == PERCEPTRONS:
                wrong, shared_step = perceptron_steps(scratch, m, n, shared)
            else:
                lows = lowest_allowed(scratch, m, rule.margin)
                wrong = wrong_pairs(lows, scratch, m, n, crowd, shared)
                if wrong > 0 and rule.step == PAPER:
                    shared_step = paper_steps(lows, scratch, m, n, crowd, shared, rule, wrong)
                elif wrong > 0:
                    n = passive_aggressive_steps(
                        stream, scratch, m, n, crowd, shared, rule, stream.square[i]
                    )
            if not is_complete(stream.labels.partial, i):
                shared_step = 0.0  # labels that were not judged stay as they are
            if wrong > 0 or shared_step != 0.0:
                if stream.stops:
                    clear_changes(scratch, n)
                    return t, CHANGES, 0
                time = float(stream.counts[EXAMPLES_SEEN]) if stream.average else 0.0
                slots = write(stream.write, i, prototypes, scratch, n, shared_step, time)
                if slots > 0:
                    return t, WANTS_SLOTS, slots
        stream.counts[EXAMPLES_SEEN] += 1
    return stream.order.size, DONE, 0


@kernel
def perceptron_steps(scratch: Scratch, m: int, n: int, shared: float) -> tuple[int, float]:
    """±1 into scratch.change for the labels touched whose sign is wrong; returns how many, and
    the crowd's step.
    """
    mistakes = 0
    for a in range(n):
        c = scratch.touched[a]
        label = 1.0 if a < m else -1.0
        if label * scratch.scores[c] <= 0.0:
            scratch.change[c] = label
            mistakes += 1
    return mistakes, -1.0 if shared >= 0.0 else 0.0


@kernel
def paper_steps(
    lows: Floats,
    scratch: Scratch,
    m: int,
    n: int,
    crowd: int,
    shared: float,
    rule: Rule,
    pairs: int,
) -> float:
    """Steps 1 to 3: n_r/c and −n_s/c into scratch.change for the labels touched; returns −n_s/c of
    the crowd.

    ``erring[q]`` counts the labels that err against the q lowest relevant ones; n_r is the sum over
    all q that reach r, which is as high as the relevant labels up to r, ties included, are many.
    """
    erring = np.zeros(m + 1, dtype=np.int64)
    crowd_errs = below(lows, shared)
    erring[crowd_errs] += crowd
    for a in range(m, n):
        c = scratch.touched[a]
        q = below(lows, scratch.scores[c])
        erring[q] += 1
        scratch.change[c] = -q
    for q in range(m - 1, -1, -1):
        erring[q] += erring[q + 1]
    above = np.empty(m)
    for a in range(m):
        c = scratch.touched[a]
        above[a] = erring[below(lows, scratch.scores[c] - rule.margin)]
        scratch.change[c] = above[a]
    c_of_loss = pairs
    if rule.loss == 2:
        c_of_loss = 1
    elif rule.loss == 3:
        c_of_loss = m * (n - m + crowd)
    share = 1.0 / c_of_loss
    # 1 − AP, a pair that errs counting as one in the wrong order
    if rule.loss == AVERAGE_PRECISION:
        above.sort()  # n_r, from the highest relevant label down
        precision = 0.0
        for a in range(m):
            precision += (a + 1.0) / (a + 1.0 + above[a])
        share *= 1.0 - precision / m
    for a in range(n):
        scratch.change[scratch.touched[a]] *= share
    return -crowd_errs * share


@kernel
def passive_aggressive_steps(
    stream: TrainingStream,
    scratch: Scratch,
    m: int,
    n: int,
    crowd: int,
    shared: float,
    rule: Rule,
    square: float,
) -> int:
    """±τ into scratch.change for the lowest relevant and the highest other label, of equal ones the
    first to appear.

    Returns how many labels are touched: one more if the highest is of the crowd.
    """
    r = scratch.touched[0]
    for a in range(1, m):
        c = scratch.touched[a]
        if scratch.scores[c] < scratch.scores[r] or (
            scratch.scores[c] == scratch.scores[r] and c < r
        ):
            r = c
    s = -1
    if crowd > 0:
        s = 0
        while scratch.mark[s] == scratch.clock[0] or stream.is_known[s] == 0:
            s += 1
        scratch.scores[s] = shared
        scratch.touched[n] = s
    for a in range(m, n):
        c = scratch.touched[a]
        if (
            s < 0
            or scratch.scores[c] > scratch.scores[s]
            or (scratch.scores[c] == scratch.scores[s] and c < s)
        ):
            s = c
    if square > 0.0:
        loss = rule.margin - scratch.scores[r] + scratch.scores[s]
        tau = min(rule.longest, loss / (2.0 * square))
        scratch.change[r] = tau
        scratch.change[s] = -tau
    return n + 1 if crowd > 0 else n
