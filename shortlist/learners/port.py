"""What a learner of categories does: all that the author of one reads.

A learner turns rows of features and their labels into a ranking of labels. Its base class,
``CategoryLearner`` (category_learner.py), checks what users give, numbers the labels, and calls the
steps of this port. So every step may trust what it is given:

- ``Rows``: sparse rows with ascending columns, finite values and no stored zeros (data/rows.py);
- ``LabelSets``: the labels of each row as numbers, each label once (data/labels.py);
- ``order``: the numbers of the rows to learn, int64.

A learner must define the abstract steps of ``Learner``. What only some learners can do is a
protocol of its own below, and a model asks for the protocol, never for a class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.label_input import Label
from shortlist.data.labels import LabelIndex, LabelSets
from shortlist.data.rows import Rows, RowStore, Vectors
from shortlist.files.store import State

BIAS = -1  # the column of the bias among votes


class Allowed(NamedTuple):
    """For each label whether it may be ranked, and a factor for its score if that is above 0."""

    labels: NDArray[np.bool_]
    factors: Floats | None = None  # 1 for all labels


class Learner(ABC):
    """The steps of a learner, and what it can do. ``label_index_`` has the labels so far."""

    nonnegative = False  # whether it takes only values of at least 0
    updatable = True  # whether it can go on learning; if not, it has ``fit`` only
    takes_pieces = False  # whether it can learn the rows of a store, some at a time
    takes_partial = False  # whether it can leave labels alone that were not judged
    ranks_while_learning = False  # whether ``rank_ahead`` ranks each row just before it is learned

    label_index_: LabelIndex
    n_examples_: int

    @abstractmethod
    def begin(self) -> None:
        """Check the parameters and forget everything learned."""

    @abstractmethod
    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        """Learn the examples in that order, once. Rows come from ``prepare``."""

    @abstractmethod
    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        """Write the best labels of each row.

        ids : int32[n, k], filled with −1. scores : float64[n, k], filled with NaN.
        """

    @abstractmethod
    def all_scores(self, rows: Rows) -> Floats:
        """The scores of all labels, n × number of labels."""

    @abstractmethod
    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        """The columns that vote for a label in one row, and their votes, in the order in which the
        score adds them.
        """

    @abstractmethod
    def to_arrays(self) -> dict[str, Any]:
        """The learned arrays, for the model file."""

    @abstractmethod
    def from_arrays(self, state: State) -> None:
        """Take up the arrays of a model file, having checked all that the kernels will trust."""

    # Steps that a learner may leave as they are.

    def prepare(self, rows: Rows) -> Rows:
        """Turn feature values into what the learner works on."""
        return rows

    def check_learnable(  # noqa: B027 - most learners take all rows
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> None:
        """Refuse rows that can be ranked but not learned; ``called`` names a row in the error."""

    def labels_expected(self) -> None:  # noqa: B027 - most learners do not care
        """Called when labels were numbered before any example of them was learned."""

    def compacted(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """The arrays of a compact model file."""
        return arrays


# Observers: they have some examples ranked before these are learned.


class Stretch(NamedTuple):
    """Learn order[first:last] next, after ranking the rows at the ``ranked`` places of order."""

    first: int
    last: int
    ranked: Longs


class RankedAhead(NamedTuple):
    """Rankings of rows that were not learned yet."""

    ids: Ints  # int32[rankings, k], −1 where there is no label
    scores: Floats  # float64[rankings, k], NaN where there is no label
    known: NDArray[np.float32]  # the share of the features of each that earlier examples had


class Observer(Protocol):
    """Is told how a learner ranks examples that it has not learned yet."""

    # how many labels it wants ranked
    depth: int
    # whether features that no earlier row had count for the length of a row
    counts_unknown: bool

    def plan(self, learner: Any, labels: LabelSets, order: Longs) -> Iterable[Stretch]:
        """The stretches in which the learner shall learn ``order``."""

    def note(self, ranked: RankedAhead, labels: LabelSets) -> None:
        """Take up rankings and the true labels, after these examples were learned."""

    def finish(self, learner: Any, rows: Rows | RowStore, labels: LabelSets, order: Longs) -> None:
        """Called when all of ``order`` was learned."""


# What only some learners can do.


@runtime_checkable
class TakesVectors(Protocol):
    """Learns dense vectors in the first columns of its rows."""

    n_vector_: int  # how many columns they have
    vector: int | None  # the same, as it was set

    def with_vectors(self, n_columns: int | None) -> Any:
        """An unfitted copy that takes vectors of that many columns."""

    def seed_labels(
        self, labels: Sequence[Label], vectors_of: Callable[[Sequence[Label]], Vectors]
    ) -> None:
        """Rank labels without examples by the vectors of their names."""


@runtime_checkable
class BoundsMemory(Protocol):
    """Keeps within a number of edges, and can forget columns."""

    edges_dropped_: int

    def limit_edges(self, most: int) -> None: ...
    def times_seen(self) -> Longs: ...
    def forget_columns(self, kept: NDArray[np.bool_]) -> None: ...
    def replay_bytes(self, n_vector: int) -> int: ...


@runtime_checkable
class KnowsColumns(Protocol):
    """Can tell which columns some example had."""

    def has_seen(self, columns: Ints) -> NDArray[np.bool_]: ...


@runtime_checkable
class Merges(Protocol):
    """Can add what another learner of its kind has learned from other rows."""

    def merge(self, other: Any) -> Any: ...


@runtime_checkable
class LearnsInParts(Protocol):
    """Parts of a pass can be learned on several machines and mixed (distributed/)."""

    def shard(self, n: int) -> Any:
        """A copy that learns one of n parts, and shares nothing that learning changes."""

    def mix_shards(self, shards: list[Any]) -> None:
        """Combine what the parts have learned, each from the present state on, in this order."""
