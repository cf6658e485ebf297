"""20 Newsgroups, the bodies of every fifth of its 19,997 postings: CountVectorizer's counts."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from shortlist import TextVectorizer

pytestmark = [pytest.mark.data, pytest.mark.long]


@pytest.fixture(scope="module")
def bodies(data_folder):
    postings = sorted(
        path for path in data_folder("20newsgroups-original", "20_newsgroups").glob("*/*")
    )
    assert len(postings) == 19_997
    return [path.read_text(encoding="latin-1").partition("\n\n")[2] for path in postings[::5]]


@pytest.fixture(scope="module")
def theirs(bodies):
    """CountVectorizer and its counts."""
    vectorizer = CountVectorizer()
    return vectorizer, vectorizer.fit_transform(bodies)


def test_counts_are_those_of_count_vectorizer(bodies, theirs):
    other, expected = theirs
    ours = TextVectorizer()
    matrix = ours.fit_transform(bodies)
    names = ours.get_feature_names_out()
    assert sorted(names) == list(other.get_feature_names_out())
    columns = np.array([other.vocabulary_[name] for name in names])
    reordered = scipy.sparse.csr_array(
        (matrix.data, columns[matrix.indices], matrix.indptr), shape=matrix.shape
    )
    assert (reordered != expected).nnz == 0
    assert matrix.has_sorted_indices
    assert (ours.transform(bodies[::50]) != matrix[::50]).nnz == 0
