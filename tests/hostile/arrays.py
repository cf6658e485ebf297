"""Odd arrays, matrices, labels and ratings through every public verb: ``python -m
tests.hostile.arrays --count 20000``.

Each trial takes an odd thing, or a sparse matrix damaged at random, through all verbs of one model.
"""

import copy
import enum
from decimal import Decimal
from functools import cache

import numpy as np
import scipy.sparse as sp

import shortlist as sl
from papers.comparators.accuracy_svm import AccuracySVM
from papers.comparators.extended_mmp import ExtendedMMP
from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from papers.comparators.one_versus_rest import OneVersusRest
from papers.comparators.top_down import TopDown
from papers.comparators.unweighted_index import UnweightedIndex
from tests.hostile import batches

DRAWN = np.random.default_rng(0)
DENSE = (DRAWN.random((6, 5)) < 0.6) * DRAWN.random((6, 5))
LABELS = [["a"], ["b"], ["a", "c"], ["c"], ["b"], ["a"]]
RATINGS = [1, 2, 3, 1, 2, 3]
QUERIES = ["q", "q", "q", "r", "r", "r"]
RELEVANCE = [1, 0, 1, 0, 1, 0]
TEXTS = ["wheat rose", "oil fell", "wheat and oil", "corn", "oil", "wheat"]

CATEGORIES = {
    "TunedIndex": sl.TunedIndex,
    "FeatureFocus": sl.FeatureFocus,
    "MMP": sl.MMP,
    "MMP with a kernel": lambda: ExtendedMMP(kernel="rbf"),
    "TopicPerceptron": lambda: sl.TopicPerceptron(hypothesis="averaged"),
    "IndependentIndex": sl.IndependentIndex,
    "Rocchio": sl.Rocchio,
    "UnweightedIndex": lambda: UnweightedIndex(classifiers=2),
    "OneVersusRest": lambda: OneVersusRest("perceptron", patience=1),
    "TopDown": lambda: TopDown(trials=1, sigmoid="fixed"),
    "FrequencyBaseline": sl.FrequencyBaseline,
}
RATERS = {
    "Rater": sl.Rater,
    "PRank": sl.PRank,
    "WidrowHoff": sl.WidrowHoff,
    "MulticlassPerceptron": MulticlassPerceptron,
}
RANKERS = {
    "DocumentRanker": sl.DocumentRanker,
    "MapSVM": sl.MapSVM,
    "RocSVM": sl.RocSVM,
    "AccuracySVM": AccuracySVM,
}


@cache
def odd_matrices():
    """Matrices that people and programs come with, by name."""
    objects = {"text": "x", "None": None, "10**400": 10**400, "10**30": 10**30, "list": [1]}
    found = {
        f"an object: {name}": _with(DENSE.astype(object), value) for name, value in objects.items()
    }
    for value in (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -1.0, -0.0, 1e200, 1e-200):
        found[f"dense {value}"] = _with(DENSE, value)
        found[f"CSR {value}"] = sp.csr_array(_with(DENSE, value))
        found[f"all {value}"] = np.full((6, 5), value)
    for kind in ("f2", "f4", ">f8", "i1", "i8", "u8", "?", "g", "D", "M8[D]", "S3", "U3"):
        found[kind] = (DENSE * 10).astype("i8").astype(kind)
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        found[kind] = getattr(sp, f"{kind}_array")(DENSE)
        found[f"{kind} matrix of numbers"] = getattr(sp, f"{kind}_matrix")((DENSE * 9).astype("i8"))
    read_only = DENSE.copy()
    read_only.flags.writeable = False
    found |= {
        "a list": DENSE.tolist(),
        "Fortran's order": np.asfortranarray(DENSE),
        "backwards": DENSE[::-1, ::-1],
        "strides": np.repeat(DENSE, 2, 1)[:, ::2],
        "read only": read_only,
        "no rows": DENSE[:0],
        "no columns": DENSE[:, :0],
        "nothing": np.zeros((0, 0)),
        "one dimension": DENSE[0],
        "three": DENSE[None],
        "a number": 3.0,
        "None": None,
        "text": "abc",
        "ragged": [[1, 2], [3]],
        "texts": [["a", "b"]] * 6,
        "records": np.zeros(6, dtype=[("a", "f8")]),
        "masked": np.ma.masked_array(DENSE, DENSE > 0.5),
        "np.matrix": np.asmatrix(DENSE),
        "a dict": {"a": 1},
        "zeros": np.zeros((6, 5)),
        "wide": np.hstack([DENSE] * 3),
        "CSR, one dimension": sp.csr_array(DENSE[0]),
        "complex CSR": sp.csr_array(DENSE.astype(complex)),
        "an object": object(),
        "a class": dict,
        "bytes": b"abc",
        "2**31 columns": sp.csr_array(
            (np.ones(6), (range(6), [0, 1, 2, 3, 2**31, 5])), shape=(6, 2**31 + 5)
        ),
        "2**40 columns": sp.csr_array(
            (np.ones(6), (range(6), [0, 1, 2, 3, 4, 2**39])), shape=(6, 2**40)
        ),
    }
    return found


