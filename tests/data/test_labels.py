"""Numbered label lists behave as the lists do, and teach no label that does not occur."""

import enum

import numpy as np
import pandas
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist import FeatureFocus, InputError
from shortlist.data.label_input import as_array
from shortlist.data.label_input import label_lists as lists_of
from shortlist.data.labels import LabelIndex, LabelSets, NumberedLabels, label_counts

names = st.sampled_from(["a", "b", "c", "d", 1, 2])
label_lists = st.lists(st.lists(names, max_size=30), max_size=6)


@given(label_lists, st.data())
def test_numbered_labels_are_lists(lists, data):
    labels = NumberedLabels.of(lists)
    assert (labels, list(labels), len(labels), repr(labels)) == (
        lists,
        lists,
        len(lists),
        repr(lists),
    )
    assert (
        label_counts(labels).tolist() == label_counts(lists).tolist() == [len(own) for own in lists]
    )
    part = data.draw(st.slices(len(lists)))
    assert labels[part] == lists[part]
    assert labels[part].names == list(dict.fromkeys(name for own in lists[part] for name in own))
    if lists:
        which = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=4))
        assert labels.take(which) == [lists[n] for n in which]
        assert labels[-1] == lists[-1]


def obvious(lists, known):
    """Numbers in order of first appearance, and the labels of each example once."""
    for own in lists:
        known += [label for label in dict.fromkeys(own) if label not in known]
    return [[known.index(label) for label in dict.fromkeys(own)] for own in lists]


def as_lists(sets):
    return [sets.ids[a:b].tolist() for a, b in zip(sets.indptr, sets.indptr[1:], strict=False)]


@given(st.lists(st.tuples(label_lists, st.booleans()), max_size=4))
def test_batches_that_share_their_names_are_numbered_as_lists_are(batches):
    everything = NumberedLabels.of([own for lists, _ in batches for own in lists])
    shared, first = [], 0
    for lists, _ in batches:
        indptr, ids, _ = everything.sets
        rows = indptr[first : first + len(lists) + 1]
        shared.append(
            NumberedLabels(everything.names, LabelSets(rows - rows[0], ids[rows[0] : rows[-1]]))
        )
        first += len(lists)
    index, known = LabelIndex(), []
    for (lists, is_left_out), numbered in zip(batches, shared, strict=True):
        if is_left_out:
            seen = list(known)
            assert as_lists(index.look_up(numbered, len(lists))) == obvious(lists, seen)
        else:
            assert as_lists(index.learn(numbered, len(lists))) == obvious(lists, known)
        assert index.names == known
        assert index.n_bytes == sum(len(str(name)) for name in known)


def test_many_labels_that_keep_their_numbers_are_not_kept_twice():
    labels = NumberedLabels.of([["a", "b"], ["c"], ["b"]] * 10)
    assert np.shares_memory(LabelIndex().learn(labels, 30).ids, labels.sets.ids)
    assert not np.shares_memory(LabelIndex(["b"]).learn(labels, 30).ids, labels.sets.ids)


@given(st.lists(label_lists, max_size=4))
def test_lists_are_numbered_in_order_of_first_appearance(batches):
    index, known = LabelIndex(), []
    for lists in batches:
        assert as_lists(index.learn(lists, len(lists))) == obvious(lists, known)
    assert index.names == known


@given(st.lists(label_lists, max_size=4), st.booleans())
def test_parts_are_stacked_in_their_order(parts, share_names):
    everything = [own for part in parts for own in part]
    if share_names:
        whole, first, given_parts = NumberedLabels.of(everything), 0, []
        for part in parts:
            given_parts.append(
                NumberedLabels(whole.names, whole.sets.chosen(np.arange(first, first + len(part))))
            )
            first += len(part)
    else:
        given_parts = parts
    stacked, index = NumberedLabels.stack(given_parts), LabelIndex(["c", 1])
    found = as_lists(index.look_up(stacked, len(everything)))
    assert found == obvious(everything, ["c", 1])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_that_no_model_file_can_hold_is_no_label(sign):
    learner, label = sl.FeatureFocus(), sign * 10**5000
    for labels in ([[label]], [label], [["a", label]]):
        with pytest.raises(sl.InputError, match="4,300 digits"):
            learner.partial_fit([[1.0]], labels)
    with pytest.raises(sl.InputError, match="4,300 digits"):
        learner.partial_fit([[1.0]], [["a"]], classes=[label])


def test_the_largest_number_that_is_a_label_is_saved(tmp_path):
    largest = 10**4300 - 1
    sl.FeatureFocus().fit([[1.0]], [[largest]]).save(tmp_path / "m.shortlist")
    assert sl.load(tmp_path / "m.shortlist").rank([[1.0]])[0][0][0] == largest


