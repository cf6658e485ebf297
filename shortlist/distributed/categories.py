"""Training and evaluation of category learners on a cluster.

The survey reads each part once for its words, their counts and the number of its examples. Merged
in order, these give every column the number that it has on one machine. Then each part is read
again, its rows are learned, and the results are merged in order. Learners whose state is sums
(IndependentIndex, Rocchio) come out as on one machine, to the last bit. Others learn in rounds:
each round learns every part from what the last round has merged. For the confidence, the first
round ranks the last examples of each part before it learns them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist.compiled.kernels import Longs
from shortlist.confidence.calibration_examples import CalibrationExamples, look
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.observers import DEPTH, how_many
from shortlist.data.batch import RowBatch
from shortlist.data.label_input import Label
from shortlist.data.labels import LabelIndex, LabelSets, numbered
from shortlist.data.ranking import Ranking
from shortlist.data.rows import Rows, as_plain, beside, grown
from shortlist.distributed.cluster import Cluster, digest
from shortlist.distributed.parts import Part, check_some
from shortlist.errors import InputError, counted
from shortlist.files import store
from shortlist.files.container import array_to_text, text_to_array
from shortlist.files.store import State
from shortlist.inputs import Examples, Skipped, Stream
from shortlist.inputs.examples import apart
from shortlist.inputs.labelled import with_labels
from shortlist.learners.additive import AdditiveLearner
from shortlist.learners.category_learner import added
from shortlist.learners.index.independent import IndependentIndex
from shortlist.learners.port import LearnsInParts, TakesVectors
from shortlist.measures import Evaluation
from shortlist.models.answers import JudgedRanking
from shortlist.models.categorizer import Categorizer
from shortlist.models.category_model import CategoryModel
from shortlist.models.model import Model
from shortlist.text.text_settings import LEFT_OPEN, TextSettings
from shortlist.text.vectorizer import TextVectorizer


def held_back(counts: Sequence[int]) -> list[int]:
    """Return how many examples of each part are ranked before they are learned: in total as
    many as on one machine.
    """
    n = sum(counts)
    total = min(n // 4, how_many(n))
    ends = [int(end) * total // max(1, n) for end in np.cumsum(counts)]
    return np.diff([0, *ends]).tolist()


LabelLists = list[list[Label]]
Trained = TypeVar("Trained", bound=CategoryModel[Any])


def train(
    cluster: Cluster, parts: Sequence[Part], model: Trained, skipped: Skipped | None = None
) -> Trained:
    """Fit a Categorizer or RowCategorizer. ``skipped`` counts the records that were left out."""
    if not isinstance(model, CategoryModel):
        task = getattr(model, "task", type(model).__name__)
        raise InputError(f"{task} are learned on one machine; leave out --workers and --dask")
    text = None
    if isinstance(model, Categorizer):
        if model.max_memory is not None:
            raise InputError(
                "max_memory is for one machine: on a cluster, memory grows with the size of the "
                "parts"
            )
        if model.encoder is not None:
            raise InputError(
                "an encoder works on one machine; a cluster learns vectors that are in the data"
            )
        text = settled(cluster, parts, model.new_text())
    learner = model.new_learner()
    has_vectors = any(part.options.get("vector") is not None for part in parts)
    if has_vectors:
        if not isinstance(learner, TakesVectors):
            raise InputError(
                "vectors need the learner TunedIndex, which is the default, not "
                f"{type(learner).__name__}"
            )
        learner = learner.with_vectors(0)
    if not isinstance(learner, (AdditiveLearner, LearnsInParts)):
        raise InputError(f"a {type(learner).__name__} cannot be trained on a cluster")
    keys = [digest("survey", part, text) for part in parts]
    surveys = list(cluster.each(survey, lambda n: (parts[n], text), keys))
    for surveyed in surveys:
        note(skipped, surveyed)
        if text is not None:
            text.merge(store.build(surveyed.parts["text"]))
    check_some(parts, [surveyed.settings["examples"] for surveyed in surveys])
    if text is not None:
        text.forget_rare()
        if isinstance(learner, TakesVectors) and has_vectors:
            learner = learner.with_vectors(length_of_vectors(parts, surveys))
    learning = Learning(cluster, parts, surveys, text)
    fitted: Trained = clone(model)
    if isinstance(learner, AdditiveLearner):
        fitted.learner_ = learning.add(learner)
    else:
        fitted.learner_ = learning.mix(learner)
    fitted._known_confidence = learning.confidence
    if isinstance(fitted, Categorizer) and text is not None:
        fitted.text_ = text
    return fitted


class Learning:
    """Learns from parts that have been surveyed."""

    def __init__(
        self,
        cluster: Cluster,
        parts: Sequence[Part],
        surveys: list[State],
        text: TextVectorizer | None,
    ) -> None:
        self.cluster = cluster
        self.parts = parts
        self.surveys = surveys
        self.counts = [int(surveyed.settings["examples"]) for surveyed in surveys]
        self.n_features = max(int(surveyed.settings["features"]) for surveyed in surveys)
        self.of_rows = text is None
        self.confidence = Confidence()
        state = None
        if text is not None:
            self.n_features += text.n_features_
            state = text.to_state()
        self.text = cluster.submit(opened, state)
        self.text_digest = digest(state)

    def add(self, learner: AdditiveLearner) -> AdditiveLearner:
        """Fit a learner of sums: add up each part by itself, and merge all."""
        n_examples = sum(self.counts)
        if (
            not isinstance(learner, IndependentIndex)
            or learner.threshold is not None
            or n_examples == 1
        ):
            return self._merged(learner)
        # IND chooses its threshold on rows that are held out: the same ones, however many parts
        # there are.
        held_out = np.zeros(n_examples, dtype=bool)
        held_out[learner.held_out(n_examples)] = True
        which = [
            np.flatnonzero(is_held_out)
            for is_held_out in np.split(held_out, np.cumsum(self.counts)[:-1])
        ]
        everything = self._merged(learner)
        apart = self._merged(learner, which)
        states = [everything.to_state(), apart.to_state()]
        shared = [self.cluster.submit(opened, state) for state in states]
        hits = self.cluster.each(
            count_hits,
            lambda n: (self.parts[n], self.text, which[n], *shared),
            self._keys("hits", *states),
        )
        everything.choose_threshold(sum(state.array("hits", np.int64) for state in hits))
        return everything

    def _merged(self, learner: Any, which: list[Longs] | None = None) -> Any:
        """Fit a learner to all parts, or to some rows of each, and merge them in order."""
        merged = clone(learner)
        merged.expect_labels([[name] for name in self._names()])
        held_out = [] if which is None else ["held out", sum(self.counts)]

        def arguments(n: int) -> tuple[Any, ...]:
            return self.parts[n], self.text, learner, None if which is None else which[n]

        for shard in self.cluster.each(learn, arguments, self._keys("learn", learner, *held_out)):
            merged.merge(store.build(shard))
        return merged

    def _names(self) -> list[str]:
        """Return all labels in sorted order, as ``fit`` numbers them on one machine."""
        names: set[str] = set()
        for surveyed in self.surveys:
            names.update(array_to_text(surveyed.array("labels", np.uint8)))
        return sorted(names)

    def mix(self, learner: Any) -> Any:
        """Fit a learner that goes from row to row: each pass learns every part by itself
        (learners/category_learner.py).
        """
        learner.reset()
        names = self._names()
        learner.label_index_.learn([[name] for name in names], len(names))
        for surveyed in self.surveys:
            names = array_to_text(surveyed.array("labels", np.uint8))
            numbers = learner.label_index_.learn([[name] for name in names], len(names)).ids
            learner.counts_by_label_ = grown(learner.counts_by_label_, len(learner.label_index_))
            learner.counts_by_label_[numbers] += surveyed.array("label_counts", np.int64)
        learner.n_examples_ += sum(self.counts)
        learner.labels_expected()

        @cache
        def loaded(n: int) -> Any:
            return self.cluster.submit(load, self.parts[n], self.text, None, self.n_features)

        n_parts = len(self.parts)
        n_held_back = [0] * n_parts
        if learner.takes_pieces:
            n_held_back = held_back(self.counts)
        n_labels = int(learner.counts_by_label_.sum())
        for n_pass in range(learner.passes_through(learner.n_examples_, n_labels)):
            state = learner.to_state()
            keys = self._keys("shard", n_pass, n_parts, state, n_held_back)
            merged = self.cluster.submit(opened, state)

            def arguments(n: int, n_pass: int = n_pass, merged: Any = merged) -> tuple[Any, ...]:
                return loaded(n), merged, n, n_pass, n_parts, n_held_back[n]

            shards = list(self.cluster.each(learn_shard, arguments, keys))
            if n_pass == 0 and any(n_held_back):
                partial: Any = learner.shard(1)
                partial.mix_shards(
                    [
                        store.build(shard.parts.pop("before", shard.parts["learner"]))
                        for shard in shards
                    ]
                )
                partial.n_features_in_ = self.n_features
                self._fit_confidence(partial, n_held_back, loaded)
            learner.mix_shards([store.build(shard.parts["learner"]) for shard in shards])
            learner.n_features_in_ = self.n_features
        return learner

    def _fit_confidence(
        self, learner: Any, n_held_back: list[int], loaded: Callable[[int], Any]
    ) -> None:
        """Fit the confidence to rankings of the examples that the learner has not learned yet, in
        shuffled order.
        """
        state = learner.to_state()
        shared = self.cluster.submit(opened, state)
        numbers = [n for n, count in enumerate(n_held_back) if count]

        def arguments(i: int) -> tuple[Any, ...]:
            n = numbers[i]
            return loaded(n), shared, n, n_held_back[n], self.of_rows

        keys = [
            digest("left", self.text_digest, n, self.parts[n], state, n_held_back[n])
            for n in numbers
        ]
        rankings = []
        for ranked in self.cluster.each(rank_held_back, arguments, keys):
            like = CalibrationExamples.room(0)._asdict().items()
            rankings.append(
                CalibrationExamples(*(ranked.array(name, a.dtype, a.ndim) for name, a in like))
            )
        seen = CalibrationExamples.stack(rankings)
        self.confidence.fit(seen.take(np.random.default_rng(0).permutation(seen.true.size)))

    def _keys(self, *inputs: Any) -> list[str]:
        return [digest(self.text_digest, n, part, *inputs) for n, part in enumerate(self.parts)]


def note(skipped: Skipped | None, result: State) -> None:
    """Count the records that a part left out."""
    if skipped is not None:
        for sentence in result.settings["sentences"]:
            skipped.add(sentence)
        skipped.count += result.settings["skipped"] - len(result.settings["sentences"])


def length_of_vectors(parts: Sequence[Part], surveys: list[State]) -> int:
    """Return the length of the vectors, which all parts must have in common."""
    lengths = {}
    for part, surveyed in zip(parts, surveys, strict=True):
        if surveyed.settings["examples"]:
            lengths[int(surveyed.settings["features"])] = part.name
    if len(lengths) > 1:
        (short, short_name), (long, long_name) = sorted(lengths.items())[:2]
        raise InputError(
            f"vectors have {counted(short, 'numbers')} in {short_name} and {long} in {long_name}; "
            "all must have as many"
        )
    return next(iter(lengths))


# Tasks of the workers.


def survey(part: Part, text: TextVectorizer | None) -> State:
    """Count the examples of a part, its labels, its words, its features and the records that were
    left out.

    Features are the columns of the rows, or of the vectors beside the texts.
    """
    stream = part.open()
    words = None if text is None else clone(text).partial_fit([])
    labels = LabelIndex()
    counts = np.zeros(0, dtype=np.int64)
    n_examples = 0
    n_features = 0
    for batch in with_labels(part.name, stream, stream):
        if len(batch.complete_only()) < len(batch):
            raise InputError(
                f"{part.name} has partial judgements, which are learned on one machine only; train "
                "here"
            )
        ids = labels.learn(batch.labels, len(batch)).ids
        counts = added(counts, np.bincount(ids, minlength=len(labels)))
        n_examples += len(batch)
        if words is not None:
            plain, vectors = apart(texts_of(part, batch))
            words.partial_fit(plain)
            n_features = 0 if vectors is None else vectors.shape[1]
        else:
            n_features = max(n_features, rows_of(part, batch).n_features)
    settings: dict[str, Any] = {"examples": n_examples, "features": n_features}
    settings |= {"skipped": stream.skipped.count, "sentences": stream.skipped.sentences}
    arrays: dict[str, Any] = {"labels": text_to_array(labels.names), "label_counts": counts}
    return State("Survey", settings, arrays, {} if words is None else {"text": words.to_state()})


def opened(state: State | None) -> Any:
    """Build a state from copies of its arrays, since those that come over the network are
    read-only.
    """
    return None if state is None else store.build(state.copied())


def load(
    part: Part,
    text: TextVectorizer | None,
    which: Longs | None = None,
    n_features: int | None = None,
) -> tuple[Rows, LabelLists]:
    """Read the rows and labels of a part, or of some of its examples."""
    stream = part.open()
    blocks: list[Rows] = []
    labels: LabelLists = []
    for batch in with_labels(part.name, stream, stream):
        if text is None:
            blocks.append(rows_of(part, batch))
        else:
            plain, vectors = apart(texts_of(part, batch))
            blocks.append(beside(vectors, text.rows(plain)))
        labels += [list[Label](names) for names in batch.labels or ()]
    rows = Rows.stack(blocks)
    rows = rows._replace(n_features=n_features or rows.n_features)
    if which is None:
        return rows, labels
    return rows.take(which), [labels[i] for i in which.tolist()]


def learn(
    part: Part, text: TextVectorizer | None, learner: AdditiveLearner, which: Longs | None = None
) -> State:
    """Fit a new learner to a part, or to some of its examples."""
    rows, labels = load(part, text, which)
    batch = RowBatch(learner.checked_signs(rows), numbered(labels, rows.n_rows))
    return clone(learner).learn_batch(batch).to_state()


def learn_shard(
    loaded: tuple[Rows, LabelLists],
    merged: Any,
    n_part: int,
    n_pass: int,
    n_parts: int,
    n_held_back: int,
) -> State:
    """Learn a part, beginning with the merged learner of the last pass.

    The first pass also returns the learner as it was before the examples that are held back.
    """
    rows, labels = read_by(merged, loaded)
    order = order_of(rows, merged, n_part, n_pass)
    shard = merged.shard(n_parts)
    shard.n_features_in_ = rows.n_features
    parts = {}
    if n_pass == 0 and n_held_back:
        order, last = np.split(order, [order.size - n_held_back])
        shard.update(rows, labels, order, True)
        parts["before"] = shard.to_state().copied()
        order = last
    shard.update(rows, labels, order, n_pass == 0)
    parts["learner"] = shard.to_state()
    return State("Shard", parts=parts)


def rank_held_back(
    loaded: tuple[Rows, LabelLists],
    learner: Any,
    n_part: int,
    n_held_back: int,
    of_rows: bool,
) -> State:
    """Rank the last rows of a part with a learner that has learned all others."""
    rows, labels = read_by(learner, loaded)
    order = order_of(rows, learner, n_part, 0)
    which = order[order.size - n_held_back :]
    ids, scores, known = learner.rank_ahead(rows, which, DEPTH, counts_unknown=of_rows)
    seen = look(ids, scores, labels.chosen(which), known)
    return State("Ranked", arrays=seen._asdict())


def read_by(learner: Any, loaded: tuple[Rows, LabelLists]) -> tuple[Rows, LabelSets]:
    """Prepare the rows and labels of a part for a learner, in arrays that may be written to."""
    rows, lists = loaded
    rows = Rows(
        as_plain(rows.indptr, np.int64),
        as_plain(rows.indices, np.int32),
        as_plain(rows.data, np.float64),
        rows.n_features,
    )
    rows = learner.prepare(learner.checked_signs(rows))
    return rows, learner.label_index_.learn(lists, rows.n_rows)


def order_of(rows: Rows, learner: Any, n_part: int, n_pass: int) -> Longs:
    """Return the order in which a pass goes through a part: shuffled as by ``fit``, but each
    part by itself.
    """
    order = np.arange(rows.n_rows)
    if learner.random_state is not None:
        np.random.default_rng([learner.random_state, n_pass, n_part]).shuffle(order)
    return order


def count_hits(
    part: Part,
    text: TextVectorizer | None,
    which: Longs,
    everything: IndependentIndex,
    apart: IndependentIndex,
) -> State:
    """Count the held-out examples of a part that IND gets right with each candidate for its
    threshold.
    """
    rows, labels = load(part, text, which)
    batch = RowBatch(rows, numbered(labels, rows.n_rows))
    return State("Hits", arrays={"hits": everything.hits(batch, apart)})


def settled(cluster: Cluster, parts: Sequence[Part], text: TextVectorizer) -> TextVectorizer:
    """Return the text part with the settings that the first texts choose, as on one machine."""
    if not TextSettings.of(text).undecided:
        return text
    for part in parts:
        (first,) = cluster.each(begin, lambda _: (part, text), [digest("begin", part, text)])  # noqa: B023
        if first.settings.pop("texts"):
            return text.set_params(**first.settings)
    return text


def begin(part: Part, text: TextVectorizer) -> State:
    """Choose settings by the first texts of a part."""
    batch = next((batch for batch in part.open() if len(batch)), None)
    if batch is None:
        return State("Beginning", {"texts": 0})
    recurring = batch.labels is not None and numbered(batch.labels, len(batch)).sets.recurring
    chosen = text.settled(apart(texts_of(part, batch))[0], recurring)
    settings = {name: getattr(chosen, name) for name in LEFT_OPEN}
    return State("Beginning", settings | {"texts": len(batch)})


def texts_of(part: Part, batch: Examples) -> Sequence[Any]:
    if batch.texts is None:
        raise InputError(f"{part.name} holds rows of features, and a Categorizer learns from texts")
    return batch.texts


def rows_of(part: Part, batch: Examples) -> Rows:
    if batch.rows is None:
        raise InputError(
            f"{part.name} holds texts, and a RowCategorizer learns from rows of features"
        )
    return batch.rows


AnswerArrays = dict[str, NDArray[Any]]


def evaluate(
    cluster: Cluster,
    parts: Sequence[Part],
    model: Model[Any],
    measures: Sequence[str],
    skipped: Skipped | None = None,
) -> Evaluation:
    """Measure a model, as on one machine."""
    return model.report_on(judge(cluster, parts, model, measures, skipped), measures).measures


def judge(
    cluster: Cluster,
    parts: Sequence[Part],
    model: Model[Any],
    measures: Sequence[str],
    skipped: Skipped | None = None,
) -> Iterator[JudgedRanking]:
    """Yield the rankings of the examples of each part with their true labels."""
    if not isinstance(model, CategoryModel):
        raise InputError(
            f"{model.task} are measured on one machine; leave out --workers and --dask"
        )
    names = model.classes_.tolist()
    depth = model.judged_depth(measures)
    for arrays in answers(cluster, parts, model, ranked_and_labelled, depth, skipped=skipped):
        ranking = Ranking(arrays["ids"], arrays["scores"], names)
        yield JudgedRanking(ranking, array_to_text(arrays["labels"]))


def answers(
    cluster: Cluster,
    parts: Sequence[Part],
    model: Model[Any],
    function: Callable[..., AnswerArrays],
    *settings: int,
    skipped: Skipped | None = None,
) -> Iterator[AnswerArrays]:
    """Yield the arrays that ``function(model, part, stream, *settings)`` returns for each part, in
    order.

    Workers must be able to import the function. ``skipped`` counts the records that were left out.
    """
    state = model.to_state()
    shared = cluster.submit(opened, state)
    question = digest("answers", function.__module__, function.__name__, state, *settings)
    keys = [digest(question, part) for part in parts]
    for answer in cluster.each(ask, lambda n: (parts[n], shared, function, settings), keys):
        note(skipped, answer)
        yield {name: np.asarray(array) for name, array in answer.arrays.items()}


def ask(
    part: Part, model: Model[Any], function: Callable[..., AnswerArrays], settings: tuple[int, ...]
) -> State:
    """Call a function with a part."""
    stream = part.open()
    arrays = function(model, part, stream, *settings)
    skipped = {"skipped": stream.skipped.count, "sentences": stream.skipped.sentences}
    return State("Answer", skipped, arrays)


def ranked_and_labelled(
    model: CategoryModel[Any], part: Part, stream: Stream, k: int
) -> AnswerArrays:
    """Rank labels for each example; return its true labels too."""
    batches = [batch.complete_only() for batch in with_labels(part.name, stream, stream)]
    ranking = Ranking.stack([model.rank_examples(batch, k) for batch in batches], k)
    true = [labels for batch in batches for labels in batch.labels or ()]
    return {"ids": ranking.ids, "scores": ranking.scores, "labels": text_to_array(true)}