@cache
def odd_labels():
    """Labels, ratings, queries and relevances that people and programs come with, by name."""
    lists = {
        "a text": "q",
        "None": None,
        "nan": float("nan"),
        "inf": float("inf"),
        "NUL": "a\0",
        "empty": "",
        "half": "\ud800",
        "2**63": 2**63,
        "-2**70": -(2**70),
        "10**30": 10**30,
        "bytes": b"a",
        "complex": 1j,
        "a list": ["a"],
        "a tuple": ("a", "b"),
        "a dict": {"a": 1},
        "Decimal": Decimal(1),
        "np.float64": np.float64(1.5),
        "True": True,
        "an enumeration": enum.IntEnum("Size", "SMALL").SMALL,
        "NaN of NumPy": np.float64("nan"),
        "long": "x" * 10**5,
    }
    found = {f"lists with {name}": [[value], *LABELS[1:]] for name, value in lists.items()}
    found |= {
        f"flat with {name}": [value, "b", "a", "c", "b", "a"] for name, value in lists.items()
    }
    found |= {f"numbers with {name}": [value, 2, 3, 1, 2, 3] for name, value in lists.items()}
    found |= {
        "nothing": None,
        "a number": 5,
        "text": "ababac",
        "too few": LABELS[:3],
        "too many": LABELS * 2,
        "empty": [],
        "all without": [[]] * 6,
        "some without": [[], ["a"], [], ["b"], [], ["c"]],
        "repeated": [["a", "a"]] * 6,
        "sets": [{"a", "b"}] * 6,
        "sets of kinds": [{"a", 1}] * 6,
        "sets of complex": [{1j, 2j}] * 6,
        "a dict": {"a": 1},
        "integers": np.array([1, 2, 1, 3, 2, 1]),
        "texts": np.array(list("ababac")),
        "bytes": np.array([b"a"] * 6),
        "floats": np.array([1, np.nan, 2, 1, 1, 2]),
        "dates": np.full(6, "2020", "M8[Y]"),
        "complex": np.full(6, 1j),
        "indicators": np.eye(6, dtype=int),
        "half indicators": np.eye(6) * 0.5,
        "texts in two": np.array([["a", "b"]] * 6),
        "three": np.zeros((6, 2, 2)),
        "none": np.array("a"),
        "a column": np.array([[1], [2], [1], [3], [1], [2]]),
        "objects": np.array([["a"], ["b", "c"], ["a"], ["a"], ["b"], ["b"]], dtype=object),
        "sparse": sp.eye_array(6),
        "large and small": [[2**63], [-1], [2**63 + 1], [3], [2**63], [2]],
        "infinite": [np.inf] * 6,
        "numbers": [1, 2, 1, 3, 2, 1],
        "large": [2**63, 1, 2, 3, 4, 5],
        "negative": [-1, 0, 1, 0, 1, 0],
        "sparse and bad": damaged_matrix(np.random.default_rng(1)),
        "an object": object(),
    }
    return found


def damaged_matrix(rng):
    """A sparse matrix of which SciPy has seen better days: places, offsets, values or lengths
    are wrong.
    """
    kind = rng.choice(["csr", "csc", "coo", "bsr", "lil", "dia", "dok"])
    matrix = getattr(sp, f"{kind}_array")(np.eye(6))
    wrong = rng.choice([-1, -(10**7), 5, 6, 7, 10**7, 2**31 - 1])
    part = rng.choice(["indices", "indptr", "data", "length"])
    if kind == "coo":
        coords = [place.astype(np.int64) for place in matrix.coords]
        coords[rng.integers(2)][rng.integers(6)] = wrong
        matrix.coords = tuple(coords)
    elif kind == "lil":
        matrix.rows[rng.integers(6)] = [int(wrong)] * int(rng.integers(3))
    elif kind == "dia":
        matrix.offsets = np.array([wrong] * int(rng.integers(1, 3)))
    elif kind == "dok":
        matrix._dict[int(wrong), int(rng.integers(6))] = 1.0
    elif part == "data":
        matrix.data = matrix.data * rng.choice([np.nan, np.inf, 1e308])
    elif part == "length":
        name = rng.choice(["indices", "indptr", "data"])
        setattr(matrix, name, getattr(matrix, name)[: rng.integers(6)])
    else:
        getattr(matrix, part)[rng.integers(6)] = wrong
    if rng.random() < 0.2 and hasattr(matrix, "indices"):
        matrix.indices = matrix.indices.astype(rng.choice([">i4", "u4", "i1", "i8", "f8"]))
    return matrix


