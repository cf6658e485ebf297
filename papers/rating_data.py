"""The ratings of paper 002's experiments, as viewers × films: MovieLens, or EachMovie where it
is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats
from shortlist.errors import InputError
from shortlist.inputs import read

Ratings = NDArray[np.int8]  # viewers × films, 0 where there is none


@lru_cache(1)
def films(folder: Path, name: str) -> tuple[Ratings, int]:
    """The ratings of a data set, and the highest that there can be."""
    if name == "eachmovie":
        return read_eachmovie(folder / "eachmovie"), 6
    if name == "movielens-1m":
        return read_movielens_1m(folder / "movielens1m"), 5
    return read_movielens(folder / "movielens100k" / "u.data"), 5


def read_movielens(path: str | Path) -> Ratings:
    """MovieLens 100k's u.data (viewer, film, rating, time; from grouplens.org) as viewers ×
    films, 0 where unrated.
    """
    return _ratings_matrix(path, "movielens", lambda ratings: ratings, 5)


def read_movielens_1m(folder: Path) -> Ratings:
    """MovieLens 1M: ratings.dat as published, or ratings.npz, a matrix of viewers × films as
    ``scipy.sparse.save_npz`` writes it.
    """
    matrix = folder / "ratings.npz"
    if not matrix.is_file():
        return read_movielens(folder / "ratings.dat")
    try:
        ratings = scipy.sparse.load_npz(matrix).toarray()
    except (OSError, ValueError):
        raise InputError(f"{matrix} is not a sparse matrix of SciPy") from None
    if not np.isin(ratings, range(6)).all():
        raise InputError(f"{matrix} does not hold ratings from 1 to 5, and 0 where there is none")
    return ratings.astype(np.int8)


def read_eachmovie(path: str | Path) -> Ratings:
    """EachMovie's votes as viewers × films, 0 where there is none: its scores 0, 0.2, … 1
    become 1 to 6.
    """
    return _ratings_matrix(path, "eachmovie", lambda scores: 1 + 5 * scores, 6)


def _ratings_matrix(
    path: str | Path, format: str, to_ratings: Callable[[Floats], Floats], highest: int
) -> Ratings:
    batches = list(read(path, format=format))
    names = [
        [name for batch in batches for name in getattr(batch, kind)] for kind in ("query", "ids")
    ]
    ratings = to_ratings(np.concatenate([np.empty(0), *(batch.ratings for batch in batches)]))
    numbered = all(name.isdecimal() for each in names for name in each)
    if not ratings.size or not numbered or not np.isin(ratings, np.arange(1, highest + 1)).all():
        raise InputError(
            f"{path} does not hold ratings: viewers and films with numbers, ratings from 1 to "
            f"{highest}"
        )
    (_, viewer), (_, film) = (
        np.unique(np.array(each, dtype=np.int64), return_inverse=True) for each in names
    )
    # EachMovie's has 119 million entries
    matrix = np.zeros((viewer.max() + 1, film.max() + 1), dtype=np.int8)
    matrix[viewer, film] = ratings
    return matrix
