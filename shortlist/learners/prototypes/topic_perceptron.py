"""One Perceptron for each label, a comparator of paper 001 (section 4.3) and the one-versus-rest
form of Rosenblatt's.

Every label r learns separately whether it is relevant: with the target +1 if r ∈ y and −1 if not,

    on a mistake, label·(w_r·x) ≤ 0:   w_r += label·x.

Labels are ranked by w_r·x. A label that arrives late starts with the prototype of a label that was
never relevant so far (weights.py), exactly as if it had been known from the start. An empty y is a
negative example of every label. With a partial judgement, only the labels judged learn.
"""

from __future__ import annotations

from shortlist.learners.prototypes.mmp import PERCEPTRONS, Rule, learn
from shortlist.learners.prototypes.prototype_learner import OnlinePrototypes, TrainingStream
from shortlist.learners.top_labels import Scratch


class TopicPerceptron(OnlinePrototypes):
    """A Perceptron for each label; ranks labels by their Perceptrons' scores.

    Parameters
    ----------
    passes : int, default=1
        How often ``fit`` goes through the examples.
    hypothesis : {"last", "averaged"}, default="last"
        Which prototypes rank: the "last" ones, or their mean over time ("averaged").
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
    001), section 4.3.

    Examples
    --------
    >>> from shortlist import TopicPerceptron
    >>> learner = TopicPerceptron(passes=2).fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    >>> learner.predict([[2.0, 0.0], [0.0, 3.0]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        passes: int = 1,
        hypothesis: str = "last",
        max_weights: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.passes = passes
        self.hypothesis = hypothesis
        self.max_weights = max_weights
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _run(self, stream: TrainingStream, position: int, scratch: Scratch) -> tuple[int, int, int]:
        return learn(stream, position, self.prototypes_, scratch, Rule(PERCEPTRONS))