def _with(matrix, value):
    matrix = matrix.copy()
    matrix[2, 3] = value
    return matrix


@cache
def fitted(name):
    """A model that has learned something, once; trials that learn get a copy."""
    if name == "Categorizer":
        return sl.Categorizer().fit(TEXTS, LABELS)
    if name in CATEGORIES:
        return CATEGORIES[name]().fit(DENSE, LABELS)
    if name in RATERS:
        return RATERS[name]().fit(DENSE, RATINGS)
    return _fit_ranker(RANKERS[name](), DENSE, RELEVANCE, QUERIES)


def _fit_ranker(ranker, X, relevance, query):
    return ranker.fit(X, relevance, query=query)


def verbs(name, X, Y):
    """All that can be asked of a model, with a matrix X and labels Y of which one may be odd."""
    model, fresh = fitted(name), copy.deepcopy
    if name == "Categorizer":
        return [
            lambda: sl.Categorizer().fit(TEXTS, Y),
            lambda: fresh(model).learn_many(TEXTS, Y),
            lambda: fresh(model).learn("wheat", Y),
            lambda: model.rank(X),
            lambda: model.predict(X),
            lambda: model.score(TEXTS, Y),
            lambda: model.explain("wheat", Y),
            lambda: model.explain(X, "a"),
            lambda: sl.Categorizer().fit(X, LABELS),
            lambda: fresh(model).learn(X, "a"),
        ]
    if name in CATEGORIES:
        asked = [
            lambda: _used(CATEGORIES[name]().fit(X, Y)),
            lambda: model.rank(X, 3),
            lambda: model.predict(X),
            lambda: model.decision_function(X),
            lambda: model.explain(X, "a"),
            lambda: model.explain(DENSE[0], Y),
            lambda: model.score(X, Y),
        ]
        if model.updatable:
            asked += [lambda: _used(fresh(model).partial_fit(X, Y))]
            asked += [lambda: CATEGORIES[name]().partial_fit(DENSE, LABELS, classes=Y)]
        return asked
    if name in RATERS:
        go_on = "learn" if name == "Rater" else "partial_fit"
        return [
            lambda: RATERS[name]().fit(X, Y),
            lambda: getattr(fresh(model), go_on)(X, Y),
            lambda: model.predict(X),
            lambda: model.neighbour_distances(X),
        ]
    return [
        lambda: _fit_ranker(RANKERS[name](), X, Y, QUERIES),
        lambda: _fit_ranker(RANKERS[name](), X, RELEVANCE, Y),
        lambda: model.rank(X, query=Y),
        lambda: (
            model.decision_function(X, Y)
            if name == "DocumentRanker"
            else model.decision_function(X)
        ),
    ]


def _used(model):
    """A model that has learned something odd answers as any other."""
    assert all(label in model.classes_.tolist() for own in model.rank(DENSE, 3) for label, _ in own)
    assert len(model.predict(DENSE)) == len(DENSE)


USUAL = dict.fromkeys(["Categorizer", *CATEGORIES], LABELS) | dict.fromkeys(RATERS, RATINGS)
USUAL |= dict.fromkeys(RANKERS, RELEVANCE)


@cache
def cases():
    """Every model with every odd thing in place of X or of Y."""
    odd = [("X", name) for name in odd_matrices()] + [("Y", name) for name in odd_labels()]
    return [(model, kind, name) for model in USUAL for kind, name in odd]


def trial(rng):
    """One odd thing, in all verbs of one model."""
    if rng.random() < 0.7:
        name, kind, odd = rng.choice(cases())
        X, Y = DENSE, USUAL[name]
        X, Y = (odd_matrices()[odd], Y) if kind == "X" else (X, odd_labels()[odd])
    else:
        name = rng.choice(list(USUAL))
        X, Y = damaged_matrix(np.random.default_rng(rng.randrange(2**32))), USUAL[name]
    refusal = None
    for verb in verbs(name, X, Y):
        try:
            verb()
        except (sl.ShortlistError, batches.NotFittedError) as problem:
            refusal = problem
        except Exception as problem:
            raise type(problem)(f"{name}, {problem}").with_traceback(
                problem.__traceback__
            ) from None
    if refusal is not None:
        raise refusal


if __name__ == "__main__":
    batches.main("tests.hostile.arrays", trial, "odd arrays and labels", long=100_000)
