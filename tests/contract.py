"""The contract: what every learner of categories does, whatever its algorithm. ``check_learner``
tries it.

A new learner is finished when it passes::

    from tests.contract import check_learner
    check_learner(MyLearner())
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterator
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from safetensors import safe_open
from sklearn.base import clone

from shortlist.data.label_input import Label
from shortlist.errors import InputError
from shortlist.files import store
from shortlist.learners.category_learner import CategoryLearner


def check_learner(learner: CategoryLearner) -> None:
    """Try the whole contract on copies of a learner, fitted or not; an AssertionError names the
    broken promise.
    """
    for promise in PROMISES:
        promise(clone(learner))


def example_data(seed: int = 0, n: int = 300) -> tuple[Any, list[list[str]]]:
    """Sparse rows with one to three labels each, which their columns give away, with noise."""
    random = np.random.default_rng(seed)
    labels = [
        [f"label {c}" for c in random.choice(12, size=1 + i % 3, replace=False)] for i in range(n)
    ]
    X = scipy.sparse.random_array(
        (n, 60), density=0.05, rng=random, format="lil", data_sampler=random.random
    )
    for i, own in enumerate(labels):
        for label in own:
            X[i, int(label.split()[1]) * 3 + i % 3] = 1.0 + i % 2
    return X.tocsr(), labels


def fit_is_repeated_partial_fit(learner: CategoryLearner) -> None:
    if not hasattr(learner, "partial_fit"):
        return
    X, Y = example_data()
    # One pass in the order given, and nothing that fit would choose for itself.
    fixed = {"passes": 1, "random_state": None, "threshold": 0.05}
    once = {name: value for name, value in fixed.items() if name in learner.get_params()}
    learner = clone(learner).set_params(**once)
    fitted = clone(learner).fit(X, Y)
    for size in (1, 7, 300):
        grown = clone(learner)
        for first in range(0, X.shape[0], size):
            grown.partial_fit(X[first : first + size], Y[first : first + size])
        assert list(grown.classes_) == list(fitted.classes_), (
            f"in parts of {size} the labels come in another order"
        )
        scores = grown.decision_function(X), fitted.decision_function(X)
        assert np.allclose(*scores, rtol=1e-9, atol=1e-9), f"in parts of {size} the scores differ"


def the_same_seed_gives_the_same_bytes(learner: CategoryLearner) -> None:
    X, Y = example_data()
    assert as_bytes(clone(learner).fit(X, Y)) == as_bytes(clone(learner).fit(X, Y)), (
        "two fits differ"
    )
    refitted = clone(learner).fit(*example_data(seed=1)).fit(X, Y)
    assert as_bytes(refitted) == as_bytes(clone(learner).fit(X, Y)), (
        "fit does not forget what was learned before"
    )


def the_number_of_threads_changes_nothing(learner: CategoryLearner) -> None:
    if "n_jobs" not in learner.get_params():
        return
    X, Y = example_data(n=1200)
    alone, together = (
        clone(learner).set_params(n_jobs=n).fit(X, Y).set_params(n_jobs=None) for n in (1, 3)
    )
    assert as_bytes(together) == as_bytes(alone), "with n_jobs=3 another model is learned"
    learner.fit(X, Y)
    one = learner.set_params(n_jobs=1).rank(X, k=5)
    for n_jobs in (2, 3, -1):
        many = learner.set_params(n_jobs=n_jobs).rank(X, k=5)
        same = (
            many.ids.tobytes() == one.ids.tobytes()
            and many.scores.tobytes() == one.scores.tobytes()
        )
        assert same, f"with n_jobs={n_jobs} the ranking differs"


def saving_and_loading_change_nothing(learner: CategoryLearner) -> None:
    X, Y = example_data()
    learner.fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner.shortlist"
        learner.save(path)
        # arrays and JSON: nothing in the file can run
        with safe_open(path, framework="numpy") as opened:
            assert store.METADATA_KEY in opened.metadata()
        loaded = store.load(path, also=[type(learner)])
        assert type(loaded) is type(learner)
        assert as_bytes(loaded) == as_bytes(learner), "the loaded learner differs"
        one, other = learner.rank(X, k=5), loaded.rank(X, k=5)
        assert one.ids.tobytes() == other.ids.tobytes(), "it ranks otherwise"
        assert one.scores.tobytes() == other.scores.tobytes(), "it scores otherwise"
        assert (one.labels == other.labels).all(), "it names otherwise"
        if hasattr(learner, "partial_fit"):
            more = example_data(seed=1)
            same = as_bytes(loaded.partial_fit(*more)) == as_bytes(learner.partial_fit(*more))
            assert same, "it learns otherwise"
            again = store.load(path, also=[type(learner)])
            assert as_bytes(again) != as_bytes(learner), "learning has changed the file"


def rankings_are_the_best_of_the_scores(learner: CategoryLearner) -> None:
    X, Y = example_data()
    learner.fit(X, Y)
    scores = learner.decision_function(X)
    ranking = learner.rank(X, k=4)
    for i, row in enumerate(ranking):
        kept = row.scores[row.ids >= 0]
        assert (np.diff(kept) <= 0).all(), "scores do not descend"
        assert np.array_equal(kept, scores[i, row.ids[: kept.size]]), (
            "a score differs from decision_function's"
        )
        ties = np.flatnonzero(np.diff(kept) == 0)
        assert (row.ids[ties] < row.ids[ties + 1]).all(), (
            "a tie does not go to the label that appeared first"
        )
        left_out = np.delete(scores[i], row.ids[: kept.size])
        assert not kept.size or not left_out.size or left_out.max() <= kept[-1], (
            "a better label is left out"
        )
    assert list(learner.predict(X)) == [
        row.labels[0] if len(row) else most_frequent(learner) for row in ranking
    ]


def explanations_sum_to_the_score(learner: CategoryLearner) -> None:
    X, Y = example_data()
    learner.fit(X, Y)
    for i in range(0, 300, 17):
        for label, score in learner.rank(X[[i]], k=3)[0]:
            explanation = learner.explain(X[[i]], label)
            for total in (explanation.score, sum(vote for _, vote in explanation)):
                close = isclose(total, score, rel_tol=1e-9, abs_tol=1e-9)
                assert close, f"row {i}: the votes sum to {total}, not {score}"
    refuses("a label it does not know", learner.explain, X[[0]], "a label nobody has learned")


def unseen_labels_and_columns_are_taken_up(learner: CategoryLearner) -> None:
    X, Y = example_data()
    learner.fit(X[:, :40], Y)
    if hasattr(learner, "partial_fit"):
        wide = scipy.sparse.csr_array(
            (np.full(60, 2.0), (np.arange(60), np.full(60, 99))), (60, 100)
        )
        learner.partial_fit(wide, [["brand new"]] * 60)
        assert "brand new" in list(learner.classes_), "a new label is not learned"
        assert learner.n_features_in_ == 100, "a new column is not learned"
    ranking = learner.rank(scipy.sparse.csr_array(np.ones((2, 500))), k=3)
    assert len(ranking) == 2, "rows with columns it has never seen are not ranked"
    assert len(learner.rank(scipy.sparse.csr_array((2, 60)), k=3)) == 2, "empty rows are not ranked"
    assert len(learner.rank(scipy.sparse.csr_array((0, 60)), k=3)) == 0, "no rows are not ranked"


def dense_and_sparse_agree(learner: CategoryLearner) -> None:
    X, Y = example_data()
    sparse, dense = clone(learner).fit(X, Y), clone(learner).fit(X.toarray(), Y)
    assert as_bytes(sparse) == as_bytes(dense), "learning differs"
    shuffled = X.copy()
    for i in range(X.shape[0]):  # columns in descending order
        part = slice(X.indptr[i], X.indptr[i + 1])
        shuffled.indices[part], shuffled.data[part] = (
            X.indices[part][::-1].copy(),
            X.data[part][::-1].copy(),
        )
    shuffled.has_sorted_indices = False
    for form in (X.toarray(), X.tocsc(), scipy.sparse.csr_matrix(X), shuffled):
        assert np.array_equal(sparse.decision_function(form), sparse.decision_function(X)), (
            f"{type(form)} differs"
        )
    flat = [own[0] for own in Y]
    single = as_bytes(clone(learner).fit(X, [[label] for label in flat]))
    assert as_bytes(clone(learner).fit(X, flat)) == single, (
        "a list of labels differs from a list of lists"
    )
    assert as_bytes(clone(learner).fit(X, np.array(flat))) == single, (
        "an array of labels differs from a list of lists"
    )


def input_is_never_modified(learner: CategoryLearner) -> None:
    X, Y = example_data()
    with_zero = X.copy()
    with_zero.data[3] = 0.0  # a stored zero, which must stay where it is
    for matrix in (X, with_zero):
        before = matrix.indptr.copy(), matrix.indices.copy(), matrix.data.copy(), copy.deepcopy(Y)
        learner.fit(matrix, Y)
        learner.rank(matrix)
        learner.decision_function(matrix)
        learner.explain(matrix[[0]], Y[0][0])
        now = matrix.indptr, matrix.indices, matrix.data
        assert all(np.array_equal(a, b) for a, b in zip(before, now, strict=False)), "X has changed"
        assert before[3] == Y, "Y has changed"
    frozen = X.toarray()
    frozen.setflags(write=False)
    clone(learner).fit(frozen, Y).rank(frozen)


def parameters_are_only_stored(learner: CategoryLearner) -> None:
    parameters = learner.get_params(deep=False)
    copied = clone(learner)
    assert type(copied) is type(learner)
    assert all(getattr(learner, name) is value for name, value in parameters.items()), (
        "__init__ changes a parameter"
    )
    X, Y = example_data()
    learner.fit(X, Y)
    assert repr(learner.get_params(deep=False)) == repr(parameters), "fit changes a parameter"


def bad_input_is_refused_and_changes_nothing(learner: CategoryLearner) -> None:
    X, Y = example_data()
    learner.fit(X, Y)
    before = as_bytes(learner)
    for what, bad_X, bad_Y in hostile_input(X, Y, getattr(learner, "nonnegative", False)):
        refuses(what, clone(learner).fit, bad_X, bad_Y)
        if bad_Y is Y:
            refuses(what, learner.rank, bad_X)
            refuses(what, learner.decision_function, bad_X)
        if hasattr(learner, "partial_fit"):
            refuses(what, learner.partial_fit, bad_X, bad_Y)
        assert as_bytes(learner) == before, f"{what}: refused, but something was learned"
    refuses("k = 0", learner.rank, X, 0)


def hostile_input(
    X: scipy.sparse.csr_array, Y: list[list[str]], nonnegative: bool
) -> Iterator[tuple[str, Any, Any]]:
    """What, a bad X, a bad Y."""
    for name, value in (("NaN", np.nan), ("infinity", np.inf)):
        bad = X.copy()
        bad.data[5] = value
        yield name, bad, Y
        yield f"{name} in a dense matrix", bad.toarray(), Y
    if nonnegative:
        bad = X.copy()
        bad.data[5] = -1.0
        yield "a negative value", bad, Y
    for name, column in (("a column past the end", 60), ("a negative column", -7)):
        bad = X.copy()
        bad.indices[5] = column
        yield name, bad, Y
    bad = X.copy()
    bad.indptr[3] = bad.indptr[-1] + 100
    yield "a row that ends past the end", bad, Y
    yield "one dimension", np.ones(60), Y
    yield "three dimensions", np.ones((300, 60, 2)), Y
    yield "text in place of numbers", np.full((300, 60), "a"), Y
    yield "labels missing for a row", X, Y[:-1]
    yield "no labels", X, None
    yield "a label that is None", X, [[None], *Y[1:]]
    yield "a label that is NaN", X, [[float("nan")], *Y[1:]]
    yield "a label that is a list", X, [[["nested"]], *Y[1:]]


PROMISES: list[Callable[[Any], None]] = [
    fit_is_repeated_partial_fit,
    the_same_seed_gives_the_same_bytes,
    the_number_of_threads_changes_nothing,
    saving_and_loading_change_nothing,
    rankings_are_the_best_of_the_scores,
    explanations_sum_to_the_score,
    unseen_labels_and_columns_are_taken_up,
    dense_and_sparse_agree,
    input_is_never_modified,
    parameters_are_only_stored,
    bad_input_is_refused_and_changes_nothing,
]


def as_bytes(learner: CategoryLearner) -> bytes:
    """All that a learner has learned and is set to."""
    state = learner.to_state()
    arrays = state.all_arrays()
    return repr(state.header()).encode() + b"".join(
        name.encode() + arrays[name].tobytes() for name in sorted(arrays)
    )


def most_frequent(learner: CategoryLearner) -> Label:
    return learner.classes_[int(np.argmax(learner.label_counts_))]


def refuses(what: str, call: Callable[..., Any], *arguments: Any) -> None:
    try:
        call(*arguments)
    except InputError:
        return
    raise AssertionError(f"{what} is not refused")
