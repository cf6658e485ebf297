"""Model files that no learner has written, with checksums that are right: each is refused, in
one sentence.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shortlist as sl
from papers.comparators.accuracy_svm import AccuracySVM
from papers.comparators.unweighted_index import UnweightedIndex
from shortlist.files.container import text_to_array
from tests.hostile.model_mutants import as_bytes, plain

X = np.random.default_rng(0).random((40, 12)) * (np.random.default_rng(1).random((40, 12)) < 0.4)
Y = [[f"label {i % 6}"] for i in range(40)]
QUERIES = np.arange(40) // 10


def fill(name, value):
    return lambda state: state.arrays[name].fill(value)


def put(name, place, value):
    return lambda state: state.arrays[name].__setitem__(place, value)


def name(name, names):
    return lambda state: state.arrays.__setitem__(name, text_to_array(names))


def setting(*way, to):
    def change(state):
        inside = state.settings
        for step in way[:-1]:
            inside = inside[step]
        inside[way[-1]] = to

    return change


def parameter(name, value):
    return setting("parameters", name, to=value)


REFUSED = {
    "losses before the first example": (sl.MMP(), put("loss_curve", (-1, 0), -1e18)),
    "losses of no example": (sl.MMP(), put("loss_curve", (0, 0), 0.0)),
    "losses of examples to come": (sl.MMP(), put("loss_curve", (-1, 0), 1e300)),
    "losses at no time": (sl.MMP(), put("loss_curve", (-1, 0), np.nan)),
    "more examples than can be counted": (sl.MMP(), put("counts", 1, 2**63 - 1)),
    "a margin in words": (sl.MMP(), parameter("margin", "0.5")),
    "edges of features without weight": (sl.FeatureFocus(max_total_edges=20), fill("total", 0.0)),
    "lists with a label twice": (sl.TunedIndex(vector=4), fill("edge_label", 0)),
    "labels seen less than never": (sl.FeatureFocus(), fill("label_counts", -7)),
    "labels that are none": (sl.FeatureFocus(), name("labels", [None, "b", "c", "d", "e", "f"])),
    "labels that are not numbers": (
        sl.FeatureFocus(),
        name("labels", [float("nan"), "b", "c", "d", "e", "f"]),
    ),
    "sums of labels never seen": (sl.Rocchio(), fill("label_counts", 0)),
    "a weight in words": (sl.Rocchio(), parameter("beta", "16")),
    "a step in words": (sl.TunedIndex(), parameter("step", "0.3")),
    "a threshold below all shares": (sl.IndependentIndex(threshold=0.1), fill("threshold", -5.0)),
    "two thousand million classifiers": (
        UnweightedIndex(classifiers=1),
        parameter("classifiers", 2**31 - 1),
    ),
    "a scale of huge numbers": (sl.PRank(), name("classes", [10**30, 1])),
    "sums that begin before the first": (
        sl.Rocchio(),
        lambda state: np.negative(*[state.arrays["sums_indptr"]] * 2),
    ),
    "a huge intercept": (AccuracySVM(), setting("learned", "intercept_", to=10**400)),
    "examples without end": (sl.Rater(), setting("n_examples", to=float("inf"))),
    "queries without end": (sl.DocumentRanker(), setting("n_queries", to=float("inf"))),
    "more documents than can be counted": (
        sl.TextVectorizer(idf="smooth"),
        setting("documents", to=10**30),
    ),
    "hashed columns with names": (sl.TextVectorizer(), setting("hashed", to=2**31 - 1)),
    "very long runs of words": (sl.TextVectorizer(), setting("ngrams", to=2**31 - 1)),
}


def fitted(model):
    if isinstance(model, sl.TextVectorizer):
        return model.fit(["wheat corn", "a bank"])
    if isinstance(model, (AccuracySVM, sl.DocumentRanker)):
        return model.fit(X, np.arange(40) % 2, QUERIES)
    if isinstance(model, sl.RowCategorizer):
        return model.fit(np.tile(X, (15, 1)), 15 * Y)  # enough to know how sure it is
    return model.fit(X, np.arange(40) % 3 if isinstance(model, (sl.PRank, sl.Rater)) else Y)


@pytest.mark.parametrize("what", REFUSED)
def test_a_state_that_cannot_be_is_refused(what, tmp_path):
    model, change = REFUSED[what]
    state = plain(fitted(model).to_state())
    path = tmp_path / "m.shortlist"
    path.write_bytes(as_bytes(state))
    sl.load(path)
    change(state)
    path.write_bytes(as_bytes(state))
    with pytest.raises(sl.ModelFileError):
        sl.load(path)


WITH_NUMBERS = [
    sl.TunedIndex(),
    sl.TunedIndex(vector=12),
    sl.TunedIndex(vector=4),
    sl.FeatureFocus(),
    sl.IndependentIndex(),
    sl.MMP(),
    sl.Rocchio(),
    sl.RowCategorizer(),
    sl.PRank(),
    sl.Rater(),
    AccuracySVM(),
]
MEANT = {("confidence/ascending", np.inf)}  # where a true label was not found


@pytest.mark.parametrize("model", WITH_NUMBERS, ids=lambda model: type(model).__name__)
def test_what_is_no_finite_number_is_refused_in_every_array(model, tmp_path):
    state, path = plain(fitted(model).to_state()), tmp_path / "m.shortlist"
    arrays = {
        name: array
        for name, array in state.all_arrays().items()
        if array.dtype.kind == "f" and array.size
    }
    assert arrays
    for name, array in arrays.items():
        for bad, place in [(np.nan, 0), (np.nan, -1), (np.inf, 0), (np.inf, -1), (-np.inf, 0)]:
            if (name, bad) in MEANT:
                continue
            before = array.flat[place]
            array.flat[place] = bad
            path.write_bytes(as_bytes(state))
            with pytest.raises(sl.ModelFileError):
                sl.load(path)
            array.flat[place] = before


@pytest.mark.long
def test_mutants_are_refused_or_usable():
    tool = Path(__file__).with_name("models.py")
    command = [sys.executable, str(tool), "--count", "400", "--seed", "1", "--unchecked"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tool.parents[2])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "400 model mutants: " in done.stdout
    assert "0 crashes, 0 raw exceptions, 0 endless" in done.stdout
