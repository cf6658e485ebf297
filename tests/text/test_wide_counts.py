"""Counts and the ends of names have four bytes, and eight once these are not enough: nothing else changes."""

import numpy as np
import pytest

from shortlist import TextVectorizer
from shortlist.arrays import rows as growing
from shortlist.files.store import build

TEXTS = ["wheat wheat corn", "", "corn rye", "the bank", "wheat rye rye bank", "corn and wheat", "barley"]


def vectorizer(texts=()):
    made = TextVectorizer(ngrams=2, idf="smooth", norm="pivoted")
    return made.partial_fit(texts) if len(texts) else made


def arrays_of(text):
    return {name: array.tolist() for name, array in text.to_state().all_arrays().items()}


@pytest.mark.parametrize("most", [0, 3, 5, 20])
@pytest.mark.parametrize("cut", [1, 3, 6])
def test_wide_numbers_are_the_same_numbers(most, cut, monkeypatch):
    whole, first, second = vectorizer(TEXTS), vectorizer(TEXTS[:cut]), vectorizer(TEXTS[cut:])
    monkeypatch.setattr(growing, "MOST_IN_FOUR_BYTES", most)
    widened = vectorizer(TEXTS[:cut]).partial_fit(TEXTS[cut:])
    assert widened._weighting.u.dtype == (np.int64 if most < len(TEXTS) else np.uint32)
    assert widened.vocabulary_._ends.dtype == np.int64
    assert arrays_of(widened) == arrays_of(whole)
    assert arrays_of(first.merge(second)) == arrays_of(whole)
    assert arrays_of(build(whole.to_state())) == arrays_of(whole)
    assert np.array_equal(widened.transform(TEXTS).toarray(), whole.transform(TEXTS).toarray())
    assert widened.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()


@pytest.mark.parametrize("most", [0, 3, 5])
def test_what_made_numbers_wide_can_be_given_back(most, monkeypatch):
    monkeypatch.setattr(growing, "MOST_IN_FOUR_BYTES", most)
    text = vectorizer(TEXTS[:4])
    before = arrays_of(text)
    text.give_back(text.take(TEXTS[4:]))
    assert arrays_of(text) == before
    assert text._weighting.u.dtype == (np.int64 if most < 4 else np.uint32)
