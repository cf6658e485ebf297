"""Word contexts: what the features are, and that they predict words as well as published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.corpora.contexts import word_contexts
from shortlist import FeatureFocus, InputError
from tests.reference import contexts as slow

texts = st.lists(
    st.one_of(
        st.text(), st.lists(st.sampled_from(["a", "b", "it's", "A", "...", "é", "1"])).map(" ".join)
    ),
    max_size=4,
)


@given(texts, st.sampled_from(["chosen", "runs"]))
def test_contexts_are_those_of_the_slow_twin(some, conjunctions):
    matrix, words, names = word_contexts(some, conjunctions)
    assert matrix.shape == (len(words), len(names))
    assert np.all(matrix.data == 1)
    assert matrix.has_canonical_format
    named = list(names)
    assert len(set(named)) == len(named)
    ours = [(word, {named[j] for j in matrix[[i]].indices}) for i, word in enumerate(words)]
    assert ours == slow.word_contexts(some, conjunctions)


def test_a_word_in_the_middle_has_fifteen_features():
    matrix, words, names = word_contexts(["to be or not to be that"])
    assert matrix.shape[0] == 7
    assert words[3] == "not"
    assert [names[j] for j in matrix[[3]].indices] == sorted(
        [
            "to * * _",
            "be * _",
            "or _",
            "_ to",
            "_ * be",
            "_ * * that",
            "or _ to",
            "be or _",
            "_ to be",
            "be * _ to",
            "or _ * be",
            "to * or _",
            "_ to * that",
            "be or _ to",
            "or _ to be",
        ],
        key=list(names).index,
    )
    assert names[:2] == [names[0], names[1]]


def test_what_is_no_text_is_refused():
    with pytest.raises(InputError, match=r"texts\[0\] is a int"):
        word_contexts([1])
    with pytest.raises(InputError, match="conjunctions"):
        word_contexts(["to be"], "all")


@pytest.fixture(scope="module")
def austen(data_folder):
    novels = sorted(data_folder("austen", "austen").glob("*.txt"))
    assert len(novels) == 6
    return [novel.read_text(encoding="utf-8") for novel in novels]


@pytest.mark.long
@pytest.mark.data
def test_feature_focus_predicts_austens_words_as_published(austen):
    """Published: R1 0.272, R5 0.480, over random 90-10 splits."""
    rows, words, _ = word_contexts(austen)
    order = np.random.default_rng(20).permutation(words.size)
    test, train = order[: words.size // 10], order[words.size // 10 :]
    learner = FeatureFocus(min_weight=0.01, max_edges=25, margin=0, passes=1).fit(
        rows[train], words[train]
    )
    hits = learner.rank(rows[test], k=5).labels == words[test][:, None]
    assert hits[:, 0].mean() >= 0.272
    assert hits.any(axis=1).mean() >= 0.48