class Size(enum.IntEnum):
    SMALL = 1


class Tag(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "names",
    [
        ["a\0", "a", "b\0\0", "c"],
        ["", "\0"],
        [2**63, -1, 2**63 + 1, 3],
        [2**53 + 1, 0.5],
        [10**30, -(2**70)],
        ["x" * 200_000, "b"],
        [True, 2, "a"],
    ],
    ids=["NULs", "NUL", "large", "mixed", "larger", "long", "kinds"],
)
def test_an_array_of_labels_holds_every_one_as_it_is(names):
    array = as_array(names)
    assert [(type(name), name) for name in array.tolist()] == [(type(name), name) for name in names]
    assert array.nbytes <= 8 * len(names)
    learner = FeatureFocus().fit(np.eye(len(names)), [[name] for name in names])
    assert learner.classes_.tolist() == learner.predict(np.eye(len(names))).tolist() == names


@pytest.mark.parametrize(
    ("names", "kind"), [(["b", "a"], "U"), ([3, -1], "i"), ([0.5], "f"), ([True, False], "b")]
)
def test_labels_of_one_kind_are_an_array_of_that_kind(names, kind):
    assert as_array(names).dtype.kind == kind
    assert as_array(names).tolist() == names


def test_labels_of_a_subclass_are_plain_ones():
    found = as_lists_of_types([[Size.SMALL], [Tag("q")], [np.float64(0.5)], {np.str_("x")}])
    assert found == [[(int, 1)], [(str, "q")], [(float, 0.5)], [(str, "x")]]


def as_lists_of_types(Y):
    return [[(type(label), label) for label in own] for own in lists_of(Y, len(Y))]


@pytest.mark.parametrize("Y", [[{1j, 2j}], [{1j, "a"}], [{"a": 1}]])
def test_what_is_no_label_is_refused(Y):
    with pytest.raises(InputError, match="is neither text nor a number"):
        lists_of(Y, len(Y))


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT])
def test_a_missing_label_is_called_missing(missing):
    for Y in ([["a"], [missing]], ["a", missing], pandas.Series(["a", missing], dtype=object)):
        with pytest.raises(
            InputError,
            match=r"the label of example 1 is missing \((None|NaN|NaT|<NA>)\); give it one",
        ):
            lists_of(Y, 2)


def test_an_infinite_label_is_refused():
    with pytest.raises(InputError, match="the label inf of example 1 is not finite"):
        lists_of(np.array([1.0, np.inf]), 2)


def test_labels_of_an_arrow_column():
    pyarrow = pytest.importorskip("pyarrow")
    for column in (pyarrow.array(["a", "b"]), pyarrow.chunked_array([["a"], ["b"]])):
        assert lists_of(column, 2) == [["a"], ["b"]]
    assert lists_of(pyarrow.array([["a", "b"], ["c"]]), 2) == [["a", "b"], ["c"]]
    assert lists_of(pyarrow.array([3, 4]), 2) == [[3], [4]]
    with pytest.raises(InputError, match="the label of example 1 is missing"):
        lists_of(pyarrow.array(["a", None]), 2)


@pytest.mark.parametrize("classes", [3, np.array("a"), scipy.sparse.eye(3), [None], [[["a"]]]])
def test_classes_that_are_none(classes):
    with pytest.raises(
        InputError, match=r"classes must be a list of labels|neither text nor a number|is missing"
    ):
        FeatureFocus().partial_fit(np.eye(2), ["a", "b"], classes=classes)


def test_classes_of_any_collection():
    for classes in (["a", "c"], ("a", "c"), iter("ac"), np.array(["a", "c"]), {"c", "a"}):
        assert FeatureFocus().partial_fit(
            np.eye(2), ["a", "b"], classes=classes
        ).classes_.tolist() == ["a", "c", "b"]


def test_a_label_that_cannot_be_looked_up_has_not_been_learned():
    learner = FeatureFocus().fit(np.eye(2), ["a", "b"])
    for label in ("c", ["a"], {"a": 1}, None):
        with pytest.raises(InputError, match="has not been learned; 2 others have"):
            learner.explain(np.eye(2)[0], label)


def test_labels_recur_where_there_is_one_each_or_the_first_texts_have_half_as_many_as_they_are():
    def sets(n_labels, n, of_each=2):
        return LabelSets.of([[(i + j) % n_labels for j in range(of_each)] for i in range(n)])

    assert LabelSets.of([[0], [1], [2]]).recurring  # one each, whichever they are
    assert sets(50, 100).recurring
    assert not sets(51, 100).recurring
    assert sets(500, 5000).recurring
    assert not sets(501, 5000).recurring  # only the first thousand texts are looked at
    assert not sets(2, 19).recurring  # too few to tell
    assert LabelSets.of([]).recurring
